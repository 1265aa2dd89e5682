"""Integer arguments at the ends of int64, against NumPy or exact Python integers, known early and late.

Each row of `ROWS` is a function of a tensor and an integer, written for Occelo and for NumPy. NumPy's functions that
compute wrong numbers for such integers (`np.tri`, `np.arange`) are written with Python's integers instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_arrays import functions as arrays
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_signal import fft
from occelo_sorting import functions as sorting

LEAST, MOST = -(2**63), 2**63 - 1
ENDS = (
    LEAST,
    LEAST + 1,
    LEAST + 2,
    -(2**62),
    -(2**31) - 1,
    -1,
    0,
    1,
    2**31,
    2**62,
    MOST - 2,
    MOST - 1,
    MOST,
)
V, M = np.arange(5.0), np.arange(12.0).reshape(3, 4)
I = np.array([LEAST, LEAST + 1, -1, 0, 1, MOST])  # noqa: E741
MODES = ("native", "c", "numba", "py")
Row = tuple[str, Any, Callable[[Any, Any], Any], Callable[[Any, int], Any]]


def _written(x: Any, key: Any, value: Any, adds: bool = False) -> Any:
    x = x.copy()
    x[key] = x[key] + value if adds else value
    return x


def _diagonals(k: int, m: Any, keep: Callable[[int, int], bool]) -> Any:
    return np.array(
        [[e if keep(j - i, k) else 0.0 for j, e in enumerate(r)] for i, r in enumerate(m.tolist())]
    )


def _pair(k: int) -> Any:
    return np.array([k, 0])


def _range(start: int, stop: int, step: int) -> Any:
    length = max(0, -((start - stop) // step))
    if length > 2**57:
        raise ValueError
    return np.array([start + i * step for i in range(length)], "int64")


ROWS: list[Row] = [
    ("x[::k]", V, lambda x, k: x[::k], lambda x, k: x[::k]),
    ("x[k:]", V, lambda x, k: x[k:], lambda x, k: x[k:]),
    ("x[:k]", V, lambda x, k: x[:k], lambda x, k: x[:k]),
    ("x[3:k:-2]", V, lambda x, k: x[3:k:-2], lambda x, k: x[3:k:-2]),
    ("x[k:-2:k]", V, lambda x, k: x[k:-2:k], lambda x, k: x[k:-2:k]),
    ("x[k:][2:]", V, lambda x, k: x[k:][2:], lambda x, k: x[k:][2:]),
    ("x[::k][::3]", V, lambda x, k: x[::k][::3], lambda x, k: x[::k][::3]),
    ("x[::3][::k]", V, lambda x, k: x[::3][::k], lambda x, k: x[::3][::k]),
    ("x[k:][1]", V, lambda x, k: x[k:][1], lambda x, k: x[k:][1]),
    ("x[1:][k]", V, lambda x, k: x[1:][k], lambda x, k: x[1:][k]),
    ("x[::2][k]", V, lambda x, k: x[::2][k], lambda x, k: x[::2][k]),
    ("length of x[k::-3]", V, lambda x, k: x[k::-3].shape[0], lambda x, k: x[k::-3].shape[0]),
    (
        "x[::k].set",
        V,
        lambda x, k: x[::k].set(9.0),
        lambda x, k: _written(x, slice(None, None, k), 9.0),
    ),
    (
        "x[k::-2].inc",
        V,
        lambda x, k: x[k::-2].inc(9.0),
        lambda x, k: _written(x, slice(k, None, -2), 9.0, True),
    ),
    ("x[k]", V, lambda x, k: x[k], lambda x, k: x[k]),
    ("m[1, k]", M, lambda x, k: x[1, k], lambda x, k: x[1, k]),
    ("x[k].set", V, lambda x, k: x[k].set(3.0), lambda x, k: _written(x, k, 3.0)),
    ("x[[k, 0]]", V, lambda x, k: x[ot.stack([k, 0])], lambda x, k: x[_pair(k)]),
    (
        "m[[k, 0], [0, k]]",
        M,
        lambda x, k: x[ot.stack([k, 0]), ot.stack([0, k])],
        lambda x, k: x[_pair(k), _pair(k)[::-1]],
    ),
    (
        "x[[k, 0]].inc",
        V,
        lambda x, k: x[ot.stack([k, 0])].inc(3.0),
        lambda x, k: (
            x + 3.0 * (np.arange(5) == k) + [3.0, 0, 0, 0, 0]
            if -5 <= k < 5 and k >= 0
            else (_written(x + [3.0, 0, 0, 0, 0], k, 3.0, True))
        ),
    ),
    (
        "take, clip",
        V,
        lambda x, k: ot.take(x, k, mode="clip"),
        lambda x, k: np.take(x, k, mode="clip"),
    ),
    ("take, wrap", V, lambda x, k: ot.take(x, k, mode="wrap"), lambda x, k: x[k % 5]),
    (
        "take_along_axis",
        V,
        lambda x, k: ot.take_along_axis(x, ot.stack([k, 0]), 0),
        lambda x, k: np.take_along_axis(x, _pair(k), 0),
    ),
    ("roll", V, lambda x, k: arrays.roll(x, k), lambda x, k: np.roll(x, k)),
    (
        "roll of two axes",
        M,
        lambda x, k: arrays.roll(x, (k, k), (0, 1)),
        lambda x, k: np.roll(x, (k, k), (0, 1)),
    ),
    ("repeat", V, lambda x, k: ot.repeat(x, k), lambda x, k: np.repeat(x, k)),
    (
        "repeat, one number each",
        V[:2],
        lambda x, k: ot.repeat(x, ot.stack([k, k])),
        lambda x, k: np.repeat(x, [k, k]),
    ),
    ("zeros", V, lambda x, k: ot.zeros((k,)), lambda x, k: np.zeros((k,))),
    ("zeros of k x k", V, lambda x, k: ot.zeros((k, k)), lambda x, k: np.zeros((k, k))),
    ("alloc", V, lambda x, k: ot.alloc(x, k, 5), lambda x, k: np.full((k, 5), x)),
    ("eye", V, lambda x, k: ot.eye(k), lambda x, k: np.eye(k)),
    (
        "diagonal of eye",
        M,
        lambda x, k: ot.eye(3, 4, k),
        lambda x, k: _diagonals(k, x * 0 + 1, lambda d, k: d == k),
    ),
    (
        "tri",
        M,
        lambda x, k: ot.tri(3, 4, k),
        lambda x, k: _diagonals(k, x * 0 + 1, lambda d, k: d <= k),
    ),
    ("tril", M, lambda x, k: ot.tril(x, k), lambda x, k: _diagonals(k, x, lambda d, k: d <= k)),
    ("triu", M, lambda x, k: ot.triu(x, k), lambda x, k: _diagonals(k, x, lambda d, k: d >= k)),
    (
        "reshape",
        M,
        lambda x, k: ot.reshape(x, (k, 4, k), ndim=3),
        lambda x, k: x.reshape((k, 4, k)),
    ),
    ("arange(k)", V, lambda x, k: ot.arange(k), lambda x, k: _range(0, k, 1)),
    ("arange(k, 3)", V, lambda x, k: ot.arange(k, 3), lambda x, k: _range(k, 3, 1)),
    ("arange(3, k, -7)", V, lambda x, k: ot.arange(3, k, -7), lambda x, k: _range(3, k, -7)),
    (
        "arange(5, k, 2**62)",
        V,
        lambda x, k: ot.arange(5, k, 2**62),
        lambda x, k: _range(5, k, 2**62),
    ),
    (
        "length of arange(k, 9, 2**61)",
        V,
        lambda x, k: ot.arange(k, 9, 2**61).shape[0],
        lambda x, k: len(_range(k, 9, 2**61)),
    ),
    ("//", I, lambda x, k: x // k, lambda x, k: x // np.int64(k)),
    ("%", I, lambda x, k: x % k, lambda x, k: x % np.int64(k)),
    ("// of k", I, lambda x, k: k // x, lambda x, k: np.int64(k) // x),
    ("% of k", I, lambda x, k: k % x, lambda x, k: np.int64(k) % x),
    (
        "abs, neg, sign",
        I,
        lambda x, k: abs(x) - k * ot.sign(x),
        lambda x, k: np.abs(x) - np.int64(k) * np.sign(x),
    ),
    (
        "powers",
        I,
        lambda x, k: x**2 + ot.sqr(x - k),
        lambda x, k: x**2 + np.square(x - np.int64(k)),
    ),
    ("clip", I, lambda x, k: ot.clip(x, k, 5), lambda x, k: np.clip(x, k, 5)),
    (
        "extremes",
        I,
        lambda x, k: ot.maximum(x, k) - ot.minimum(x, k),
        lambda x, k: np.maximum(x, k) - np.minimum(x, k),
    ),
    ("comparisons", I, lambda x, k: ot.lt(x - k, 0), lambda x, k: x - np.int64(k) < 0),
    (
        "reductions",
        I,
        lambda x, k: ot.sum(x * k) + ot.prod(x + k),
        lambda x, k: np.sum(x * np.int64(k)) + np.prod(x + np.int64(k)),
    ),
    ("cumsum", I, lambda x, k: ot.cumsum(x + k), lambda x, k: np.cumsum(x + np.int64(k))),
    (
        "power of floats",
        np.array([-1.0, 1.0, 0.0, 0.5, -2.0]),
        lambda x, k: x**k,
        lambda x, k: x ** np.int64(k),
    ),
]
"""What each row is, the tensor, the function in Occelo, and the function in NumPy."""

ALLOCATES = ("repeat", "zeros", "alloc", "eye", "arange", "linspace", "pad")
FAILURES = (IndexError, ValueError, OverflowError, ZeroDivisionError, MemoryError)


def _outcome(computed: Callable[[], Any]) -> Any:
    with np.errstate(all="ignore"):
        try:
            return np.asarray(computed())
        except FAILURES as error:
            # a size that is too large is one of three errors in NumPy
            return ValueError if isinstance(error, MemoryError | OverflowError) else type(error)


def _compare(where: str, found: Any, expected: Any) -> None:
    if isinstance(expected, type) or isinstance(found, type):
        assert found is expected, f"{where}: {found} instead of {expected}"
    else:
        np.testing.assert_array_equal(found, expected, err_msg=where)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("row", ROWS, ids=[r[0] for r in ROWS])
def test_an_integer_at_an_end_of_int64(row: Row, mode: str) -> None:
    if mode == "numba":
        pytest.importorskip("numba", reason="Numba is not installed")
    name, value, build, reference = row
    x = ot.TensorType(value.dtype.name, (None,) * value.ndim).make_variable("x")
    k = ot.lscalar("k")
    late = oc.function([x, k], build(x, k), mode=mode, on_unused_input="ignore")
    for end in ENDS:
        if (name.startswith(ALLOCATES) or "allocates" in name) and 2**27 < abs(end) < 2**45:
            continue  # so much memory there may be
        expected = _outcome(lambda end=end: reference(value, end))
        _compare(f"k = {end}, late", _outcome(lambda end=end: late(value, end)), expected)
        if end in (LEAST, MOST) or (mode == "native" and abs(end) > 2**61):
            early = _outcome(
                lambda end=end: oc.function(
                    [x], build(x, ot.constant(end)), mode=mode, on_unused_input="ignore"
                )(value)
            )
            _compare(f"k = {end}, early", early, expected)


FAMILY_ROWS: list[Row] = [
    ("take, wrapped", V, lambda x, k: ot.take(x, k, mode="wrap"), lambda x, k: x[k % 5]),
    ("x.at[k:]", V, lambda x, k: x.at[k:].max(9.0), lambda x, k: _written(x, slice(k, None), 9.0)),
    ("x.at[k]", V, lambda x, k: x.at[k].max(9.0), lambda x, k: _written(x, k, 9.0)),
    (
        "x.at[array]",
        V,
        lambda x, k: x.at[ot.stack([k, 0])].min(-9.0),
        lambda x, k: _written(x, _pair(k), -9.0),
    ),
    ("delete", V, arrays.delete, np.delete),
    ("insert", V, lambda x, k: arrays.insert(x, k, 7.0), lambda x, k: np.insert(x, k, 7.0)),
    ("vander, allocates", V, arrays.vander, np.vander),
    ("resize, allocates", V, arrays.resize, np.resize),
    ("fft, allocates", V, fft.fft, np.fft.fft),
    ("irfft, allocates", V, fft.irfft, np.fft.irfft),
    (
        "topk",
        V,
        sorting.topk,
        lambda x, k: x[:1] if k == -1 else np.partition(x, 5 - abs(k))[5 - abs(k) :],
    ),
    (
        "bincount, allocates",
        V,
        lambda x, k: sorting.bincount(x.astype("int64"), minlength=k),
        lambda x, k: np.bincount(x.astype("int64"), minlength=k),
    ),
    (
        "gcd",
        I,
        lambda x, k: arrays.gcd(x, k),
        lambda x, k: np.gcd(x, np.int64(k)),
    ),
    ("sort", I, lambda x, k: sorting.sort(x ^ k), lambda x, k: np.sort(x ^ np.int64(k))),
    (
        "searchsorted",
        np.sort(I),
        lambda x, k: sorting.searchsorted(x, k),
        lambda x, k: np.searchsorted(x, np.int64(k)),
    ),
    ("isin", I, lambda x, k: sorting.isin(x, [k]), lambda x, k: x == k),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", ["native", "py"])
@pytest.mark.parametrize("row", FAMILY_ROWS, ids=[r[0] for r in FAMILY_ROWS])
def test_an_integer_of_a_family_at_an_end_of_int64(row: Row, mode: str) -> None:
    test_an_integer_at_an_end_of_int64(row, mode)


@pytest.mark.parametrize("mode", MODES)
def test_an_unsigned_integer_beyond_int64(mode: str) -> None:
    """As in NumPy, it is out of range as an index, the end as part of a slice, and counts from the end in an array."""
    x, positions = ot.dvector("x"), ot.TensorType("uint64", (None,)).make_variable("positions")
    k = ot.TensorType("uint64", ()).make_variable("k")
    read = oc.function([x, k], x[k], mode=mode)
    parts = oc.function([x, k], [x[k:], x[3:k], x[::k]], mode=mode)
    several = oc.function([x, positions], x[positions], mode=mode)
    for end in (2**63, 2**64 - 1):
        with pytest.raises(IndexError):
            read(V, np.uint64(end))
        found = parts(V, np.uint64(end))
        for each, expected in zip(found, ([], [3.0, 4.0], [0.0]), strict=True):
            np.testing.assert_array_equal(each, expected)
        with pytest.raises(IndexError):
            x[end]
    assert several(V, np.array([2**64 - 1], "uint64")) == [4.0]
    with pytest.raises(IndexError):
        several(V, np.array([2**63], "uint64"))


@pytest.mark.filterwarnings("ignore:Shapes in the graph depend on values")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", ["jax", "pytorch"])
@pytest.mark.parametrize("row", ROWS, ids=[r[0] for r in ROWS])
def test_an_integer_at_an_end_of_int64_on_a_library(row: Row, mode: str) -> None:
    """Only the ends themselves are taken, since the libraries compile for each integer that decides a shape."""
    pytest.importorskip({"pytorch": "torch"}.get(mode, mode))
    name, value, build, reference = row
    x = ot.TensorType(value.dtype.name, (None,) * value.ndim).make_variable("x")
    k = ot.lscalar("k")
    with config.change_flags(pytorch__compile=False):
        late = oc.function([x, k], build(x, k), mode=mode, on_unused_input="ignore")
        for end in (LEAST, 1, MOST):
            expected = _outcome(lambda end=end: reference(value, end))
            _compare(f"{name}, k = {end}", _outcome(lambda end=end: late(value, end)), expected)
