"""Reductions over named dimensions, beside xarray's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from occelo_dims import reduction, xtensor
from occelo_graph import tensor as ot
from occelo_testing.beside_xarray import array, compare

DIMS: list[Any] = [None, ..., "a", "b", ["b", "a"], ("c", "a"), []]
NAMES = ["sum", "prod", "max", "min", "mean", "var", "std", "all", "any", "median"]


@pytest.mark.parametrize("dim", DIMS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_reductions(name: str, dim: Any) -> None:
    x = array("abc")
    if name in ("all", "any"):
        x = x > 0
    compare(lambda x: getattr(x, name)(dim), (x,))
    assert getattr(reduction, name)(x, dim).dims == getattr(x, name)(dim).dims


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std", "median"])
def test_missing_values(name: str) -> None:
    x = array("abc")
    x.values[0, 1:, 2] = np.nan
    compare(lambda x: getattr(x, name)("b", skipna=True), (x,))
    compare(lambda x: getattr(x, name)("b", skipna=False), (x,))
    compare(lambda x: getattr(x, name)("b"), (x,), lambda x: getattr(x, name)("b", skipna=False))
    compare(lambda x: x.count("a"), (x,))


@pytest.mark.parametrize("dtype", ["int8", "bool", "float32", "uint16"])
def test_dtypes(dtype: str) -> None:
    x = array("ab", dtype)
    for name in ("sum", "mean", "max", "prod"):
        compare(lambda x, name=name: getattr(x, name)("a"), (x,), rtol=1e-6)


def test_degrees_of_freedom() -> None:
    x = array("abc")
    for name in ("var", "std"):
        compare(lambda x, name=name: getattr(x, name)("c", ddof=1), (x,))
        compare(lambda x, name=name: getattr(x, name)(["a", "b"], ddof=2), (x,))


def test_lengths_of_zero_and_one() -> None:
    x = array("ade")
    for name in ("sum", "prod", "all", "any"):
        for dim in ("e", "d", None):
            compare(lambda x, name=name, dim=dim: getattr(x, name)(dim), (x,))
            compare(lambda x, name=name, dim=dim: getattr(x, name)(dim), (x,), static=True)


@pytest.mark.parametrize("dim", ["a", "c", None])
def test_running(dim: Any) -> None:
    x = array("abc")
    compare(lambda x: x.cumsum(dim), (x,))
    compare(lambda x: x.cumprod(dim), (x,))
    x.values[0, 1:, 2] = np.nan
    compare(lambda x: x.cumsum(dim, skipna=True), (x,))
    compare(lambda x: x.cumprod(dim, skipna=True), (x,))


def test_positions() -> None:
    x = array("abc")
    for name in ("argmax", "argmin"):
        for dim in x.dims:
            compare(lambda x, name=name, dim=dim: getattr(x, name)(dim), (x,))


@pytest.mark.parametrize("name", [*NAMES, "cumsum", "cumprod", "count", "argmax", "argmin"])
def test_unknown_dimensions(name: str) -> None:
    x = xtensor("x", dims=("a", "b"))
    with pytest.raises(
        ValueError,
        match=rf"{'sum' if name == 'count' else name}: .* has no dimension 'z'; it has \('a', 'b'\)",
    ):
        getattr(x, name)("z")


def test_positions_need_one_dimension() -> None:
    dims: list[Any] = [None, ["a", "b"]]
    for dim in dims:
        with pytest.raises(TypeError, match="argmax needs the name of one dimension, got"):
            reduction.argmax(xtensor("x", dims=("a", "b")), dim)


@pytest.mark.parametrize("skipna", [False, True])
@pytest.mark.parametrize("q", [0.3, [0.0, 0.25, 1.0], [0.5]])
def test_quantiles(q: Any, skipna: bool) -> None:
    x = array("abc")
    if skipna:
        x = x.where(x > x.min())
    for dim in (None, "b", ["a", "c"]):
        compare(
            lambda x, dim=dim: x.quantile(q, dim, skipna=skipna),
            (x,),
            lambda x, dim=dim: x.quantile(q, dim, skipna=skipna).drop_vars("quantile"),
        )
    compare(
        lambda x: x.quantile(0.4, "a", method="lower", skipna=skipna),
        (x,),
        lambda x: x.quantile(0.4, "a", method="lower", skipna=skipna).drop_vars("quantile"),
    )
    with pytest.raises(ValueError, match="a number or a vector q"):
        xtensor("x", dims="a").quantile([[0.5]])


def test_reductions_by_functions() -> None:
    x = array("abc")
    for dim in (None, "b", ["c", "a"]):
        compare(
            lambda x, dim=dim: x.reduce(ot.sum, dim),
            (x,),
            lambda x, dim=dim: x.reduce(np.sum, dim),
        )
    with pytest.raises(ValueError, match="has no dimension 'z'"):
        xtensor("x", dims="a").reduce(ot.sum, "z")
