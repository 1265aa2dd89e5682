"""Batches of matrices in several threads: the bits and the errors of one thread."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from ctypes import CFUNCTYPE, c_int
from typing import Any

import numpy as np
import pytest

import occelo as oc
import occelo.tensor as ot
from occelo.tensor import linalg
from occelo_link.loops.ir import cost
from occelo_link.machine.symbol_addresses import blas_library
from occelo_link.units.thread_pool import ThreadPool, thread_pool
from occelo_testing.loop_programs import has_compiler

LINKERS = ["native", *(["c"] if has_compiler() else [])]
npl: Any = np.linalg
FUNCTIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "cholesky": (lambda a, b: linalg.cholesky(a), lambda a, b: npl.cholesky(a)),
    "solve": (linalg.solve, npl.solve),
    "det": (lambda a, b: linalg.det(a), lambda a, b: npl.det(a)),
    "inv": (lambda a, b: linalg.inv(a), lambda a, b: npl.inv(a)),
    "eigh": (lambda a, b: linalg.eigh(a)[0], lambda a, b: npl.eigh(a)[0]),
    "products": (lambda a, b: a @ b, lambda a, b: a @ b),
    "one matrix": (lambda a, b: a[0] @ b, lambda a, b: a[0] @ b),
}


@pytest.fixture
def every_loop(monkeypatch: pytest.MonkeyPatch) -> ThreadPool:
    """However little there is to do, loops run in pieces, the last of which is the first to be begun."""
    monkeypatch.setattr(cost, "ENOUGH", -1)
    pool = thread_pool()
    monkeypatch.setattr(pool, "worth", 1)
    return pool


def definite(count: int, n: int) -> Any:
    x = np.random.default_rng(n).normal(size=(count, n, n))
    return x @ x.swapaxes(-1, -2) + n * np.eye(n)


def compiled(inputs: Any, output: Any, linker: str) -> Any:
    function: Any = oc.function
    return function(inputs, output, mode=oc.Mode(linker=linker), on_unused_input="ignore")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("n", [1, 5, 20, 70])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_same_bits(every_loop: ThreadPool, name: str, n: int, static: bool, linker: str) -> None:
    formula, reference = FUNCTIONS[name]
    shape = (None, n, n) if static else (None, None, None)
    a, b = (ot.tensor(k, dtype="float64", shape=shape) for k in "ab")
    arguments: list[Any] = [definite(11, n), np.random.default_rng(0).normal(size=(11, n, n))]
    results: list[Any] = []
    for threads in (1, 2, 3, 8, 64):
        with oc.config.change_flags(native__threads=threads, cache=False):
            call = compiled([a, b], formula(a, b), linker)
            before = every_loop.loops
            results.append(call(*arguments))
        assert (every_loop.loops > before) == (threads > 1)
        assert results[-1].tobytes() == results[0].tobytes()
        if name != "one matrix":
            assert len(call(*(x[:0] for x in arguments))) == 0
    np.testing.assert_allclose(results[0], reference(*arguments), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("n", [5, 20, 70])
def test_the_first_failure_is_reported(every_loop: ThreadPool, n: int, linker: str) -> None:
    a, total = ot.tensor("a", dtype="float64", shape=(None, None, None)), oc.shared(0.0)
    factor = linalg.cholesky(a)
    matrices = definite(40, n)
    matrices[[7, 23]] -= 9 * n * n * np.eye(n)
    raised: list[str] = []
    for threads in (1, 2, 3, 8, 64):
        with oc.config.change_flags(native__threads=threads, cache=False):
            f = oc.function([a], factor, mode=oc.Mode(linker=linker), updates={total: total + 1.0})
            with pytest.raises(np.linalg.LinAlgError) as info:
                f(matrices)
        raised.append(str(info.value))
        assert total.get_value() == 0.0
        np.testing.assert_allclose(f(matrices[8:20]), npl.cholesky(matrices[8:20]), rtol=1e-10)
        assert total.get_value() == 1.0
        total.set_value(0.0)
    assert raised == raised[:1] * 5


@pytest.mark.parametrize("n", [5, 20, 70])
def test_matrices_without_a_factor_are_nan(every_loop: ThreadPool, n: int) -> None:
    a = ot.tensor("a", dtype="float64", shape=(None, n, n))
    matrices = definite(40, n)
    failing = [0, 7, 23, 39]
    matrices[failing] -= 9 * n * n * np.eye(n)
    results: list[Any] = []
    for threads in (1, 2, 3, 8, 64):
        with oc.config.change_flags(native__threads=threads, cache=False):
            f = oc.function([a], linalg.cholesky(a, on_error="nan"))
            results.append(f(matrices))
    assert [k for k in range(40) if np.isnan(results[0][k]).any()] == failing
    assert all(r.tobytes() == results[0].tobytes() for r in results)


@pytest.fixture
def blas() -> Iterator[tuple[Callable[[], int], Callable[[int], None]]]:
    """Functions that return and set the number of threads of BLAS."""
    get, put = blas_library().thread_functions()
    if get is None or put is None:
        pytest.skip("the threads of this BLAS cannot be set")
    threads, set_threads = CFUNCTYPE(c_int)(get), CFUNCTYPE(None, c_int)(put)
    before = threads()
    yield threads, set_threads
    set_threads(before)


def test_blas_has_its_threads_again(every_loop: ThreadPool, blas: Any) -> None:
    threads, set_threads = blas
    a = ot.tensor("a", dtype="float64", shape=(None, None, None))
    with oc.config.change_flags(native__threads=3, cache=False):
        f = oc.function([a], linalg.cholesky(a))
        for count in (2, 3):
            set_threads(count)
            f(definite(9, 90))
            assert threads() == count
            with pytest.raises(np.linalg.LinAlgError):
                f(-definite(9, 90))
            assert threads() == count


NOTED: list[Callable[[], int]] = []


@oc.as_op([ot.dmatrix], [ot.dmatrix])
def noting(x: Any) -> Any:
    return np.full((1, 1), float(NOTED[-1]()))


@pytest.mark.parametrize("linker", LINKERS)
def test_the_option_limits_the_threads_of_blas(blas: Any, linker: str) -> None:
    """A callback between products tells how many there are during a call."""
    threads, set_threads = blas
    NOTED.append(threads)
    a, between = ot.dmatrix("a"), threading.Barrier(2)
    matrix = np.ones((30, 30))
    functions: dict[int, Any] = {}
    for limit in (0, 1, 2, 3):
        with oc.config.change_flags(native__threads=limit, cache=False):
            functions[limit] = oc.function([a], noting(a @ a) @ a[:1], mode=oc.Mode(linker=linker))
            for count in (1, 2, 3):
                set_threads(count)
                for _ in range(3):  # without and with the entry in machine code
                    noted = functions[limit](matrix)
                    assert noted[0, 0] == (min(limit, count) if limit else count)
                    assert threads() == count

    # if calls overlap, the least limit holds until the last one ends
    def waiting() -> int:
        between.wait(20)
        between.wait(20)
        return threads()

    set_threads(3)
    NOTED.append(waiting)
    answers: list[Any] = []

    def run(limit: int) -> None:
        answers.append(functions[limit](matrix)[0, 0])

    calls = [threading.Thread(target=run, args=(limit,)) for limit in (1, 2)]
    for call in calls:
        call.start()
    for call in calls:
        call.join(60)
    assert answers == [1.0, 1.0]
    assert threads() == 3
    del NOTED[:]


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("n", [5, 90])
def test_an_interrupt_ends_a_long_batch(n: int, threads: int) -> None:
    a = ot.tensor("a", dtype="float64", shape=(None, None, None))
    with oc.config.change_flags(native__threads=threads):
        f = oc.function([a], linalg.solve(a, a + ot.eye(a.shape[-1])))
    few = definite(9, n)
    expected = f(few)
    many = np.repeat(few, 60_000_000 // n**3, axis=0)

    def calling() -> None:
        for _ in range(100):
            f(many)

    # a shell in the background may have the signal ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    try:
        started = time.perf_counter()
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            calling()
        assert time.perf_counter() - started < 5
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert f(few).tobytes() == expected.tobytes()


FORKS = """
import os
import threading
import numpy as np
import occelo as oc
import occelo.tensor as ot
from occelo.tensor import linalg
from occelo_link.loops.ir import cost
from occelo_link.units.thread_pool import thread_pool

