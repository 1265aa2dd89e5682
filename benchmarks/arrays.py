"""Workloads of arrays: reductions, normalisations, indexing, products and regressions, for the part `arrays` of `run`.

With those of `workloads` they are the rows of which no one may be slower than the best peer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from workloads import Library, Workload

__all__ = ["ARRAY_WORKLOADS"]


def _random() -> np.random.Generator:
    # each workload has numbers of its own, so that every process makes the same ones
    return np.random.default_rng(5)


def _same(
    name: str,
    program: Callable[..., Any],
    *arrays: Any,
    torch: Callable[[Any], Callable[..., Any]] | None = None,
    ours: Callable[..., Any] | None = None,
    compiled: bool = True,
    pytensor: bool = True,
) -> Workload:
    """One ``program`` of a module of functions and arrays for all libraries; ``ours`` where names differ."""

    def build(lib: Library) -> Any:
        inputs = [lib.tensor.tensor(dtype=a.dtype.name, shape=(None,) * a.ndim) for a in arrays]
        return inputs, [(ours or program)(lib.tensor, *inputs)], []

    return Workload(
        name,
        build,
        arrays,
        lambda *given: [program(np, *given)],
        lambda jax: lambda *given: [program(jax.numpy, *given)],
        torch=None if torch is None else lambda t: lambda *given: [torch(t)(*given)],
        torch_compiles=compiled,
        goal=0.97,
        pytensor=pytensor,
    )


def _normal(*shape: int) -> Any:
    return _random().standard_normal(shape)


def _log_sum_exp(axis: int) -> Workload:
    def program(m: Any, x: Any) -> Any:
        most = m.max(x, axis=axis, keepdims=True)
        return m.log(m.sum(m.exp(x - most), axis=axis)) + most.reshape(-1)

    return _same(
        f"logsumexp, 1000 x 1000, axis {axis}",
        program,
        _normal(1000, 1000),
        ours=lambda ot, x: ot.logsumexp(x, axis=axis),
        torch=lambda t: lambda x: t.logsumexp(x, dim=axis),
    )


def _layer_norm(rows: int, columns: int) -> Workload:
    def program(m: Any, x: Any, scale: Any, shift: Any) -> Any:
        deviations = x - x.mean(axis=-1, keepdims=True)
        variance = (deviations**2).mean(axis=-1, keepdims=True)
        return deviations / m.sqrt(variance + 1e-5) * scale + shift

    return _same(
        f"layer norm, {rows} x {columns}",
        program,
        _normal(rows, columns),
        _normal(columns),
        _normal(columns),
        torch=lambda t: lambda x, a, b: t.nn.functional.layer_norm(x, (columns,), a, b, 1e-5),
    )


def _glm(rows: int, columns: int) -> Workload:
    """Value and gradient of a logistic regression by its weights."""
    x, w = _normal(rows, columns), _normal(columns) * 0.1
    y = _random().integers(0, 2, rows).astype(float)

    def build(lib: Library) -> Any:
        ot = lib.tensor
        data, labels = lib.shared(x), lib.shared(y)
        weights = ot.dvector("weights")
        eta = data @ weights
        value = (labels * eta - ot.softplus(eta)).sum()
        return [weights], [value, lib.grad(value, weights)], []

    def numpy(weights: Any) -> Any:
        eta = x @ weights
        p = 1 / (1 + np.exp(-eta))
        return [(y * eta - np.logaddexp(0, eta)).sum(), x.T @ (y - p)]

    def with_jax(jax: Any) -> Any:
        np_ = jax.numpy
        data, labels = np_.asarray(x), np_.asarray(y)

        def value(weights: Any) -> Any:
            eta = data @ weights
            return (labels * eta - jax.nn.softplus(eta)).sum()

        return jax.value_and_grad(value)

    return Workload(
        f"logistic regression, value and gradient, {rows} x {columns}",
        build,
        (w,),
        numpy,
        with_jax,
        goal=0.97,
    )


def _scatter_add(name: str, ids: Any, size: int) -> Workload:
    def build(lib: Library) -> Any:
        i, v = lib.tensor.lvector("i"), lib.tensor.dvector("v")
        zeros = lib.tensor.zeros(size)
        return [i, v], [lib.tensor.inc_subtensor(zeros[i], v)], []

    values = _normal(len(ids))
    return Workload(
        f"scatter-add, {name}",
        build,
        (ids, values),
        lambda i, v: [np.bincount(i, v, size)],
        lambda jax: lambda i, v: [jax.numpy.zeros(size).at[i].add(v)],
        torch=lambda t: lambda i, v: [t.zeros(size, dtype=v.dtype).index_add_(0, i, v)],
        torch_compiles=False,
        goal=0.97,
    )


def _network(n: int) -> Workload:
    """Two layers of tanh, value and gradients by both matrices."""
    x0, w0, v0 = _normal(n, n), _normal(n, n) / n**0.5, _normal(n, n) / n

    def build(lib: Library) -> Any:
        ot = lib.tensor
        x, w, v = ot.dmatrix("x"), ot.dmatrix("w"), ot.dmatrix("v")
        loss = (ot.tanh(ot.tanh(x @ w) @ v) ** 2).mean()
        return [x, w, v], [loss, *lib.grad(loss, [w, v])], []

    def numpy(x: Any, w: Any, v: Any) -> Any:
        h = np.tanh(x @ w)
        y = np.tanh(h @ v)
        by_y = 2 * y * (1 - y * y) / y.size
        by_h = (by_y @ v.T) * (1 - h * h)
        return [(y * y).mean(), x.T @ by_h, h.T @ by_y]

    def with_jax(jax: Any) -> Any:
        def loss(w: Any, v: Any, x: Any) -> Any:
            return (jax.numpy.tanh(jax.numpy.tanh(x @ w) @ v) ** 2).mean()

        both = jax.value_and_grad(loss, argnums=(0, 1))

        def run(x: Any, w: Any, v: Any) -> Any:
            value, grads = both(w, v, x)
            return [value, *grads]

        return run

    return Workload(
        f"network of {n}, value and gradients", build, (x0, w0, v0), numpy, with_jax, goal=0.97
    )


def _products() -> Workload:
    return _same(
        "chain of products, 400 x 400 x 400 x 1",
        lambda m, a, b, c: a @ b @ c,
        _normal(400, 400),
        _normal(400, 400),
        _normal(400, 400),
        torch=lambda t: lambda a, b, c: a @ b @ c,
        compiled=False,
    )


def _written() -> Workload:
    def ours(ot: Any, x: Any, y: Any) -> Any:
        return ot.set_subtensor(x[100:900, 100:900], y)

    def program(m: Any, x: Any, y: Any) -> Any:
        if m is not np:
            return x.at[100:900, 100:900].set(y)
        changed = x.copy()
        changed[100:900, 100:900] = y
        return changed

    def with_torch(t: Any) -> Any:
        def run(x: Any, y: Any) -> Any:
            changed = x.clone()
            changed[100:900, 100:900] = y
            return changed

        return run

    return _same(
        "a block of a matrix written, 1000 x 1000",
        program,
        _normal(1000, 1000),
        _normal(800, 800),
        ours=ours,
        torch=with_torch,
        compiled=False,
    )


def _ids(count: int, size: int) -> Any:
    return _random().integers(0, size, count)


def _distances(m: Any, x: Any) -> Any:
    return ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=-1)


def _elementwise_float32(m: Any, x: Any, y: Any) -> Any:
    return m.exp(-x * x) * y + m.log1p(y * y) * m.tanh(x)


ARRAY_WORKLOADS: list[Callable[[], Workload]] = [
    lambda: _same(
        "sum, n = 1e6",
        lambda m, x: m.sum(x),
        _normal(1_000_000),
        torch=lambda t: t.sum,
        compiled=False,
    ),
    lambda: _same(
        "max, n = 1e6",
        lambda m, x: m.max(x),
        _normal(1_000_000),
        torch=lambda t: t.max,
        compiled=False,
    ),
    lambda: _same(
        "sum, 1000 x 1000, axis 0",
        lambda m, x: m.sum(x, axis=0),
        _normal(1000, 1000),
        torch=lambda t: lambda x: x.sum(dim=0),
        compiled=False,
    ),
    lambda: _log_sum_exp(0),
    lambda: _log_sum_exp(1),
    lambda: _layer_norm(1000, 1000),
    lambda: _layer_norm(128, 64),
    lambda: _same(
        "variance, 1000 x 1000, axis 0",
        lambda m, x: m.var(x, axis=0),
        _normal(1000, 1000),
        torch=lambda t: lambda x: x.var(dim=0, correction=0),
    ),
    lambda: _scatter_add("1e5 shuffled ids of 1000", _ids(100_000, 1000), 1000),
    lambda: _scatter_add("1e5 sorted ids of 1000", np.sort(_ids(100_000, 1000)), 1000),
    lambda: _same(
        "gather, 1e5 of 1000",
        lambda m, x, i: x[i],
        _normal(1000),
        _ids(100_000, 1000),
        torch=lambda t: lambda x, i: x[i],
        compiled=False,
    ),
    _written,
    lambda: _same(
        "x @ y, 512",
        lambda m, x, y: x @ y,
        _normal(512, 512),
        _normal(512, 512),
        torch=lambda t: t.mm,
        compiled=False,
    ),
    lambda: _same(
        "x @ y, 24",
        lambda m, x, y: x @ y,
        _normal(24, 24),
        _normal(24, 24),
        torch=lambda t: t.mm,
        compiled=False,
    ),
    _products,
    lambda: _network(512),
    lambda: _glm(5000, 24),
    lambda: _glm(200_000, 10),
    lambda: _same(
        "squared distances, 500 x 10",
        _distances,
        _normal(500, 10),
        torch=lambda t: lambda x: _distances(t, x),
    ),
    lambda: _same(
        "elementwise with log1p and tanh, float32, n = 1e5",
        _elementwise_float32,
        _normal(100_000).astype(np.float32),
        _normal(100_000).astype(np.float32),
        torch=lambda t: lambda x, y: _elementwise_float32(t, x, y),
    ),
]
