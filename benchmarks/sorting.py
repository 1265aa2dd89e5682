"""Workloads of sorting, searching and counting for the benchmarks.

`compiled` measures them, in the part `sorting` of `run`, beside the same functions of the other libraries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from workloads import Workload, of_one_function

__all__ = ["SORTING_WORKLOADS"]

MANY = 1_000_000


def _random() -> np.random.Generator:
    # each workload has numbers of its own, so that every process makes the same ones
    return np.random.default_rng(3)


def _normal(*shape: int) -> Any:
    return _random().standard_normal(shape)


def _sort(name: str, *shape: int) -> Workload:
    return of_one_function(
        f"sort, {name}",
        lambda ot, x: ot.sort(x),
        lambda m, x: m.sort(x),
        _normal(*shape),
        torch=lambda torch: lambda x: torch.sort(x).values,
    )


def _argsort(name: str, *shape: int) -> Workload:
    return of_one_function(
        f"argsort, {name}",
        lambda ot, x: ot.argsort(x, kind="stable"),
        lambda m, x: m.argsort(x, stable=True),
        _normal(*shape),
        torch=lambda torch: lambda x: torch.argsort(x, stable=True),
    )


def _topk(name: str, k: int, *shape: int) -> Workload:
    def largest(m: Any, x: Any) -> Any:
        if m is np:
            return np.sort(np.partition(x, -k, axis=-1)[..., -k:], axis=-1)[..., ::-1]
        from jax import lax

        return lax.top_k(x, k)[0]

    return of_one_function(
        f"the {k} largest, {name}",
        lambda ot, x: ot.topk(x, k),
        largest,
        _normal(*shape),
        torch=lambda torch: lambda x: torch.topk(x, k).values,
        pytensor=False,
    )


def _searchsorted(number: int, edges: int) -> Workload:
    return of_one_function(
        f"searchsorted, {number:.0e} in {edges:.0e}",
        lambda ot, a, v: ot.searchsorted(a, v),
        lambda m, a, v: m.searchsorted(a, v),
        np.sort(_normal(edges)),
        _random().standard_normal(number),
        torch=lambda torch: torch.searchsorted,
    )


def _unique() -> Workload:
    return of_one_function(
        "unique, 1e6 integers below 1e4",
        lambda ot, x: ot.unique(x),
        lambda m, x: m.unique(x) if m is np else m.unique(x, size=10_000),
        np.resize(_random().permutation(10_000), MANY),
        torch=lambda torch: torch.unique,
        pytensor=False,
    )


def _histogram() -> Workload:
    return of_one_function(
        "histogram, 1e6 in 100 bins",
        lambda ot, x: ot.histogram(x, 100)[0],
        lambda m, x: m.histogram(x, 100)[0],
        _normal(MANY),
        torch=lambda torch: lambda x: torch.histogram(x, 100).hist,
        pytensor=False,
    )


def _bincount() -> Workload:
    return of_one_function(
        "bincount, 1e6 integers below 1e4",
        lambda ot, x: ot.bincount(x, minlength=10_000),
        lambda m, x: m.bincount(x, minlength=10_000, **({} if m is np else {"length": 10_000})),
        _random().integers(0, 10_000, MANY),
        torch=lambda torch: lambda x: torch.bincount(x, minlength=10_000),
    )


def _median(name: str, *shape: int) -> Workload:
    return of_one_function(
        f"median, {name}",
        lambda ot, x: ot.median(x, axis=-1),
        lambda m, x: m.median(x, axis=-1),
        _normal(*shape),
        torch=lambda torch: lambda x: torch.quantile(x, 0.5, dim=-1),
        pytensor=False,
    )


def _quantiles() -> Workload:
    levels = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
    return of_one_function(
        "five quantiles, 1,000 rows of 1,000",
        lambda ot, x: ot.quantile(x, levels, axis=-1),
        lambda m, x: m.quantile(x, levels, axis=-1),
        _normal(1000, 1000),
        torch=lambda torch: lambda x: torch.quantile(x, torch.from_numpy(levels), dim=-1),
        pytensor=False,
    )


SORTING_WORKLOADS: list[Callable[[], Workload]] = [
    lambda: _sort("1e6", MANY),
    lambda: _sort("62,500 rows of 16", MANY // 16, 16),
    lambda: _argsort("1e6", MANY),
    lambda: _argsort("62,500 rows of 16", MANY // 16, 16),
    lambda: _topk("of 1e6", 10, MANY),
    lambda: _topk("of 1,000 rows of 1,000", 5, 1000, 1000),
    lambda: _searchsorted(MANY, 10_000),
    _unique,
    _histogram,
    _bincount,
    lambda: _median("1e6", MANY),
    lambda: _median("1,000 rows of 1,000", 1000, 1000),
    _quantiles,
]
