"""Functions that join, index, shape and create, against those of NumPy over combinations of their arguments.

Where NumPy raises an error, ours must raise one too, when the graph is built or when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_arrays import functions as arrays
from occelo_graph import tensor as ot

V = np.array([3.0, 1.0, 2.0])
M = np.arange(6.0).reshape(2, 3)
T = np.arange(24.0).reshape(2, 3, 4)
E = np.zeros((0, 3))
INTS = np.array([1, 0, 1])


class Sample:
    """Arguments of a call; arrays among them are inputs of the graph, too, of known and of unknown lengths."""

    def __init__(self, name: str, *args: Any, **options: Any) -> None:
        self.name, self.args, self.options = name, args, options

    def __repr__(self) -> str:
        given = [f"array{a.shape}" if isinstance(a, np.ndarray) else repr(a) for a in self.args]
        given += [f"{k}={v!r}" for k, v in self.options.items()]
        return f"{self.name}({', '.join(given)})"


def _over(name: str, *positions: list[Any], **options: list[Any]) -> Iterator[Sample]:
    names = list(options)
    for args in product(*positions):
        for values in product(*options.values()):
            yield Sample(name, *args, **dict(zip(names, values, strict=True)))


def samples() -> Iterator[Sample]:
    axes = [None, 0, -1, 1, 5]
    for order in "CF":
        yield from _over(
            "unravel_index",
            [
                np.array([0, 5, 3]),
                np.array(4),
                np.array([[1]], "uint8"),
                np.array([6]),
                np.array([-1]),
            ]
            + [np.array([1.0]), np.array([True]), np.array([], "int64"), np.array([100], "int8")],
            [(2, 3), (6,), (3, 2, 1), (200, 3)],
            order=[order],
        )
        yield from _over(
            "ravel_multi_index",
            [(np.array([1, 0]), np.array([2, 2])), (np.array([1]), np.array([[0], [2]], "int8"))]
            + [(np.array([2]), np.array([0])), (np.array([-1]), np.array([2])), (np.array([1]),)]
            + [(np.array([1.0]), np.array([2])), (1, np.array([True, False]))],
            [(2, 3), (100, 200)],
            mode=["raise", "wrap", "clip", ("wrap", "clip"), ("raise", "wrap")],
            order=[order],
        )
    yield from _over(
        "choose",
        [INTS, np.array([[0], [1]]), np.array(1), np.array([2, 0]), np.array([-1]), np.array([1.0])]
        + [np.array([True, False, True])],
        [[V, V + 1], [V, 7.0], [np.array([[1], [2]]), V], M, [1, 2.5], np.array([4, 5])],
        mode=["raise", "wrap", "clip"],
    )
    yield from _over(
        "repeat",
        [V, M, np.array(5)],
        [
            2,
            0,
            -1,
            np.array(2),
            [3],
            np.array([2]),
            [1, 0, 2],
            np.array([1, 2]),
            [],
            INTS > 0,
            [[2]],
        ],
        axis=[None, 0, -1],
    )
    yield from _over("tile", [V, M, np.array(2.0)], [2, (2, 1), (2, 1, 3), (), 0, (1,)])
    yield from _over("roll", [V, M, E, T], [1, -4, 0], axis=[*axes, (0, 1)])
    yield from _over("roll", [M, T], [(1, 2), (1,), (1, 2, 3)], axis=[(0, 1), (1, 1), [0, -1]])
    yield from _over("flip", [V, M, T, np.array(1.0)], axis=[*axes, (0, 1), ()])
    yield from _over("diff", [V, M, E, M > 2, M.astype("uint8")], n=[0, 1, 2, 4, -1], axis=[0, -1])
    yield from _over("diff", [V, M], n=[1, 2], axis=[3, -3])
    yield from _over(
        "take", [V, M], [np.array([0, -1]), np.array(2), INTS > 0, V], axis=[None, 0, -1]
    )
    yield from _over(
        "take", [M], [np.array([-7, 9])], axis=[None, 1], mode=["raise", "wrap", "clip"]
    )
    yield from _over(
        "take_along_axis",
        [M],
        [np.array([[0], [1]]), np.array([[1, 0, -1]]), np.array([[2, 0, 1]]), M > 2, M, INTS],
        axis=[0, 1, -1, 2],
    )
    yield from _over("take_along_axis", [M], [np.array([5, 0])], axis=[None])
    yield from _over(
        "compress",
        [[True, False], INTS > 0, [False, True, True], [[True]]],
        [V, M],
        axis=[None, 0, 1],
    )
    yield from _over(
        "pad",
        [V, M],
        [0, 1, (1, 2), ((1, 2),), ((0, 1), (2, 0)), -1, 1.5, (1, 2, 3)],
        mode=["constant", "edge", "reflect", "symmetric", "wrap", "other"],
    )
    for stacked in ([M, M + 1], [V, V], [M, V], [V], [np.array(1.0), 2], [M, M > 2], []):
        for axis in (0, 1, -1, 3):
            yield Sample("stack", stacked, axis=axis)
            yield Sample("concatenate", stacked, axis=axis)
    yield from _over("diagonal", [M, T, V], [0, 1, -1, 7], [0, 1], [1, 2, 0])
    yield from _over("diag", [V, M, T], [0, 1, -2])
    yield from _over("squeeze", [V[None], M[:, None], M], axis=[None, 0, 1, (0, 1), -1])
    yield from _over("expand_dims", [V, M], [0, -1, (0, 2), (0, 0), 5])
    yield from _over("swapaxes", [M, T], [0, -1], [1, 2])
    yield from _over("moveaxis", [T], [0, (0, 1), -1], [1, (2, 0), -1, (0, 0)])
    yield from _over("tri", [3, 0], [None, 2], [0, 1, -1])
    yield from _over("tril", [M, T, np.array(M, "int8")], [0, 1, -1])
    yield from _over("triu", [M, T, M > 2], [0, 1, -1])
    yield from _over(
        "broadcast_to", [V, np.array(2.0), V[:, None]], [(2, 3), (3,), (3, 3), (2,), 3]
    )
    yield from _over("linspace", [0, 2.5], [1, -3.0], [0, 1, 5], endpoint=[True, False])
    yield from _over("arange", [0, 5, 2.5], [3, -2, 4.5], [1, -1, 2, 0.5])


FUNCTIONS: dict[str, Any] = {**vars(ot), **vars(arrays)}


def _as_graph(value: Any, unknown: bool, given: dict[Any, Any]) -> Any:
    if isinstance(value, np.ndarray):
        # only what is known to be 1 may be taken for it
        shape = [None if unknown and n != 1 else n for n in value.shape]
        made = ot.tensor(dtype=value.dtype.name, shape=shape)
        given[made] = value
        return made
    if isinstance(value, list | tuple):
        return type(value)(_as_graph(v, unknown, given) for v in value)
    return value


def _outcome(make: Callable[[], Any]) -> Any:
    """What a call gives, as a list of arrays, or the exception that it raises."""
    try:
        found = make()
        return (
            [np.asarray(f) for f in found]
            if isinstance(found, list | tuple)
            else [np.asarray(found)]
        )
    except Exception as error:
        return error


def _built(sample: Sample, unknown: bool) -> Any:
    given: dict[Any, Any] = {}
    args = [_as_graph(a, unknown, given) for a in sample.args]
    made = FUNCTIONS[sample.name](*args, **sample.options)
    outputs = list(made) if isinstance(made, list | tuple) else [made]
    values = og.evaluate(outputs, given)
    for variable, value in zip(outputs, values, strict=True):
        assert variable.type.is_valid_value(value)
    return values


BY_NAME: dict[str, list[Sample]] = {}
for _sample in samples():
    BY_NAME.setdefault(_sample.name, []).append(_sample)


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("unknown", [False, True])
def test_functions_do_what_those_of_numpy_do(name: str, unknown: bool) -> None:
    wrong: list[str] = []
    for sample in BY_NAME[name]:
        with np.errstate(all="ignore"):
            wanted = _outcome(lambda s=sample: getattr(np, s.name)(*s.args, **s.options))
            found = _outcome(lambda s=sample: _built(s, unknown))
        if isinstance(wanted, Exception) or isinstance(found, Exception):
            if not (isinstance(wanted, Exception) and isinstance(found, Exception)):
                wrong.append(f"{sample}: {found!r}, in NumPy {wanted!r}")
            continue
        same = len(found) == len(wanted) and all(
            f.shape == w.shape and f.dtype.kind == w.dtype.kind and np.allclose(f, w, 1e-14, 1e-14)
            for f, w in zip(found, wanted, strict=True)
        )
        if not same:
            wrong.append(f"{sample}: {found}, in NumPy {wanted}")
    assert not wrong, "\n".join(wrong)


# what NumPy has otherwise, or not at all

n, sizes = ot.lscalar("n"), ot.lvector("sizes")
x = ot.dmatrix("x")
MANY = np.arange(8.0).reshape(4, 2)


def test_parts_of_a_split() -> None:
    static = ot.tensor(dtype="float64", shape=(4, None))
    assert [v.type.shape for v in ot.split(static, [1, 3], 2)] == [(1, None), (3, None)]
    for made in (ot.split(x, [1, 3], 2), ot.split(x, sizes, 2), ot.split(x, [n, 3], 2)):
        first, second = og.evaluate(made, {x: MANY, sizes: np.array([1, 3]), n: np.array(1)})
        np.testing.assert_array_equal(first, MANY[:1])
        np.testing.assert_array_equal(second, MANY[1:])
    parts = og.evaluate(ot.split(x, [0, 2, 0], 3, axis=-1), {x: MANY})
    assert [p.shape for p in parts] == [(4, 0), (4, 2), (4, 0)]


@pytest.mark.parametrize(
    ("given", "count"), [([1, 1], 2), ([3, 2], 2), ([5, -1], 2), ([4], 1), ([1, 3], 3), ([1, 3], 2)]
)
def test_sizes_of_a_split_add_up(given: list[int], count: int) -> None:
    fits = sum(given) == 4 and len(given) == count and min(given) >= 0
    static = ot.tensor(dtype="float64", shape=(4, 2))
    of_known = ot.tensor(dtype="int64", shape=(len(given),))
    of_unknown: list[Callable[[], Any]] = [
        lambda: ot.split(static, given, count),
        lambda: ot.split(x, given, count),
        lambda: ot.split(x, sizes, count),
        lambda: ot.split(x, of_known, count),
        lambda: ot.split(static, [*given[:-1], n], count),
    ]
    last = np.array(given[-1])
    values = {x: MANY, static: MANY, sizes: np.array(given, "int64")}
    values |= {of_known: np.array(given, "int64"), n: last}
    for make in of_unknown:
        if fits:
            assert sum(len(p) for p in og.evaluate(make(), values)) == 4
        else:
            with pytest.raises(ValueError, match=r"sizes?\b"):
                og.evaluate(make(), values)
    if any(s < 0 for s in given):
        with pytest.raises(ValueError, match="must not be negative"):
            ot.split(x, given, count)


def test_lengths_that_broadcast() -> None:
    k, m = ot.lscalars("k", "m")
    assert ot.broadcast_shape((2, 1), (1, 3), arrays_are_shapes=True) == (2, 3)
    assert ot.broadcast_shape(V, M) == (2, 3)
    with pytest.raises(ValueError, match="do not broadcast"):
        ot.broadcast_shape((2,), (3,), arrays_are_shapes=True)
    for shapes in ([(k,), (m,)], [(k,), (4,)], [(4,), (k,)], [(1, k), (5, m)], [(k,), (1,), (m,)]):
        found = ot.broadcast_shape(*shapes, arrays_are_shapes=True)
        length = found[-1]
        assert og.evaluate(length, {k: np.array(4), m: np.array(4)}) == 4
        for other in (3, 1):
            with pytest.raises(ValueError, match=r"lengths of dimension . differ"):
                og.evaluate(length, {k: np.array(other), m: np.array(4)})
    v, w = ot.dvectors("v", "w")
    (length,) = ot.broadcast_shape(v, w)
    with pytest.raises(ValueError, match=r"lengths of dimension . differ"):
        og.evaluate(length, {v: np.ones(2), w: np.ones(3)})
    with pytest.raises(ValueError, match=r"lengths of dimension . differ"):
        og.evaluate(length, {v: np.ones(1), w: np.ones(3)})


def test_minmax_is_both_extrema() -> None:
    x, chosen = ot.dmatrix("x"), ot.matrix("chosen", dtype="bool")
    mask = M % 2 == 0
    made = [
        *arrays.minmax(x),
        *arrays.minmax(x, 1, True),
        *arrays.minmax(x, 0, initial=(2.5, 3.5), where=chosen),
        *arrays.minmax(x, initial=-1.0),
    ]
    expected = [
        M.min(), M.max(), M.min(1, keepdims=True), M.max(1, keepdims=True),
        M.min(0, initial=2.5, where=mask), M.max(0, initial=3.5, where=mask), -1.0, 5.0,
    ]  # fmt: skip
    for found, value in zip(og.evaluate(made, {x: M, chosen: mask}), expected, strict=True):
        np.testing.assert_array_equal(found, value)
