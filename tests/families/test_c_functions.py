"""`Function.c_function`: the same results as a call from Python, codes instead of exceptions, any number of threads."""

from __future__ import annotations

import ctypes
import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_linalg as ol
import occelo_loops as loops
import occelo_random as random
from occelo_graph import grad
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.ops.control.python_function import as_op
from occelo_link.c.compiler import CompilerMissing, shared_library
from occelo_link.standalone.c_function import CFunction
from occelo_link.standalone.context import BAD_LENGTH, NO_ROOM
from occelo_link.standalone.selection import NeedsPython
from occelo_link.units.thread_pool import thread_pool

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
        count, flat = int(np.prod(shape, dtype=int)), array.reshape(-1)
        made.append(flat[:count].reshape(shape) if count <= flat.size else flat)
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


def chained() -> tuple[Any, Any]:
    """A function with loops, LAPACK, working memory of several sizes, and a check; and its argument."""
    x = ot.dvector("x")
    w = oc.shared(np.linspace(-1, 1, 40), "w")
    covariance = ot.exp(-((w[:, None] - w[None, :]) ** 2) * ot.exp(x[0])) + ot.eye(40)
    solved = ol.solve_triangular(ol.cholesky(covariance), w, lower=True)
    states = loops.scan(
        lambda t, s: ot.tanh(s + t), sequences=x, outputs_info=x[:3], return_updates=False
    )[-1]
    value = ot.sum(solved**2) + ot.sum(states)
    return oc.function([x], [value, grad(value, x)], mode="native"), np.linspace(-1, 1, 7)


def test_threads_run_at_once_and_get_the_same_bits() -> None:
    f, point = chained()
    c = f.c_function("log_density_gradient")
    value, gradient = f(point)
    start = threading.Barrier(8)

    def work(_: int) -> bool:
        mine, found = np.zeros(7), np.zeros(())
        start.wait()
        for _ in range(200):
            mine[:], found[()] = np.nan, np.nan
            code = c.ctypes(7, point.ctypes, mine.ctypes, found.ctypes, None)
            if code or not same(mine, gradient) or not same(found, value):
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


THREADS = """
#include <pthread.h>
#include <stdint.h>
#include <string.h>
typedef int64_t (*density)(uint64_t, const double *, double *, double *, const void *);
struct work { density f; const double *x; const double *gradient; double value; int64_t wrong; };
static void *run(void *given) {
  struct work *work = given;
  double gradient[7], value;
  for (int i = 0; i < 500; ++i) {
    int64_t code = work->f(7, work->x, gradient, &value, 0);
    work->wrong += code || value != work->value || memcmp(gradient, work->gradient, sizeof gradient);
  }
  return 0;
}
int64_t count_wrong(density f, const double *x, const double *gradient, double value) {
  pthread_t threads[8];
  struct work work[8];
  int64_t wrong = 0;
  for (int i = 0; i < 8; ++i) {
    work[i] = (struct work){f, x, gradient, value, 0};
    if (pthread_create(&threads[i], 0, run, &work[i])) return -1;
  }
  for (int i = 0; i < 8; ++i) pthread_join(threads[i], 0);
  for (int i = 0; i < 8; ++i) wrong += work[i].wrong;
  return wrong;
}
"""


def test_threads_of_the_system_run_while_python_holds_its_lock() -> None:
    try:
        library = shared_library(THREADS, None)
    except (CompilerMissing, RuntimeError) as missing:
        pytest.skip(f"no C compiler, or no threads of POSIX: {missing}")
    f, point = chained()
    value, gradient = f(point)
    c = f.c_function("log_density_gradient")
    address, pointer = ctypes.cast(library.count_wrong, ctypes.c_void_p).value, ctypes.c_void_p
    assert address is not None
    # a function of this type keeps the lock, so a thread that waits for it would wait for ever
    kind = ctypes.PYFUNCTYPE(ctypes.c_int64, pointer, pointer, pointer, ctypes.c_double)
    assert kind(address)(c.address, point.ctypes, gradient.ctypes, float(value)) == 0


