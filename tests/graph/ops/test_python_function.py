"""Python functions as ops, and ops that observe values."""

from __future__ import annotations

import pdb
import pickle
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ops.control.observing import PdbBreakpoint, Print
from occelo_graph.ops.control.python_function import FromFunctionOp, as_op, wrap_py
from occelo_graph.tensors.type import TensorType

vector = TensorType("float64", (None,))


@wrap_py([vector, ot.dscalar], vector)
def scaled(x: Any, factor: Any) -> Any:
    """x times a factor."""
    return x * factor


@as_op(vector, [ot.dscalar, ot.lscalar], infer_shape=lambda node, shapes: [(), ()])
def total_and_count(x: Any) -> Any:
    return x.sum(), x.size


# wrap_py


def test_a_function_becomes_an_op() -> None:
    x = ot.dvector("x")
    out = scaled(x, 3.0)
    assert isinstance(scaled, FromFunctionOp)
    assert out.type == vector
    np.testing.assert_array_equal(og.evaluate(out, {x: [1.0, 2.0]}), [3.0, 6.0])
    total, count = total_and_count(x)
    assert og.evaluate([total, count], {x: [1.0, 2.0]}) == [3.0, 2]
    assert str(scaled) == "FromFunctionOp{scaled}"
    assert scaled.__doc__ == "x times a factor."


def test_wrapped_functions_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(scaled)) is scaled
    inner = wrap_py(vector, vector)(lambda x: x)
    with pytest.raises(pickle.PicklingError, match="pickled by its name"):
        pickle.dumps(inner)


def test_shapes() -> None:
    x = ot.dvector("x")
    assert total_and_count(x)[0].owner.op.infer_shape(None, [(3,)]) == [(), ()]


def test_mistakes_of_wrapped_functions() -> None:
    x = ot.dvector("x")
    with pytest.raises(TypeError, match="itypes of a wrapped function must be types, got 3"):
        wrap_py([3], vector)
    with pytest.raises(TypeError, match="infer_shape must be a function"):
        wrap_py(vector, vector, infer_shape=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        scaled(ot.dmatrix("m"), 1.0)
    wrong = wrap_py(vector, vector)(lambda x: "text")
    with pytest.raises((TypeError, ValueError), match="Output 0 of the wrapped function"):
        og.evaluate(wrong(x), {x: [1.0]})
    short = wrap_py(vector, [vector, vector])(lambda x: [x])
    with pytest.raises(ValueError, match="must give 2 results, one for each output, and gave 1"):
        og.evaluate(short(x), {x: [1.0]})
    with pytest.raises(og.errors.MethodNotDefined, match="cannot be differentiated"):
        og.grad(scaled(x, 1.0).sum(), x)


# Print and breakpoints


def test_print_shows_and_hands_on(capsys: pytest.CaptureFixture[str]) -> None:
    x = ot.dvector("x")
    y = Print("seen", attrs=["shape", "__str__"])(x * 2)
    np.testing.assert_array_equal(og.evaluate(y, {x: [1.0, 2.0]}), [2.0, 4.0])
    assert capsys.readouterr().out == "seen shape = (2,)\nseen __str__ = [2. 4.]\n"
    np.testing.assert_array_equal(og.evaluate(og.grad(y.sum(), x), {x: [1.0]}), [2.0])
    values: list[Any] = []
    own = Print("own", global_fn=lambda op, value: values.append((op.message, value.copy())))
    og.evaluate(own(x), {x: [5.0]})
    assert values == [("own", [5.0])]
    pushed = og.pushforward(own(x) * 3, x, ot.ones_like(x))
    assert og.evaluate(pushed, {x: [1.0]}) == [3.0]


def test_breakpoints_stop_when_the_condition_holds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stops: list[int] = []
    monkeypatch.setattr(pdb, "set_trace", lambda: stops.append(1))
    x, y = ot.dvectors("x", "y")
    a, b = PdbBreakpoint("mine")(ot.gt(x.sum(), 1.0), x, y)
    assert og.evaluate([a, b], {x: [0.5], y: [2.0]}) == [[0.5], [2.0]]
    assert stops == []
    og.evaluate([a, b], {x: [1.5], y: [2.0]})
    assert stops == [1]
    assert "Breakpoint 'mine'" in capsys.readouterr().out
    single = PdbBreakpoint("one")(np.False_, x)
    np.testing.assert_array_equal(og.evaluate(og.grad((single**2).sum(), x), {x: [3.0]}), [6.0])
    with pytest.raises(TypeError, match="must be a scalar"):
        PdbBreakpoint("bad")(x, x)
    with pytest.raises(TypeError, match="needs a variable"):
        PdbBreakpoint("bad")(np.True_)
