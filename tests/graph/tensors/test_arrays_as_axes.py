"""Axes, orders, shifts and lengths as tuples, lists, arrays, NumPy's integers and constants; and shifts of any size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot

AS: dict[str, Callable[..., Any]] = {
    "tuple": lambda *v: v,
    "list": lambda *v: list(v),
    "int64": lambda *v: [np.int64(k) for k in v],
    "uint8": lambda *v: tuple(np.asarray(k)[()].astype("uint8") for k in v),
    "array": lambda *v: np.array(v),
    "int8 array": lambda *v: np.array(v, "int8"),
    "constant": lambda *v: ot.constant(np.array(v)),
}
FIRST: Any = np.int8(0)
SECOND: Any = np.int64(1)
T = ot.dtensor3("t")
VALUE = np.arange(24.0).reshape(2, 3, 4)

FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "dimshuffle": (lambda a: ot.dimshuffle(T, a(2, 0, 1)), VALUE.transpose(2, 0, 1)),
    "method dimshuffle": (lambda a: T.dimshuffle(a(2, 0, 1)), VALUE.transpose(2, 0, 1)),
    "transpose": (lambda a: ot.transpose(T, a(2, 0, 1)), VALUE.transpose(2, 0, 1)),
    "method transpose": (lambda a: T.transpose(a(2, 0, 1)), VALUE.transpose(2, 0, 1)),
    "moveaxis": (lambda a: ot.moveaxis(T, a(0, 1), a(2, 0)), np.moveaxis(VALUE, (0, 1), (2, 0))),
    "expand_dims": (lambda a: ot.expand_dims(T, a(0, 2)), np.expand_dims(VALUE, (0, 2))),
    "squeeze": (lambda a: ot.expand_dims(T, (0, 2)).squeeze(a(0, 2)), VALUE),
    "flip": (lambda a: ot.flip(T, a(0, 2)), np.flip(VALUE, (0, 2))),
    "sum": (lambda a: ot.sum(T, axis=a(0, 2)), VALUE.sum((0, 2))),
    "max": (lambda a: ot.max(T, axis=a(0, 2)), VALUE.max((0, 2))),
    "var": (lambda a: ot.var(T, axis=a(0, 2)), VALUE.var((0, 2))),
    "tensordot": (lambda a: ot.tensordot(T, T, [a(0, 2), a(0, 2)]), np.tensordot(VALUE, VALUE, ((0, 2), (0, 2)))),
    "batched_tensordot": (lambda a: ot.batched_tensordot(T, T, [a(1, 2), a(1, 2)]), np.einsum("bij,bij->b", VALUE, VALUE)),
    "reshape": (lambda a: T.reshape(a(4, 6)), VALUE.reshape(4, 6)),
    "tile": (lambda a: ot.tile(T, a(2, 1)), np.tile(VALUE, (2, 1))),
    "repeat": (lambda a: ot.repeat(T, a(2, 1), axis=FIRST), np.repeat(VALUE, (2, 1), 0)),
    "full": (lambda a: ot.full(a(2, 3), 1.5), np.full((2, 3), 1.5)),
    "broadcast_to": (lambda a: ot.broadcast_to(T, a(2, 2, 3, 4)), np.broadcast_to(VALUE, (2, 2, 3, 4))),
    "take": (lambda a: ot.take(T, a(2, 0), axis=SECOND), np.take(VALUE, (2, 0), 1)),
}  # fmt: skip


@pytest.mark.parametrize("kind", AS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_axes_and_lengths_may_be_arrays(name: str, kind: str) -> None:
    ours, wanted = FUNCTIONS[name]
    (found,) = og.evaluate([ours(AS[kind])], {T: VALUE})
    np.testing.assert_allclose(found, wanted)


def test_axes_of_batches_count_from_the_end() -> None:
    made = ot.batched_tensordot(T, T, [[-1], [-1]])
    (found,) = og.evaluate([made], {T: VALUE})
    np.testing.assert_allclose(found, np.einsum("bik,bjk->bij", VALUE, VALUE))


@pytest.mark.parametrize(
    "axis",
    [np.array([], "int64"), ot.constant(np.array([], "int64")), ot.constant(-1), np.array(0)],
)
def test_a_scalar_is_reduced_over_no_axis(axis: Any) -> None:
    x = ot.dscalar("x")
    made = [f(x, axis=axis) for f in (ot.sum, ot.prod, ot.max, ot.min, ot.argmax)]
    assert og.evaluate([*made, og.grad(made[0] ** 2, x)], {x: 3.0}) == [3.0, 3.0, 3.0, 3.0, 0, 6.0]


@pytest.mark.parametrize(
    "ends",
    [
        (2**63 - 1, 2**63 + 2, 1),
        (2**64 - 1, 2**64 - 4, -1),
        (2**63 + 5, -4, -(2**62)),
        (-3, 2**63 + 5, 2**62),
        (2**63 - 3, 2**63 - 1, 1),
        (-(2**63) + 2, -(2**63), -1),
    ],
)
def test_ranges_at_the_ends_of_integers(ends: tuple[int, int, int]) -> None:
    made = ot.arange(*ends)
    np.testing.assert_array_equal(og.evaluate(made), np.array(range(*ends)).astype(made.dtype))
    kind = "uint64" if min(ends[:2]) >= 0 else "int64"
    if max(ends[:2]) < 2 ** (63 + (kind == "uint64")):
        start, stop = ot.scalars("start", "stop", dtype=kind)
        given = {start: np.array(ends[0], kind), stop: np.array(ends[1], kind)}
        found = og.evaluate(ot.arange(start, stop, ends[2]), given)
        np.testing.assert_array_equal(found, np.array(range(*ends)).astype(found.dtype))


def test_axes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TypeError, match="integer"):
        T.dimshuffle(np.array([[1, 0]]))
