"""Messages about mistakes of users: one golden file, with the same text on every linker.

Set ``OCCELO_WRITE_GOLDEN=1`` to write the file again; read the difference before committing it.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.ops.control import Assert, CheckAndRaise
from occelo_graph.ops.control.python_function import wrap_py
from occelo_graph.ops.elemwise.op import Elemwise

GOLDEN = Path(__file__).parent / "mistakes.txt"
Make = Callable[..., Any]


class World:
    """The variables that mistakes are made with, and `function` in the mode under test."""

    def __init__(self, mode: str) -> None:
        self.x = ot.dvector("x")
        self.y = ot.dvector("y")
        self.s = ot.dscalar("s")
        self.i = ot.lscalar("i")
        self.m = ot.dmatrix("m")
        self.w = oc.shared(np.ones(2), "w")
        self.mode = mode

    def f(self, inputs: Any, outputs: Any = None, **options: Any) -> Any:
        return oc.function(inputs, outputs, **{"mode": self.mode, **options})


@wrap_py([ot.dvector], [ot.dvector])
def failing(x: Any) -> Any:
    raise RuntimeError("the pump is broken")


@wrap_py([ot.dvector], [ot.dvector])
def of_wrong_shape(x: Any) -> Any:
    return x[None]


# fmt: off
MISTAKES: dict[str, Callable[[World], Any]] = {
    # building graphs
    "two known lengths that differ": lambda u: ot.tensor("a", dtype="float64", shape=(2,)) + ot.tensor("b", dtype="float64", shape=(3,)),
    "product of matrices that do not fit": lambda u: ot.dot(ot.tensor("a", dtype="float64", shape=(2, 3)), ot.tensor("b", dtype="float64", shape=(2, 3))),
    "an axis that does not exist": lambda u: u.x.sum(axis=1),
    "more indices than dimensions": lambda u: u.x[0, 0],
    "an index that is no index": lambda u: u.x["a"],
    "a reshape to another size": lambda u: ot.tensor("a", dtype="float64", shape=(6,)).reshape((4, 2)),
    "a dtype that does not exist": lambda u: ot.tensor("a", dtype="float65", shape=(2,)),
    "a dimension that dimshuffle has not": lambda u: u.x.dimshuffle(1),
    "joining tensors of different dimensions": lambda u: ot.concatenate([u.x, u.m]),
    "truth of a variable": lambda u: bool(u.x > 0),
    "iterating over a vector of unknown length": lambda u: list(u.x),
    "a variable where a number is needed": lambda u: float(u.s),
    "a condition made with !=": lambda u: ot.switch(u.x != 0, 1 / u.x, 0.0),
    "a name that is no string": lambda u: ot.dvector(3),
    "an array of strings": lambda u: ot.constant(np.array(["a"])),
    "a shared variable of a variable": lambda u: oc.shared(u.x),
    "a shared value of another type": lambda u: u.w.set_value(np.ones((2, 2))),
    "branches of different types": lambda u: ot.ifelse(u.s > 0, u.x, u.m),
    "a condition that is a vector": lambda u: ot.ifelse(u.x > 0, u.x, u.x),
    # gradients
    "gradient of a vector": lambda u: og.grad(u.x * 2, u.x),
    "gradient by what does not matter": lambda u: og.grad(u.x.sum(), u.y),
    "gradient through an op without one": lambda u: og.grad(failing(u.x).sum(), u.x),
    "gradient that is not defined": lambda u: og.grad(og.undefined_grad(u.x).sum(), u.x),
    # compiling
    "inputs that are no list": lambda u: u.f(u.x, u.x),
    "a constant as an input": lambda u: u.f([ot.constant(1.0)], u.x),
    "a shared variable as an input": lambda u: u.f([u.w], u.w),
    "a number as an input": lambda u: u.f([3], u.x),
    "an input twice": lambda u: u.f([u.x, u.x], u.x),
    "an unused input": lambda u: u.f([u.x, u.y], u.x),
    "an input that is missing": lambda u: u.f([u.x], u.x + u.y),
    "an output that is no variable": lambda u: u.f([u.x], object()),
    "a key of outputs that is no string": lambda u: u.f([u.x], {1: u.x}),
    "an update of what is not shared": lambda u: u.f([u.x], u.x, updates={u.x: u.x}),
    "two updates of one variable": lambda u: u.f([], u.w, updates=[(u.w, u.w), (u.w, u.w)]),
    "an update of another dtype": lambda u: u.f([], u.w, updates={u.w: u.w.astype("float32")}),
    "an update of other dimensions": lambda u: u.f([], u.w, updates={u.w: u.w.sum()}),
    "a given of another type": lambda u: u.f([u.i], u.x.sum(), givens={u.x: u.i}),
    "a given for an input": lambda u: u.f([u.x], u.x, givens={u.x: u.w}),
    "a key of givens that is no variable": lambda u: u.f([], u.x, givens={"x": u.w}),
    "no_default_updates of no list": lambda u: u.f([u.x], u.x, no_default_updates="w"),
    "a mode that does not exist": lambda u: oc.function([u.x], u.x, mode="FAST_WALK"),
    "an in-place op": lambda u: u.f([u.x], Elemwise(ot.exp.scalar_op, ((0, 0),))(u.x)),
    "an implicit input without a value": lambda u: oc.In(u.x, implicit=True),
    "a mutable input that is not borrowed": lambda u: oc.In(u.x, mutable=True, borrow=False),
    "an inner graph that lacks an input": lambda u: OpFromGraph([u.x], [u.x + u.y]),
    "a profile of no kind": lambda u: u.f([u.x], u.x, profile=3),
    # calling
    "too many arguments": lambda u: u.f([u.x], u.x)([1.0], [2.0]),
    "too few arguments": lambda u: u.f([u.x, u.y], u.x + u.y)([1.0]),
    "a keyword that does not exist": lambda u: u.f([u.x], u.x)(z=1),
    "an argument given twice": lambda u: u.f([u.x], u.x)([1.0], x=[1.0]),
    "an argument with too few dimensions": lambda u: u.f([u.x], u.x, name="named")(1.0),
    "an argument of strings": lambda u: u.f([u.x], u.x)(["a"]),
    "an argument that is a variable": lambda u: u.f([u.x], u.x)(u.x),
    "None as an argument": lambda u: u.f([u.x], u.x)(None),
    "an argument that loses precision": lambda u: u.f([u.i], u.i)(1.5),
    "an argument of another length than is known": lambda u: u.f([v := ot.tensor("v", dtype="float64", shape=(3,))], v * 2)([1.0]),
    "an argument that strict refuses": lambda u: u.f([oc.In(u.x, strict=True)], u.x)([1.0]),
    "an output that does not exist": lambda u: u.f([u.x], {"a": u.x})([1.0], output_subset=["b"]),
    "an input that is looked up and does not exist": lambda u: u.f([u.x], u.x)["q"],
    # running
    "lengths that differ": lambda u: u.f([u.x, u.y], ot.exp(u.x) * u.y)([1.0, 2.0], [1.0, 2.0, 3.0]),
    "a product of matrices that does not fit": lambda u: u.f([u.m], ot.dot(u.m, u.m))(np.ones((2, 3))),
    "an index out of range": lambda u: u.f([u.x, u.i], u.x[u.i] + 1)([1.0, 2.0], 5),
    "an index array out of range": lambda u: u.f([u.x], u.x[np.array([0, 7])] * 2)([1.0, 2.0]),
    "a reshape that does not fit": lambda u: u.f([u.x], u.x.reshape((2, 2)) * 2)([1.0, 2.0, 3.0]),
    "a shape that is not as specified": lambda u: u.f([u.x], ot.specify_shape(u.x, (3,)) * 2)([1.0, 2.0]),
    "an assertion": lambda u: u.f([u.x], Assert("x must be positive")(u.x, ot.gt(u.x, 0).all()) * 2)([-1.0]),
    "a check of one's own": lambda u: u.f([u.s], CheckAndRaise(ZeroDivisionError, "s is 0")(u.s, ot.neq(u.s, 0)) * 2)(0.0),
    "the largest of nothing": lambda u: u.f([u.x], ot.max(u.x) * 2)([]),
    "lengths that cannot be joined": lambda u: u.f([u.m, u.x], ot.concatenate([u.m, u.x[None, :]]) * 2)(np.ones((1, 2)), [1.0]),
    "a negative length": lambda u: u.f([u.i], ot.zeros((u.i,)) + 1)(-2),
    "a step of 0": lambda u: u.f([u.x, u.i], u.x[:: u.i] * 2)([1.0], 0),
    "writing what does not fit": lambda u: u.f([u.x, u.y], ot.set_subtensor(u.x[:2], u.y) * 2)([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
    "a wrapped function that fails": lambda u: u.f([u.x], failing(u.x) * 2)([1.0]),
    "a wrapped function of the wrong shape": lambda u: u.f([u.x], of_wrong_shape(u.x) * 2)([1.0]),
    "squeezing a dimension that is not 1": lambda u: u.f([u.m], ot.specify_shape(u.m, (None, 1)).squeeze(1) * 2)(np.ones((2, 3))),
    # options
    "an option that does not exist": lambda u: setattr(config, "florX", "float32"),
    "a value that an option does not take": lambda u: setattr(config, "floatX", "float65"),
}
# fmt: on


def told(name: str, mode: str) -> str:
    """Class and text of what a mistake raises, without what depends on the machine."""
    with warnings.catch_warnings():
        # backends that must know lengths say which inputs decide them
        warnings.filterwarnings("ignore", "Shapes in the graph depend on values")
        warnings.filterwarnings("ignore", ".* it runs in Python")
        with pytest.raises(Exception) as caught:  # noqa: PT011 the golden file has the text
            MISTAKES[name](World(mode))
    text = str(caught.value)
    if isinstance(caught.value, KeyError):
        text = caught.value.args[0]
    text = "\n".join([text, *getattr(caught.value, "__notes__", [])])
    text = re.sub(re.escape(__file__) + r":\d+", "FILE:LINE", text)
    text = re.sub(r"there are [^\n]*FAST_RUN[^\n]*", "there are ...", text)
    text = re.sub(r"\n    (?=\S*.*\n)    *\"[^\n]*lambda u[^\n]*", "", text)
    text = re.sub(r"object at 0x[0-9a-f]+", "object at ...", text)
    return f"{type(caught.value).__name__}: {text}"


def golden() -> dict[str, str]:
    found: dict[str, str] = {}
    for part in GOLDEN.read_text().split("\n## ")[1:]:
        name, _, text = part.partition("\n")
        found[name] = text.strip("\n")
    return found


def test_the_golden_file_is_complete() -> None:
    if os.environ.get("OCCELO_WRITE_GOLDEN"):
        parts = [f"## {name}\n{told(name, 'vm')}\n" for name in MISTAKES]
        GOLDEN.write_text("What users are told of their mistakes.\n\n" + "\n".join(parts))
    assert list(golden()) == list(MISTAKES)
    assert len(MISTAKES) >= 60


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_alike_on_every_linker(name: str, mode: str) -> None:
    assert told(name, mode) == golden()[name]


def test_the_last_line_is_the_cause_and_the_text_fits_on_a_screen() -> None:
    for name, text in golden().items():
        lines = text.splitlines()
        assert len(lines) <= 24, name
        assert len(lines[-1]) > 3, name
        assert "occelo_" not in text, name
