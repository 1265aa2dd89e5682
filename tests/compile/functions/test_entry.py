"""The machine-code entry: calls that it accepts, calls that it passes to Python, and no leaks."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_link.loops.ir import cost
from occelo_link.units import object_layout
from occelo_link.units.entry_loading import entry_code
from occelo_link.units.thread_pool import thread_pool

COUNT = 3000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 300


@pytest.fixture(autouse=True, scope="module")
def the_entry_is_loaded() -> None:
    """Functions have their entry after one call."""
    entry_code()


def attached(*arguments: Any, **options: Any) -> Any:
    """A function after its first call, when the entry has taken over."""
    return oc.function(*arguments, mode="native", **options)


def is_builtin(f: Any) -> bool:
    return type(type(f).__dict__.get("__call__")).__name__ == "builtin_function_or_method"


def test_later_calls_run_no_python() -> None:
    x, y = ot.dvector("x"), ot.dscalar("y")
    f = attached([x, y], [x * y, x.sum()])
    assert not is_builtin(f)
    f([1.0], 2.0)
    assert is_builtin(f)
    assert isinstance(f, oc.Function)
    a = np.arange(3.0)
    for scalar in (2.0, 2, np.float64(2), np.array(2.0), np.float32(2), True + 1):
        first, second = f(a, scalar)
        assert first.tolist() == [0.0, 2.0, 4.0]
        assert second == 3.0
        assert type(second) is np.ndarray
    # what is not simple goes through Python, with the same results
    for same in ([0, 1, 2], a[::-1][::-1], a.astype("float32"), np.array([0, 9, 1, 9, 2.0])[::2]):
        assert f(same, y=2.0)[0].tolist() == [0.0, 2.0, 4.0]
    assert f(y=2.0, x=a)[1] == 3.0
    assert f(a, 2.0, output_subset=[1]) == [3.0]
    for bad, error in (((a,), TypeError), ((a, "x"), TypeError), ((a[None], 1.0), TypeError)):
        with pytest.raises(error):
            f(*bad)
    with pytest.raises(TypeError, match="got 3"):
        f(a, 1.0, 2.0)


def test_inputs_that_nothing_reads_are_checked_and_cost_no_python() -> None:
    x, unread, number = ot.dvector("x"), ot.fmatrix("unread"), ot.lscalar("number")
    w = oc.shared(np.ones(2), "w")
    inputs = [unread, x, number]
    for updates in ([], [(w, w + x)], [(w, x * 2)]):
        f = attached(inputs, x.sum(), updates=updates, on_unused_input="ignore")
        a, m = np.arange(2.0), np.zeros((2, 3), "float32")
        f(m, a, 1)
        assert is_builtin(f)
        for each in (m, m.T, m[:0], m[::-1, ::2]):
            assert f(each, a, number=3) == 1.0
        for bad in ((a, a, 1), (m, a, 1.5), (m, a), (None, a, 1)):
            with pytest.raises(TypeError):
                f(*bad)
    np.testing.assert_array_equal(w.get_value(), [0.0, 2.0])


FIRST_CALLS = """
import gc
import weakref
import numpy as np
import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_link.cache.store import counters
from occelo_link.units.entry_loading import entry_code

def entry(f):
    return type(type(f).__dict__.get("__call__")).__name__ == "builtin_function_or_method"

x, a = ot.dvector("x"), np.arange(3.0)
first, second, third = (oc.function([x], [x * k, x.sum()]) for k in range(1, 4))
once = [first(a), second(a)]
gc.disable()
large = weakref.ref(oc.function([x], x + 1.0)(a))
assert large() is None  # nothing else holds the result of a first call
gc.enable()
loaded = entry_code.cache_info().currsize
assert not entry(second)
again = [first(a), second(a)]
assert entry(first) and entry(second)
for k, results in enumerate((*once, *again, first(a), second(a))):
    assert results[0].tolist() == [0.0, 1.0 + k % 2, 2.0 + 2 * (k % 2)] and results[1] == 3.0
