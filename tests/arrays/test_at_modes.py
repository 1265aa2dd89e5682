"""Modes of ``x.at[key]`` for positions out of bounds, beside loops over the positions."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

import occelo_graph as og
from occelo_arrays import functions
from occelo_graph import tensor

np: Any = numpy
ot: Any = SimpleNamespace(**vars(tensor) | vars(functions))
GENERATOR = np.random.default_rng(3)
X = GENERATOR.normal(size=(3, 4))
OUT = np.array([0, 5, -1, -4, 2, 0, 3, -3])
KEYS: list[Any] = [
    OUT,
    OUT.reshape(2, 4),
    1,
    -4,
    7,
    (2, 4),
    (slice(None), OUT),
    (slice(1, None), [9, 0]),
    (OUT[:4], OUT[4:]),
    (OUT[:3], slice(None, None, 2)),
    (None, OUT, None, slice(0, 2)),
    (OUT[:, None], OUT[None, :4]),
    (5, OUT),
    (OUT, slice(1, 3)),
    ([True, False, True], [0, 9]),
    (Ellipsis, -5),
    ([], slice(None)),
    (slice(None, None, -1), np.uint8([250, 1])),
]
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "set": lambda _, y: y,
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "power": lambda x, y: abs(x) ** y,
    "max": max,
    "min": min,
}


def places(x: Any, key: Any) -> tuple[Any, Any]:
    """The multiplied index of each element of the part in a frame around ``x``, and whether it is in bounds."""
    n = 600  # larger than every position
    framed = np.full(
        [3 * n if i in _axes(key) else d for i, d in enumerate(x.shape)], -1, dtype="int64"
    )
    inner = tuple(
        slice(n, n + d) if i in _axes(key) else slice(None) for i, d in enumerate(x.shape)
    )
    framed[inner] = np.arange(x.size).reshape(x.shape)
    found = framed[_moved(x.shape, key, n, False)]
    nearest = framed[_moved(x.shape, key, n, True)]
    return found, nearest


def _entries(key: Any) -> list[Any]:
    given = list(key) if isinstance(key, tuple) else [key]
    if any(e is Ellipsis for e in given):
        at = next(i for i, e in enumerate(given) if e is Ellipsis)
        given[at : at + 1] = [slice(None)] * (X.ndim - sum(e is not None for e in given) + 1)
    return given


def _is_number(entry: Any) -> bool:
    return entry is not None and not isinstance(entry, slice) and np.asarray(entry).dtype != bool


def _axes(key: Any) -> list[int]:
    dims = [e for e in _entries(key) if e is not None]
    return [i for i, e in enumerate(dims) if _is_number(e)]


def _moved(shape: Any, key: Any, n: int, nearest: bool) -> tuple[Any, ...]:
    axis, made = 0, []
    for entry in _entries(key):
        if entry is None:
            made.append(None)
            continue
        if _is_number(entry):
            index = np.asarray(entry, dtype="int64")
            index = np.where(index < 0, index + shape[axis], index)
            made.append((np.clip(index, 0, shape[axis] - 1) if nearest else index) + n)
        else:
            made.append(entry)
        axis += 1
    return tuple(made)


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_reading(key: Any, static: bool) -> None:
    x = ot.tensor("x", dtype="float64", shape=X.shape if static else (None, None))
    found, nearest = places(X, key)
    for made, expected in (
        (x.at[key].get(mode="fill"), np.where(found < 0, np.nan, X.ravel()[found])),
        (x.at[key].get(fill_value=7), np.where(found < 0, 7, X.ravel()[found])),
        (x.at[key].get(mode="clip"), X.ravel()[nearest]),
    ):
        np.testing.assert_array_equal(og.evaluate(made, {x: X}), expected)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_writing(key: Any) -> None:
    x = ot.dmatrix("x")
    found, nearest = places(X, key)
    values = GENERATOR.uniform(0.5, 1.5, size=found.shape)
    base = abs(X)
    for name, mode in itertools.product(FUNCTIONS, ("drop", "fill", "clip")):
        expected = base.copy().ravel()
        at = nearest if mode == "clip" else found
        for position, value in zip(at.ravel(), values.ravel(), strict=True):
            if position >= 0:
                expected[position] = FUNCTIONS[name](expected[position], value)
        made = getattr(x.at[key], name)(values, mode=mode, unique_indices=False)
        result = og.evaluate(made, {x: base})
        np.testing.assert_allclose(result, expected.reshape(X.shape), rtol=1e-12)


def test_symbolic_positions_gradients_and_batches() -> None:
    x, i, y = ot.dvector("x"), ot.lvector("i"), ot.dvector("y")
    values = {x: np.array([1.0, 2, 3]), i: np.array([0, 9, -1, -9]), y: np.array([5.0, 6, 7, 8])}
    read, written = x.at[i].get(mode="fill", fill_value=0.0), x.at[i].set(y, mode="drop")
    np.testing.assert_array_equal(og.evaluate(read, values), [1, 0, 3, 0])
    np.testing.assert_array_equal(og.evaluate(written, values), [5, 2, 7])
    of_x, of_y = og.grad((written**2).sum() + (3 * read).sum(), [x, y])
    np.testing.assert_array_equal(og.evaluate(of_x, values), [3, 4, 3])
    np.testing.assert_array_equal(og.evaluate(of_y, values), [10, 0, 14, 0])
    rows = np.array([[0, 9], [1, -3], [7, 7]])
    batched = ot.vectorize(
        lambda j: ot.as_tensor(values[x]).at[j].add(1.0, mode="drop"), "(n)->(k)"
    )(rows)
    np.testing.assert_array_equal(batched.eval(), [[2, 2, 3], [2, 3, 3], [1, 2, 3]])
    none = ot.as_tensor(np.zeros(0)).at[[0, 3]].get(mode="fill")
    assert np.isnan(none.eval()).all()


def test_what_is_read_out_of_bounds() -> None:
    for dtype, value in (("int8", -128), ("uint16", 65535), ("bool", True), ("float32", np.nan)):
        made = ot.as_tensor(np.ones(2, dtype)).at[[5]].get(mode="fill").eval()
        assert made.dtype == dtype
        np.testing.assert_array_equal(made, [np.asarray(value, dtype)])


def test_mistakes() -> None:
    x = ot.dvector("x")
    for mistake, error, message in (
        (lambda: x.at[[5]].get(mode="drop"), ValueError, "not 'drop'"),
        (lambda: x.at[[5]].set(1.0, mode="wrap"), ValueError, "not 'wrap'"),
        (lambda: x.at[[5]].set(1.0, kind=2), TypeError, "no option kind"),
        (lambda: x.at[[5]].apply(ot.exp), AttributeError, r"use x\[key\]\.set"),
        (lambda: x.at[[5]].substract(1.0), AttributeError, "did you mean subtract"),
    ):
        with pytest.raises(error, match=message):
            mistake()
    for made in (x.at[[5]].get(), x.at[[5]].set(1.0, mode="promise_in_bounds")):
        with pytest.raises(IndexError):
            og.evaluate(made, {x: np.ones(3)})
