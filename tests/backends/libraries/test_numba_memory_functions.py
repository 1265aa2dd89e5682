"""Object code of Numba refers to no outside function: it defines those that fill and copy memory itself."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_linalg import functions as linalg

pytest.importorskip("numba", reason="numba is not installed")

from occelo_link.numba import linker as numba_linker
from occelo_link.numba.memory_functions import memory_functions
from occelo_link.units.engine import compile_module, load_object, stands_alone

ADDRESS = ctypes.c_void_p


def test_memory_is_filled_and_copied() -> None:
    unit = load_object(compile_module(memory_functions("")), "memset")
    fill = ctypes.CFUNCTYPE(ADDRESS, ADDRESS, ctypes.c_int, ctypes.c_size_t)(unit.address)
    of_two = ctypes.CFUNCTYPE(ADDRESS, ADDRESS, ADDRESS, ctypes.c_size_t)
    copy, move = of_two(unit.find("memcpy")), of_two(unit.find("memmove"))
    rng = np.random.default_rng(0)
    found = rng.integers(0, 256, 400, dtype="uint8")
    wanted = found.copy()
    start = found.ctypes.data
    for count in (0, 1, 2, 31, 32, 33, 63, 64, 65, 150):
        for source, target in ((0, 0), (7, 8), (8, 7), (0, 40), (40, 0), (5, 249), (249, 5)):
            assert move(start + target, start + source, count) == start + target
            wanted[target : target + count] = wanted[source : source + count].copy()
            np.testing.assert_array_equal(found, wanted)
            if abs(source - target) >= count:
                assert copy(start + source, start + target, count) == start + source
                wanted[source : source + count] = wanted[target : target + count]
            np.testing.assert_array_equal(found, wanted)
            # only the last eight bits count
            assert fill(start + source, 256 + count, count) == start + source
            wanted[source : source + count] = count % 256
            np.testing.assert_array_equal(found, wanted)
            found[:] = wanted[:] = rng.integers(0, 256, 400, dtype="uint8")


def test_declarations_are_replaced() -> None:
    text = "declare ptr @memset(ptr, i32, i64) #1\ndeclare double @sin(double)\n"
    assert "declare ptr @memset" not in memory_functions(text)
    assert "declare double @sin" in memory_functions(text)


X = ot.dmatrix("x")


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x: ot.zeros((x.shape[0], 100)) + 0.0 * x.sum(), lambda x: np.zeros((len(x), 100))),
        (lambda x: ot.concatenate([x, x], axis=1), lambda x: np.concatenate([x, x], 1)),
        (lambda x: linalg.matrix_power(linalg.expm(0.0 * x), 3), lambda x: np.eye(len(x))),
    ],
    ids=["zeros", "copies", "exponential"],
)
def test_object_code_stands_alone(
    build: Any, expected: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[bytes] = []

    def load(code: bytes) -> Any:
        loaded.append(code)
        return load_object(code)

    monkeypatch.setattr(numba_linker, "load_object", load)
    with config.change_flags(cache=False):
        f = oc.function([X], build(X), mode="numba")
    data = np.arange(9.0).reshape(3, 3)
    np.testing.assert_allclose(f(data), expected(data), rtol=1e-12)
    assert loaded
    assert all(map(stands_alone, loaded))
