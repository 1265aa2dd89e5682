"""Outlined loops: the same bits with any number of threads, and correct results after an interrupt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_link import make_linker
from occelo_link.loops.build import find_lowering, lower_graph
from occelo_link.loops.ir import cost
from occelo_link.machine import threads
from occelo_link.native.llvm import parallel, print_llvm
from occelo_link.units.frame import PARALLEL, THREAD_LIMIT
from occelo_link.units.thread_pool import ThreadPool, thread_pool
from occelo_testing.checks import symbolic
from occelo_testing.examples import EXAMPLES
from occelo_testing.loop_programs import Compiled, has_compiler, map_program
from occelo_testing.programs.trying import RandomGraph, on_random_graphs

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


LINKERS = ["native", *(["c"] if has_compiler() else [])]


def linked(inputs: Any, outputs: Any, by: str = "native") -> Any:
    graph = og.FunctionGraph(list(inputs), list(outputs))
    linker = make_linker(by)
    vm, ins, outs = linker.accept(graph).make_thunk()

    def call(*values: Any) -> list[Any]:
        for container, value in zip(ins, values, strict=True):
            container.storage[0] = value
        vm()
        return [c.storage[0] for c in outs]

    return call


@pytest.fixture
def every_loop(monkeypatch: pytest.MonkeyPatch) -> ThreadPool:
    """However little there is to do, loops run in pieces, the last of which is the first to be begun."""
    monkeypatch.setattr(cost, "ENOUGH", -1)
    pool = thread_pool()
    monkeypatch.setattr(pool, "worth", 1)
    return pool


def graph() -> tuple[list[Any], list[Any]]:
    x, m = ot.dvector("x"), ot.dmatrix("m")
    k = ot.lscalar("k")
    share = ot.exp(x)
    share = share / share.sum()
    return [x, m, k], [
        ot.exp(-x * x) + ot.sin(x),
        ot.softmax(m, axis=1),
        m.sum(axis=0),
        m.max(axis=1) > x[0],
        ot.tanh(m.T) + 1.0,
        ot.ifelse(k > 0, x * 2, x[::-1]),
        x[ot.argmax(m, axis=1)],
        share[:500].set(0.0)[::2].inc(x[0]),
        ot.tanh(m) / abs(m).sum(axis=1, keepdims=True),
    ]


def arguments() -> list[Any]:
    random = np.random.default_rng(3)
    return [random.normal(size=1003), random.normal(size=(37, 41)), np.int64(1)]


def test_no_turn_needs_another(every_loop: ThreadPool) -> None:
    inputs, outputs = graph()
    expected = linked(inputs, outputs)(*arguments())
    with config.change_flags(native__threads=7, cache=False):
        found = linked(inputs, outputs)(*arguments())
    for a, b in zip(found, expected, strict=True):
        assert a.tobytes() == b.tobytes()


@on_random_graphs(most=20, dtypes=("float64", "float32", "int64", "bool"))
def test_no_turn_of_random_graphs_needs_another(every_loop: ThreadPool, graph: RandomGraph) -> None:
    if not all(find_lowering(node) for node in og.toposort(graph.outputs)):
        return
    values = [np.array(v) for v in graph.values]
    expected = linked(graph.inputs, graph.outputs)(*values)
    with config.change_flags(native__threads=3):
        found = linked(graph.inputs, graph.outputs)(*values)
    for a, b in zip(found, expected, strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.parametrize("by", LINKERS)
@pytest.mark.parametrize("count", [2, 3, 8, 64])
def test_results_do_not_depend_on_the_number_of_threads(
    every_loop: ThreadPool, count: int, by: str
) -> None:
    inputs, outputs = graph()
    with config.change_flags(native__threads=1):
        expected = linked(inputs, outputs)(*arguments())
    before = every_loop.loops
    with config.change_flags(native__threads=count):
        call = linked(inputs, outputs, by)
    for _ in range(20):
        found = call(*arguments())
        for a, b in zip(found, expected, strict=True):
            assert a.dtype == b.dtype
            assert a.tobytes() == b.tobytes()
    assert every_loop.loops >= before + 20


@pytest.mark.parametrize("example", EXAMPLES if THOROUGH else EXAMPLES[::28], ids=lambda e: e.name)
def test_examples_in_pieces_from_the_last_to_the_first(
    every_loop: ThreadPool, example: Any
) -> None:
    inputs, output = symbolic(example, False)
    outputs = list(output) if isinstance(output, list | tuple) else [output]
    expected = linked(inputs, outputs)(*example.arguments)
    with config.change_flags(native__threads=3):
        found = linked(inputs, outputs)(*example.arguments)
    for a, b in zip(found, expected, strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("example", EXAMPLES if THOROUGH else EXAMPLES[3::28], ids=lambda e: e.name)
def test_examples_with_a_function_for_each_loop(
    monkeypatch: pytest.MonkeyPatch, example: Any
) -> None:
    """What is done to large programs changes no bits."""
    inputs, output = symbolic(example, False)
    outputs = list(output) if isinstance(output, list | tuple) else [output]
    expected = linked(inputs, outputs)(*example.arguments)
    monkeypatch.setattr(parallel, "_LARGE", -1)
    found = linked(inputs, outputs)(*example.arguments)
    for a, b in zip(found, expected, strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_large_programs_are_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_LARGE", 2000)
    x = ot.dvector("x")
    y = x
    for k in range(1500):
        y = ot.sin(y) * (1.5 + k)
    nodes = og.toposort([y])
    text = print_llvm(lower_graph([x], [y], nodes))
    assert text.count("define internal i64 @part") > 1
    small = og.toposort([ot.sin(x)])
    assert "@part" not in print_llvm(lower_graph([x], [small[-1].outputs[0]], small))


def test_loops_that_do_the_same_share_a_function() -> None:
    """Many short loops are outlined, too, although they have few statements."""
    inputs = [ot.dvector(f"x{i}") for i in range(200)]
    outputs = [ot.sin(x) * (2.0 if i % 3 else 5.0) for i, x in enumerate(inputs)]
    text = print_llvm(lower_graph(inputs, outputs, og.toposort(outputs)))
    assert text.count("define internal i64 @part") == 2
    rng = np.random.default_rng(0)
    values = [rng.normal(size=i % 20) for i in range(200)]
    for i, (found, value) in enumerate(zip(linked(inputs, outputs)(*values), values, strict=True)):
        np.testing.assert_allclose(found, np.sin(value) * (2.0 if i % 3 else 5.0), rtol=1e-14)


def test_little_work_stays_in_one_thread() -> None:
    x = ot.dvector("x")
    with config.change_flags(native__threads=4):
        call = linked([x], [ot.exp(x)])
    pool = thread_pool()
    before = pool.loops
    np.testing.assert_array_equal(call(np.zeros(1000))[0], np.ones(1000))
    assert pool.loops == before
    np.testing.assert_array_equal(call(np.zeros(1_000_000))[0], np.ones(1_000_000))
    assert pool.loops == before + 1


@pytest.mark.parametrize("by", LINKERS)
def test_units_for_one_thread_know_no_other(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the option 1, or one processor, programs and texts are those of a library without threads."""
    monkeypatch.setattr(cost, "ENOUGH", -1)
    monkeypatch.setattr(threads, "_COUNTED", [1])
    inputs, outputs = graph()
    services = {PARALLEL, THREAD_LIMIT}

    def entries() -> set[str]:
        vm: Any = make_linker(by).accept(og.FunctionGraph(inputs, outputs)).make_thunk()[0]
        return {entry for unit in vm.units for entry in unit.interface.table}

    for count in (0, 1):
        with config.change_flags(native__threads=count):
            assert not services & entries()
    with config.change_flags(native__threads=2):
        assert services <= entries()
    monkeypatch.setattr(threads, "_COUNTED", [2])
    with config.change_flags(native__threads=0):
        assert services <= entries()


