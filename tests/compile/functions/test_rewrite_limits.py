"""Functions of which a rewriter stopped at its limit: right wherever it stopped, with one warning, and not kept in the cache."""

from __future__ import annotations

from typing import Any

import pytest

from occelo_graph.config import config
from occelo_testing.fixtures import allowed
from occelo_testing.random_programs.running import run_seeds

__all__ = ["allowed"]

pytestmark = pytest.mark.filterwarnings("ignore:.*(will be static|runs in Python)")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("linker", ["vm", None])
@pytest.mark.parametrize("most", [0, 1, 3])
def test_programs_are_right_wherever_rewriters_stop(
    most: int, linker: str | None, allowed: Any
) -> None:
    allowed(most)
    with config.change_flags(cache=False):
        report = run_seeds(range(20 * most, 20 * most + 20), lambda _: [("value", linker)])
    assert not report.faults, "\n".join(report.texts.values())
    assert report.outcomes["value"]["kept"] >= 19