third(a)
assert entry(third)
print(loaded, counters["code generation"])
"""


def test_a_first_call_does_not_wait_for_the_entry_to_be_compiled(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "OCCELO_FLAGS": f"compiledir={tmp_path}",
        "OMP_NUM_THREADS": "1",  # the pool of threads would be compiled, too
    }
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CALLS],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    # four functions, and the entry at the second call of the first
    assert done.stdout.split() == ["0", "5"]


def test_what_is_returned() -> None:
    x = ot.dscalar("x")
    one, several = attached([x], x + 1), attached([x], [x + 1])
    named = attached([x], {"y": x + 1})
    for _ in range(2):
        assert one(1.0) == 2.0
        assert several(1.0) == [2.0]
        assert named(1.0) == {"y": 2.0}


def test_single_precision_and_integers() -> None:
    x, n = ot.fscalar("x"), ot.lscalar("n")
    f = attached([x, n], [x * 2, n + 1])
    for _ in range(2):
        found = f(0.1, 2**62)
        assert found[0].dtype == np.float32
        assert found[0] == np.float32(0.1) * 2
        assert found[1] == 2**62 + 1
        with pytest.raises(TypeError, match="loses precision"):
            f(0.1, 2**63)
        with pytest.raises(TypeError):
            f(np.float64(0.1), 1)
        with pytest.raises(TypeError):
            f(0.1, 1.5)
    y = ot.dscalar("y")
    g = attached([y], y * 1.0)
    for _ in range(2):
        assert g(2**53) == 2.0**53
        with pytest.raises(TypeError):
            g(2**53 + 1)


def test_static_lengths_are_checked() -> None:
    x = ot.tensor("x", dtype="float64", shape=(2, None))
    f = attached([x], x.sum())
    for _ in range(2):
        assert f(np.ones((2, 5))) == 10.0
        with pytest.raises(TypeError, match="Wrong shape"):
            f(np.ones((3, 5)))


def test_updates_happen_after_every_output_succeeded() -> None:
    x, i = ot.dvector("x"), ot.lscalar("i")
    total, count = oc.shared(np.zeros(2), "total"), oc.shared(0, "count")
    f = attached([x, i], x[i], updates={total: total + x, count: count + 1})
    for k in range(4):
        assert f(np.ones(2), 0) == 1.0
        with pytest.raises(IndexError):
            f(np.ones(2), 2)
        assert count.get_value() == k + 1
        assert total.get_value().tolist() == [k + 1.0, k + 1.0]
    with pytest.raises(ValueError, match="mismatch"):
        f(np.ones(3), 0)
    total.set_value(np.zeros(3))
    assert f(np.ones(3), 0) == 1.0
    assert total.get_value().tolist() == [1.0, 1.0, 1.0]


def test_values_that_were_handed_out_stay_as_they_are() -> None:
    w = oc.shared(np.zeros(3), "w", borrow=True)
    f = attached([], w * 2, updates={w: w + 1})
    held = [(w.get_value(borrow=True), f(), float(k)) for k in range(5)]
    for value, result, k in held:
        assert value.tolist() == [k] * 3
        assert result.tolist() == [2 * k] * 3
    # memory of scalars is used again, unless somebody still sees it
    x = ot.dscalar("x")
    one, several = attached([x], x + 1), attached([x], [x + 1, x * 2])
    each = [(one(k), *several(k), k) for k in (*range(9), *range(9))]
    for first, second, double, k in each:
        assert (first, second, double) == (k + 1, k + 1, 2 * k)
    places = {one(float(k)).ctypes.data for k in range(9)}
    last = one(0)
    for _ in range(9):
        last = one(last)
        places.add(last.ctypes.data)
    assert len(places) <= 3
    assert last == 10.0
    view, seen, reference = one(1)[None], memoryview(one(2)), weakref.ref(held_by := one(3))
    held_by.flags.writeable = False
    del held_by
    for k in range(9):
        assert one(k) == several(k)[0] == k + 1
    assert (view.tolist(), seen.tolist(), reference()) == ([2.0], 3.0, None)
    one(1.0).flags.writeable = False
    one(2.0).shape = (1, 1)
    one(3.0).dtype = np.int64
    for k in range(4):
        again = one(k)
        assert (again.shape, again.dtype, again.flags.writeable, again) == (
            (),
            "float64",
            True,
            k + 1,
        )


def test_swapped_shared_variables() -> None:
    a, b = oc.shared(np.zeros(2), "a"), oc.shared(np.ones(2), "b")
    f = attached([], [], updates={a: b, b: a})
    for k in range(5):
        f()
        assert a.get_value().tolist() == [float(k % 2 == 0)] * 2
        assert b.get_value().tolist() == [float(k % 2 == 1)] * 2


def test_large_working_memory_is_found_and_kept() -> None:
    x = ot.dvector("x")
    y = ot.exp(x)
    f = attached([x], (y / y.sum() - y[::-1]).max())
    for n in (10, 100_000, 10, 300_000, 300_000):
        a = np.linspace(0, 1, n)
        e = np.exp(a)
        np.testing.assert_allclose(f(a), (e / e.sum() - e[::-1]).max())


def test_many_inputs() -> None:
    xs = [ot.dscalar(f"x{i}") for i in range(500)]
    total: Any = xs[0]
    for x in xs[1:]:
        total = total + x
    f = attached(xs, total)
    for _ in range(3):
        assert f(*map(float, range(500))) == sum(range(500))
    with pytest.raises(TypeError):
        f(*map(float, range(499)), "no")


def test_the_python_entry_behaves_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("occelo_link.units.unit.layout_fits", lambda: False)
    x, i = ot.dvector("x"), ot.lscalar("i")
    w = oc.shared(np.zeros(2), "w")
    f = attached([x, i], [x[i], ot.exp(x)], updates={w: w + x})
    for k in range(3):
        first, second = f([1.0, 2.0], 1)
        assert first == 2.0
        np.testing.assert_allclose(second, np.exp([1.0, 2.0]))
        assert not is_builtin(f)
        assert w.get_value().tolist() == [k + 1.0, 2 * k + 2.0]
    with pytest.raises(IndexError, match="out of bounds"):
        f([1.0, 2.0], 2)


def test_the_layout_of_objects_is_as_expected() -> None:
    ordinary = sys.implementation.name == "cpython" and sys.maxsize > 2**32
    if not ordinary or not getattr(sys, "_is_gil_enabled", lambda: True)():
        pytest.skip("another Python has another layout, and the Python entry")
    assert object_layout.layout_fits()
    assert object_layout._arrays_fit()
    assert object_layout._objects_fit()


def resident() -> int:
    """The memory that this process holds now, in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_calls_leak_nothing() -> None:
    x, y = ot.dvector("x"), ot.dscalar("y")
    w = oc.shared(np.zeros(100), "w")
    f = attached([x, y], [x * y, x.sum()], updates={w: w + x.sum()})
    a = np.ones(50)

    def some(count: int) -> None:
        for _ in range(count):
            f(a, 2.0)

    entry_code().replace()  # compiling takes memory, too
    some(2000)
    before, references = resident(), sys.getrefcount(a)
    some(100_000)
    assert sys.getrefcount(a) == references
    assert resident() - before < 2**20