def test_checks_fail_as_in_one_thread(every_loop: ThreadPool) -> None:
    """Loops with checks run in one thread, between loops that are divided."""
    x, k, y = ot.dvector("x"), ot.lvector("k"), ot.dvector("y")
    outputs = [ot.exp(x)[k] * 2.0, ot.tanh(x) + y, ot.assert_op(x, (ot.sin(x) < 2).all()).sum()]
    large = np.ones(50_000)
    far = np.zeros(50_000, np.int64)
    far[40_000] = 60_000
    near = np.arange(50_000)
    calls = [linked([x, k, y], outputs)]
    for count in (2, 5):
        with config.change_flags(native__threads=count):
            calls.append(linked([x, k, y], outputs))
    for values in ((large, far, large), (large, near, large[:3]), (large[:0], near, large[:0])):
        raised: list[tuple[type[BaseException], str]] = []
        for call in calls:
            with pytest.raises((IndexError, ValueError)) as info:
                call(*values)
            raised.append((info.type, str(info.value)))
        assert raised[0] == raised[1] == raised[2]
    before = every_loop.loops
    for call in calls:
        np.testing.assert_array_equal(call(large, near, large)[1], np.tanh(1.0) + large)
    assert every_loop.loops > before


ROWS: dict[str, tuple[Callable[[Any], Any], tuple[int, int], tuple[int, int]]] = {
    "softmax": (lambda m: ot.softmax(m, axis=1), (200, 200), (600, 600)),
    "short rows": (lambda m: ot.softmax(m, axis=1), (1000, 10), (50_000, 10)),
    "sums of rows": (lambda m: m.sum(axis=1), (3000, 10), (1000, 1000)),
    "running sums": (lambda m: ot.cumsum(m, axis=1), (100, 100), (500, 500)),
    "few columns": (lambda m: m.sum(axis=0), (2000, 500), (100, 10_000)),
    "sum of a part": (lambda m: m[:, ::2].sum(), (300, 300), (2000, 1000)),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_divided_if_they_are_enough_work(name: str) -> None:
    """Short rows count as what they are, not as blocks of full length."""
    formula, small, large = ROWS[name]
    m = ot.dmatrix("m")
    with config.change_flags(native__threads=2):
        call = linked([m], [formula(m)])
    pool, rng = thread_pool(), np.random.default_rng(0)
    for shape, divided in ((small, False), (large, True)):
        before = pool.loops
        call(rng.normal(size=shape))
        assert (pool.loops > before) == divided


def test_short_loops_have_no_function() -> None:
    program = map_program(lambda b, x: b.op("add", x, x))
    assert "@part" not in print_llvm(program)
    assert Compiled(program)(np.ones(5))[0].tolist() == [2.0] * 5


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize("count", [1, 4])
def test_an_interrupt_ends_a_long_loop(count: int) -> None:
    x = ot.dvector("x")
    y = x
    for _ in range(40):
        y = ot.sin(y) + ot.cos(y * 2.0)
    with config.change_flags(native__threads=count):
        call = linked([x], [y])
    small = np.arange(100_000.0)
    expected, large = call(small)[0], np.zeros(50_000_000)
    # a shell in the background may have the signal ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    try:
        started = time.perf_counter()
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            call(large)
        assert time.perf_counter() - started < 3
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    # nothing is left of the interrupted loop
    np.testing.assert_array_equal(call(small)[0], expected)


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
def test_an_interrupt_ends_one_of_several_calls(every_loop: ThreadPool) -> None:
    """The main thread is interrupted, whether its loop has the pool or another one has; the other calls go on."""
    x = ot.dvector("x")
    y = x
    for _ in range(40):
        y = ot.sin(y) + ot.cos(y * 2.0)
    with config.change_flags(native__threads=3):
        calls = [linked([x], [y]) for _ in range(3)]
    small = np.arange(10_000.0)
    expected, large, wrong = calls[0](small)[0], np.zeros(50_000_000), list[Any]()
    ended = threading.Event()

    def calling(call: Any) -> None:
        while not ended.is_set():
            found = call(small)[0]
            if found.tobytes() != expected.tobytes():
                wrong.append(found)

    others = [threading.Thread(target=calling, args=(call,)) for call in calls[1:]]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timers = [threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)) for _ in range(3)]
    try:
        for other in others:
            other.start()
        for timer in timers:
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                calls[0](large)
    finally:
        for timer in timers:
            timer.cancel()
        ended.set()
        for other in others:
            other.join()
        signal.signal(signal.SIGINT, before)
    assert wrong == []
    np.testing.assert_array_equal(calls[0](small)[0], expected)


