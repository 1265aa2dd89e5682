"""Lowerings of another package whose results are not of the types of the outputs: errors that name the op and its line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ops.elemwise.op import elementwise
from occelo_graph.ops.elemwise.scalar import inexact
from occelo_link import (
    lowers_complex_to_loops,
    lowers_scalar_to_loops,
    lowers_to_loops,
    traces,
    traces_scalar,
)
from occelo_testing.loop_programs import has_compiler

LINKERS = ["native", *(["c"] if has_compiler() else []), "numba", "jax", "pytorch"]
X, Z = ot.dvector("x"), ot.tensor(dtype="complex128", shape=(None,))
VALUE = np.array([1.0, -2.0, 3.0])


class Doubles(og.Op):
    """Each subclass has a lowering of its own."""

    __props__: ClassVar[tuple[str, ...]] = ()

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        return x * 2


Results = Callable[..., Any]


def _op(in_loops: Results, traced: Results) -> Any:
    class Lowered(Doubles):
        pass

    lowers_to_loops(Lowered)(lambda context, node, inputs: in_loops(context, inputs[0]))
    lowers_complex_to_loops(Lowered)(lambda context, node, inputs: in_loops(context, inputs[0]))
    traces(Lowered)(lambda tracer, node, inputs: traced(tracer.arrays, inputs[0]))
    return Lowered()


def _narrow(context: Any, x: Any) -> Any:
    return context.virtual("float32", x.shape, lambda b, i: b.cast(x.at(b, i), "float32"), [x])


def _number(context: Any, x: Any) -> Any:
    return context.virtual("float64", [], lambda b, i: b.const(1.0, "float64"), [])


WRONG: dict[str, tuple[Results, Results, str]] = {
    "dtype": (
        lambda c, x: [_narrow(c, x)],
        lambda a, x: [a.cast(x, "float32")],
        "gave float32 of 1 dimensions",
    ),
    "dimensions": (
        lambda c, x: [_number(c, x)],
        lambda a, x: [a.reduce("add", x, (0,))],
        "gave float64 of 0 dimensions",
    ),
    "two": (lambda c, x: [x, x], lambda a, x: [x, x], "gave float64 .*, float64"),
    "none": (lambda c, x: [], lambda a, x: [], "gave an empty list"),
    "no list": (lambda c, x: None, lambda a, x: None, "gave NoneType"),
    "no array": (lambda c, x: [2.0], lambda a, x: [2.0], "gave float"),
}


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("what", WRONG)
def test_results_of_other_types_are_refused(what: str, linker: str) -> None:
    _skip_without(linker)
    in_loops, traced, message = WRONG[what]
    y = _op(in_loops, traced)(X)
    told = rf"lowering of Lowered, made at .*test_wrong_lowerings.py:\d+, .*float64.*{message}"
    with pytest.raises(TypeError, match=f"(?s){told}"):
        oc.function([X], y, mode=linker)(VALUE)


@pytest.mark.parametrize("linker", LINKERS)
def test_results_of_the_right_types_are_taken(linker: str) -> None:
    _skip_without(linker)

    def doubled(context: Any, x: Any) -> Any:
        return (x,)

    op = _op(doubled, lambda arrays, x: (x,))
    f = oc.function([X, Z], [op(X), op(Z)], mode=linker)
    found = f(VALUE, VALUE * 1j)
    np.testing.assert_array_equal(found[0], VALUE)
    np.testing.assert_array_equal(found[1], VALUE * 1j)


SCALARS: dict[str, tuple[Results, Results | None, str]] = {
    "dtype": (lambda b, x: b.cast(x, "float32"), None, "value of float64, and gave float32"),
    "operation": (lambda b, x: b.op("nothing", x), lambda a, x: a.apply("nothing", x), "'nothing'"),
    "number": (
        lambda b, x: 2.0,
        lambda a, x: 2.0,
        "wrong_scalar must return .*, and gave (float|2.0)",
    ),
    "mixed": (
        lambda b, x: b.cast(b.op("mul", x, b.const(2, "int64")), "float64"),
        None,
        "of other packages .*wrong_scalar.* make a wrong program",
    ),
    "shape": (
        lambda b, x: None,
        lambda a, x: a.reduce("add", x, (0,)),
        r"wrong_scalar must return (an array of shape \(3,\), and gave one of shape \(\)|.*NoneType)",
    ),
}


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("what", SCALARS)
def test_functions_of_elements_of_other_types_are_refused(what: str, linker: str) -> None:
    _skip_without(linker)
    in_loops, traced, message = SCALARS[what]
    if linker in ("jax", "pytorch") and traced is None:
        pytest.skip("the dtype of what the library computes is converted")
    function = elementwise("wrong_scalar", 1, inexact, lambda x: x * 2.0)
    lowers_scalar_to_loops("wrong_scalar", cost=1)(lambda b, dtype, args: in_loops(b, args[0]))
    if traced is not None:
        traces_scalar("wrong_scalar")(lambda arrays, x: traced(arrays, x))
    with pytest.raises((TypeError, ValueError), match=f"(?s){message}"):
        oc.function([X], function(X), mode=linker)(VALUE)


def _skip_without(linker: str) -> None:
    library = {"numba": "numba", "jax": "jax", "pytorch": "torch"}.get(linker)
    if library is not None:
        pytest.importorskip(library)


class _Broken(Exception):
    """An exception of another package."""


@pytest.mark.parametrize("linker", ["native", *(["c"] if has_compiler() else []), "numba"])
def test_a_lowering_that_raises_is_named(linker: str) -> None:
    if linker == "numba":
        pytest.importorskip("numba", reason="Numba is not installed")

    def fails(context: Any, x: Any) -> Any:
        raise _Broken("my lowering")

    made = _op(fails, lambda arrays, x: x)(X)
    with pytest.raises(_Broken, match="my lowering") as raised:
        oc.function([X], made, mode=oc.Mode(linker))
    told = "".join([str(raised.value), *getattr(raised.value, "__notes__", ())])
    assert "While lowering Lowered" in told
    assert "test_wrong_lowerings.py" in told
