"""Tiered compilation of the entry: unoptimized at first, optimized after many calls and in later processes."""

from __future__ import annotations

import threading
from contextvars import copy_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from occelo_graph.config import config
from occelo_link.cache.store import counters
from occelo_link.units import entry, entry_loading
from occelo_link.units.entry_loading import EntryCode
from occelo_link.units.object_layout import layout_fits
from occelo_testing.loop_programs import builtin_of, map_program

pytestmark = pytest.mark.skipif(
    not layout_fits(), reason="objects of this Python lie elsewhere: the entry is Python"
)


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Entry code of its own, which lets 50 calls pass, with an empty cache."""
    monkeypatch.setattr(entry_loading, "CALLS", 50)
    with config.change_flags(compiledir=str(tmp_path)):
        made = EntryCode()
        monkeypatch.setattr(entry, "entry_code", lambda: made)
        yield made


def doubling() -> Any:
    program = map_program(lambda b, x: b.op("add", x, x))
    return builtin_of(program)


X = np.arange(5.0)


def test_many_calls_are_worth_good_code(code: EntryCode) -> None:
    early, other = doubling(), doubling()
    assert code.is_plain
    for _ in range(30):
        np.testing.assert_array_equal(early(X)[0], 2 * X)
        np.testing.assert_array_equal(other(X)[0], 2 * X)
    assert not code.is_plain
    before = counters["code generation"]
    late = doubling()
    for call in (early, other, late):
        np.testing.assert_array_equal(call(X)[0], 2 * X)
    assert not EntryCode().is_plain
    assert counters["code generation"] == before


def test_few_calls_leave_the_cache_to_plain_code(code: EntryCode) -> None:
    call = doubling()
    before = counters["code generation"]
    for _ in range(40):
        call(X)
    assert code.is_plain
    assert EntryCode().is_plain
    assert counters["code generation"] == before


def test_calls_from_many_threads_replace_the_code_once(code: EntryCode) -> None:
    calls = [doubling() for _ in range(4)]
    before = counters["code generation"]
    wrong: list[Any] = []

    def work(call: Any) -> None:
        wrong.extend(call for _ in range(2000) if not np.array_equal(call(X)[0], 2 * X))

    # options that are changed for a while hold in one context, and the code is looked up in the thread that replaces it
    threads = [threading.Thread(target=copy_context().run, args=(work, call)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert not code.is_plain
    assert counters["code generation"] == before + 1


def test_functions_that_are_gone_are_not_kept(code: EntryCode) -> None:
    for _ in range(20):
        doubling()(X)
    assert len(code._running) <= 1  # pyright: ignore[reportPrivateUsage]
