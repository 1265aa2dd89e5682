"""Errors for names that do not exist: near names, and words of other libraries, in every namespace and method."""

from __future__ import annotations

import importlib
import pickle
import re
from typing import Any

import numpy as np
import pytest

import occelo as oc
import occelo.tensor as ot
from occelo.hints.words import METHODS, NAMES, RANDOM_TEXTS, TEXTS

X: Any = ot.dmatrix("x")
SPACES: dict[str, Any] = {
    "oc": oc,
    "ot": ot,
    "linalg": ot.linalg,
    "random": ot.random,
    "stats": ot.stats,
    "gradient": oc.gradient,
    "math": ot.math,
    "graph": oc.graph,
    "x": X,
    "draw": ot.random.RandomStream(1).normal(),
    "rows": X[ot.lvector("i")],
    "slice": X[1:],
    "at": X.at,
    "part": X.at[0],
    "nn": oc.nn,
    "updates": oc.updates,
    "trees": oc.trees,
    "cache": importlib.import_module("occelo.cache"),
    "lists": oc.typed_list,
    "signal": ot.signal,
    "fft": ot.fft,
    "windows": ot.signal.windows,
    "initializers": oc.nn.initializers,
    "function": oc.function([X], X.sum()),
    **{
        family: importlib.import_module(f"occelo_{family}")
        for family in "arrays linalg loops random signal sorting special stats".split()
    },
}


@pytest.mark.parametrize(
    ("space", "name", "hint"),
    [
        ("oc", "fucntion", "; did you mean function?"),
        ("oc", "jit", "; use occelo.function"),
        ("oc", "exp", "; use occelo.tensor.exp"),
        ("oc", "dvector", "; use occelo.tensor.dvector"),
        ("ot", "sofmax", "; did you mean softmax?"),
        ("ot", "Concatenate", "; did you mean concatenate?"),
        ("ot", "jit", "; use occelo.function"),
        ("ot", "relu", "; use occelo.nn.relu"),
        ("oc", "multiply", "; use occelo.tensor.mul"),
        ("x", "relu", "; use occelo.nn.relu"),
        ("ot", "scan", "; use occelo.scan"),
        ("linalg", "choleski", "; did you mean cholesky?"),
        ("linalg", "exp", "; use occelo.tensor.exp"),
        ("random", "normall", "; did you mean normal?"),
        ("random", "PRNGKey", "; use occelo.tensor.random.key"),
        ("stats", "Normal", "; did you mean norm?"),
        ("gradient", "gard", "; did you mean grad?"),
        ("math", "maxmum", "; did you mean maximum?"),
        ("graph", "FunctonGraph", "; did you mean FunctionGraph?"),
        ("x", "flaten", "; did you mean flatten?"),
        ("x", "softmax", "; use occelo.tensor.softmax"),
        ("x", "clamp", "; use clip"),
        ("draw", "rng", "; the generator of a draw rv is rv.owner.inputs[0]"),
        ("rows", "mul", "; use x.at[key].multiply(y) to change a part of x"),
        ("rows", "subtract", "; use x.at[key].subtract(y) to change a part of x"),
        ("slice", "multiply", "; use x.at[key].multiply(y) to change a part of x"),
        ("at", "set", "; use x.at[key].set"),
        ("part", "substract", "; did you mean subtract?"),
        ("nn", "layernorm", "; did you mean layer_norm?"),
        ("nn", "exp", "; use occelo.tensor.exp"),
        ("updates", "adma", "; did you mean adam?"),
        ("trees", "flaten", "; did you mean flatten?"),
        ("cache", "default_stor", "; did you mean default_store?"),
        ("lists", "appendd", "; did you mean append?"),
        ("signal", "convole", "; did you mean convolve?"),
        ("fft", "relu", "; use occelo.nn.relu"),
        ("windows", "hamm", "; did you mean hann?"),
        ("initializers", "jit", "; use occelo.function"),
        ("function", "vmap", "; use occelo.vmap"),
        ("function", "makr", "; did you mean maker?"),
        ("ot", "at", "; it is an attribute of variables: x.at[index].set(y)"),
        ("arrays", "einsm", "; did you mean einsum?"),
        ("loops", "multiply", "; use occelo.tensor.mul"),
        ("special", "gamaln", "; did you mean gammaln?"),
        ("stats", "vmap", "; use occelo.vmap"),
        ("sorting", "argsrt", "; did you mean argsort?"),
        (
            "oc",
            "lax",
            "; functions of tensors are in occelo.tensor, loops and branches in occelo: loop",
        ),
        ("oc", "tree_map", "; use occelo.trees.map"),
        ("oc", "custom_vjp", "; use occelo.OpFromGraph with a rule"),
        ("random", "randint", "; use occelo.tensor.random.integers"),
        ("random", "random", "; use uniform(0, 1)"),
        ("ot", "cond", "; use occelo.ifelse to choose"),
        ("gradient", "consider_constant", "; use zero_grad for a derivative of 0"),
        ("graph", "list_of_nodes", "; use occelo.graph.traversal.applys_between"),
        ("x", "numpy", "; a variable has no value until a function runs"),
        ("ot", "inplace", "; rewriting computes in place by itself"),
        ("ot", "raw_random", "; use occelo.tensor.random"),
        ("ot", "Sum", "; a reduction is a CAReduce"),
        ("oc", "d3viz", "; use occelo.to_dot"),
        ("oc", "named_call", "; use occelo.OpFromGraph"),
        ("graph", "opt", "; use occelo.graph.rewriting.basic"),
    ],
)
def test_an_error_says_what_is_meant(space: str, name: str, hint: str) -> None:
    with pytest.raises(AttributeError) as info:
        getattr(SPACES[space], name)
    text = str(info.value)
    assert f"no attribute {name!r}{hint}" in text
    assert info.value.name == name
    assert str(pickle.loads(pickle.dumps(info.value))) == text


