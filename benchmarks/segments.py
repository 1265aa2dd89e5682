"""Workloads of segments, scatters, softmax and attention for the benchmarks.

`compiled` measures them, in the parts `segments` and `attention` of `run`, beside the same functions of the other libraries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from workloads import Workload, of_one_function

__all__ = ["ATTENTION_WORKLOADS", "SEGMENT_WORKLOADS"]

ROWS = 100_000
SEGMENTS = 1000


def _random() -> np.random.Generator:
    # each workload has numbers of its own, so that every process makes the same ones
    return np.random.default_rng(7)


def _ids(ordered: bool) -> Any:
    ids = _random().integers(0, SEGMENTS, ROWS)
    return np.sort(ids) if ordered else ids


def _jax_ops() -> Any:
    import jax

    return jax.ops


def _segment_sum(name: str, ordered: bool, *row: int) -> Workload:
    def with_numpy(x: Any, ids: Any) -> Any:
        if not row:
            return np.bincount(ids, x, SEGMENTS)
        if ordered:
            return np.add.reduceat(x, np.searchsorted(ids, np.arange(SEGMENTS)), axis=0)
        made = np.zeros((SEGMENTS, *row))
        np.add.at(made, ids, x)
        return made

    def theirs(m: Any, x: Any, ids: Any) -> Any:
        if m is np:
            return with_numpy(x, ids)
        return _jax_ops().segment_sum(x, ids, SEGMENTS)

    return of_one_function(
        f"segment_sum, {name}",
        lambda ot, x, ids: ot.segment_sum(x, ids, SEGMENTS),
        theirs,
        _random().standard_normal((ROWS, *row)),
        _ids(ordered),
        torch=lambda torch: (
            lambda x, ids: torch.zeros(SEGMENTS, *row, dtype=x.dtype).index_add_(0, ids, x)
        ),
        pytensor=False,
    )


def _segment_max(name: str, ordered: bool) -> Workload:
    def theirs(m: Any, x: Any, ids: Any) -> Any:
        if m is not np:
            return _jax_ops().segment_max(x, ids, SEGMENTS)
        made = np.full(SEGMENTS, -np.inf)
        np.maximum.at(made, ids, x)
        return made

    return of_one_function(
        f"segment_max, {name}",
        lambda ot, x, ids: ot.segment_max(x, ids, SEGMENTS),
        theirs,
        _random().standard_normal(ROWS),
        _ids(ordered),
        torch=lambda torch: (
            lambda x, ids: torch.full((SEGMENTS,), -np.inf, dtype=x.dtype).scatter_reduce_(
                0, ids, x, "amax"
            )
        ),
        pytensor=False,
    )


def _segment_softmax() -> Workload:
    def theirs(m: Any, x: Any, ids: Any) -> Any:
        if m is np:
            shift = np.full(SEGMENTS, -np.inf)
            np.maximum.at(shift, ids, x)
            e = np.exp(x - shift[ids])
            return e / np.bincount(ids, e, SEGMENTS)[ids]
        e = m.exp(x - _jax_ops().segment_max(x, ids, SEGMENTS)[ids])
        return e / _jax_ops().segment_sum(e, ids, SEGMENTS)[ids]

    def with_torch(torch: Any) -> Any:
        def run(x: Any, ids: Any) -> Any:
            shift = torch.full((SEGMENTS,), -np.inf, dtype=x.dtype)
            e = torch.exp(x - shift.scatter_reduce_(0, ids, x, "amax")[ids])
            return e / torch.zeros(SEGMENTS, dtype=x.dtype).index_add_(0, ids, e)[ids]

        return run

    return of_one_function(
        "segment_softmax, 1e5 numbers",
        lambda ot, x, ids: ot.segment_softmax(x, ids, SEGMENTS),
        theirs,
        _random().standard_normal(ROWS),
        _ids(False),
        torch=with_torch,
        pytensor=False,
    )


def _scatter(name: str, *row: int) -> Workload:
    def theirs(m: Any, x: Any, at: Any, y: Any) -> Any:
        if m is not np:
            return x.at[at].add(y)
        made = x.copy()
        np.add.at(made, at, y)
        return made

    return of_one_function(
        f"x.at[i].add, {name}",
        lambda ot, x, at, y: x.at[at].add(y),
        theirs,
        _random().standard_normal((SEGMENTS, *row)),
        _ids(False),
        _random().standard_normal((ROWS, *row)),
        torch=lambda torch: lambda x, at, y: x.index_add(0, at, y),
        pytensor=False,
    )


def _softmax(function: str, name: str, *shape: int) -> Workload:
    def theirs(m: Any, x: Any) -> Any:
        if m is np:
            from scipy import special

            return getattr(special, function)(x, axis=-1)
        import jax

        return getattr(jax.nn, function)(x)

    return of_one_function(
        f"{function}, {name}",
        lambda ot, x: getattr(ot, function)(x, -1),
        theirs,
        _random().standard_normal(shape).astype("float32"),
        torch=lambda torch: lambda x: getattr(torch, function)(x, -1),
        pytensor=False,
        rtol=1e-4,
    )


def _attention(
    name: str, batch: int, heads: int, length: int, width: int, causal: bool
) -> Workload:
    draw = _random().standard_normal
    arrays = [draw((batch, heads, length, width)).astype("float32") for _ in range(3)]

    def theirs(m: Any, q: Any, k: Any, v: Any) -> Any:
        if m is not np:
            import jax

            q, k, v = (a.swapaxes(1, 2) for a in (q, k, v))
            made = jax.nn.dot_product_attention(q, k, v, is_causal=causal)
            return made.swapaxes(1, 2)
        logits = q @ k.swapaxes(-1, -2) / np.float32(np.sqrt(width))
        if causal:
            logits = np.where(np.tri(length, dtype="bool"), logits, np.float32(-np.inf))
        e = np.exp(logits - logits.max(-1, keepdims=True))
        return e @ v / e.sum(-1, keepdims=True)

    def ours(ot: Any, q: Any, k: Any, v: Any) -> Any:
        from occelo import nn

        return nn.scaled_dot_product_attention(q, k, v, is_causal=causal)

    return of_one_function(
        f"attention, {name}{', causal' if causal else ''}",
        ours,
        theirs,
        *arrays,
        torch=lambda torch: (
            lambda q, k, v: torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=causal
            )
        ),
        static=True,
        pytensor=False,
        rtol=1e-3,
    )


SEGMENT_WORKLOADS: list[Callable[[], Workload]] = [
    lambda: _segment_sum("1e5 numbers", False),
    lambda: _segment_sum("1e5 numbers with ascending ids", True),
    lambda: _segment_sum("1e5 rows of 16", False, 16),
    lambda: _segment_max("1e5 numbers", False),
    lambda: _segment_max("1e5 numbers with ascending ids", True),
    _segment_softmax,
    lambda: _scatter("1e5 numbers"),
    lambda: _scatter("1e5 rows of 16", 16),
]
ATTENTION_WORKLOADS: list[Callable[[], Workload]] = [
    lambda: _softmax("softmax", "1,000 rows of 1,000", 1000, 1000),
    lambda: _softmax("softmax", "1e5 rows of 10", 100_000, 10),
    lambda: _softmax("log_softmax", "1,000 rows of 1,000", 1000, 1000),
    lambda: _attention("1 x 4 x 32 x 16", 1, 4, 32, 16, False),
    lambda: _attention("2 x 8 x 256 x 64", 2, 8, 256, 64, False),
    lambda: _attention("2 x 8 x 256 x 64", 2, 8, 256, 64, True),
    lambda: _attention("1 x 4 x 1,024 x 64", 1, 4, 1024, 64, False),
]
