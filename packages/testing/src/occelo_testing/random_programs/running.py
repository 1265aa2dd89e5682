"""Tries laws on the random programs of many seeds, and counts the outcomes.

The command (`__main__`) and the tests of random programs call `run_seeds`. The module `generating` of
`occelo_testing.programs` draws the programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from occelo_testing.programs.drawing import BuildFailure, Profile
from occelo_testing.programs.generating import random_program
from occelo_testing.programs.program import Step
from occelo_testing.programs.step_family import StepFamily
from occelo_testing.random_programs.judging import Fault, judged, smallest


@dataclass
class Report:
    """The counts of a run: programs, steps by name, and outcomes by law.

    Similar faults have the same signature (`Fault.signature`). ``faults`` maps a signature to the seeds of its faults,
    and ``texts`` maps it to a script that reproduces the first of them.
    """

    seeds: tuple[int, int] = (0, 0)
    seconds: float = 0.0
    programs: int = 0
    steps: Counter[str] = field(default_factory=Counter[str])
    outcomes: dict[str, Counter[str]] = field(default_factory=lambda: dict[str, Counter[str]]())
    faults: dict[str, list[int]] = field(default_factory=lambda: dict[str, list[int]]())
    texts: dict[str, str] = field(default_factory=lambda: dict[str, str]())

    def count(self, law: str, outcome: str) -> None:
        """Count an outcome of a law."""
        self.outcomes.setdefault(law, Counter())[outcome] += 1

    def plain(self) -> dict[str, Any]:
        """Return the report as values that JSON supports."""
        return {
            "seeds": list(self.seeds),
            "seconds": round(self.seconds, 1),
            "programs": self.programs,
            "steps": dict(self.steps.most_common()),
            "outcomes": {law: dict(c) for law, c in self.outcomes.items()},
            "faults": [
                {"signature": s, "seeds": seeds, "program": self.texts[s]}
                for s, seeds in sorted(self.faults.items(), key=lambda p: -len(p[1]))
            ],
        }


def run_seeds(
    seeds: Iterable[int],
    laws_of: Callable[[int], Sequence[tuple[str, str | None]]],
    limit: float = float("inf"),
    on_fault: Callable[[Fault], None] = lambda _: None,
    shrink: int = 150,
    families: Sequence[StepFamily] = (),
    profile: Profile | None = None,
) -> Report:
    """Draw the program of each seed, and check it against laws until a law does not hold.

    ``families`` are the families whose steps programs have beside those of the core. ``profile`` is the distribution of
    programs; by default each seed chooses one.

    ``laws_of`` returns the laws for a seed, each with a mode. After ``limit`` seconds no further program is tried.
    ``on_fault`` is called with the first fault of each signature, after its program was shrunk.
    """
    report = Report()
    start = perf_counter()
    for seed in seeds:
        if perf_counter() - start > limit:
            break
        report.seeds = (report.seeds[0] if report.programs else seed, seed)
        report.programs += 1
        try:
            program = random_program(seed, profile, families)
        except BuildFailure as failure:
            program = failure.program
        report.steps.update(n.name for n in program.nodes if isinstance(n, Step))
        for law, mode in laws_of(seed):
            outcome = judged(program, law, mode)
            report.count(law, outcome if isinstance(outcome, str) else "fault")
            if isinstance(outcome, Fault):
                fault = smallest(outcome, shrink)
                failing = report.faults.setdefault(fault.signature, [])
                failing.append(seed)
                if len(failing) == 1:
                    report.texts[fault.signature] = fault.text()
                    on_fault(fault)
                break
    report.seconds = perf_counter() - start
    return report