@pytest.mark.parametrize("mode", MODES)
def test_failures_are_codes_with_a_meaning(mode: str) -> None:
    a, x = ot.dmatrix("a"), ot.dvector("x")
    f = oc.function([a, x], [ol.cholesky(a) @ x, x[2]], mode=mode)
    c = f.c_function()
    good = np.array([[4.0, 2.0, 0], [2.0, 5.0, 1], [0, 1.0, 2]])
    point = np.arange(3.0)
    code, *results = called(c, good, point)
    assert code == 0
    assert all(map(same, results, f(good, point)))
    wrong = [(good[:2, :2], point[:2]), (good, np.arange(4.0)), (good[:2], point), (-good, point)]
    for matrix, vector in wrong:
        code, *_ = called(c, matrix, vector)
        try:
            expected = f(matrix, vector)
        except Exception:
            assert code > 0
            assert "check of" in c.errors[code]
            assert __file__ in c.errors[code]
        else:
            assert code == 0
            assert np.isnan(expected[0]).any()
    assert called(c, good, point, room=2)[0] == NO_ROOM
    # no memory at all: the call only asks for the lengths
    lengths = np.zeros(1, dtype=np.int64)
    square, scalar = np.array([3, 3]), np.zeros(())
    sent = [good.ctypes, square.ctypes, point.ctypes, square.ctypes, None, lengths.ctypes]
    assert c.ctypes(*sent, scalar.ctypes, None) == NO_ROOM
    assert lengths.tolist() == [3]


def test_c_functions_run_in_one_thread() -> None:
    x = ot.dvector("x")
    with config.change_flags(native__threads=2):
        f = oc.function([x], ot.exp(-x * x) + ot.sin(x), mode="native")
        c = f.c_function()
    point = np.random.default_rng(0).uniform(size=1_000_000)
    expected, pool = f(point), thread_pool()
    before = pool.loops
    assert same(called(c, point, room=len(point))[1], expected)
    assert pool.loops == before
    f(point)
    assert pool.loops > before


def test_lengths_that_the_type_has() -> None:
    x = ot.tensor("x", dtype="float64", shape=(3, None))
    c = oc.function([x], x.sum(axis=0), mode="native").c_function()
    assert called(c, np.ones((3, 2)))[0] == 0
    assert called(c, np.ones((2, 2)))[0] == BAD_LENGTH


def test_empty_arrays_need_no_memory() -> None:
    x = ot.dvector("x")
    c = oc.function([x], [x * 2, x.sum()], mode="native").c_function()
    none, total = np.zeros(1, dtype=np.int64), np.ones(())
    assert c.ctypes(None, none.ctypes, None, none.ctypes, total.ctypes, None) == 0
    assert total == 0


def test_outputs_that_nothing_computes() -> None:
    """Outputs and updates that are inputs, constants, or the same variable twice."""
    x, s, t = ot.dvector("x"), oc.shared(np.ones(2), "s"), oc.shared(np.zeros(2), "t")
    outputs = [x, oc.Out(x, borrow=True), s, ot.constant([5.0, 6.0]), x + 1, x + 1]
    for updates in ({}, {s: t, t: s}, {s: x}):
        given = [oc.In(x, borrow=True)]
        f = oc.function(given, outputs, updates=updates, mode="native")
        c = f.c_function()
        states = [np.full(2, 7.0), np.full(2, 8.0)][: len(updates)]
        code, *results = called(c, np.array([1.0, 2.0]), *states)
        assert code == 0
        first = states[0] if updates else np.ones(2)
        expected = [[1, 2], [1, 2], first.tolist(), [5, 6], [2, 3], [2, 3]]
        new = {0: [], 2: [[8, 8], [7, 7]], 1: [[1, 2]]}[len(updates)]
        assert [r.tolist() for r in results] == [*expected, *new]
    nothing = oc.function([x], [], mode="native", on_unused_input="ignore").c_function()
    assert called(nothing, np.ones(3)) == [0]