FORKS = """
import os
import threading
import numpy as np
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_link import make_linker
from occelo_link.loops.ir import cost
from occelo_link.units.frame import PARALLEL, THREAD_LIMIT
from occelo_link.units.thread_pool import thread_pool

cost.ENOUGH = -1
pool = thread_pool()
pool.worth = 1
config.native__threads = 3
x = ot.dvector("x")
triple = make_linker("native").accept(og.FunctionGraph([x], [x * 3])).make_function()

def right(n=1000):
    return np.all(triple(np.ones(n))[0] == 3)

# what is imported at the first calls is imported now: a child that is made in the midst of an import waits for ever
assert right() and right() and right()
assert pool.loops > 0
ended = []

def calling():
    while not ended:
        assert right(100_000)

# children are made while another thread calls, perhaps in the midst of a loop
caller = threading.Thread(target=calling)
caller.start()
for _ in range(20):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            before = pool.loops
            status = 0 if all(right() for _ in range(5)) and pool.loops >= before + 5 else 2
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if status:
        break
ended.append(True)
caller.join()
raise SystemExit(os.waitstatus_to_exitcode(status) or not right())
"""
ENDS = """
import threading
import numpy as np
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_link import make_linker

config.native__threads = 2
x = ot.dvector("x")
call = make_linker("native").accept(og.FunctionGraph([x], [ot.exp(x)])).make_function()
values = np.zeros(2_000_000)
call(values)

def calling():
    while True:
        call(values)

# the interpreter ends while daemons compute
for _ in range(3):
    threading.Thread(target=calling, daemon=True).start()
call(values)
"""


