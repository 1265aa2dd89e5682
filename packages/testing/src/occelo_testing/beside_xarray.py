"""Calls an expression with tensors with named dimensions and with arrays of xarray, and compares dims and values."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import occelo_graph as og
from occelo_dims import as_xtensor, xtensor
from occelo_graph.narrowing import is_tuple

xr: Any = importlib.import_module("xarray")  # a requirement of tests alone
LENGTHS = {"a": 2, "b": 3, "c": 4, "d": 1, "e": 0}


def array(dims: str, dtype: str = "float64", seed: int = 0) -> Any:
    """An array with a dimension for each letter, of the lengths in `LENGTHS`."""
    rng = np.random.default_rng((seed, *map(ord, dims)))
    shape = [LENGTHS[d] for d in dims]
    if dtype == "bool":
        return xr.DataArray(rng.random(shape) < 0.5, dims=list(dims))
    if np.dtype(dtype).kind in "iu":
        return xr.DataArray(rng.integers(0, 9, shape).astype(dtype), dims=list(dims))
    return xr.DataArray(rng.normal(size=shape).astype(dtype), dims=list(dims))


def evaluated(found: Any, values: Mapping[Any, Any]) -> Any:
    """The array of a tensor with names, by the interpreter."""
    return og.evaluate(found.values, {k.values: v for k, v in values.items()})


def compare(
    expression: Callable[..., Any],
    arrays: Sequence[Any],
    expected: Callable[..., Any] | None = None,
    static: bool = False,
    rtol: float = 1e-12,
) -> None:
    """Compare ``expression`` of variables with ``expected`` of arrays, which is the same expression by default."""
    kinds = [
        xtensor(f"x{i}", dims=x.dims, dtype=x.dtype.name, shape=x.shape if static else None)
        for i, x in enumerate(arrays)
    ]
    actual = expression(*kinds)
    reference = (expected or expression)(*arrays)
    if is_tuple(actual):
        for one, other in zip(actual, reference, strict=True):
            _same(one, other, dict(zip(kinds, arrays, strict=True)), rtol)
    else:
        _same(actual, reference, dict(zip(kinds, arrays, strict=True)), rtol)
    constants = expression(*(as_xtensor(x) for x in arrays))
    assert getattr(constants, "dims", None) == getattr(actual, "dims", None)


def _same(actual: Any, reference: Any, values: Mapping[Any, Any], rtol: float) -> None:
    assert actual.dims == reference.dims
    value = evaluated(actual, {k: v.values for k, v in values.items()})
    np.testing.assert_allclose(value, reference.values, rtol=rtol)
    for n, m in zip(actual.type.shape, value.shape, strict=True):
        assert n in (None, m)
    assert actual.dtype == value.dtype.name
