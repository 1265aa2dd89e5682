"""Programs that write and read parts of tensors and shared variables, with all rewrites and in-place ops."""

from __future__ import annotations

import os

import pytest

from occelo_graph.config import config
from occelo_testing.programs.generating import WRITES
from occelo_testing.random_programs.running import run_seeds

COUNT = 5000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 60


@pytest.mark.parametrize("part", range(3))
def test_writes_are_seen_by_all_later_reads(part: int) -> None:
    def laws(seed: int) -> list[tuple[str, str | None]]:
        return [("native", None), ("vm", None)] if seed % 4 == 0 else [("native", None)]

    with config.change_flags(cache=False):
        report = run_seeds(range(part, COUNT, 3), laws, profile=WRITES)
    assert not report.faults, "\n".join(report.texts.values())
    assert report.outcomes["native"]["kept"] == COUNT // 3, report.outcomes


def test_writes_to_what_is_updated() -> None:
    seeds = range(1000, 1000 + COUNT)
    with config.change_flags(cache=False):
        report = run_seeds(seeds, lambda _: [("state", "native")], profile=WRITES)
    assert not report.faults, "\n".join(report.texts.values())
    assert report.outcomes["state"]["kept"] > COUNT // 3, report.outcomes
