"""`Function.c_function`: the same results as a call from Python, codes instead of exceptions, any number of threads."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import grad
from occelo_graph import tensor as ot
from occelo_link.standalone.c_function import CFunction
from occelo_link.standalone.context import BAD_LENGTH, NO_ROOM

MODES = ("native", "c")
REALS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
DTYPES = [*REALS, "float16", "complex64", "complex128"]


def called(c: CFunction, *values: Any, room: int = 64, data: int | None = None) -> list[Any]:
    """Call a C function of the form "arrays" as C would. Returns its code and its outputs, and then its states.

    ``values`` are the inputs and then the states. Outputs without static lengths get memory for ``room`` elements.
    """
    given, results, sent, kept = iter(values), list[Any](), list[Any](), list[Any]()
    for each in c.arguments:
        if each.by_value:
            sent.append(next(given))
            continue
        if each.role == "output":
            shape = [0 if n is None else n for n in each.shape]
            array = np.zeros(room if each.has_lengths else shape, each.dtype)
            lengths = np.array([*[1] * (len(shape) - 1), room], dtype=np.int64)
            results.append((each, array, lengths))
        else:
            array = np.array(next(given), each.dtype, order="C")
            lengths = np.array(array.shape, dtype=np.int64)
            if each.role == "state":
                results.append((each, array.reshape(-1), lengths))
        kept += [array, lengths]
        sent += [array.ctypes, *([lengths.ctypes] if each.has_lengths else [])]
    code = c.ctypes(*sent, data)
    made: list[Any] = []
    for each, array, lengths in results:
        shape = lengths.tolist() if each.has_lengths else each.shape
        made.append(array.reshape(-1)[: int(np.prod(shape, dtype=int))].reshape(shape))
    return [code, *made]


def same(a: Any, b: Any) -> bool:
    """Whether two arrays have the same dtype, shape and bits."""
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def inputs(dtype: str, *shape: int) -> Any:
    rng = np.random.default_rng(abs(hash((dtype, shape))) % 2**32)
    numbers = rng.normal(size=shape) * 3
    if dtype.startswith("complex"):
        return (numbers + 1j * rng.normal(size=shape)).astype(dtype)
    return (numbers > 0 if dtype == "bool" else abs(numbers)).astype(dtype)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_in_several_shapes(dtype: str, mode: str) -> None:
    s, v, m = (ot.tensor(f"a{n}", dtype=dtype, shape=(None,) * n) for n in range(3))
    t = ot.tensor("t", dtype=dtype, shape=(2, None, 3))
    f = oc.function([s, v, m, t], [v * s, m.T, ot.sum(t, axis=1), s, v[:0]], mode=mode)
    c = f.c_function()
    for n in (0, 1, 4):
        values = [inputs(dtype), inputs(dtype, n), inputs(dtype, n, 3), inputs(dtype, 2, n, 3)]
        code, *results = called(c, *values)
        assert code == 0
        for mine, expected in zip(results, f(*values), strict=True):
            assert same(mine, expected)


def test_numbers_are_passed_by_value() -> None:
    scalars = [ot.tensor(d, dtype=d, shape=()) for d in REALS]
    c = oc.function(scalars, [s + s for s in scalars], mode="native").c_function()
    values = [np.iinfo(d).max // 2 if "int" in d else 1.25 for d in REALS]
    values[0] = True
    code, *results = called(c, *values)
    assert code == 0
    assert [r.item() for r in results] == [True, *[v + v for v in values[1:]]]
    assert "bool bool_2, int8_t int8, " in c.declaration()


def test_the_density_that_samplers_call() -> None:
    x, w = ot.dvector("x"), oc.shared(np.array([1.0, 2.0, 3.0]), "w")
    value = -ot.sum((x - w) ** 2)
    for outputs in ([value, grad(value, x)], [grad(value, x), value]):
        f = oc.function([x], outputs, mode="native")
        c = f.c_function("log_density_gradient")
        point, gradient, found = np.array([0.5, 0.0, 2.0]), np.zeros(3), np.zeros(())
        assert c.ctypes(3, point.ctypes, gradient.ctypes, found.ctypes, None) == 0
        assert same(found, -np.sum((point - [1, 2, 3]) ** 2))
        assert same(gradient, -2 * (point - [1, 2, 3]))
        # other data at the same address, by name or by variable
        for key in ("w", w):
            other = c.with_data({key: point})
            assert other.address == c.address
            assert c.ctypes(3, point.ctypes, gradient.ctypes, found.ctypes, other.data) == 0
            assert found == 0
        longer = c.with_data({w: np.zeros(5)})
        assert c.ctypes(3, point.ctypes, gradient.ctypes, found.ctypes, longer.data) > 0
        assert c.ctypes(3, point.ctypes, gradient.ctypes, found.ctypes, c.data) == 0
    with pytest.raises(KeyError, match="no 'v'"):
        c.with_data({"v": 1.0})
    with pytest.raises(TypeError):
        c.with_data({"w": np.zeros((2, 2))})
    with pytest.raises(TypeError, match="a number and a vector"):
        oc.function([x], [x, x + 1], mode="native").c_function("log_density_gradient")
    with pytest.raises(TypeError, match="one input, a vector of float64"):
        oc.function([ot.dmatrix()], [], mode="native", on_unused_input="ignore").c_function(
            "vector"
        )


def test_a_vector_to_a_vector() -> None:
    x = ot.dvector("x")
    f = oc.function([x], ot.concatenate([ot.exp(x), x[:1]]), mode="native")
    c = f.c_function("vector")
    point, result = np.arange(4.0), np.zeros(5)
    assert c.ctypes(4, 5, point.ctypes, result.ctypes, None) == 0
    assert same(result, f(point))
    assert c.ctypes(4, 6, point.ctypes, result.ctypes, None) == BAD_LENGTH
    assert c.ctypes(4, 4, point.ctypes, result.ctypes, None) == NO_ROOM


def test_what_scipy_integrates() -> None:
    integrate = pytest.importorskip("scipy.integrate")
    x, y, scale = ot.dscalar("x"), ot.dscalar("y"), oc.shared(2.0, "scale")
    c = oc.function([x, y], scale * ot.exp(-(x**2)) + y, mode="native").c_function("numbers")
    found, _ = integrate.quad(c.low_level_callable(), -9, 9, args=(0.25,))
    assert found == pytest.approx(2 * np.sqrt(np.pi) + 18 / 4)
    other = c.with_data({scale: 0.0}).low_level_callable()
    gc.collect()
    assert integrate.quad(other, 0, 1, args=(3.0,))[0] == pytest.approx(3)
    assert np.isnan(c.ctypes(3, (ctypes.c_double * 3)(), None))


def test_states_are_read_and_overwritten() -> None:
    total = oc.shared(np.zeros(3), "total")
    count = oc.shared(np.int64(0), "count")
    x = ot.dvector("x")
    f = oc.function([x], total.sum(), updates={total: total + x, count: count + 1}, mode="native")
    c = f.c_function()
    assert [a.role for a in c.arguments] == ["input", "output", "state", "state"]
    code, seen, new, counted = called(c, np.ones(3), np.arange(3.0), 4)
    assert (code, seen, counted) == (0, 3, 5)
    assert new.tolist() == [1, 2, 3]
    assert total.get_value().tolist() == [0, 0, 0]  # a call from C changes no shared variable
    # a call that fails changes no state
    code, _, new, counted = called(c, np.ones(2), np.arange(3.0), 4)
    assert code > 0
    assert (new.tolist(), counted) == ([0, 1, 2], 4)
