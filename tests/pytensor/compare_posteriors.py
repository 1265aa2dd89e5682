"""Samples the 22 posteriors with reference moments, by PyMC and by nutpie, and says how far off the moments are.

``OCCELO_POSTERIORDB=FOLDER python tests/pytensor/compare_posteriors.py [POSTERIOR ...] [--samplers pymc mode nutpie]`` prints a
row for each posterior and sampler. All of them take about an hour of one processor. The samplers:

- ``pymc``: ``pm.sample`` after ``occelo.pytensor.use()``; ``mode``: ``pm.sample(compile_kwargs={"mode": "OCCELO"})``
- ``nutpie``: ``nutpie.sample(nutpie_model(model))``

A z-score is the distance between a mean (or a standard deviation) and the reference in combined Monte Carlo standard
errors. The reference has no error of its standard deviations: that of as many normal draws as its mean is worth.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from time import process_time
from typing import Any

import arviz
import numpy as np
import nutpie
import pymc as pm
from models import posteriors

import occelo_pytensor as bridge

SAMPLERS = ("pymc", "mode", "nutpie")
ACCEPT = 0.9


@dataclass
class Row:
    """The worst z-scores of a posterior, the element of each, divergences, and seconds of the processor with compilation."""

    posterior: str
    sampler: str
    parameters: int
    mean: float
    of_mean: str
    sd: float
    of_sd: str
    divergences: int
    seconds: float

    def __str__(self) -> str:
        worst = f"{self.mean:.1f} {self.of_mean} | {self.sd:.1f} {self.of_sd}"
        counts = f"{self.divergences} | {self.seconds:.0f}"
        return f"| {self.posterior} | {self.sampler} | {self.parameters} | {worst} | {counts} |"


def sampled(model: Any, sampler: str, draws: int, seed: int) -> Any:
    """Four chains, as the sampler gives them."""
    if sampler == "nutpie":
        return nutpie.sample(
            bridge.nutpie_model(model), draws=draws, tune=draws, chains=4, cores=2, seed=seed,
            progress_bar=False, target_accept=ACCEPT,
        )  # fmt: skip
    options: dict[str, Any] = {
        "draws": draws, "tune": draws, "chains": 4, "cores": 1, "random_seed": seed,
        "progressbar": False, "compute_convergence_checks": False, "target_accept": ACCEPT,
    }  # fmt: skip
    if sampler == "mode":
        with model:
            return pm.sample(compile_kwargs={"mode": "OCCELO"}, **options)
    with bridge.use(), model:
        return pm.sample(**options)


def scores(trace: Any, name: str) -> list[tuple[str, float, float]]:
    """For each element of the reference: its name, and the z-scores of mean and standard deviation."""
    known = posteriors.reference()[name]
    found: list[tuple[str, float, float]] = []
    columns = (known[key] for key in ("names", "mean", "mcse", "sd"))
    for element, mean, error, sd in zip(*columns, strict=True):
        variable, at = posteriors.element(element)
        draws = trace.posterior[variable].values[(slice(None), slice(None), *at)]
        own = [float(arviz.mcse(draws, method=what)) for what in ("mean", "sd")]
        of_sd = error / np.sqrt(2)
        found.append((
            element,
            abs(draws.mean() - mean) / np.hypot(own[0], error),
            abs(draws.std() - sd) / np.hypot(own[1], of_sd),
        ))  # fmt: skip
    return found


def compare(name: str, sampler: str, draws: int = 1000, seed: int = 1) -> Row:
    """Sample a posterior and compare its moments."""
    model = posteriors.make(name)
    start = process_time()
    trace = sampled(model, sampler, draws, seed)
    seconds = process_time() - start
    found = scores(trace, name)
    mean = max(found, key=lambda each: each[1])
    sd = max(found, key=lambda each: each[2])
    divergent = int(trace.sample_stats["diverging"].sum())
    return Row(name, sampler, len(found), mean[1], mean[0], sd[2], sd[0], divergent, seconds)


def main() -> None:
    """Print a row for each posterior and sampler."""
    parser = argparse.ArgumentParser()
    parser.add_argument("posteriors", nargs="*", default=list(posteriors.POSTERIORS))
    parser.add_argument("--samplers", nargs="+", choices=SAMPLERS, default=["pymc", "nutpie"])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print("| posterior | sampler | elements | worst z of means | of sds | divergences | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sampler in given.samplers:
            for name in given.posteriors:
                print(compare(name, sampler, given.draws, given.seed), flush=True)


if __name__ == "__main__":
    main()
