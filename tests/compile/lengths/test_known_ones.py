"""Lengths that became known to be 1 broadcast, whatever op computed the tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot

MADE: dict[str, Callable[[Any], Any]] = {
    "alloc": lambda x: ot.broadcast_to(x, (1, 2)),
    "alloc of one of its lengths": lambda x: ot.alloc(x, 1, x.shape[1]),
    "reshape": lambda x: x.reshape((1, 2)),
    "specified": lambda x: ot.specify_shape(x, (1, None)),
    "a sum": lambda x: ot.sum(x, axis=0, keepdims=True),
    "a join": lambda x: ot.concatenate([x[:, :1], x[:, 1:]], axis=1).reshape((1, 2)),
    "transposed": lambda x: ot.broadcast_to(x.T, (2, 1)).T,
    "a write": lambda x: ot.set_subtensor(ot.zeros((1, 2))[:], ot.broadcast_to(x, (1, 2))),
}
USED: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "product": (lambda r, x: r * ot.concatenate([x, x]), lambda r, x: r * np.concatenate([x, x])),
    "of a function": (
        lambda r, x: ot.exp(r) + ot.concatenate([x, x]),
        lambda r, x: np.exp(r) + np.concatenate([x, x]),
    ),
    "of a sum": (
        lambda r, x: (r + x.sum()) * ot.concatenate([x, x]),
        lambda r, x: (r + x.sum()) * np.concatenate([x, x]),
    ),
    "switch": (
        lambda r, x: ot.switch(r > 0, ot.concatenate([x, x]), r),
        lambda r, x: np.where(r > 0, np.concatenate([x, x]), r),
    ),
    "alloc": (
        lambda r, x: ot.broadcast_to(r[:, ::-1], (3, 2)),
        lambda r, x: np.broadcast_to(r[:, ::-1], (3, 2)),
    ),
    "several": (
        lambda r, x: ot.exp(r)[:, None] * ot.concatenate([x, x]) - r,
        lambda r, x: np.exp(r)[:, None] * np.concatenate([x, x]) - r,
    ),
    "a part of it": (
        lambda r, x: r[:, 1:] * ot.concatenate([x, x]),
        lambda r, x: r[:, 1:] * np.concatenate([x, x]),
    ),
    "twice in a join": (
        lambda r, x: ot.concatenate([r, r], axis=1) * ot.ones((3, 1)),
        lambda r, x: np.concatenate([r, r], axis=1) * np.ones((3, 1)),
    ),
    "written": (
        lambda r, x: ot.set_subtensor(ot.zeros((3, 2))[:], r * 2.0),
        lambda r, x: np.broadcast_to(r * 2.0, (3, 2)),
    ),
    "gradient": (
        lambda r, x: og.grad((ot.sqr(r) * ot.concatenate([x, x])).sum(), r),
        lambda r, x: 4 * r * x,
    ),
}


@pytest.mark.parametrize("used", USED)
@pytest.mark.parametrize("made", MADE)
def test_ones_that_are_known_broadcast(made: str, used: str) -> None:
    x = ot.tensor("x", dtype="float64", shape=(None, 2))
    r = MADE[made](x)
    assert r.type.shape[0] == 1
    build, numpys = USED[used]
    array = np.array([[0.5, -1.5]])
    f = oc.function([x], build(r, x), on_unused_input="ignore", mode="py")
    np.testing.assert_allclose(f(array), numpys(array, array), rtol=1e-12)


@pytest.mark.parametrize("made", [m for m in MADE if m not in ("reshape", "a join", "a sum")])
def test_other_lengths_than_the_known_one_are_errors(made: str) -> None:
    x = ot.tensor("x", dtype="float64", shape=(None, 2))
    f = oc.function([x], MADE[made](x) * ot.concatenate([x, x]), mode="py")
    with pytest.raises((ValueError, AssertionError)):
        f(np.ones((3, 2)))


@pytest.mark.parametrize(
    "lengths", [(1, 5), (5, 1), (1, None), (None, 1), (1, 1), (None, 5)], ids=str
)
def test_batches_of_products(lengths: tuple[int | None, int | None]) -> None:
    generator = np.random.default_rng(0)
    values = [
        generator.normal(size=(5 if n is None else n, *shape))
        for n, shape in zip(lengths, ((2, 3), (3, 2)), strict=True)
    ]
    x, y = (
        ot.tensor(dtype="float64", shape=(n, *value.shape[1:]))
        for n, value in zip(lengths, values, strict=True)
    )
    found = oc.function([x, y], ot.batched_dot(x, y))(*values)
    np.testing.assert_allclose(found, values[0] @ values[1])


def test_each_of_broadcast_tensors_needs_the_lengths_of_the_others() -> None:
    x, y = ot.dvectors("x", "y")
    made = ot.broadcast_arrays(x, y)
    for out, want in zip(made, ([1.0, 2.0], [3.0, 4.0]), strict=True):
        f = oc.function([x, y], out)
        assert f([1.0, 2.0], [3.0, 4.0]).tolist() == want
        for lengths in ((1, 2), (2, 1)):
            with pytest.raises(ValueError, match="lengths of dimension 0 differ"):
                f(*map(np.ones, lengths))
