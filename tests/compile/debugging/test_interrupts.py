"""Ctrl-C ends long calls, and an interrupted call stores no updates."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from occelo_testing.loop_programs import has_compiler

SCRIPT = """
import os, signal, sys, threading
import numpy as np
import occelo_compile as oc
import occelo_graph.tensor as ot
from occelo_graph.ir.shared import shared

# a shell in the background may have the signal ignored
signal.signal(signal.SIGINT, signal.default_int_handler)
n = ot.lscalar("n")
state = shared(np.zeros(3))
terms = ot.sin(ot.arange(n))
total = oc.function([n], terms.sum(), mode=oc.Mode(sys.argv[1]))
rows = oc.function([n], ot.add(*[ot.exp(terms + k) for k in range(3)]).sum(), mode=oc.Mode(sys.argv[1]))
update = oc.function([n], state * 2, updates=[(state, state + terms.max())], mode=oc.Mode(sys.argv[1]))
assert abs(total(10) - np.sin(np.arange(10)).sum()) < 1e-12
rows(3), update(3)
before = state.get_value()
for call in (total, rows, update):
    for _ in range(2):  # the first call may go another way than those that follow
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            call(10**12)
        except KeyboardInterrupt:
            print("interrupted")
    print((state.get_value() == before).all(), float(total(10)) > 1.9)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals between processes")
@pytest.mark.parametrize("linker", ["native", *(["c"] if has_compiler() else [])])
def test_long_calls_are_interrupted(linker: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, linker],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env=dict(os.environ),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n") == ["interrupted", "interrupted", "True True"] * 3 + [""]