def test_functions_of_the_cache_and_of_a_profile() -> None:
    x, w = ot.dvector("x"), oc.shared(np.array([2.0]), "w")
    for profile in (None, None, True):
        f = oc.function([x], ot.log(x[2]) * w, mode="native", profile=profile)
        c = f.c_function()
        code, result = called(c, np.ones(3) * np.e)
        assert (code, result.tolist()) == (0, [2])
        code, _ = called(c, np.ones(2))
        assert "made at" in c.errors[code]


@pytest.mark.filterwarnings("ignore:Functions are not kept in the cache")
def test_what_needs_python_is_refused_by_name() -> None:
    x, generator = ot.dvector("x"), random.shared_rng(seed=1, name="generator")
    sort = as_op([ot.dvector], [ot.dvector])(np.sort)

    def step(v: Any) -> Any:
        return sort(v + x).sum()

    in_a_loop = loops.map(step, x, return_updates=False)
    for graph in (
        sort(x),
        sort(x) + 1,
        in_a_loop,
    ):
        with pytest.raises(NeedsPython, match=r"sort.*made at"):
            oc.function([x], graph, mode="native").c_function()
    drawn = generator.normal(size=(2,))[1]
    with pytest.raises(TypeError, match="generator is of type RandomGenerator"):
        oc.function([], drawn, mode="native").c_function()
    for mode in ("py", "c|py"):
        with pytest.raises(TypeError, match="native and c"):
            oc.function([x], x + 1, mode=mode).c_function()
    with pytest.raises(ValueError, match="one of the forms"):
        oc.function([x], x + 1, mode="native").c_function("matrix")


def test_memory_is_freed() -> None:
    x, w = ot.dvector("x"), oc.shared(np.zeros(3), "w")
    c = oc.function([x], x + w, mode="native").c_function()
    other = c.with_data({w: np.ones(3)})
    code, data = weakref.ref(vars(c)["_code"]), weakref.ref(vars(other)["_data"])
    gc.disable()
    try:
        del c
        assert called(other, np.zeros(3))[1].tolist() == [0, 0, 0]
        assert called(other, np.zeros(3), data=other.data)[1].tolist() == [1, 1, 1]
        call = other.ctypes
        del other
        assert None not in (code(), data())
        del call
        assert (code(), data()) == (None, None)
    finally:
        gc.enable()


def test_a_declaration_for_cffi() -> None:
    cffi = pytest.importorskip("cffi")
    ffi = cffi.FFI()
    x, n = ot.fvector("x"), ot.iscalar("default")
    f = oc.function([x, n], {"out": x * n}, mode="native")
    c = f.c_function()
    ffi.cdef(f"{c.declaration('scaled')};")
    call = ffi.cast(c.pointer_type, c.address)
    given, result, lengths = (
        ffi.new(k, v) for k, v in (("float[]", [1, 2]), ("double[]", 2), ("int64_t[]", [2]))
    )
    assert call(given, lengths, 3, result, lengths, ffi.NULL) == 0
    assert list(result) == [3, 6]


def test_numba_calls_it() -> None:
    numba = pytest.importorskip("numba", reason="Numba is not installed")
    x, m, k = ot.dvector("x"), ot.tensor("m", dtype="float32", shape=(None, 2)), ot.lscalar("k")
    w = oc.shared(2.0, "w")
    f = oc.function([x, m, k], [x * w + k, m.T], mode="native")
    call = f.c_function().with_data({w: 3.0}).numba()

    @numba.njit
    def twice(x: Any, m: Any, y: Any, t: Any) -> Any:
        return call(x, m, 1, y, t) + call(y, m, 2, x, t)

    a, b = np.arange(3.0), np.ones((4, 2), "float32")
    y, t = np.zeros(3), np.zeros((2, 4), "float32")
    gc.collect()
    assert twice(a, b, y, t) == 0
    assert y.tolist() == [1, 4, 7]
    assert a.tolist() == [5, 14, 23]
    assert t.all()
    assert call(a, b, 1, np.zeros(4), t) == BAD_LENGTH
    g = oc.function([x], [x.sum(), x], mode="native").c_function("log_density_gradient")
    with pytest.raises(TypeError, match="arrays"):
        g.numba()
