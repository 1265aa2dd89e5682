"""Log densities of models and their gradients, at points of many scales, beside PyTensor's; exact values decide.

CI takes six models; all run with ``HYPOTHESIS_PROFILE=thorough``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import models
import numpy as np
import pymc as pm
import pytensor
import pytest
from exact_graphs import exact, exact_gradient
from models import fields, lifetimes, mixtures, regressions, series  # noqa: F401
from pytensor.compile.mode import Mode

import occelo as oc
import occelo_pytensor as bridge

THEIRS = Mode("py", "fast_run")
POINTS = 20
FEW = (
    "eight_schools_centered", "logistic_regression", "zero_inflated_poisson", "gp_marginal",
    "moving_average", "censored_normal",
)  # fmt: skip
CHOSEN = list(models.MODELS) if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else FEW


def points(model: Any, count: int) -> Iterator[list[Any]]:
    """Points around the initial one, at distances from 0.1 to 400."""
    rng = np.random.default_rng(0)
    start = model.initial_point()
    for scale in np.geomspace(0.1, 400, count):
        yield [
            np.asarray(start[v.name] + scale * rng.normal(size=np.shape(start[v.name])), v.dtype)
            for v in model.value_vars
        ]


def flat(values: Any) -> Any:
    return np.concatenate([np.ravel(np.asarray(v, "float64")) for v in values])


def undecided(ours: Any, theirs: Any) -> Any:
    """The positions where exact numbers must decide: theirs are finite, and ours are not the same within 1e-9."""
    size = np.nanmax(np.abs(theirs[np.isfinite(theirs)]), initial=1e-3)
    close = np.isclose(ours, theirs, rtol=1e-9, atol=1e-13 * size)
    return np.flatnonzero(np.isfinite(theirs) & ~close)


@pytest.mark.parametrize("name", CHOSEN)
def test_no_point_is_worse_than_pytensors(name: str) -> None:
    model = models.MODELS[name]()
    with model:
        cost, inputs = model.logp(), model.value_vars
        gradients = pytensor.grad(cost, inputs, disconnected_inputs="ignore")
        theirs = pm.pytensorf.compile(inputs, [cost, *gradients], mode=THEIRS)
    ours, value = bridge.from_pytensor(cost, inputs, checks="minus_infinity")
    converted = oc.function(ours, [value, *oc.grad(value, ours, disconnected_inputs="ignore")])
    for point in points(model, POINTS):
        with np.errstate(all="ignore"):
            wanted = flat(theirs(*point))
        found = flat(converted(*point))
        places = [(0, 0), *((i, j) for i, v in enumerate(point) for j in range(v.size))]
        for k in undecided(found, wanted)[:3]:
            if k == 0:
                right = exact(cost, inputs, point)
            else:
                (right,) = exact_gradient(cost, inputs, point, [places[k]])
            mistakes = [
                abs(float(v - right)) if np.isfinite(v) else np.inf for v in (found[k], wanted[k])
            ]
            # where the conditioning costs both of them digits, ours may be a few times as far off
            assert mistakes[0] <= max(10 * mistakes[1], 1e-9 * max(1.0, abs(float(right)))), (
                point, k, found[k], wanted[k], float(right),
            )  # fmt: skip
