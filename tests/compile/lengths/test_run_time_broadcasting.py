"""Index arrays and written values broadcast at run time, as in NumPy, on every backend and with all rewrites or few.

Each function is compiled once, for dynamic lengths, and called with all combinations of short lengths. `Indexing`
computes the expected values and gradients by loops over elements.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from occelo_compile import function
from occelo_graph import tensor as ot
from occelo_testing.keys import Indexing

x, rows, columns = ot.dmatrix("x"), ot.lvector("rows"), ot.lvector("columns")
grid, n = ot.lmatrix("grid"), ot.lscalar("n")
mask, other = (ot.tensor(name, dtype="bool", shape=(None,)) for name in ("mask", "other"))
three = ot.tensor("three", dtype="int64", shape=(3,))
whole = ot.tensor("whole", dtype="bool", shape=(None, None))
A = np.arange(12.0).reshape(3, 4) + 1.0
POSITIONS = [np.array(p, "int64") for p in ([], [1], [2, 0], [0, 2, 2])]
GRIDS = [
    np.array(p, "int64").reshape(s)
    for p, s in (([1], (1, 1)), ([2, 0, 1], (1, 3)), ([0, 2], (2, 1)))
]
MASKS = [np.array(p, bool) for p in ([0, 1, 0], [1, 0, 1], [0, 0, 0], [1, 1, 1])]
OTHERS = [np.array(p, bool) for p in ([0, 0, 0, 1], [1, 0, 1, 0], [1, 1, 0, 1])]
VALUES = {
    rows: POSITIONS,
    columns: POSITIONS,
    grid: GRIDS,
    three: [np.array([2, 0, 1])],
    mask: MASKS,
    other: OTHERS,
    n: [np.array(k) for k in (0, 1, 3)],
    whole: [np.isin(A, list(places)) for places in ((), (2.0,), (3.0, 7.0))],
}
KEYS: dict[str, tuple[Any, ...]] = {
    "two vectors": (rows, columns),
    "a vector and a column": (rows[:, None], columns),
    "a matrix and a vector": (grid, columns),
    "a known length and a vector": (three, columns),
    "a vector and a known length": (rows, three),
    "a mask and a vector": (mask, columns),
    "two masks": (mask, other),
    "a formula": (rows * 1, -columns - 1),
    "one vector": (slice(None), columns),
    "one mask": (mask,),
    "a mask of all": (whole,),
    "a slice": (slice(0, n),),
    "slices": (slice(n, None, -1), slice(None, 2)),
    "a number and a slice": (1, slice(n)),
    "a new axis between": (rows, None, columns),
}


def _values_of(key: tuple[Any, ...]) -> Iterator[tuple[list[Any], list[Any], tuple[Any, ...]]]:
    """The variables of a key, and for each combination of values these values and NumPy's key."""
    used = [v for v in VALUES if v in _variables(key)]
    for values in product(*(VALUES[v] for v in used)):
        yield (
            used,
            list(values),
            tuple(_plain(e, dict(zip(used, values, strict=True))) for e in key),
        )


def _variables(entry: Any) -> set[Any]:
    if isinstance(entry, tuple):
        return set().union(*map(_variables, entry))
    if isinstance(entry, slice):
        return _variables((entry.start, entry.stop, entry.step))
    found = {v for v in VALUES if entry is v}
    if isinstance(entry, ot.TensorVariable) and entry.owner is not None:
        found |= _variables(tuple(entry.owner.inputs))
    return found


def _plain(entry: Any, values: dict[Any, Any]) -> Any:
    if isinstance(entry, slice):
        return slice(
            *(
                None if p is None else _plain(p, values)
                for p in (entry.start, entry.stop, entry.step)
            )
        )
    if not isinstance(entry, ot.TensorVariable):
        return entry
    if entry in values:
        return values[entry]
    return entry.eval({v: values[v] for v in _variables(entry)})


def check(key: tuple[Any, ...], mode: Any) -> None:
    y = {k: ot.tensor(dtype="float64", shape=(None,) * k) for k in range(4)}
    made: dict[int, Any] = {}
    for used, values, plain in _values_of(key):
        try:
            shape = A[plain].shape
        except IndexError:
            f = made.get(0) or function([x, *used], x[key], mode=mode)
            with pytest.raises(IndexError):
                f(A, *values, *[1.0] * (f is made.get(0)))
            continue
        for ndim in range(len(shape) + 1):
            own = shape[len(shape) - ndim :]
            for ones in {own, (1,) * ndim, own[:-1] + (1,) * (ndim > 0), own[ndim - 1 :]}:
                if len(ones) != ndim:
                    continue
                of_y = np.arange(1.0, 1 + np.prod(ones)).reshape(ones)
                case = Indexing(
                    x, y[ndim], key, [x, *used, y[ndim]], [A, *values, of_y], A, of_y, plain
                )
                if ndim not in made:
                    made[ndim] = function(case.inputs, case.outputs(), mode=mode)
                results = made[ndim](*case.values)
                repeats_are_open = case.repeats and mode in ("jax", "pytorch")
                for number, (value, wanted) in enumerate(
                    zip(results, case.expected(), strict=True)
                ):
                    if not (repeats_are_open and number in (1, 4, 5)):
                        np.testing.assert_array_equal(
                            value, wanted, err_msg=f"{number} of {plain}, {ones}"
                        )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", KEYS)
@pytest.mark.filterwarnings("ignore:Shapes in the graph depend on values:UserWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's own
def test_lengths_of_one_broadcast_on_every_backend(mode: str, name: str) -> None:
    check(KEYS[name], mode)


@pytest.mark.parametrize("name", KEYS)
def test_lengths_of_one_broadcast(name: str) -> None:
    check(KEYS[name], "native")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["FAST_COMPILE", "DebugMode"])
@pytest.mark.parametrize("name", KEYS)
def test_lengths_of_one_broadcast_with_few_rewrites_and_checked(name: str, kind: str) -> None:
    check(KEYS[name], kind)
