"""Units that are optimized once their calls have taken a while: the same bits before and after, in every kind of call."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo as oc
from occelo import tensor as ot
from occelo_graph.config import config
from occelo_link.units import plain_units
from occelo_link.units.entry_loading import entry_code

function: Callable[..., Any] = oc.function
Program = tuple[list[Any], list[Any], list[Any]]
"""Inputs, outputs and arguments."""


@pytest.fixture(autouse=True)
def as_for_users() -> Iterator[None]:
    """Units are plain at first. Those in one thread are what C functions call, too."""
    with config.change_flags(native__llvm_level=None, native__threads=1):
        yield


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is worth optimizing after any call."""
    monkeypatch.setattr(plain_units, "SECONDS_A_BYTE", 1e-12)


def fresh(*arguments: Any, **options: Any) -> Any:
    """A function whose unit is plain: nothing of it is in the cache."""
    with config.change_flags(cache=False):
        f = function(*arguments, mode="native", **options)
    assert unit_of(f).source
    return f


def unit_of(f: Any) -> Any:
    return f.vm.units[0].unit


def called(f: Any, times: int) -> None:
    """Call a function of a vector."""
    for _ in range(times):
        assert f([0.0]).tolist() == [0.0]


def rows() -> Program:
    """A linear model with its gradient, which calls products of rows and of BLAS."""
    x, w = ot.dmatrix("x"), ot.dvector("w")
    value = ot.log1p(ot.exp(x @ w)).sum()
    data = np.random.default_rng(1).normal(size=(300, 12))
    return [x, w], [value, oc.grad(value, w), x.T @ x], [data, np.linspace(-1, 1, 12)]


def formulas() -> Program:
    x, i = ot.fvector("x"), ot.lvector("i")
    outputs = [ot.tanh(x) * ot.erf(x), x[i].sum(), ot.softmax(x), ot.argmax(x), ot.sort(x)]
    values = np.array([0.0, -0.0, 1e-40, np.inf, -np.inf, 3.5, *np.linspace(-9, 9, 61)], "float32")
    return [x, i], outputs, [values, np.array([3, -1, 0, 3])]


def loops() -> Program:
    n, start = ot.lscalar("n"), ot.dscalar("start")

    def step(y: Any) -> Any:
        return ot.cos(y) + 0.1

    steps = oc.scan(step, outputs_info=[start], n_steps=n, return_updates=False)
    return [start, n], [steps, steps[-1]], [0.3, 17]


@pytest.mark.parametrize("program", [rows, formulas, loops])
@pytest.mark.usefixtures("at_once")
def test_results_have_the_same_bits(program: Any) -> None:
    inputs, outputs, arguments = program()
    f = fresh(inputs, outputs)
    with config.change_flags(native__llvm_level=1, cache=False):
        other = function(inputs, outputs, mode="native")
    optimized: list[Any] = other(*arguments)
    unit = unit_of(f)
    plain, size = unit.address, len(unit.code)
    for _ in range(12):
        for value, expected in zip(f(*arguments), optimized, strict=True):
            np.testing.assert_array_equal(value, expected, strict=True)
    assert not unit.source
    assert unit.address != plain
    assert len(unit.code) < size


@pytest.mark.usefixtures("at_once")
def test_updates_and_errors_go_on() -> None:
    count, x = oc.shared(0, name="count"), ot.dvector("x")
    f = fresh([x], x[3], updates={count: count + 1})
    for k in range(20):
        assert f(np.arange(5.0)) == 3.0
        with pytest.raises(IndexError, match="3"):
            f(np.arange(2.0))
        assert count.get_value() == k + 1
    assert not unit_of(f).source


def test_few_quick_calls_are_not_worth_it() -> None:
    x = ot.dvector("x")
    f = fresh([x], ot.exp(x))
    for _ in range(20):
        f([1.0])
    assert unit_of(f).source


def test_calls_that_take_long_are() -> None:
    x = ot.dmatrix("x")
    f = fresh([x], ot.exp(x @ x).sum())
    value = np.full((400, 400), 1e-3)
    for _ in range(200):
        f(value)
        if not unit_of(f).source:
            return
    pytest.fail("200 calls of milliseconds")


def test_copies_and_pointers_run_optimized_code() -> None:
    x = ot.dvector("x")
    f = fresh([x], (x * 3).sum())
    copy = f.copy()
    assert f(np.ones(4)) == copy(np.ones(4)) == 12.0
    f.c_function()
    assert not unit_of(f).source
    assert f(np.ones(4)) == copy(np.ones(4)) == 12.0


