"""Random programs with steps of the families of ops: linear algebra, loops, densities and keys.

A run of CI tries fixed seeds; ``HYPOTHESIS_PROFILE=thorough`` fifty times as many. The command
``python -m occelo_testing.random_programs --families all`` tries any number of seeds.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from occelo_testing.family_steps import all_names, step_families
from occelo_testing.fixtures import without_the_cache
from occelo_testing.programs.generating import PROFILES, random_program
from occelo_testing.programs.listing import listing
from occelo_testing.programs.program import Step
from occelo_testing.random_programs.running import run_seeds

__all__ = ["without_the_cache"]

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
FACTOR = 50 if THOROUGH else 1
LAWS = ["value", "batch of values", "aliases and swaps", "saved", "permuted inputs", "constants"]


@pytest.mark.parametrize("name", all_names())
def test_values(name: str) -> None:
    """One law on each program; machine code, which takes long to compile for densities, only in thorough runs."""

    def law_of(seed: int) -> list[tuple[str, str | None]]:
        return [(LAWS[seed % len(LAWS)], None if THOROUGH and seed % 2 else "vm")]

    first, count = 4_000_000, 6 * FACTOR
    seeds = range(first, first + count)
    report = run_seeds(seeds, law_of, families=step_families([name]), shrink=60)
    assert not report.faults, "\n".join(report.texts.values())
    kept = sum(outcomes["kept"] for outcomes in report.outcomes.values())
    assert kept >= 0.5 * count, report.outcomes


def test_gradients() -> None:
    report = run_seeds(
        range(5_000_000, 5_000_000 + 6 * FACTOR),
        lambda _: [("gradient", "vm")],
        families=step_families(),
        profile=PROFILES["smooth"],
        shrink=60,
    )
    assert not report.faults, "\n".join(report.texts.values())
    assert report.outcomes["gradient"]["kept"] >= 1, report.outcomes


@pytest.mark.parametrize("name", all_names())
def test_the_steps_occur_and_are_printed(name: str) -> None:
    families = step_families([name])
    steps: Counter[str] = Counter()
    core: Counter[str] = Counter()
    for seed in range(25):
        program = random_program(seed, PROFILES["floats"], families)
        steps.update(n.name for n in program.nodes if isinstance(n, Step))
        core.update(n.name for n in random_program(seed).nodes if isinstance(n, Step))
        compile(listing(program), "<listing>", "exec")
    assert len(set(steps) - set(core)) >= 3
