"""Calls that update the same shared variables are serialized, and do not block other threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ir.shared import shared
from occelo_link.update_locks import UpdateLocks
from occelo_testing.loop_programs import has_compiler

LARGE = 40_000
"""Elements enough for machine code to let go of the interpreter's lock."""


def in_threads(*works: Any) -> None:
    failed: list[BaseException] = []

    def guarded(work: Any) -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    running = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(60)
        assert not thread.is_alive(), "calls wait for each other"
    assert not failed


@pytest.mark.parametrize("linker", ["native", "vm", *(["c"] if has_compiler() else [])])
@pytest.mark.parametrize("size", [3, LARGE])
def test_no_update_is_lost(linker: str, size: int) -> None:
    state, other = shared(np.zeros(size)), shared(np.zeros(size))
    step = ot.dvector("step")
    mode = oc.Mode(linker)
    first = oc.function([step], state.sum(), updates=[(state, state + step)], mode=mode)
    second = oc.function(
        [step], [], updates=[(other, other + 2 * step), (state, state + step)], mode=mode
    )
    ones, count = np.ones(size), 40

    def fast(function: Any) -> Any:
        return lambda: [function(ones) for _ in range(count)]

    def slow(function: Any) -> Any:
        return lambda: [function(step=ones) for _ in range(count)]

    in_threads(fast(first), fast(second), slow(first), slow(second), fast(first))
    np.testing.assert_array_equal(state.get_value(), np.full(size, 5.0 * count))
    np.testing.assert_array_equal(other.get_value(), np.full(size, 4.0 * count))


def test_a_large_update_does_not_hold_the_interpreter() -> None:
    state = shared(np.ones(400_000))
    values = ot.exp(-state) + ot.sin(state) + ot.tanh(state) + ot.erf(state)
    step = oc.function([], [], updates=[(state, values)])
    step()
    counted = [0]
    done = threading.Event()

    def count() -> None:
        while not done.is_set():
            counted[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(100)  # nobody gives the lock away but who lets go of it
    try:
        before = counted[0]
        for _ in range(5):
            step()
        assert counted[0] > before
    finally:
        sys.setswitchinterval(interval)
        done.set()
        thread.join()


class Calling(og.Op):
    """The identity, which calls a function on the way."""

    __props__ = ()

    def __init__(self, function: Any) -> None:
        self.function = function

    def make_node(self, x: Any) -> Any:
        x = ot.as_tensor_variable(x)
        return og.Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        self.function()
        output_storage[0][0] = inputs[0].copy()


@pytest.mark.filterwarnings("ignore:.*cache")
def test_a_call_within_a_call_takes_the_same_turn() -> None:
    state = shared(0.0)
    inner = oc.function([], [], updates=[(state, state + 1)])
    inner(), inner()
    calling = Calling(inner)
    outer = oc.function([], [], updates=[(state, calling(state) + 10)])
    outer(), outer()
    # what the inner call stored was stored over by the outer one
    assert state.get_value() == 22.0


def test_turns_are_given_back_when_a_call_fails() -> None:
    state = shared(np.zeros(LARGE))
    x = ot.dvector("x")
    add = oc.function([x], [], updates=[(state, state + x)])
    add(np.ones(LARGE))
    for _ in range(3):
        with pytest.raises(ValueError, match="40000"):
            add(np.ones(LARGE + 1))
    in_threads(lambda: add(np.ones(LARGE)))
    assert (state.get_value() == 2).all()


def test_turns_count_within_a_thread_and_wait_between_threads() -> None:
    cells: list[list[Any]] = [[0] for _ in range(5)]
    locks = UpdateLocks(cells)
    assert locks.addresses == sorted(locks.addresses)
    order: list[str] = []

    def other() -> None:
        with UpdateLocks([cells[2]]):
            order.append("second")

    thread = threading.Thread(target=other)
    with locks:
        with UpdateLocks(cells[:2]), locks:
            thread.start()
            time.sleep(0.05)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


FORKS = """
import os, threading
import occelo_compile as oc
from occelo_graph.ir.shared import shared
from occelo_link.update_locks import UpdateLocks

state = shared(0.0)
add = oc.function([], [], updates=[(state, state + 1)])
add(), add()
taken, leave = threading.Event(), threading.Event()

def hold():
    with UpdateLocks([state.container.storage]):
        taken.set()
        leave.wait()

thread = threading.Thread(target=hold)
thread.start()
taken.wait()
child = os.fork()
if child == 0:
    status = 1
    try:
        add(), add()
        status = 0 if state.get_value() == 4.0 else 2
    finally:
        os._exit(status)
_, status = os.waitpid(child, 0)
leave.set()
thread.join()
assert os.waitstatus_to_exitcode(status) == 0
add()
assert state.get_value() == 3.0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_forked_process_does_not_wait_for_threads_that_it_has_not() -> None:
    # in a process of its own: one that runs tests has threads and pipes that a child must not have
    command = [sys.executable, "-c", FORKS]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