@pytest.mark.usefixtures("at_once")
def test_several_threads_call_meanwhile() -> None:
    inputs, outputs, arguments = rows()
    f = fresh(inputs, outputs)
    expected = f(*arguments)[0]
    results = list[Any]()

    def call() -> None:
        results.extend(f(*arguments)[0] for _ in range(100))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 400
    assert {float(r) for r in results} == {float(expected)}
    assert not unit_of(f).source


@pytest.mark.usefixtures("at_once")
def test_what_interrupts_optimizing_reaches_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    x = ot.dvector("x")
    f = fresh([x], ot.sin(x))
    f([0.0])

    def interrupted(*arguments: Any, **options: Any) -> bytes:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(plain_units, "compile_module", interrupted)
        with config.change_flags(cache=False), pytest.raises(KeyboardInterrupt):
            called(f, 20)
    assert unit_of(f).source
    called(f, 40)
    assert not unit_of(f).source


@pytest.mark.usefixtures("at_once")
def test_the_entry_may_be_optimized_before_or_after() -> None:
    """An entry counts the calls of a function with a plain unit, whether its own code is optimized or not."""
    x = ot.dvector("x")
    before, after = fresh([x], x + 1), fresh([x], x + 2)
    before([1.0])
    before([1.0])
    entry_code().replace()
    for f, expected in ((before, 2.0), (after, 3.0)):
        for _ in range(20):
            assert f([1.0]).tolist() == [expected]
        assert not unit_of(f).source


_PROCESS = """
import numpy as np, occelo as oc
from occelo import tensor as ot
from occelo_link.units import plain_units
if {worth}: plain_units.SECONDS_A_BYTE = 1e-12
x = ot.dvector("x")
f = oc.function([x], ot.exp(x).sum())
unit = f.vm.units[0].unit
loaded = bool(unit.source)
for _ in range({calls}): result = f(np.arange(3.0))
print(loaded, bool(unit.source), float(result).hex())
"""


def test_optimized_code_is_for_later_processes(tmp_path: Path) -> None:
    def run(calls: int, worth: bool) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", _PROCESS.format(calls=calls, worth=worth)],
            env=os.environ | {"OCCELO_FLAGS": f"compiledir={tmp_path}", "OCCELORC": os.devnull},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.split()

    first = run(3, worth=False)
    assert first[:2] == ["True", "True"]
    second = run(30, worth=True)  # from the cache, as it was
    assert second[:2] == ["True", "False"]
    third = run(3, worth=False)
    assert third[:2] == ["False", "False"]
    assert first[2:] == second[2:] == third[2:]


_FORKS = """
import os, signal, threading, numpy as np, occelo as oc
from occelo import tensor as ot
from occelo_link.units import entry_loading
x = ot.dvector("x")
f = oc.function([x], x * 2)
for _ in range(2): f(np.ones(1))
entry, compiling, forked = entry_loading.entry_code(), threading.Event(), threading.Event()
def compile_module(text):
    compiling.set()
    assert forked.wait(60)
    return compiled(text)
compiled, entry_loading.compile_module = entry_loading.compile_module, compile_module
thread = threading.Thread(target=entry.replace)
thread.start()
assert compiling.wait(60)
child = os.fork()
if not child:
    signal.alarm(60)
    forked.set()
    assert oc.function([x], x * 3)(np.ones(1)) == 3.0
    entry.replace()
    assert f(np.ones(1)) == 2.0 and not entry.is_plain
    os._exit(0)
forked.set()
thread.join()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert not entry.is_plain and f(np.ones(1)) == 2.0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_process_may_fork_while_a_thread_optimizes_the_entry(tmp_path: Path) -> None:
    flags = {"OCCELO_FLAGS": f"compiledir={tmp_path}", "OCCELORC": os.devnull}
    command = [sys.executable, "-W", "ignore", "-c", _FORKS]
    done = subprocess.run(command, env=os.environ | flags, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


_LATER = """
import numpy as np, occelo as oc
from occelo import tensor as ot
from occelo_link.units import plain_units
from occelo_link.units.entry_loading import entry_code
plain_units.SECONDS_A_BYTE = 1e-12
x = ot.dvector("x")
f = oc.function([x], ot.exp(x).sum())
while f.vm.units[0].unit.source:
    f(np.arange(3.0))
calls = []
plain = plain_units.CountedPath.__call__
plain_units.CountedPath.__call__ = lambda path, *args: (calls.append(args), plain(path, *args))[1]
for _ in range(100):
    f(np.arange(3.0))
print(entry_code().is_plain, len(calls))
"""


def test_calls_of_optimized_units_run_no_python(tmp_path: Path) -> None:
    """Also while the code of the entry is plain, which counts the calls of all functions."""
    done = subprocess.run(
        [sys.executable, "-c", _LATER],
        env=os.environ | {"OCCELO_FLAGS": f"compiledir={tmp_path}", "OCCELORC": os.devnull},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["True", "0"]
