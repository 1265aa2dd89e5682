"""Random programs compiled in many ways, against NumPy in the user's order of operations.

A run of CI tries fixed seeds; ``HYPOTHESIS_PROFILE=thorough`` twenty times as many. A failure prints a program that a
user can run. ``python -m occelo_testing.random_programs`` tries any number of seeds.
"""

from __future__ import annotations

import os

import pytest

from occelo_testing.fixtures import without_the_cache
from occelo_testing.loop_programs import has_compiler
from occelo_testing.random_programs.laws import LAWS
from occelo_testing.random_programs.running import Report, run_seeds

__all__ = ["without_the_cache"]

FACTOR = 20 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 1
OTHERS = [
    law for law in LAWS if law not in ("value", "c", "c|py", "numba", "jax", "pytorch", "native")
]
PARTS = 5  # so that several processes share the work


def told(report: Report) -> str:
    """The programs that failed."""
    return "\n".join(report.texts.values())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("part", range(PARTS))
def test_values(part: int) -> None:
    """The default mode, on 250 programs."""
    count = 250 * FACTOR // PARTS
    report = run_seeds(range(part * count, (part + 1) * count), lambda _: [("value", None)])
    assert not report.faults, told(report)
    assert report.outcomes["value"]["kept"] >= 0.97 * count, report.outcomes


def law_of(seed: int) -> list[tuple[str, str | None]]:
    """One of the other laws, with machine code in a third of the cases."""
    return [(OTHERS[seed % len(OTHERS)], None if seed % 3 == 0 else "vm")]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("part", range(PARTS))
def test_laws(part: int) -> None:
    """One other law on each of 700 further programs."""
    count = 700 * FACTOR // PARTS
    first = 1_000_000 + part * count
    report = run_seeds(range(first, first + count), law_of)
    assert not report.faults, told(report)
    kept = {law: outcomes["kept"] for law, outcomes in report.outcomes.items()}
    assert set(kept) == set(OTHERS)
    assert all(kept.values()), report.outcomes
    assert sum(kept.values()) >= 0.7 * count, report.outcomes


@pytest.mark.skipif(not has_compiler(), reason="there is no C compiler on this machine")
@pytest.mark.parametrize("law", ["c", "c|py"])
def test_c(law: str) -> None:
    """A few programs, since compilers are slow."""
    report = run_seeds(range(2_000_000, 2_000_000 + 4 * FACTOR), lambda _: [(law, None)])
    assert not report.faults, told(report)
