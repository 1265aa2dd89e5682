"""Polling for interrupts in long loops of the linker ``numba``: the same results, and a clean end."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir import cost
from occelo_link.loops.ir.program import Program
from occelo_link.units import python_entry
from occelo_link.units.engine import load_object
from occelo_link.units.interface import UnitFailure
from occelo_testing.loop_programs import interface_of
from occelo_testing.looping import again

pytest.importorskip("numba", reason="numba is not installed")

from occelo_link.numba.compiling import compile_printed
from occelo_link.numba.printer import print_numba
from occelo_testing.loop_programs import interrupted_after


def compiled(program: Program) -> Callable[..., list[Any]]:
    """A program as Numba compiles it, called from Python."""
    unit = load_object(compile_printed(print_numba(program)))
    entry = python_entry.PythonEntry(unit.address, interface_of(program))
    return lambda *arrays, _keep=unit: entry(arrays)


def collatz(n: Any) -> list[Any]:
    """The steps from a number to 1: a loop that ends when it says so."""

    def step(v: Any, steps: Any) -> list[Any]:
        after = ot.switch(ot.eq(v % 2, 0), v // 2, 3 * v + 1)
        return [after, steps + 1, ot.eq(after, 1)]

    return again(ot.constant(10**9), [n, ot.constant(0)], step, stops=True)


def row_by_row(x: Any) -> list[Any]:
    """Loops whose turns hold others, and one that carries what it computes."""
    total = again(x.shape[0], [x[0] * 0.0, ot.constant(0)], lambda s, i, m: [s + m[i], i + 1], [x])
    return [ot.softmax(x, axis=1), x.sum(axis=0), x.T * 2.0, total[0]]


def of_rows(x: Any) -> list[Any]:
    raised = np.exp(x - x.max(axis=1, keepdims=True))
    return [raised / raised.sum(axis=1, keepdims=True), x.sum(axis=0), x.T * 2.0, x.sum(axis=0)]


def random_matrix(rows: int, columns: int) -> Any:
    return np.random.default_rng(rows).normal(size=(rows, columns))


VECTOR = og.TensorType("float64", (None,))
MATRIX = og.TensorType("float64", (None, None))
WHOLE = og.TensorType("int64", ())
CASES = {
    "elements": (VECTOR, lambda x: [ot.neg(x)], lambda x: [-x], np.arange(501.0)),
    "few elements": (VECTOR, lambda x: [ot.neg(x)], lambda x: [-x], np.arange(7.0)),
    "no elements": (
        VECTOR,
        lambda x: [-x, x.sum()],
        lambda x: [-x, np.float64(0)],
        np.zeros(0),
    ),
    "sum": (VECTOR, lambda x: [(x * x).sum()], lambda x: [(x * x).sum()], np.arange(6e3)),
    "maximum": (VECTOR, lambda x: [x.max()], lambda x: [x.max()], np.arange(501.0) % 97),
    "truth": (VECTOR, lambda x: [ot.all(x < 501)], lambda x: [(x < 501).all()], np.arange(501.0)),
    "rows": (MATRIX, row_by_row, of_rows, random_matrix(23, 17)),
    "until": (WHOLE, collatz, lambda x: [np.int64(1), np.int64(111)], np.array(27)),
}


@pytest.mark.parametrize("budget", [4, 32])
@pytest.mark.parametrize("case", CASES)
def test_asking_changes_no_results(monkeypatch: pytest.MonkeyPatch, case: str, budget: int) -> None:
    monkeypatch.setattr(cost, "BUDGET", budget)
    asked: list[int] = []
    plain = python_entry._POLL

    def noting(function: Any) -> Any:
        def poll(frame: int) -> int:
            asked.append(1)
            return int(function(frame))

        return plain(poll)

    monkeypatch.setattr(python_entry, "_POLL", noting)
    kind, symbolic, numeric, value = CASES[case]
    x = kind("x")
    outputs = symbolic(x)
    found = compiled(lower_graph([x], outputs, og.toposort(outputs)))(value)
    for one, other in zip(found, numeric(value), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    if value.size > 8 and budget < 100:
        assert asked


@pytest.mark.parametrize("case", ["elements", "sum", "rows", "until"])
def test_a_unit_that_is_told_to_end_ends(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    monkeypatch.setattr(cost, "BUDGET", 4)
    plain, asked = python_entry._POLL, list[int]()

    def ending(function: Any) -> Any:
        def poll(frame: int) -> int:
            asked.append(frame)
            return 1

        return plain(poll)

    monkeypatch.setattr(python_entry, "_POLL", ending)
    kind, symbolic, _, value = CASES[case]
    x = kind("x")
    outputs = symbolic(x)
    with pytest.raises(UnitFailure) as caught:
        compiled(lower_graph([x], outputs, og.toposort(outputs)))(value)
    assert caught.value.site == -1
    assert len(asked) == 1


def test_short_loops_do_not_ask() -> None:
    x = ot.tensor("x", dtype="float64", shape=(100,))
    y = ot.exp(x)
    assert "poll" not in print_numba(lower_graph([x], [y], og.toposort([y]))).text


SCRIPT = """
import os, resource, signal, sys, threading
import numpy as np
import occelo_compile as oc
import occelo_graph.tensor as ot
from occelo_graph.ir.shared import shared
from occelo_testing.looping import again

# a shell in the background may have the signal ignored
signal.signal(signal.SIGINT, signal.default_int_handler)
n, x = ot.lscalar("n"), ot.dvector("x")
state = shared(np.zeros(3))
terms = ot.sin(ot.arange(n))
total = oc.function([n], terms.sum(), mode="numba")
update = oc.function([n], state * 2, updates=[(state, state + terms.max())], mode="numba")
looped = oc.function([n, x], again(n, [x], lambda v: [v[::-1] * 0.5 + v]), mode="numba")
total(3), update(3), looped(2, np.ones(3))
before = state.get_value()
large = np.ones(2_000_000)
looped(2, large)

def interrupted(*call):
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        call[0](*call[1:])
    except KeyboardInterrupt:
        return True

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

for call in ((total, 10**12), (update, 10**12), (looped, 10**9, large)):
    print(interrupted(*call), interrupted(*call), (state.get_value() == before).all())
taken = most()
print(all(interrupted(looped, 10**9, large) for _ in range(10)), most() - taken < 120)
print(abs(total(10) - np.sin(np.arange(10)).sum()) < 1e-12)
"""


@pytest.mark.measured(0)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals between processes")
def test_interrupted_calls_store_nothing_and_free_what_they_took() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env=dict(os.environ),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n") == ["True True True"] * 3 + ["True True", "True", ""]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals between processes")
def test_loops_of_a_region_are_interrupted() -> None:
    n, x = ot.lscalar("n"), ot.dvector("x")

    def step(v: Any, i: Any) -> list[Any]:
        part = ot.exp(-v[: i % 50 + 1])
        return [v[::-1] * 0.5 + (part * part[::-1]).sum(), i + 1, ot.gt(i, 10**9)]

    f = oc.function([n, x], again(n, [x, ot.constant(0)], step, stops=True), mode="numba")
    f(2, np.ones(60))
    start = time.perf_counter()
    with interrupted_after(0.3), pytest.raises(KeyboardInterrupt):
        f(10**10, np.ones(60))
    assert time.perf_counter() - start < 20
    assert f(2, np.ones(60))[1] == 2