@pytest.mark.measured(0)
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_dropped_functions_are_freed(tmp_path: Path) -> None:
    x = ot.dvector("x")
    y = ot.exp(x) * 2

    def cycle() -> Any:
        f = attached([x], y)
        f(np.ones(3))
        f(np.ones(3))
        return weakref.ref(f)

    with config.change_flags(compiledir=str(tmp_path / "compiled")):
        for _ in range(300):
            cycle()
        gc.collect()
        before = resident()
        for _ in range(COUNT):
            last = cycle()
        gc.collect()
        grown = resident() - before
    assert last() is None
    assert grown <= 2 * 2**20 * max(COUNT / 3000, 0.5), (
        f"{COUNT} functions left {grown / 2**20:.1f} MB"
    )


def test_a_function_writes_down_how_it_is_computed(tmp_path: Path) -> None:
    x = ot.dvector("x")
    f = oc.function([x], ot.exp(x).sum(), mode="native")
    names = sorted(p.name for p in f.dump(tmp_path / "out"))
    assert names == [
        "block0.c",
        "block0.ll",
        "block0.program.txt",
        "block0.s",
        "graph.txt",
    ]
    texts = {p.name: p.read_text() for p in (tmp_path / "out").iterdir()}
    assert "Sum" in texts["graph.txt"]
    assert "lanes" in texts["block0.program.txt"]
    assert "define i64 @unit" in texts["block0.ll"]
    assert "i64 unit(i64 *frame" in texts["block0.c"]


