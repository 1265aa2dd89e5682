"""Python integers that do not fit the integer dtype of the tensor beside them, in every function of two numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo as oc
import occelo_graph as og
from occelo_arrays import functions as arrays
from occelo_graph import tensor as ot
from occelo_sorting import functions as sorting

DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
NUMBERS = [-(10**30), -(2**63) - 1, -300, 0, 300, 70_000, 2**63, 2**64, 10**30]

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq")
} | {"neq": operator.ne}


def _linspace(x: Any, k: Any) -> Any:
    return np.linspace(x[0], k, 3)


FUNCTIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "add": (ot.add, np.add),
    "sub": (ot.sub, np.subtract),
    "mul": (ot.mul, np.multiply),
    "floor_div": (ot.floor_div, np.floor_divide),
    "mod": (ot.mod, np.mod),
    "maximum": (ot.maximum, np.maximum),
    "minimum": (ot.minimum, np.minimum),
    "and": (ot.and_, np.bitwise_and),
    "or": (ot.or_, np.bitwise_or),
    "xor": (ot.xor, np.bitwise_xor),
    "full_like": (ot.full_like, np.full_like),
    "true_div": (ot.true_div, np.true_divide),
    "arctan2": (ot.arctan2, np.arctan2),
    "logaddexp": (ot.logaddexp, np.logaddexp),
    "isclose": (ot.isclose, np.isclose),
    "clip": (lambda x, k: ot.clip(x, -k, k), lambda x, k: np.clip(x, -k, k)),
    "clip, lower": (lambda x, k: ot.clip(x, k), lambda x, k: np.clip(x, k, None)),
    "clip, upper": (lambda x, k: ot.clip(x, None, k), lambda x, k: np.clip(x, None, k)),
    "linspace": (lambda x, k: arrays.linspace(x[0], k, 3), _linspace),
}  # fmt: skip


def _ends(dtype: str) -> Any:
    limits = np.iinfo(dtype)
    return np.array([limits.min, 0, 1, limits.max], dtype)


@pytest.mark.parametrize("mode", ["py", "native"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_comparisons_are_those_of_the_integers(dtype: str, mode: str) -> None:
    """Compared with Python's integers, which have no bounds."""
    x, array = ot.tensor("x", dtype=dtype, shape=(None,)), _ends(dtype)
    pairs = [(name, k) for name in COMPARISONS for k in NUMBERS]
    ours = [getattr(ot, name)(x, k) for name, k in pairs]
    turned = [getattr(ot, name)(k, x) for name, k in pairs]
    found = oc.function([x], [*ours, *turned], mode=mode)(array)
    numbers = array.tolist()
    wanted = [[COMPARISONS[name](v, k) for v in numbers] for name, k in pairs]
    wanted += [[COMPARISONS[name](k, v) for v in numbers] for name, k in pairs]
    assert all(each.dtype == "bool" for each in found)
    np.testing.assert_array_equal(found, wanted)


ASSIGNED: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "max": (lambda x, k: ot.max(x, initial=k), lambda x, k: np.max(x, initial=k)),
    "max of none": (
        lambda x, k: x.max(initial=k, where=x > 5),
        lambda x, k: x.max(initial=k, where=x > 5),
    ),
    "min": (lambda x, k: ot.min(x, initial=k), lambda x, k: np.min(x, initial=k)),
    "min of NumPy's": (
        lambda x, k: ot.min(x, initial=np.asarray(k)[()]),
        lambda x, k: np.min(x, initial=np.asarray(k)[()]),
    ),
    "nanmax": (lambda x, k: sorting.nanmax(x, initial=k), lambda x, k: np.nanmax(x, initial=k)),
    "nanmin": (lambda x, k: sorting.nanmin(x, initial=k), lambda x, k: np.nanmin(x, initial=k)),
    "sum": (
        lambda x, k: ot.sum(x, dtype="int8", initial=k),
        lambda x, k: np.sum(x, dtype="int8", initial=k),
    ),
    "insert": (lambda x, k: arrays.insert(x, 1, k), lambda x, k: np.insert(x, 1, k)),
    "insert several": (
        lambda x, k: arrays.insert(x, 1, [k, 5]),
        lambda x, k: np.insert(x, 1, [k, 5]),
    ),
    "put": (lambda x, k: arrays.put(x, [0], k, inplace=False), lambda x, k: _put(x, k)),
    "place": (
        lambda x, k: arrays.place(x, np.array([True, False]), [k], inplace=False),
        lambda x, k: _put(x, k),
    ),
    "piecewise": (
        lambda x, k: arrays.piecewise(x, [x > 1], [k]),
        lambda x, k: np.piecewise(x, [x > 1], [k]),
    ),
    "unique": (
        lambda x, k: sorting.unique(x, size=3, fill_value=k),
        lambda x, k: np.insert(x, 2, k),
    ),
    "at": (
        lambda x, k: x.at[np.array([9, 1])].get(mode="fill", fill_value=k),
        lambda x, k: _put(x, k),
    ),
}  # fmt: skip


def _put(x: Any, k: Any) -> Any:
    copy = x.copy()
    np.put(copy, [0], k)
    return copy


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ASSIGNED)
def test_numbers_that_are_assigned_fit(name: str) -> None:
    """They raise OverflowError where NumPy does, for a float, too; one that fits is cut off."""
    ours, numpys = ASSIGNED[name]
    x, array = ot.bvector("x"), np.array([1, 2], "int8")
    for number in (-128, 127, 1.5, 128, -129, 300, -1e9, 10**30):
        try:
            wanted = np.asarray(numpys(array, number))
        except OverflowError:
            with pytest.raises(OverflowError):
                ours(x, number)
            continue
        (found,) = og.evaluate([ours(x, number)], {x: array})
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


def test_arrays_that_are_assigned_wrap_around() -> None:
    """As those of NumPy, and as variables."""
    x, wide = ot.bvector("x"), ot.lscalar("wide")
    array, given = np.array([1, 2], "int8"), np.array(300)
    ours = [f for v in (given, wide) for f in (ot.max(x, initial=v), arrays.insert(x, 1, v))]
    wanted = [np.max(array, initial=given), np.insert(array, 1, given)] * 2
    for found, each in zip(og.evaluate(ours, {x: array, wide: given}), wanted, strict=True):
        np.testing.assert_array_equal(found, each)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_other_functions_follow_numpy(name: str, dtype: str) -> None:
    """They compute in floats if the function does so for integers; else they raise OverflowError."""
    ours, numpys = FUNCTIONS[name]
    x, array = ot.tensor("x", dtype=dtype, shape=(None,)), _ends(dtype)
    for number in NUMBERS:
        try:
            wanted = np.asarray(numpys(array, number))
        except OverflowError:
            with pytest.raises(OverflowError):
                ours(x, number)
            continue
        (found,) = og.evaluate([ours(x, number)], {x: array})
        assert found.dtype == wanted.dtype
        rtol = 1e-2 if wanted.dtype == "float16" else 1e-5
        np.testing.assert_allclose(found, wanted, rtol=rtol)
