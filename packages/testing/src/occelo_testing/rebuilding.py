"""Expressions that depend on the lengths of a matrix, with equivalent functions in NumPy.

Tests of the packages graph and compile build the graph of an expression for one shape of the matrix. Then they replace
the matrix by a matrix of another shape, and compare the result with NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from occelo_graph import tensor as ot
from occelo_graph.gradient.jacobians import jacobian
from occelo_graph.gradient.reverse import grad
from occelo_graph.vectorize import vectorize

# untyped, since the functions accept arrays of any dtype
np: Any = numpy

Pair = tuple[Callable[[Any], Any], Callable[[Any], Any]]

SHAPES: list[tuple[tuple[int | None, ...], tuple[int | None, ...]]] = [
    ((3, 4), (5, 6)),
    ((3, 3), (5, 5)),
    ((3, 4), (3, 6)),
    ((None, 4), (None, 6)),
    ((3, None), (5, None)),
    ((3, 4), (None, None)),
    ((3, 4), (None, 6)),
    ((None, None), (5, 6)),
]
"""Pairs of static shapes: of the matrix that the graph is built with, and of the matrix that replaces it."""


def _jacobian_of_square(a: Any) -> Any:
    """The Jacobian of ``a[0] ** 2`` with respect to all elements of ``a``."""
    result = np.zeros((a.shape[1], *a.shape))
    for i in range(a.shape[1]):
        result[i, 0, i] = 2 * a[0, i]
    return result


def _sums(v: Any) -> Any:
    return v.sum() * ot.ones(v.shape)


def _slope(cost: ot.TensorVariable, v: ot.TensorVariable) -> Any:
    return grad(cost, v)


def _slope_of_square(v: Any) -> Any:
    return _slope(v.sum() ** 2, v)


EXPRESSIONS: dict[str, Pair] = {
    "zeros": (lambda x: ot.zeros(x.shape), lambda a: np.zeros(a.shape)),
    "zeros of elements": (lambda x: ot.zeros((x.shape[1], 2)), lambda a: np.zeros((a.shape[1], 2))),
    "zeros of a part": (lambda x: ot.zeros(x.shape[1:]), lambda a: np.zeros(a.shape[1:])),
    "zeros of a transpose": (lambda x: ot.zeros(x.T.shape), lambda a: np.zeros(a.T.shape)),
    "zeros like": (lambda x: ot.zeros_like(x), lambda a: np.zeros_like(a)),
    "ones": (lambda x: ot.ones(x.shape, "int8"), lambda a: np.ones(a.shape, "int8")),
    "full": (lambda x: ot.full(x.shape, 7.0), lambda a: np.full(a.shape, 7.0)),
    "full of a vector": (
        lambda x: ot.full(x.shape, ot.arange(x.shape[1])),
        lambda a: np.full(a.shape, np.arange(a.shape[1])),
    ),
    "alloc": (lambda x: ot.alloc(3.0, *x.shape), lambda a: np.full(a.shape, 3.0)),
    "alloc of a vector of lengths": (
        lambda x: ot.alloc(3.0, x.shape),
        lambda a: np.full(a.shape, 3.0),
    ),
    "broadcast_to": (
        lambda x: ot.broadcast_to(ot.constant(2.0), x.shape),
        lambda a: np.full(a.shape, 2.0),
    ),
    "broadcast_to of a column": (
        lambda x: ot.broadcast_to(x[:, 0][:, None], x.shape),
        lambda a: np.broadcast_to(a[:, :1], a.shape),
    ),
    "broadcast_arrays": (
        lambda x: ot.broadcast_arrays(x, x[0][None])[1],
        lambda a: np.broadcast_to(a[:1], a.shape),
    ),
    "reshape": (lambda x: x.T.reshape(x.shape), lambda a: a.T.reshape(a.shape)),
    "reshape of a part": (
        lambda x: x.reshape((x.shape[1], 1, -1)),
        lambda a: a.reshape((a.shape[1], 1, -1)),
    ),
    "reshape to the transpose": (
        lambda x: x.reshape(x.T.shape),
        lambda a: a.reshape(a.T.shape),
    ),
    "flatten and back": (
        lambda x: x.T.flatten().reshape(x.shape),
        lambda a: a.T.flatten().reshape(a.shape),
    ),
    "flatten to two": (lambda x: ot.flatten(x[None], 2), lambda a: a.reshape((1, -1))),
    "join_dims": (lambda x: ot.join_dims(x[None], 0, 2), lambda a: a),
    "split_dims": (
        lambda x: ot.split_dims(x, (x.shape[0], 1), 0),
        lambda a: a[:, None],
    ),
    "specify_shape": (lambda x: ot.specify_shape(2 * x, x.shape), lambda a: 2 * a),
    "arange": (lambda x: ot.arange(x.shape[0]), lambda a: np.arange(a.shape[0])),
    "arange of the size": (lambda x: ot.arange(x.size), lambda a: np.arange(a.size)),
    "eye": (lambda x: ot.eye(x.shape[0], x.shape[1]), lambda a: np.eye(*a.shape)),
    "tril": (lambda x: ot.tril(x), np.tril),
    "tile": (lambda x: ot.tile(x, (2, 3)), lambda a: np.tile(a, (2, 3))),
    "tile as often as rows": (
        lambda x: ot.tile(ot.constant([1.0, 2.0]), x.shape[0]),
        lambda a: np.tile([1.0, 2.0], a.shape[0]),
    ),
    "repeat": (lambda x: ot.repeat(x, 2, axis=1), lambda a: np.repeat(a, 2, axis=1)),
    "repeat as often as rows": (
        lambda x: ot.repeat(ot.constant([1.0, 2.0]), x.shape[0]),
        lambda a: np.repeat([1.0, 2.0], a.shape[0]),
    ),
    "expand_dims": (lambda x: ot.expand_dims(x, 1), lambda a: a[:, None]),
    "slices": (lambda x: x[1:-1, ::-2], lambda a: a[1:-1, ::-2]),
    "a slice to half": (
        lambda x: x[: x.shape[0] // 2],
        lambda a: a[: a.shape[0] // 2],
    ),
    "the last row": (lambda x: x[x.shape[0] - 1], lambda a: a[-1]),
    "concatenate": (
        lambda x: ot.concatenate([x, ot.zeros(x.shape)], axis=1),
        lambda a: np.concatenate([a, np.zeros(a.shape)], axis=1),
    ),
    "stack": (lambda x: ot.stack([x, ot.ones_like(x)]), lambda a: np.stack([a, np.ones_like(a)])),
    "split": (
        lambda x: ot.split(x, [1, x.shape[0] - 1], 2)[1],
        lambda a: a[1:],
    ),
    "mean": (lambda x: x.mean(), lambda a: a.mean()),
    "mean of columns": (lambda x: x.mean(axis=0), lambda a: a.mean(axis=0)),
    "std": (lambda x: x.std(axis=1), lambda a: a.std(axis=1)),
    "outer": (lambda x: ot.outer(x, x[0]), lambda a: np.outer(a, a[0])),
    "tensordot": (
        lambda x: ot.tensordot(x, x, [[0, 1], [0, 1]]),
        lambda a: np.tensordot(a, a, [[0, 1], [0, 1]]),
    ),
    "cumsum": (lambda x: ot.cumsum(x), np.cumsum),
    "take_along_axis": (
        lambda x: ot.take_along_axis(x, x.argmax(axis=0)[None], axis=0),
        lambda a: a.max(axis=0)[None],
    ),
    "writing": (
        lambda x: ot.zeros(x.shape)[1:].set(3.0),
        lambda a: np.vstack([a[:1] * 0, a[1:] * 0 + 3]),
    ),
    "jacobian": (lambda x: jacobian(x[0] ** 2, x), _jacobian_of_square),
    "batched": (
        lambda x: vectorize(_sums, "(n)->(n)")(x),
        lambda a: np.broadcast_to(a.sum(1, keepdims=True), a.shape),
    ),
    "a batched gradient": (
        lambda x: vectorize(_slope_of_square, "(n)->(n)")(x),
        lambda a: np.broadcast_to(2 * a.sum(1, keepdims=True), a.shape),
    ),
}
"""Functions of a matrix, each for variables and for arrays."""


def _softmax(a: Any) -> Any:
    powers = np.exp(a - a.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


COSTS: dict[str, Pair] = {
    "sum": (lambda x: x.sum(), lambda a: a.sum()),
    "sums of columns": (lambda x: (x.sum(axis=0) ** 2).sum(), lambda a: (a.sum(axis=0) ** 2).sum()),
    "shares of rows": (
        lambda x: (x[0] / (9 + x.sum(axis=1, keepdims=True))).sum(),
        lambda a: (a[0] / (9 + a.sum(axis=1, keepdims=True))).sum(),
    ),
    "mean": (lambda x: x.mean(), lambda a: a.mean()),
    "means of columns": (lambda x: (x.mean(axis=0) ** 2).sum(), lambda a: (a.mean(0) ** 2).sum()),
    "prod": (lambda x: (1 + 0.1 * x).prod(), lambda a: (1 + 0.1 * a).prod()),
    "products of columns": (lambda x: x.prod(axis=0).sum(), lambda a: a.prod(axis=0).sum()),
    "max": (lambda x: x.max(), lambda a: a.max()),
    "maxima of columns": (lambda x: x.max(axis=0).sum(), lambda a: a.max(axis=0).sum()),
    "logsumexp": (
        lambda x: ot.logsumexp(x, axis=1).sum(),
        lambda a: np.log(np.exp(a).sum(axis=1)).sum(),
    ),
    "std": (lambda x: x.std(), lambda a: a.std()),
    "var": (lambda x: x.var(axis=0).sum(), lambda a: a.var(axis=0).sum()),
    "softmax": (
        lambda x: (ot.softmax(x, axis=1) ** 2).sum(),
        lambda a: (_softmax(a) ** 2).sum(),
    ),
    "log_softmax": (
        lambda x: ot.log_softmax(x, axis=1)[0, 0],
        lambda a: np.log(_softmax(a))[0, 0],
    ),
    "dot": (lambda x: ot.dot(x, x.T).sum(), lambda a: (a @ a.T).sum()),
    "flatten": (lambda x: (x.flatten()[1:] ** 2).sum(), lambda a: (a.flatten()[1:] ** 2).sum()),
    "reshape": (
        lambda x: (x.reshape((x.shape[1], -1))[1:] ** 2).sum(),
        lambda a: (a.reshape((a.shape[1], -1))[1:] ** 2).sum(),
    ),
    "slices": (lambda x: (x[1:] ** 2).sum(), lambda a: (a[1:] ** 2).sum()),
    "cumsum": (lambda x: (x.cumsum(axis=0) ** 2).sum(), lambda a: (a.cumsum(axis=0) ** 2).sum()),
    "concatenate": (
        lambda x: (ot.concatenate([x, 2 * x], axis=1)[:, 1:] ** 2).sum(),
        lambda a: (np.concatenate([a, 2 * a], axis=1)[:, 1:] ** 2).sum(),
    ),
    "tile": (lambda x: (ot.tile(x, 2) ** 2).sum(), lambda a: (np.tile(a, 2) ** 2).sum()),
    "repeat": (
        lambda x: (ot.repeat(x, 2, axis=0) ** 2).sum(),
        lambda a: (np.repeat(a, 2, axis=0) ** 2).sum(),
    ),
    "trace": (lambda x: ot.trace(x) ** 2, lambda a: np.trace(a) ** 2),
    "where": (lambda x: ot.where(x > 0, x, 0.0).sum(), lambda a: np.where(a > 0, a, 0.0).sum()),
    "what does not depend": (lambda x: (x * 0 + 3).sum(), lambda a: (a * 0 + 3).sum()),
    "a gradient": (
        lambda x: (_slope((x.sum(axis=0) ** 2).sum(), x) ** 2).sum(),
        lambda a: 4 * a.shape[0] * (a.sum(axis=0) ** 2).sum(),
    ),
}
"""Scalar functions of a matrix, each for variables and for arrays.

Their gradients depend on the lengths of the matrix.
"""


def slopes(cost: Callable[[Any], Any], a: Any, step: float = 1e-5) -> Any:
    """The gradient of a NumPy function by central differences."""
    result = np.empty_like(a)
    for place in np.ndindex(*a.shape):
        more, less = a.copy(), a.copy()
        more[place] += step
        less[place] -= step
        result[place] = (cost(more) - cost(less)) / (2 * step)
    return result
