"""Collections of garbage while functions are compiled."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import occelo_graph.tensor as ot
from occelo_compile import function
from occelo_compile.garbage_collection import fewer_collections
from occelo_rewrite import node_rewriter, optdb


@pytest.fixture(autouse=True)
def threshold() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 11, 12)
    yield
    gc.set_threshold(*before)


def test_the_threshold_is_raised_while_a_function_is_compiled() -> None:
    seen: list[tuple[int, int, int]] = []

    @node_rewriter(None)
    def look(fgraph: object, node: object) -> None:
        seen.append(gc.get_threshold())

    optdb.register("look", look, "fast_run", position=2.9)
    try:
        x = ot.dvector("x")
        f = function([x], x * 2.0 + 1.0)
    finally:
        optdb.remove("look")
    assert seen
    assert {each[1:] for each in seen} == {(11, 12)}
    assert min(each[0] for each in seen) > 5000
    assert gc.get_threshold() == (700, 11, 12)
    np.testing.assert_array_equal(f(np.arange(3.0)), [1.0, 3.0, 5.0])


def test_it_is_restored_after_an_error() -> None:
    def failing() -> None:
        with fewer_collections():
            assert gc.get_threshold()[0] > 5000
            raise KeyError

    with pytest.raises(KeyError):
        failing()
    assert gc.get_threshold() == (700, 11, 12)


@pytest.mark.parametrize("other", [0, 10**6])
def test_no_collections_and_larger_thresholds_stay(other: int) -> None:
    gc.set_threshold(other, 5, 5)
    with fewer_collections():
        assert gc.get_threshold() == (other, 5, 5)
    assert gc.get_threshold() == (other, 5, 5)


def test_a_threshold_that_is_set_meanwhile_stays() -> None:
    with fewer_collections():
        gc.set_threshold(1234, 5, 6)
    assert gc.get_threshold() == (1234, 5, 6)
    with fewer_collections():
        gc.set_threshold(0)
        with fewer_collections():
            assert gc.get_threshold()[0] == 0
    assert gc.get_threshold()[0] == 0


def test_threads_that_compile_at_the_same_time_restore_it_once() -> None:
    inside, outside = threading.Barrier(3), threading.Barrier(3)
    seen: list[int] = []

    def run() -> None:
        with fewer_collections():
            inside.wait(60)
            seen.append(gc.get_threshold()[0])
            outside.wait(60)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    with fewer_collections():
        inside.wait(60)
        outside.wait(60)
    for thread in threads:
        thread.join()
    assert min(seen) > 5000
    assert gc.get_threshold() == (700, 11, 12)


def test_cycles_are_still_collected() -> None:
    gone: list[int] = []

    class Node:
        def __init__(self) -> None:
            self.own = self

        def __del__(self) -> None:
            gone.append(1)

    with fewer_collections():
        for _ in range(100_000):
            Node()
    assert len(gone) > 50_000
