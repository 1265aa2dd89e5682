"""What is ordered by counting, by digits or in groups is what NumPy orders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_sorting import functions as sorting

INTEGERS = ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"]


def _integers(rng: Any, dtype: str, shape: tuple[int, ...], span: int, end: str) -> Any:
    ends = np.iinfo(dtype)
    span = min(span, int(ends.max) - int(ends.min))
    low = {"low": ends.min, "high": int(ends.max) - span, "middle": max(-span // 2, ends.min)}[end]
    return rng.integers(low, int(low) + span, shape, dtype=dtype, endpoint=True)


@pytest.mark.parametrize("end", ["low", "middle", "high"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_rows_of_integers(dtype: str, end: str) -> None:
    rng = np.random.default_rng(INTEGERS.index(dtype))
    for shape in ((5000,), (1, 5000), (3, 600), (2, 2, 64), (511,), (0,), (0, 600), (3, 0), (1,)):
        x = ot.tensor(dtype=dtype, shape=(None,) * len(shape))
        f = oc.function(
            [x], [sorting.sort(x), sorting.argsort(x, kind="stable")], mode="FAST_COMPILE"
        )
        for span in (0, 100, 2**15, 2**16 - 1, 2**16, 2**31 - 1):
            value = _integers(rng, dtype, shape, span, end)
            values, order = f(value)
            assert values.dtype == dtype
            np.testing.assert_array_equal(values, np.sort(value))
            np.testing.assert_array_equal(order, np.argsort(value, kind="stable"))


def test_full_range_does_not_overflow() -> None:
    for dtype in INTEGERS:
        ends = np.iinfo(dtype)
        value = np.resize(np.array([ends.max, 0, ends.min, 1], dtype), 5000)
        x = ot.tensor(dtype=dtype, shape=(None,))
        f = oc.function(
            [x], [sorting.sort(x), sorting.argsort(x, kind="stable"), sorting.unique(x)]
        )
        np.testing.assert_array_equal(f(value)[0], np.sort(value))
        np.testing.assert_array_equal(f(value)[1], np.argsort(value, kind="stable"))
        np.testing.assert_array_equal(f(value)[2], np.unique(value))


def _expected(value: Any, k: int) -> Any:
    rows = np.sort(value, axis=-1)
    return rows[..., ::-1][..., :k] if k > 0 else rows[..., :-k]


@pytest.mark.parametrize("kind", ["floats", "ties", "nan", "infinities", "integers", "float32"])
@pytest.mark.parametrize("k", [1, 2, 5, 12, -1, -5, -12])
def test_largest_in_groups(kind: str, k: int) -> None:
    rng = np.random.default_rng(k + 50)
    x = ot.tensor(
        dtype={"integers": "int64", "float32": "float32"}.get(kind, "float64"), shape=(None, None)
    )
    f = oc.function([x], sorting.topk(x, k), mode="FAST_COMPILE")
    for shape in ((7, 1000), (3, 401), (1, 997), (2, 400), (0, 500), (2, 399)):
        value = rng.standard_normal(shape)
        if kind == "ties":
            value = np.round(value)
        elif kind == "nan":
            value[rng.random(shape) < 0.01] = np.nan
            value[:1, :] = np.nan
            value[-1:, 5] = 3.0
        elif kind == "infinities":
            value[rng.random(shape) < 0.3] = np.inf
            value[rng.random(shape) < 0.3] = -np.inf
        elif kind == "integers":
            value = rng.integers(-(2**62), 2**62, shape)
        value = value.astype(x.dtype)
        np.testing.assert_array_equal(f(value), _expected(value, k))


def test_groups_of_strided_rows() -> None:
    value = np.random.default_rng(3).standard_normal((1000, 14))[::-2, ::3]
    x = ot.dmatrix("x")
    f = oc.function([x], sorting.topk(x, 4, axis=0), mode="FAST_COMPILE")
    np.testing.assert_array_equal(f(value), np.sort(value, axis=0)[::-1][:4])
