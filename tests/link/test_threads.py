"""Outlined loops: the same bits with any number of threads, and correct results after an interrupt."""

from __future__ import annotations

import _thread
import os
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_link import make_linker
from occelo_link.loops.build import find_lowering, lower_graph
from occelo_link.machine import threads
from occelo_link.native.llvm import parallel, print_llvm
from occelo_testing.checks import symbolic
from occelo_testing.examples import EXAMPLES
from occelo_testing.loop_programs import Compiled, map_program
from occelo_testing.programs.trying import RandomGraph, on_random_graphs

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


def linked(inputs: Any, outputs: Any) -> Any:
    graph = og.FunctionGraph(list(inputs), list(outputs))
    linker = make_linker("native")
    vm, ins, outs = linker.accept(graph).make_thunk()

    def call(*values: Any) -> list[Any]:
        for container, value in zip(ins, values, strict=True):
            container.storage[0] = value
        vm()
        return [c.storage[0] for c in outs]

    return call


@pytest.fixture
def every_loop(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """However little there is to do, loops run in pieces; their ranges are listed."""
    monkeypatch.setattr(parallel, "_ENOUGH", -1)
    seen: list[Any] = []
    plain = threads._Chunks.__init__

    def noting(self: Any, part: int, env: int, bounds: Any, table: int, flag: int) -> None:
        seen.append(bounds)
        plain(self, part, env, bounds, table, flag)

    monkeypatch.setattr(threads._Chunks, "__init__", noting)
    return seen


@pytest.fixture
def backwards(every_loop: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces run one after the other, the last first, so that turns which depend on others are found."""

    class OneThread:
        def submit(self, work: Any) -> None:
            work()

    noting = threads._Chunks.__init__

    def reversing(self: Any, *arguments: Any) -> None:
        noting(self, *arguments)
        self.left.reverse()

    monkeypatch.setattr(threads._Chunks, "__init__", reversing)
    monkeypatch.setattr(threads, "_pool", lambda *_: OneThread())


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


def test_no_turn_needs_another(backwards: None) -> None:
    inputs, outputs = graph()
    expected = linked(inputs, outputs)(*arguments())
    with config.change_flags(native__threads=7):
        found = linked(inputs, outputs)(*arguments())
    for a, b in zip(found, expected, strict=True):
        assert a.tobytes() == b.tobytes()


@on_random_graphs(most=20, dtypes=("float64", "float32", "int64", "bool"))
def test_no_turn_of_random_graphs_needs_another(backwards: None, graph: RandomGraph) -> None:
    if not all(find_lowering(node) for node in og.toposort(graph.outputs)):
        return
    values = [np.array(v) for v in graph.values]
    expected = linked(graph.inputs, graph.outputs)(*values)
    with config.change_flags(native__threads=3):
        found = linked(graph.inputs, graph.outputs)(*values)
    for a, b in zip(found, expected, strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.parametrize("count", [2, 5, 64])
def test_results_do_not_depend_on_the_number_of_threads(every_loop: Any, count: int) -> None:
    inputs, outputs = graph()
    expected = linked(inputs, outputs)(*arguments())
    assert not every_loop
    with config.change_flags(native__threads=count):
        found = linked(inputs, outputs)(*arguments())
    assert every_loop
    assert max(map(len, every_loop)) == min(count, 64)
    for bounds in every_loop:
        assert all(a[1] == b[0] for a, b in pairwise(bounds))
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("example", EXAMPLES if THOROUGH else EXAMPLES[::28], ids=lambda e: e.name)
def test_examples_in_pieces_from_the_last_to_the_first(backwards: None, example: Any) -> None:
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
    assert text.count("define internal void @part") > 1
    small = og.toposort([ot.sin(x)])
    assert "@part" not in print_llvm(lower_graph([x], [small[-1].outputs[0]], small))


def test_loops_that_do_the_same_share_a_function() -> None:
    """Many short loops are outlined, too, although they have few statements."""
    inputs = [ot.dvector(f"x{i}") for i in range(200)]
    outputs = [ot.sin(x) * (2.0 if i % 3 else 5.0) for i, x in enumerate(inputs)]
    text = print_llvm(lower_graph(inputs, outputs, og.toposort(outputs)))
    assert text.count("define internal void @part") == 2
    rng = np.random.default_rng(0)
    values = [rng.normal(size=i % 20) for i in range(200)]
    for i, (found, value) in enumerate(zip(linked(inputs, outputs)(*values), values, strict=True)):
        np.testing.assert_allclose(found, np.sin(value) * (2.0 if i % 3 else 5.0), rtol=1e-14)


def test_little_work_stays_in_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads._Chunks, "__init__", lambda *_: pytest.fail("it ran in pieces"))
    x = ot.dvector("x")
    with config.change_flags(native__threads=4):
        call = linked([x], [ot.exp(x)])
    np.testing.assert_array_equal(call(np.zeros(1000))[0], np.ones(1000))


def test_without_the_option_the_code_is_as_ever() -> None:
    program = map_program(lambda b, x: b.op("add", x, x))
    assert "@part" not in print_llvm(program)
    assert Compiled(program)(np.ones(5))[0].tolist() == [2.0] * 5


def test_an_interrupt_waits_for_all_pieces(
    every_loop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = ot.dvector("x")
    told: list[str] = []
    monkeypatch.setattr(_thread, "interrupt_main", lambda: told.append("interrupted"))
    plain, waits = threading.Event.wait, [0]

    def wait(self: Any, timeout: Any = None) -> bool:
        waits[0] += 1
        if waits[0] == 1:
            raise KeyboardInterrupt
        return plain(self, timeout)

    with config.change_flags(native__threads=2):
        call = linked([x], [x * 3])
        call(np.ones(100))  # the pool's threads have started
        with monkeypatch.context() as patch:
            patch.setattr(threading.Event, "wait", wait)
            found = call(np.arange(100.0))
        while not told:
            time.sleep(0.01)
    np.testing.assert_array_equal(found[0], np.arange(100.0) * 3)
    assert told == ["interrupted"]


def test_an_interrupt_by_signal_is_raised_after_the_call(every_loop: Any) -> None:
    x = ot.dvector("x")
    with config.change_flags(native__threads=2):
        call = linked([x], [x * 3])
        found = call(np.arange(100.0))

    def call_and_wait() -> None:
        call(np.arange(100.0))
        time.sleep(1)

    # a shell in the background may have the signal ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    plain = threads._Chunks.work

    def work(self: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.05)
        plain(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads._Chunks, "work", work)
        try:
            with pytest.raises(KeyboardInterrupt):
                call_and_wait()
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        finally:
            signal.signal(signal.SIGINT, before)
    np.testing.assert_array_equal(found[0], np.arange(100.0) * 3)
    np.testing.assert_array_equal(call(np.arange(5.0))[0], np.arange(5.0) * 3)


def test_what_is_interrupted_before_it_begins_runs_in_one_piece(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    seen: list[Any] = []
    monkeypatch.setattr(parallel, "_ENOUGH", -1)
    monkeypatch.setattr(threads._Chunks, "__init__", interrupted)
    monkeypatch.setattr(sys, "unraisablehook", seen.append)
    x = ot.dvector("x")
    with config.change_flags(native__threads=2):
        found = linked([x], [x * 3])(np.arange(100.0))
    np.testing.assert_array_equal(found[0], np.arange(100.0) * 3)
    assert [s.exc_type for s in seen] == [KeyboardInterrupt]


def test_a_pool_that_takes_no_more_work(every_loop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed:
        def submit(self, *_: Any) -> None:
            raise RuntimeError("cannot schedule new futures after shutdown")

    monkeypatch.setattr(threads, "_pool", lambda *_: Closed())
    x = ot.dvector("x")
    with config.change_flags(native__threads=2):
        found = linked([x], [x * 3])(np.arange(100.0))
    np.testing.assert_array_equal(found[0], np.arange(100.0) * 3)


FORKS = """
import os
import numpy as np
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_link import make_linker
from occelo_link.machine import threads
from occelo_link.native.llvm import parallel

parallel._ENOUGH = -1
config.native__threads = 2
x = ot.dvector("x")
triple = make_linker("native").accept(og.FunctionGraph([x], [x * 3])).make_function()
assert np.all(triple(np.ones(100))[0] == 3)
assert threads._pool.cache_info().currsize == 1
child = os.fork()
if child == 0:
    status = 1
    try:
        status = 0 if np.all(triple(np.ones(100))[0] == 3) else 2
    finally:
        os._exit(status)
_, status = os.waitpid(child, 0)
raise SystemExit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_forked_processes_have_a_pool_of_their_own() -> None:
    # in a process of its own: one that runs tests has threads and pipes that a child must not have
    command = [sys.executable, "-c", FORKS]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()


def test_calls_in_several_threads_share_the_pool(every_loop: Any) -> None:
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


def test_sums_of_whole_tensors_run_in_pieces(every_loop: list[Any]) -> None:
    x = ot.dvector("x")
    outputs = [(ot.sin(x) ** 2).sum(), x.mean(), (x * x).sum() / x.sum()]
    value = np.random.default_rng(8).normal(size=50_000)
    expected = linked([x], outputs)(value)
    with config.change_flags(native__threads=3):
        found = linked([x], outputs)(value)
    assert [len(bounds) for bounds in every_loop]
    for a, b in zip(found, expected, strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