cost.ENOUGH = -1
pool = thread_pool()
pool.worth = 1
oc.config.native__threads = 3
a = ot.tensor("a", dtype="float64", shape=(None, None, None))
f = oc.function([a], linalg.cholesky(a))
x = np.random.default_rng(0).normal(size=(50, 90, 90))
matrices = x @ x.swapaxes(-1, -2) + 90 * np.eye(90)
expected = f(matrices).tobytes()
assert f(matrices).tobytes() == expected and pool.loops >= 2
ended = []

def calling():
    while not ended:
        f(matrices)

# children are made while another thread calls, perhaps in the midst of a loop
caller = threading.Thread(target=calling)
caller.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        right = False
        try:
            right = all(f(matrices).tobytes() == expected for _ in range(3))
        finally:
            os._exit(not right)
    _, status = os.waitpid(child, 0)
    if status:
        break
ended.append(True)
caller.join()
raise SystemExit(os.waitstatus_to_exitcode(status) or f(matrices).tobytes() != expected)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_forked_processes_factor_batches() -> None:
    # in a process of its own: one that runs tests has threads and pipes that a child must not have
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKS]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()


def test_little_work_by_lapack_has_one_thread_of_blas(blas: Any) -> None:
    """Its bits depend on its threads, so loops with too little work for several threads of ours limit BLAS, too."""
    _, set_threads = blas
    a, b = (ot.tensor(k, dtype="float64", shape=(None, 90, 90)) for k in "ab")
    matrices, right = definite(2, 90), np.random.default_rng(1).normal(size=(2, 90, 90))
    results: list[bytes] = []
    for threads in (1, 2, 8):
        with oc.config.change_flags(native__threads=threads, cache=False):
            f = compiled([a, b], linalg.solve(a, b) @ a, "native")
            for count in (1, 2):
                set_threads(count)
                results.append(f(matrices, right).tobytes())
    assert results == results[:1] * 6
