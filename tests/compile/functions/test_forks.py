"""Signal handlers that fork while threads run a loop: the old process and the new one both go on with the call."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import ctypes
import os
import signal
import subprocess
import sys
import threading

import numpy as np

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_link.units.entry_loading import entry_code
from occelo_link.units.thread_pool import thread_pool

if sys.argv[1] == "blas":
    x = ot.tensor("x", dtype="float64", shape=(None, None, None))
    y = ot.matmul(ot.matmul(x, x), x)
    values = np.random.default_rng(0).normal(size=(1000, 60, 60))
else:
    x = y = ot.dvector("x")
    for _ in range(12):
        y = ot.sin(ot.exp(-y * y) + y)
    values = np.linspace(-3.0, 3.0, 500_000)
with config.change_flags(native__threads=1):
    expected = oc.function([x], y, mode="native")(values)
with config.change_flags(native__threads=3, cache=False):
    f, other = (oc.function([x], outputs, mode="native") for outputs in (y, [y, x.sum()]))
main, pool, children = os.getpid(), thread_pool(), []
blas = ctypes.CFUNCTYPE(ctypes.c_int)(pool.get_blas) if pool.get_blas else lambda: 0
threads_of_blas = blas()

def is_right():
    return np.array_equal(f(values), expected)

def fork():
    children.append(os.fork())
    if not children[-1]:
        children.clear()
        return True
    return False

def handler(*_):
    global calling
    if not calling:
        return
    calling = False
    if kind == "calls":  # the pool is busy
        few = values[: len(values) // 20]
        assert np.array_equal(other(few)[0], expected[: len(few)])
    if kind == "runs programs":
        subprocess.run([sys.executable, "-c", ""], check=True)
        subprocess.run([sys.executable, "-c", ""], check=True, preexec_fn=lambda: None)
    elif kind == "forks elsewhere":
        thread = threading.Thread(target=lambda: fork() and os._exit(not is_right()))
        thread.start()
        thread.join()
    else:
        new = fork()
        if kind == "ends" and new:
            os._exit(0)
        if kind == "raises" and new:
            raise KeyError
        if kind == "forks again":
            fork()

signal.signal(signal.SIGALRM, handler)
KINDS = "goes on", "calls", "ends", "raises", "forks again", "forks elsewhere", "runs programs"
# the first call enters the machine code from Python
for kind in ("goes on", *KINDS):
    calling = True
    signal.setitimer(signal.ITIMER_REAL, 0.005)
    try:
        right = is_right()
        while calling:  # on a machine that is done before the signal comes
            pass
    except KeyError:
        right = kind == "raises" and os.getpid() != main
    right = right and is_right() and is_right() and blas() == threads_of_blas
    for child in children:
        right = os.waitpid(child, 0)[1] == 0 and right
    children.clear()
    if os.getpid() != main:
        os._exit(not right)
    assert right, kind
    entry_code()
    f(values[:1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.parametrize("parts", ["formulas", "blas"])
def test_signal_handlers_fork_while_threads_work(parts: str) -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROGRAM, parts]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
