"""Batches of graphs in which a batched variable decides lengths, against NumPy and against one element after the other.

The lengths must be equal for all elements of the batch, or there is an error when the graph runs. Inside of an
`OpFromGraph` only its outputs must have equal shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.inner_graph import OpFromGraph

N, K, S, X = ot.lscalar("n"), ot.lscalar("k"), ot.dscalar("s"), ot.dvector("x")
MANY = {v: v.type.clone(shape=(None, *v.type.shape)).make_variable() for v in (N, K, S, X)}
VALUES: dict[Any, Any] = {
    N: np.array([3, 3, 3, 3]),
    K: np.array([0, 1, 2, -1]),
    S: np.array([0.5, 2.0, -1.0, 3.0]),
    X: np.arange(12.0).reshape(4, 3),
}

MADE: dict[str, tuple[Callable[[], Any], Callable[[Any, Any, Any, Any], Any]]] = {
    "arange": (lambda: ot.arange(N) * S, lambda n, k, s, x: np.arange(n) * s),
    "range": (lambda: ot.arange(K, K + N), lambda n, k, s, x: np.arange(k, k + n)),
    "backward": (lambda: ot.arange(K + 2 * N, K, -2), lambda n, k, s, x: np.arange(k + 2 * n, k, -2)),
    "floats": (
        lambda: ot.arange(S, S + 2.2, 0.5) * S,
        lambda n, k, s, x: np.arange(s, s + 2.2, 0.5) * s,
    ),
    "steps": (
        lambda: ot.arange(S, S + 4.1 * S, S),
        lambda n, k, s, x: np.arange(s, s + 4.1 * s, s),
    ),
    "eye": (lambda: ot.eye(N, 4, K) * S, lambda n, k, s, x: np.eye(n, 4, k) * s),
    "triangle": (
        lambda: ot.tril(ot.outer(X, X), K),
        lambda n, k, s, x: np.tril(np.outer(x, x), k),
    ),
    "full": (lambda: ot.full((N, 2), S), lambda n, k, s, x: np.full((n, 2), s)),
    "zeros": (lambda: ot.zeros((2, N)) + S, lambda n, k, s, x: np.zeros((2, n)) + s),
    "broadcast": (
        lambda: ot.broadcast_to(X, (N, 3)),
        lambda n, k, s, x: np.broadcast_to(x, (n, 3)),
    ),
    "reshape": (lambda: X.reshape((N, -1)), lambda n, k, s, x: x.reshape((n, -1))),
    "specify": (lambda: ot.specify_shape(X, (N,)) * 2, lambda n, k, s, x: x * 2),
    "repeat": (lambda: ot.repeat(X, N), lambda n, k, s, x: np.repeat(x, n)),
    "numbers of repeats": (
        lambda: ot.repeat(X, ot.stack([K + 1, 4 - K, 2])),
        lambda n, k, s, x: np.repeat(x, [k + 1, 4 - k, 2]),
    ),
    "nonzero": (lambda: ot.neq(X - X[K], 0.0).nonzero()[0], lambda n, k, s, x: (x != x[k]).nonzero()[0]),
    "tile": (lambda: ot.tile(X, N), lambda n, k, s, x: np.tile(x, n)),
    "dependent": (
        lambda: (ot.arange(N, dtype="float64") * X).sum() * ot.ones((N,)),
        lambda n, k, s, x: np.ones(n) * (np.arange(n) * x).sum(),
    ),
}  # fmt: skip


def over_batch(out: Any, count: int) -> Any:
    """``out`` for all elements of the batch, and its gradients by the batches of floats."""
    batch = og.vectorize_graph(out, MANY)
    if not np.issubdtype(batch.dtype, np.floating):
        return [batch]
    weights = ot.sqrt(1.0 + ot.arange(batch.size)).reshape(batch.shape)
    cost = (batch * weights).sum()
    return [batch, *og.grad(cost, [MANY[S], MANY[X]], disconnected_inputs="ignore")]


@pytest.mark.sampled(16)
@pytest.mark.parametrize("mode", ["native", "vm"])
@pytest.mark.parametrize("name", MADE)
def test_equal_lengths(name: str, mode: str) -> None:
    make, numpys = MADE[name]
    out = make()
    f = oc.function([*MANY.values()], over_batch(out, 4), mode=mode, on_unused_input="ignore")
    alone: Any = [out]
    if np.issubdtype(out.dtype, np.floating):
        weights = ot.TensorType("float64", (None,) * out.ndim)("w")
        alone += og.grad((out * weights).sum(), [S, X], disconnected_inputs="ignore")
        one = oc.function([N, K, S, X, weights], alone, mode="py", on_unused_input="ignore")
    # the lengths of an empty batch are 0, which does not fit the other lengths of two graphs
    for count in (4, 1) if name in ("specify", "dependent") else (4, 1, 0):
        values = [v[:count] for v in VALUES.values()]
        found = f(*values)
        expected = [numpys(*element) for element in zip(*values, strict=True)]
        assert found[0].shape[0] == count
        if not count:
            continue
        np.testing.assert_allclose(found[0], np.array(expected), rtol=1e-14)
        if len(found) > 1:
            sizes = np.sqrt(1.0 + np.arange(found[0].size)).reshape(found[0].shape)
            rows = [one(*element, w) for *element, w in zip(*values, sizes, strict=True)]
            for k, gradient in enumerate(found[1:], 1):
                np.testing.assert_allclose(gradient, [r[k] for r in rows], rtol=1e-12)


@pytest.mark.parametrize("mode", ["native", "vm"])
@pytest.mark.parametrize("name", ["arange", "eye", "full", "numbers of repeats"])
def test_other_lengths_raise(name: str, mode: str) -> None:
    batch = og.vectorize_graph(MADE[name][0](), MANY)
    f = oc.function([*MANY.values()], batch, mode=mode, on_unused_input="ignore")
    values = dict(VALUES) | {N: np.array([3, 3, 2, 3])}
    if name == "numbers of repeats":
        x = ot.repeat(X, ot.stack([K, K, N]))
        batch = og.vectorize_graph(x, MANY)
        f = oc.function([*MANY.values()], batch, mode=mode, on_unused_input="ignore")
    pattern = {"arange": "ARange", "eye": "Eye", "full": "Alloc", "numbers of repeats": "Repeat"}
    with pytest.raises(ValueError, match=pattern[name]):
        f(*values.values())


WITHIN: dict[str, tuple[Callable[[], Any], Callable[[Any, Any, Any, Any], Any]]] = {
    "sum of a range": (
        lambda: (ot.arange(N) * S).sum(),
        lambda n, k, s, x: (np.arange(n) * s).sum(),
    ),
    "start of a vector": (lambda: (X[:N] ** 2).sum() * S, lambda n, k, s, x: (x[:n] ** 2).sum() * s),
    "mask": (lambda: (X[X > S] ** 2).sum(), lambda n, k, s, x: (x[x > s] ** 2).sum()),
    "positions": (
        lambda: (X > S).nonzero()[0].sum() * S,
        lambda n, k, s, x: (x > s).nonzero()[0].sum() * s,
    ),
    "vector": (
        lambda: ot.outer(X, ot.arange(N) * S).sum(axis=1),
        lambda n, k, s, x: np.outer(x, np.arange(n) * s).sum(axis=1),
    ),
}  # fmt: skip


@pytest.mark.sampled(8)
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("mode", ["native", "vm"])
@pytest.mark.parametrize("name", WITHIN)
def test_other_lengths_within_an_op(name: str, mode: str, nested: bool) -> None:
    make, numpys = WITHIN[name]
    out = make()
    if nested:
        # the inner op has a result of another length for each element
        inner = OpFromGraph([N, S], [ot.arange(N) * S])
        out = out * inner(N, S).sum()
    made = OpFromGraph([N, S, X], [out])(N, S, X)
    f = oc.function([*MANY.values()], over_batch(made, 4), mode=mode, on_unused_input="ignore")
    one = oc.function([N, S, X], [out, *og.grad(out.sum(), [S, X], disconnected_inputs="ignore")], mode="py", on_unused_input="ignore")  # fmt: skip
    values = dict(VALUES) | {N: np.array([3, 1, 0, 2])}
    for count in (4, 1, 0):
        given = [v[:count] for v in values.values()]
        found = f(*given)
        assert len(found[0]) == count
        if not count:
            continue
        elements: list[Any] = list(zip(*given, strict=True))
        rest: list[Any] = [np.sum(np.arange(n) * s) if nested else 1.0 for n, _, s, _ in elements]
        expected = [numpys(*e) * r for e, r in zip(elements, rest, strict=True)]
        np.testing.assert_allclose(found[0], np.array(expected), rtol=1e-14)
        if name == "vector":
            continue
        weights = np.sqrt(1.0 + np.arange(count))
        rows = [one(n, s, x) for n, _, s, x in elements]
        for k, gradient in enumerate(found[1:], 1):
            wanted = [r[k] * w for r, w in zip(rows, weights, strict=True)]
            np.testing.assert_allclose(gradient, wanted, rtol=1e-12)


def test_outputs_of_an_op_with_other_shapes_raise() -> None:
    made = OpFromGraph([N, S], [ot.arange(N) * S])(N, S)
    f = oc.function([MANY[N], MANY[S]], og.vectorize_graph(made, MANY), mode="vm")
    np.testing.assert_array_equal(f([2, 2], [1.0, 2.0]), [[0.0, 1.0], [0.0, 2.0]])
    with pytest.raises(ValueError, match="OpFromGraph"):
        f([2, 3], [1.0, 2.0])


@pytest.mark.parametrize("static", [True, False])
def test_no_elements_of_an_op_whose_lengths_follow_from_values(static: bool) -> None:
    x, none = ot.dvector("x"), ot.tensor("none", shape=(0 if static else None, None))
    made = og.vectorize_graph(x.nonzero()[0], {x: none})
    found = oc.function([none], made, mode="vm")(np.zeros((0, 3)))
    assert found.shape[0] == 0