FORKS_ALONE = """
import os
import numpy as np
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_link import make_linker
from occelo_link.machine import threads
from occelo_link.units.thread_pool import thread_pool

threads._COUNTED[:] = [2]
x = ot.dvector("x")
call = make_linker("native").accept(og.FunctionGraph([x], [ot.exp(x)])).make_function()
values = np.linspace(0.0, 1.0, 2_000_000)
assert np.allclose(call(values), np.exp(values))
pool = thread_pool()
assert pool.loops > 0 and threads.divided_loops() == 1
child = os.fork()
if not child:
    before = pool.loops
    right = np.allclose(call(values), np.exp(values)) and pool.loops == before
    with config.change_flags(native__threads=2):
        right &= threads.divided_loops() == 2
    os._exit(not right or threads.divided_loops())
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


IDLE = """
import threading
import time
import numpy as np
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_link import make_linker
from occelo_link.units.thread_pool import thread_pool

config.native__threads = 8
x = ot.dvector("x")
call = make_linker("native").accept(og.FunctionGraph([x], [ot.exp(x)])).make_function()
for _ in range(3):
    call(np.zeros(2_000_000))
assert thread_pool().loops >= 3
before = time.process_time()
threading.Event().wait(0.5)
used = time.process_time() - before
assert used < 0.1, used
"""


def _run(program: str) -> None:
    # in a process of its own: one that runs tests has threads and pipes that a child must not have
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_forked_processes_have_a_pool_of_their_own() -> None:
    _run(FORKS)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_forked_process_leaves_processors_to_its_siblings() -> None:
    _run(FORKS_ALONE)


def test_a_process_ends_while_threads_work() -> None:
    _run(ENDS)


def test_threads_without_work_sleep() -> None:
    _run(IDLE)


def test_calls_in_several_threads_share_the_pool(every_loop: ThreadPool) -> None:
    inputs, outputs = graph()
    values = arguments()
    with config.change_flags(native__threads=2):
        calls = [linked(inputs, outputs) for _ in range(4)]
        expected = calls[0](*values)
        wrong: list[Any] = []

        def work(call: Any) -> None:
            for _ in range(5):
                found = call(*values)
                if any(a.tobytes() != b.tobytes() for a, b in zip(found, expected, strict=True)):
                    wrong.append(found)

        running = [threading.Thread(target=work, args=(call,)) for call in calls]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    assert wrong == []


REDUCTIONS: dict[str, Callable[[Any, Any, Any], list[Any]]] = {
    "sums": lambda x, m, k: [(ot.sin(x) ** 2).sum(), x.mean(), (x * x).sum() / x.sum()],
    "extremes": lambda x, m, k: [x.max(), abs(x).min(), k.max(), (k > 3).all(), (k > 3).any()],
    "integers": lambda x, m, k: [k.sum(), (k * k).prod(), ot.eq(k, 3).sum()],
    "two at once": lambda x, m, k: [x.sum(), x.max(), ot.exp(x).sum(), x.prod()],
    "rows": lambda x, m, k: [m.sum(axis=1), ot.logsumexp(m, axis=1), ot.argmax(m, axis=1)],
    "columns": lambda x, m, k: [
        m.sum(axis=0),
        m.max(axis=0),
        (m * m).prod(axis=0),
        m.T.sum(axis=1),
        ot.logsumexp(m, axis=0),
    ],
    "strided": lambda x, m, k: [m[:, ::2].sum(), m.T[1:].max(), (m[::-1, 1:] ** 2).sum()],
    "running": lambda x, m, k: [ot.cumsum(m, axis=1), ot.cumprod(m, axis=0), ot.cumsum(x)],
    "complex": lambda x, m, k: [(m + 1j * m[::-1]).sum(axis=1), (m + 2j).prod(axis=1)],
    "long rows": lambda x, m, k: [ot.outer(m[0], x).sum(axis=0), ot.outer(x, m[0]).max(axis=0)],
}


EMPTY = [(name, (0, 0)) for name in ("sums", "integers", "running", "complex")]
FILLED = [
    (name, shape) for name in REDUCTIONS for shape in ((2, 2), (37, 41), (3, 2500), (2500, 3))
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("name", "shape"), EMPTY + FILLED)
def test_reductions_in_pieces(every_loop: ThreadPool, name: str, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(8)
    x, m, k = ot.dvector("x"), ot.dmatrix("m"), ot.lvector("k")
    outputs = REDUCTIONS[name](x, m, k)
    count = 50_001 if shape[0] else 0
    values = [rng.normal(size=count), rng.normal(size=shape), rng.integers(0, 9, size=count)]
    expected: list[Any] = []
    before = every_loop.loops
    for count in (1, 2, 3, 8, 64):
        with config.change_flags(native__threads=count):
            found = linked([x, m, k], outputs)(*values)
        expected = expected or found
        for a, b in zip(found, expected, strict=True):
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
    assert every_loop.loops > before or not shape[0]
    reference = og.evaluate(outputs, dict(zip((x, m, k), values, strict=True)))
    for a, b in zip(expected, reference, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


def _group(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("listed", "files", "expected"),
    [
        ("0::/", {}, []),
        ("0::/", {"cpu.max": "150000 100000\n"}, [2]),
        ("0::/a/b", {"a/cpu.max": "100000 100000", "a/b/cpu.max": "max 100000"}, [1]),
        ("0::/a", {"cpu.max": "max 100000", "a/cpu.max": "50000 100000"}, [1]),
        ("0::/a", {"unified/a/cpu.max": "400000 100000"}, [4]),
        (
            "3:cpu,cpuacct:/a\n1:memory:/a",
            {
                "cpu,cpuacct/a/cpu.cfs_quota_us": "250000",
                "cpu,cpuacct/a/cpu.cfs_period_us": "100000",
                "memory/a/cpu.max": "1 1",
            },
            [3],
        ),
        ("3:cpu:/", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, []),
    ],
)
def test_limits_of_control_groups(
    tmp_path: Path, listed: str, files: dict[str, str], expected: list[int]
) -> None:
    _group(tmp_path, {**files, "listed": listed})
    found = list(threads.quotas(str(tmp_path), str(tmp_path / "listed")))
    assert sorted(set(found)) == expected
    assert list(threads.quotas(str(tmp_path), str(tmp_path / "absent"))) == []


def test_processors_of_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    allowed = [8]

    def of_groups(root: str, listed: str) -> list[int]:
        return [3]

    def usable(process: int) -> range:
        return range(allowed[0])

    monkeypatch.setattr(threads, "quotas", of_groups)
    monkeypatch.setattr(os, "sched_getaffinity", usable, raising=False)
    monkeypatch.setattr("multiprocessing.parent_process", lambda: None)
    monkeypatch.setattr("multiprocessing.process.parent_process", lambda: None)
    assert threads.processors() == 3
    allowed[0] = 2
    assert threads.processors() == 2
    monkeypatch.setattr("multiprocessing.process.parent_process", lambda: "another process")
    assert threads.processors() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "5,2")
    assert threads.processors() == 5
    monkeypatch.setenv("OMP_NUM_THREADS", "none")
    assert threads.processors() == 1