def test_words_of_other_libraries_lead_to_names_that_exist() -> None:
    for word, target in NAMES.items():
        module, _, name = target.rpartition(".")
        assert hasattr(importlib.import_module(module), name), target
        if not hasattr(ot, word) and not hasattr(oc, word):
            with pytest.raises(AttributeError, match=rf"; use {re.escape(target)}(?m:$)"):
                getattr(ot, word)
    for word, text in (*TEXTS.items(), *RANDOM_TEXTS.items()):
        space = ot.random if word in RANDOM_TEXTS else oc
        with pytest.raises(AttributeError, match=f"; {re.escape(text)}(?m:$)"):
            getattr(space, word)
        for name in re.findall(r"occelo(?:\.\w+)+", text):
            module, _, last = name.rpartition(".")
            assert hasattr(importlib.import_module(module), last), name
    for word in METHODS:
        assert not hasattr(X, word), word


def test_a_name_that_nothing_is_near_has_no_hint() -> None:
    for space in SPACES.values():
        with pytest.raises(AttributeError, match=r"no attribute 'qqqq'(?m:$)"):
            _ = space.qqqq
        with pytest.raises(AttributeError, match=r"no attribute '_exp'(?m:$)"):
            _ = space._exp


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("import occelo.lax", "; functions of tensors are in occelo.tensor"),
        ("import occelo.numpy as jnp", "; most functions of NumPy are in occelo.tensor"),
        ("from occelo.graph.opt import EquilibriumOptimizer", "; use occelo.graph.rewriting.basic"),
        ("from occelo.tensor.shared_randomstreams import x", r"random\.utils\.RandomStream"),
        ("from occelo.gradient import consider_constant", "; use zero_grad for a derivative of 0"),
        ("from occelo import jit", "; use occelo.function(?m:$)"),
        ("from occelo.gradient import gard", r"; did you mean grad\?(?m:$)"),
        ("from occelo.tensor.stats import normm", r"; did you mean norm\?(?m:$)"),
        ("from occelo_graph import Varible", r"; did you mean Variable\?(?m:$)"),
        ("from occelo.tensor import qqqq", "cannot import name 'qqqq' from 'occelo.tensor'"),
    ],
)
def test_imports_of_names_say_it_too(statement: str, hint: str) -> None:
    with pytest.raises(ImportError, match=hint):
        exec(statement)


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda: ot.linalg.cholesky(x=X), "missing .* but has x=; its parameters are a, "),
        (lambda: ot.linalg.solve(A=X, B=X), r"missing .* but has A=; did you mean a=\?"),
        (lambda: oc.grad(lambda x: x**2), r"write grad\(f\(x\), x\), or value_and_grad\(f\)"),
        (lambda: oc.grad(lambda x: x**2, X), "of type function; call it with variables"),
        (lambda: X[0].max(X[1]), r"; maximum\(x, y\) .* x\.at\[key\]\.max\(y\)"),
        (lambda: np.add.at(X, 0, 1.0), r"; a part of x is changed by x\.at\[key\]\.add\(y\)"),
    ],
)
def test_a_wrong_call_says_what_to_write(call: Any, hint: str) -> None:
    with pytest.raises(TypeError, match=hint):
        call()


def test_modules_of_earlier_versions() -> None:
    from occelo.compile.debugmode import DebugMode  # pyright: ignore
    from occelo.compile.function import function  # pyright: ignore
    from occelo.compile.function.types import Function  # pyright: ignore

    assert DebugMode is oc.DebugMode
    assert (function, Function) == (oc.function, oc.Function)
    assert oc.compile.nanguardmode.NanGuardMode is oc.NanGuardMode  # pyright: ignore


@pytest.mark.parametrize("axis", [1.0, ot.dscalar("y")])
def test_what_is_no_axis_may_be_a_second_operand(axis: Any) -> None:
    with pytest.raises(TypeError, match=r"x\.at\[key\]\.max\(y\) a part of x and y"):
        X[0].min(axis)
