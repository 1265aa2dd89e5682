"""Tests that adding an op takes at most three files besides its examples, and public names only in another package.

A file counts if it defines the op, registers something for it, tests whether a node is of its class, or lists it. A file that only
applies the op, as users do, does not count. Neither do rules, inferences of facts, numerically stable forms and the formulas of random laws: they are about
several ops, in files of their own.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import occelo_compile  # noqa: F401  (so that all classes of ops are there)
import occelo_graph as og
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_graph.ops.reductions import reductions
from occelo_linalg.ops.matrix_op import MatrixOp
from occelo_link.traced.functions import CALLED
from occelo_testing.examples import SCALAR_FUNCTIONS

ROOT = Path(__file__).parents[2]
MOST = 3
LAWS = re.compile(
    r"occelo_\w+/(rules|assumptions|facts)\b|occelo_rewrite/matrices\.py"
    r"|occelo_forms/"
    # densities and the like are formulas, which hand functions of elements on
    r"|occelo_stats/|occelo_special/(ops/log_beta|traced/gamma_quotients)\.py"
    # further names, which say nothing else of a function
    r"|occelo_arrays/ops/aliases\.py|occelo_dims/"
    # what other programs call an op: nothing depends on it, and an op that is not there is written by its decomposition
    r"|occelo_export/onnx/"
)
OTHER_WORDS = re.compile(
    # operations of loop programs have names of their own, which are often the same
    r"occelo_link/(loops/(?!lowerings/elemwise/(?!real_or_complex))|(native|c|numba|units)/)|occelo_linalg/lowerings/|occelo_arrays/lowerings/scatter|occelo_special/lowerings/numbers|occelo_signal/lowerings/beyond"
    # functions of sparse matrices that apply those of their values
    r"|occelo_sparse/"
    # starts of solutions, and classes of solvers
    r"|occelo_optimize/"
    # distributions, some of which are named like functions
    r"|occelo_random/(ops/(gamma|either_way)|lowerings/rejection)\.py|occelo_stats/"
    # kinds of dtypes, scales of axes, and the name of a schedule of checkpoints
    r"|occelo_graph/(canonical/encoding|ir/op|tensors/type|x)\.py|occelo_loops/ops/derivatives/checkpoints\.py|occelo/command/"
    # distributions
    r"|occelo_random/ops/generator"
    # a parameter of `isin`
    r"|occelo_sorting/ops/sets\.py"
    # modes of `pad`, of `choose` and of positions out of bounds
    r"|occelo_(graph|arrays)/ops/(padding|choosing|positions|index/at)\.py"
    # PyTorch's words for how a function is computed
    r"|occelo_networks/activations\.py"
    # words of formulas
    r"|occelo_printing/latex\.py"
)
"""Files in which words that are names of scalar functions mean something else."""
MAKES = {
    "CAReduce",
    "CumOp",
    "Elemwise",
    "ScalarFunction",
    "apply",
    "find_scalar",
    "op",
    "reduce",
} | {"of_scipy", "scalar_value"}
"""Calls whose arguments say of what something is made."""
BESIDE: dict[str, tuple[str, str]] = {
    "occelo_special/ops/power_transformations.py": (
        "functions of a base and of its logarithm are one, which is told both",
        "exp expm1 log log1p",
    ),
    "occelo_special/lowerings/products.py": (
        "two products apply one logarithm each, and are told its name",
        "log log1p",
    ),
    "occelo_linalg/ops/factorizations/cholesky.py": (
        "that a matrix is the product of its factor is seen in how the product is written",
        "conj Assume DimShuffle Dot Elemwise MatMul",
    ),
    "occelo_special/lowerings/incomplete_gamma.py": (
        "the series, fractions and expansions of other functions are written in these",
        "erfcx expm1 pow psi",
    ),
    "occelo/ifelse.py": ("PyTensor has the op at this place", "IfElse"),
    "occelo/hints/words.py": ("a word that users write for another method", "mul"),
    "occelo_sorting/ops/repeats.py": (
        "that a tensor repeats another one is seen in how it is written",
        "Alloc DimShuffle Reshape Shape_i Sort mul",
    ),
    "occelo_special/ops/special_functions.py": (
        "limits at infinity, where SciPy's functions are NaN, are one table",
        "spence",
    ),
    "occelo_graph/tensors/numpy_functions.py": (
        "NumPy's function does something else, has more parameters or another name, or only the name is the same",
        "and logaddexp or reciprocal xor Elemwise",
    ),
    "occelo_arrays/numpy_functions.py": (
        "as in the file above",
        "angle imag real",
    ),
    "occelo_loops/ops/derivatives/ragged_rules.py": (
        "says which ops keep rows apart, for results that have their own number of rows for each element of a batch",
        "Alloc CAReduce CumOp DimShuffle Elemwise IncSubtensor Shape_i Stretch Subtensor SumStretched",
    ),
    "occelo_graph/tensors/constant_values.py": (
        "the elements of these are those of one input and no others, which the trait of ops that move elements does not say",
        "Alloc DimShuffle Elemwise MakeVector Reshape SpecifyShape Subtensor second",
    ),
    "occelo_printing/infix.py": (
        "a mean is a sum that is divided, and a constant is written by Python's name of its kind",
        "CAReduce Elemwise complex true_div",
    ),
    "occelo_graph/ops/elemwise/op.py": (
        "NumPy has no function of this name",
        "mul",
    ),
    "occelo_graph/ops/elemwise/transcendental.py": (
        "the derivative of exp undoes a division by it, also of a negative quotient or a product with one",
        "mul neg true_div Elemwise",
    ),
    "occelo_graph/ops/shape/length_bounds.py": (
        "the least of several numbers is at most each of them, which no trait says",
        "minimum",
    ),
    "occelo_graph/ops/specialization.py": (
        "what is known of lengths goes into the ops that lengths come from",
        "second",
    ),
    "occelo_graph/ops/lengths.py": (
        "what is known of lengths goes into the ops that lengths come from",
        "Alloc Reshape SpecifyShape",
    ),
    "occelo_rewrite/patterns/pattern_rule.py": (
        "patterns are about functions of elements",
        "switch Elemwise",
    ),
    "occelo_rewrite/patterns/pattern.py": ("patterns are about functions of elements", "Elemwise"),
    "occelo_rewrite/fusion/fusing.py": ("fusion is of functions of elements", "Elemwise"),
    "occelo_rewrite/specialization.py": (
        "what is known of lengths goes into the ops that lengths come from",
        "Shape",
    ),
    "occelo_rewrite/inplace.py": ("variants overwrite one of several operands", "Elemwise"),
    "occelo_optimize/ops/implicit.py": ("solutions of all kinds have one theorem", "Solver"),
}
"""Files that treat ops beside the three, why, and which ops. Nothing that is new belongs here."""
HAVE_OPS = re.compile(r"occelo_(?!link\.(jax|numba|torch)\b)")
"""Modules whose names may be ops or words for them; those of libraries are slow to import, and have neither."""
OF_REDUCTIONS = re.compile(r"reduc|statistics|(jax|torch)/arrays")


def _path(path: Path) -> str:
    return path.relative_to(next(p for p in path.parents if p.name == "src")).as_posix()


SOURCES = {
    _path(p): p
    for folder in (ROOT / "src", *(ROOT / "packages").glob("*/src"))
    for p in folder.rglob("*.py")
    # examples name what they are examples of, facades hand on, and a client is of all families
    if not {"examples", "occelo_testing", "occelo_pytensor"} & {*p.parts}
    and p.name not in ("__init__.py", "tensor.py")
    and not re.search(r"occelo_\w+/functions\.py$", str(p))
}


def _classes(base: type) -> list[type]:
    return [c for s in base.__subclasses__() for c in (s, *_classes(s))]


OPS = {
    c
    for c in _classes(og.Op)
    if re.match(r"occelo_\w+\.ops\.", c.__module__)
    # a base without anything of its own to compute is a way to write ops
    and any(getattr(c, m) is not getattr(og.Op, m) for m in ("evaluate", "perform", "decompose"))
    and getattr(c, "core", None) is not MatrixOp.core
}
CLASSES = {cls.__name__: cls for cls in sorted(OPS, key=lambda c: c.__name__)}
ROWS = sorted(SCALAR_FUNCTIONS)
REDUCTIONS = {n: r for n, r in reductions().items() if n in SCALAR_FUNCTIONS}
NAMES = [*ROWS, *(f"reduction {name}" for name in sorted(REDUCTIONS)), *CLASSES]


def _last(node: ast.AST) -> str:
    """The last name of an expression such as ``a.b``."""
    return getattr(node, "attr", getattr(node, "id", ""))


def _apart(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node.func
            if _last(node.func) in MAKES:
                yield from (each for a in node.args for each in ast.walk(a))
            elif _last(node.func) == "SimpleNamespace":  # for a formula of two libraries
                yield from (each.value for each in node.keywords)
        elif isinstance(node, ast.Subscript) and _last(node.value).endswith("scalars"):
            yield node.slice
        elif isinstance(node, ast.arguments):
            # by default something is made of them
            yield from (d for d in (*node.defaults, *node.kw_defaults) if d is not None)
        elif isinstance(node, ast.Assign) and _last(node.targets[0]) == "__all__":
            yield from ast.walk(node.value)
        # what type checkers are told
        for told in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if told is not None:
                yield from ast.walk(told)


@functools.cache
def _value(module: str, name: str) -> Any:
    source = importlib.import_module(module)
    try:
        return getattr(source, name)
    except AttributeError:
        return importlib.import_module(f"{module}.{name}")


def _imported(tree: ast.AST) -> dict[str, Any]:
    return {
        alias.asname or alias.name: _value(node.module or "", alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and HAVE_OPS.match(node.module or "")
        for alias in node.names
        if alias.name != "*"
    }


def _words(tree: ast.AST) -> set[Any]:
    """The texts that parameters of a source take, by its types: ``Literal["raise", "clip"]``."""
    literals = (n for n in ast.walk(tree) if isinstance(n, ast.Subscript))
    return {
        word.value
        for each in literals
        if _last(each.value) == "Literal"
        for word in ast.walk(each.slice)
        if isinstance(word, ast.Constant)
    }


def treated(tree: ast.AST) -> set[Any]:
    """What a source treats: strings, classes of ops and rows, each but for those that it only makes."""
    imported = _imported(tree)
    words = _words(tree)
    apart = {id(n) for n in _apart(tree)}
    found: set[Any] = set()
    for node in ast.walk(tree):
        value: Any = None
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            value = None if node.value in words else node.value
        elif isinstance(node, ast.Name):
            value = imported.get(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            value = getattr(imported.get(node.value.id), node.attr, None)
        if id(node) not in apart and isinstance(value, str | type | Elemwise):
            found.add(value.scalar_op if isinstance(value, Elemwise) else value)
    return found


@functools.cache
def treated_by_file() -> dict[str, set[Any]]:
    """What each source treats; reading them all takes seconds, which collecting tests must not."""
    return {
        path: treated(ast.parse(source.read_text()))
        for path, source in SOURCES.items()
        if not LAWS.search(path)
    }


def files_of_class(cls: type) -> set[str]:
    home = cls.__module__.replace(".", "/")
    named = {cls, cls.__name__}
    return {
        path
        for path, found in treated_by_file().items()
        if path in (f"{home}.py", f"{home}/__init__.py") or named & found
    }


def files_of_row(name: str) -> set[str]:
    return {
        path
        for path, found in treated_by_file().items()
        if not OTHER_WORDS.search(path) and not OF_REDUCTIONS.search(path)
        if name in found or ScalarFunction(name) in found
    }


def files_of_reduction(name: str) -> set[str]:
    named = {name, REDUCTIONS[name].title, ScalarFunction(name)}
    return {
        p for p, found in treated_by_file().items() if OF_REDUCTIONS.search(p) and named & found
    }


def files_of(name: str) -> set[str]:
    """The files that treat a scalar function, a reduction or a class of ops."""
    if name in CLASSES:
        return files_of_class(CLASSES[name])
    if name.startswith("reduction "):
        return files_of_reduction(name.removeprefix("reduction "))
    return files_of_row(name)


def test_an_op_is_a_matter_of_three_files() -> None:
    """What it is, its loops, and how libraries compute it. A file that is one too many asks for a trait instead."""
    counted: dict[str, set[str]] = {}
    for name in NAMES:
        files = files_of(name)
        assert files, f"no file defines {name}"
        counted[name] = files - {f for f, (_, names) in BESIDE.items() if name in names.split()}
    assert {name: files for name, files in counted.items() if len(files) > MOST} == {}


def test_what_is_beside_is_needed() -> None:
    for file, (_, names) in BESIDE.items():
        for name in names.split():
            files = files_of(name)
            assert file in files, f"{file} does not treat {name} any more"
            assert len(files) > MOST, f"{name} is a matter of {MOST} files without {file}"


@pytest.mark.parametrize(
    "text",
    [
        "from occelo_graph.ops.reduce import Softmax\nx = isinstance(y, Softmax)",
        "from occelo_graph.ops import reduce\nx = {reduce.Softmax: 1}",
        "x = type(y).__name__ in ('Softmax', 'z')",
        "from occelo_graph.ops.reduce import Softmax\n@lowers(Softmax)\ndef f(): ...",
    ],
)
def test_what_treats_an_op_is_found(text: str) -> None:
    assert {c for c in treated(ast.parse(text)) if getattr(c, "__name__", c) == "Softmax"}


@pytest.mark.parametrize(
    "text",
    ["x = {'exp': 1}", "f(y, 'exp')", "from occelo_graph.tensor import exp\nx = [exp]"],
)
def test_what_treats_a_function_is_found(text: str) -> None:
    assert treated(ast.parse(text)) & {"exp", ScalarFunction("exp")}


@pytest.mark.parametrize(
    "text",
    [
        "from occelo_graph.tensor import exp\nx = exp(y)",
        "from occelo_graph.ops.reduce import Softmax\nx = Softmax(0)(y)",
        "arrays.apply('exp', x)",
        "__all__ = ['exp', 'Softmax']",
        "from occelo_graph.ops.reduce import Softmax\ndef f(x: Apply[Softmax]) -> Softmax: ...",
    ],
)
def test_what_only_makes_an_op_does_not_count(text: str) -> None:
    found = {getattr(c, "__name__", str(c)) for c in treated(ast.parse(text))}
    assert not found & {"exp", "Softmax"}


def test_functions_of_libraries_are_of_the_table() -> None:
    assert set(CALLED) <= SCALAR_FUNCTIONS
    for name, (_, *columns) in CALLED.items():
        assert any(columns), f"no library has {name}"


def test_an_op_of_another_package_needs_what_is_public_alone() -> None:
    page = (ROOT / "docs" / "adding-an-op.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, flags=re.M | re.S)
    imports = [n for n in ast.walk(ast.parse("\n".join(blocks))) if isinstance(n, ast.ImportFrom)]
    assert {n.module for n in imports} == {"occelo_graph", "occelo_rewrite", "occelo_link"}
    for node in imports:
        public = importlib.import_module(str(node.module)).__all__
        assert {a.name for a in node.names} <= set(public)
    # everything but the table and its laws is in one place; so one file will do
    for decorator in ("@op", "@lowers_to_loops", "@lowers_scalar_to_loops", "@traces", "@rule"):
        assert decorator in page
