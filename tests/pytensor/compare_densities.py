"""Compares log densities and gradients of models with PyTensor's default rewriting; exact numbers decide.

``python tests/pytensor/compare_densities.py [NAME ...]`` prints a row for each model, and the sums. All models take
about half an hour of one processor. With ``--second`` it compares second derivatives, where PyMC has them. Positions of points
where only PyTensor is right follow the name of the model.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import models
import numpy as np
import pymc as pm
import pytensor
from exact_graphs import exact, exact_gradient, exact_second
from models import fields, lifetimes, mixtures, posteriors, regressions, series  # noqa: F401
from pytensor.compile.mode import Mode
from pytensor.graph.utils import MethodNotDefined

import occelo as oc
import occelo_pytensor as bridge

# the rewriting of PyTensor's default mode, without compiling; NumPy takes no fused op of many operands
THEIRS = Mode("py", "fast_run").excluding("fusion")
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
    worse: list[int] = field(default_factory=list[int])
    """The positions of the points where only PyTensor is right."""

    def numbers(self) -> tuple[int, ...]:
        """The five counts, in this order."""
        return self.same, self.only_ours, self.only_theirs, self.neither, self.not_decided


def points(model: Any, count: int) -> Iterator[list[Any]]:
    """Points around the initial one, at distances from 0.1 to 400."""
    rng = np.random.default_rng(0)
    start = model.initial_point()
    for scale in np.geomspace(0.1, 400, count):
        yield [
            np.asarray(start[v.name] + scale * rng.normal(size=np.shape(start[v.name])), v.dtype)
            for v in model.value_vars
        ]


def neighbours(point: list[Any], count: int = 7) -> Iterator[list[Any]]:
    """Points at a distance of about a billionth."""
    rng = np.random.default_rng(1)
    for _ in range(count):
        yield [v * (1 + 1e-9 * rng.normal(size=v.shape)) for v in point]


def flat(values: Any) -> Any:
    return np.concatenate([np.ravel(np.asarray(v, "float64")) for v in values])


def _values(function: Callable[..., Any], point: list[Any]) -> Any:
    """The values of a function, or NaN if a decomposition refuses its matrix."""
    try:
        return flat(function(*point))
    except (ValueError, np.linalg.LinAlgError):
        return np.array([np.nan])


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


def within(off: list[float], size: float) -> list[bool]:
    """Which sides are right, by how far they are off: see `compare`."""
    allowed = [max(1e-9 * size, min(10 * off[1 - side], 1e-6 * size)) for side in (0, 1)]
    return [off[side] <= allowed[side] for side in (0, 1)]


def compare(model: Any, second: bool = False, number: int = POINTS) -> Counts:
    """Count the points of a model by who is right: in value and gradient, or in all second derivatives.

    A side is right at a point if the value and all elements of the gradient are finite and within 1e-9 of the exact
    numbers. Where rounding costs both of them more digits, 1e-6 is enough if it is at most ten times as far off as the other.
    Which of two finite numbers rounding hits is luck: the medians of mistakes at neighbours decide.
    """
    cost, *sides_of = (compiled_second if second else compiled)(model)
    exact_element = right_second if second else right
    counts, inputs = Counts(), model.value_vars

    def mistakes_at(point: Any, element: int) -> tuple[list[float], float]:
        with np.errstate(all="ignore"):
            found, wanted = (flat(f(*point))[element] for f in sides_of)
        exactly = exact_element(cost, inputs, point, element)
        return mistakes(found, wanted, exactly), max(1.0, abs(float(exactly)))

    def judged(point: Any, element: int) -> list[bool]:
        off, size = mistakes_at(point, element)
        if sum(within(off, size)) == 1 and np.isfinite(off).all():
            near = [mistakes_at(p, element)[0] for p in neighbours(point)]
            off = np.median(near, axis=0).tolist()
        return within(off, size)

    for position, point in enumerate(points(model, number)):
        with np.errstate(all="ignore"):
            found, wanted = (_values(f, point) for f in sides_of)
        sides = [bool(np.isfinite(v).all()) for v in (found, wanted)]
        for element in _asked(found, wanted, sides)[:DECIDED]:
            try:
                decided = judged(point, int(element))
            except Exception:  # an op without an exact form
                counts.not_decided += 1
                continue
            sides = [one and other for one, other in zip(sides, decided, strict=True)]
        name = {(1, 1): "same", (1, 0): "only_ours", (0, 1): "only_theirs"}.get(
            (int(sides[0]), int(sides[1])), "neither"
        )
        setattr(counts, name, getattr(counts, name) + 1)
        if name == "only_theirs":
            counts.worse.append(position)
    return counts


def main() -> None:
    """Print a row for each model."""
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*")
    parser.add_argument("--second", action="store_true", help="compare second derivatives")
    parser.add_argument("--points", type=int, default=POINTS, help="how many points of each model")
    given = parser.parse_args()
    made: dict[str, Callable[[], Any]] = dict(models.MODELS)
    if posteriors.FOLDER is not None:
        made |= {n: (lambda n=n: posteriors.make(n)) for n in posteriors.POSTERIORS}
    total = np.zeros(len(Counts().numbers()), int)
    print("same, only ours, only theirs, neither, not decided")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in given.models or sorted(made.keys() - set(RANDOM)):
            try:
                found = compare(made[name](), given.second, given.points)
            except (NotImplementedError, MethodNotDefined) as error:
                print("PyTensor has no second derivatives:", error, name, flush=True)
                continue
            total += found.numbers()
            print(*found.numbers(), name, *found.worse, flush=True)
    print(*total, "sum")


if __name__ == "__main__":
    main()
