"""Compares log densities and gradients of models with PyTensor's default rewriting; exact numbers decide.

``python tests/pytensor/compare_densities.py [NAME ...]`` prints a row for each model, and the sums. All models take
about half an hour of one processor. With ``--second`` it compares second derivatives, where PyMC has them.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass
from typing import Any

import models
import numpy as np
import pymc as pm
import pytensor
from exact_graphs import exact, exact_gradient, exact_second
from models import fields, lifetimes, mixtures, posteriors, regressions, series  # noqa: F401
from pytensor.compile.mode import Mode

import occelo as oc
import occelo_pytensor as bridge

THEIRS = Mode("py", "fast_run")  # the rewriting of PyTensor's default mode, without compiling
POINTS = 20
RANDOM = (
    "minibatch",
)  # its log density draws the rows, so the two functions are at different draws
DECIDED = 3
"""At most so many differing elements of a point are computed exactly."""


@dataclass
class Counts:
    """Points of a model by who is right, and the elements of the gradient that exact numbers did not decide."""

    same: int = 0
    only_ours: int = 0
    only_theirs: int = 0
    neither: int = 0
    not_decided: int = 0


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


def compiled(model: Any) -> tuple[Any, Callable[..., Any], Callable[..., Any]]:
    """The log density with its gradient: as a graph of PyTensor, compiled here, and compiled by PyTensor."""
    with model:
        cost, inputs = model.logp(), model.value_vars
        gradients = pytensor.grad(cost, inputs, disconnected_inputs="ignore")
        theirs = pm.pytensorf.compile(inputs, [cost, *gradients], mode=THEIRS)
    variables, value = bridge.from_pytensor(cost, inputs, checks="minus_infinity")
    slopes = oc.grad(value, variables, disconnected_inputs="ignore")
    return cost, oc.function(variables, [value, *slopes]), theirs


def compiled_second(model: Any) -> tuple[Any, Callable[..., Any], Callable[..., Any]]:
    """As `compiled`, for all second derivatives. NotImplementedError where PyTensor has none."""
    with model:
        cost, inputs = model.logp(), model.value_vars
        theirs = pm.pytensorf.compile(inputs, [model.d2logp(negate_output=False)], mode=THEIRS)
    density = bridge.log_density(model, costs=cost, variables=inputs)
    ours = oc.function([density.point], oc.hessian(density.value, density.point))
    return cost, lambda *point: [ours(flat(point))], theirs


def right_second(cost: Any, inputs: Any, point: Any, element: int) -> Any:
    """The exact second derivative at a position of the flat matrix."""
    places = [(i, j) for i, v in enumerate(point) for j in range(v.size)]
    row, column = divmod(element, len(places))
    return exact_second(cost, inputs, point, places[row], places[column])


def right(cost: Any, inputs: Any, point: Any, element: int) -> Any:
    """The exact log density (element 0), or an element of its gradient."""
    if element == 0:
        return exact(cost, inputs, point)
    places = [(i, j) for i, v in enumerate(point) for j in range(v.size)]
    return exact_gradient(cost, inputs, point, [places[element - 1]])[0]


def mistakes(ours: float, theirs: float, exactly: Any) -> list[float]:
    """How far both are off. A number that is not finite is infinitely far off."""
    return [abs(float(v - exactly)) if np.isfinite(v) else np.inf for v in (ours, theirs)]


def _asked(found: Any, wanted: Any, sides: list[bool]) -> Any:
    """The elements to compute exactly: where both differ, or where one side is not finite and the other side is."""
    if all(sides):
        return undecided(found, wanted)
    return np.flatnonzero(np.isfinite(found) != np.isfinite(wanted)) if any(sides) else ()


def compare(model: Any, second: bool = False) -> Counts:
    """Count the points of a model by who is right: in value and gradient, or in all second derivatives.

    A side is right at a point if the value and all elements of the gradient are finite and within 1e-9 of the exact
    numbers. Where rounding costs both of them more digits, 1e-6 is enough if it is at most ten times as far off as the other.
    """
    cost, ours, theirs = (compiled_second if second else compiled)(model)
    exact_element = right_second if second else right
    counts = Counts()
    for point in points(model, POINTS):
        with np.errstate(all="ignore"):
            found, wanted = flat(ours(*point)), flat(theirs(*point))
        sides = [bool(np.isfinite(v).all()) for v in (found, wanted)]
        for element in _asked(found, wanted, sides)[:DECIDED]:
            try:
                exactly = exact_element(cost, model.value_vars, point, int(element))
                off = mistakes(found[element], wanted[element], exactly)
            except Exception:  # an op without an exact form
                counts.not_decided += 1
                continue
            size = max(1.0, abs(float(exactly)))
            for side in (0, 1):
                conditioned = min(10 * off[1 - side], 1e-6 * size)
                sides[side] &= off[side] <= max(1e-9 * size, conditioned)
        name = {(1, 1): "same", (1, 0): "only_ours", (0, 1): "only_theirs"}.get(
            (int(sides[0]), int(sides[1])), "neither"
        )
        setattr(counts, name, getattr(counts, name) + 1)
    return counts


def main() -> None:
    """Print a row for each model."""
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*")
    parser.add_argument("--second", action="store_true", help="compare second derivatives")
    given = parser.parse_args()
    made: dict[str, Callable[[], Any]] = dict(models.MODELS)
    if posteriors.FOLDER is not None:
        made |= {n: (lambda n=n: posteriors.make(n)) for n in posteriors.POSTERIORS}
    total = np.zeros(len(astuple(Counts())), int)
    print("same, only ours, only theirs, neither, not decided")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in given.models or sorted(made.keys() - set(RANDOM)):
            try:
                found = astuple(compare(made[name](), given.second))
            except NotImplementedError as error:
                print("PyTensor has no second derivatives:", error, name, flush=True)
                continue
            total += found
            print(*found, name, flush=True)
    print(*total, "sum")


if __name__ == "__main__":
    main()