def test_importing_and_building_load_no_compiler() -> None:
    code = (
        "import sys, occelo_compile, occelo_graph.tensor as ot\n"
        "ot.exp(ot.dvector()).sum()\n"
        "print([m for m in ('llvmlite', 'scipy', 'numba', 'jax', 'filelock') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_other_threads_run_during_a_long_call() -> None:
    x = ot.dvector("x")
    y = x
    for _ in range(60):
        y = ot.sin(ot.exp(-y * y))
    f = attached([x], y.sum())
    f(np.ones(3))
    big = np.linspace(0, 1, 3_000_000)
    started, seen = threading.Event(), []

    def run() -> None:
        started.set()
        seen.append(f(big))

    thread = threading.Thread(target=run)
    thread.start()
    started.wait()
    turns = 0
    while thread.is_alive():
        time.sleep(0.005)
        turns += 1
    assert turns > 5
    assert seen[0] == f(big)


def test_calls_of_one_function_may_overlap() -> None:
    x = ot.dmatrix("x")
    w = oc.shared(np.ones(300), "w")
    e = ot.exp(x * w)
    f = attached([x], [e / e.sum(axis=1, keepdims=True), e.sum(axis=0), e.sum()])
    arrays = [np.full((200, 300), float(k) / 7) for k in range(6)]
    expected = [f(a) for a in arrays]
    with ThreadPoolExecutor(6) as pool:
        for _ in range(30):
            for found, wanted in zip(pool.map(f, arrays), expected, strict=True):
                for a, b in zip(found, wanted, strict=True):
                    np.testing.assert_array_equal(a, b)


def test_functions_with_updates_run_in_pieces_and_lose_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Calls of several threads, of which one at a time has the pool."""
    monkeypatch.setattr(cost, "ENOUGH", -1)
    pool = thread_pool()
    monkeypatch.setattr(pool, "worth", 1)
    before = pool.loops
    x, total = ot.dvector("x"), oc.shared(np.zeros(10_000), "total")
    with config.change_flags(native__threads=2, cache=False):
        f = oc.function([x], (total * 2).sum(), updates={total: total + x})
    f(np.ones(10_000))
    callers = [
        threading.Thread(target=lambda: [f(np.ones(10_000)) for _ in range(25)]) for _ in range(4)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert pool.loops > before
    np.testing.assert_array_equal(total.get_value(), np.full(10_000, 101.0))


def test_working_memory_of_many_pages() -> None:
    x = ot.dmatrix("x")
    f = oc.function([x], ot.dot(ot.dot(x, x), x).sum())
    # below and above the size that gets large pages
    for n in (100, 800):
        array = np.eye(n)[:, ::-1] * 2.0
        for _ in range(3):
            assert f(array) == 8.0 * n
