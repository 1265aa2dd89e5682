"""``python -m occelo_testing.random_programs``: check the random programs of many seeds from the command line."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path

from occelo_graph.config import config
from occelo_testing.family_steps import all_names, step_families
from occelo_testing.programs.generating import PROFILES
from occelo_testing.random_programs.judging import Fault
from occelo_testing.random_programs.laws import LAWS
from occelo_testing.random_programs.running import run_seeds


def main() -> int:
    """Check the programs of all seeds, print faults and write the report.

    Returns the exit status: 1 if there are faults, and otherwise 0.
    """
    parser = argparse.ArgumentParser(prog="occelo_testing.random_programs", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=500, help="how many programs")
    parser.add_argument(
        "--limit", type=float, default=float("inf"), help="seconds after which to end"
    )
    parser.add_argument(
        "--laws", default="value", help=f"names with commas between, or all: {', '.join(LAWS)}"
    )
    parser.add_argument(
        "--each",
        type=int,
        default=0,
        help="how many of the laws to draw for each program; 0 for all",
    )
    parser.add_argument("--mode", default=None, help="the mode that laws compile in")
    parser.add_argument(
        "--families",
        default="",
        help=f"families whose steps programs have, too, or all: {', '.join(all_names())}",
    )
    parser.add_argument(
        "--profile", choices=list(PROFILES), default=None, help="which programs; by default all"
    )
    parser.add_argument("--report", type=Path, default=None, help="a JSON file")
    chosen = parser.parse_args()
    laws = list(LAWS) if chosen.laws == "all" else chosen.laws.split(",")
    unknown = [law for law in laws if law not in LAWS]
    if unknown:
        parser.error(f"there is no law {unknown[0]!r}; there are {', '.join(LAWS)}")

    named = all_names() if chosen.families == "all" else chosen.families.split(",")
    if chosen.families and not set(named) <= set(all_names()):
        parser.error(f"the families of steps are {', '.join(all_names())}")
    families = step_families(named) if chosen.families else []

    def laws_of(seed: int) -> list[tuple[str, str | None]]:
        if not chosen.each:
            return [(law, chosen.mode) for law in laws]
        import numpy as np

        drawn = np.random.default_rng([seed, 1]).permutation(len(laws))[: chosen.each]
        return [(laws[int(i)], chosen.mode) for i in drawn]

    def report_fault(fault: Fault) -> None:
        print(f"{'=' * 20} {fault.signature}\n{fault.text()}", flush=True)

    seeds = range(chosen.seed, chosen.seed + chosen.count)
    with warnings.catch_warnings(), config.change_flags(on_opt_error="raise", cache=False):
        warnings.simplefilter("ignore")
        report = run_seeds(
            seeds,
            laws_of,
            chosen.limit,
            report_fault,
            families=families,
            profile=PROFILES.get(chosen.profile),
        )
    if chosen.report is not None:
        chosen.report.write_text(json.dumps(report.plain(), indent=1))
    print(f"{report.programs} programs, {sum(report.steps.values())} steps, {report.seconds:.0f} s")
    for law, outcomes in report.outcomes.items():
        print(f"  {law}: " + ", ".join(f"{n} {what}" for what, n in outcomes.most_common()))
    for signature, seeds_ in report.faults.items():
        print(f"{len(seeds_)} {signature} (seeds {', '.join(map(str, seeds_[:5]))})")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
