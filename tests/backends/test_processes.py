"""Compiled functions in threads, in forked and in spawned processes."""

from __future__ import annotations

import multiprocessing
import pickle
import sys
import threading
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_link.c.compiler import CompilerMissing, find_compiler
from occelo_link.capabilities import is_installed

CPU = ["py", "vm", "native", "c", "c|py", "numba"]


def usable() -> list[str]:
    """The backends for processors that can be used here."""
    try:
        find_compiler()
        compilers = True
    except CompilerMissing:
        compilers = False
    return [b for b in CPU if is_installed(b) and (compilers or b not in ("c", "c|py"))]


def made(backend: str) -> Any:
    """A function of some nodes, with a constant of its own."""
    x = ot.dvector("x")
    return oc.function([x], [(ot.exp(x) * 1.7).sum(), ot.tanh(x)[::-1]], mode=backend)


def right(function: Any, value: Any) -> bool:
    total, turned = function(value)
    return bool(
        np.isclose(total, (np.exp(value) * 1.7).sum()) and np.allclose(turned, np.tanh(value)[::-1])
    )


def check_pickled(text: bytes) -> list[bool]:
    """What a worker does: load functions, and call each."""
    functions: list[Any] = pickle.loads(text)
    return [right(f, np.linspace(0.0, 1.0, n + 2)) for n, f in enumerate(functions)]


@pytest.mark.parametrize("backend", CPU)
def test_eight_threads(backend: str) -> None:
    if backend not in usable():
        pytest.skip(f"{backend} cannot be used here: its library or compiler is not installed")
    function = made(backend)
    wrong: list[Any] = []

    def work(seed: int) -> None:
        for i in range(100):
            value = np.full(seed + 1, i / 100)
            if not right(function, value):
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_spawned_workers() -> None:
    names = usable()
    text = pickle.dumps([made(b) for b in names])
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for found in pool.map(check_pickled, [text, text]):
            assert found == [True] * len(names)


_KEPT: list[Any] = []


def check_inherited(number: int) -> bool:
    """What a forked worker does: call functions that it got by being forked."""
    return all(right(f, np.linspace(0.0, 1.0, number + 2)) for f in _KEPT)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
# libraries that were loaded by other tests have threads, of which Python warns
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
def test_forked_workers() -> None:
    _KEPT[:] = [made(b) for b in usable()]
    for function in _KEPT:
        assert right(function, np.ones(2))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(check_inherited, range(4)) == [True] * 4
