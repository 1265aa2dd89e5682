"""Compares log densities and gradients of models with PyTensor's default rewriting; exact numbers decide.

``python tests/pytensor/compare_densities.py [NAME ...]`` prints a row for each model, those with the fewest parameters first, and the sums.
All models take about half an hour of one processor. With ``--second`` it compares second derivatives, where PyMC has them; where PyTensor's
default rewriting takes longer than `LIMIT`, that of its FAST_COMPILE, and the row says so. Positions of points where only PyTensor is right
end the row. With ``--keep FILE``, rows are kept, and a run that was stopped goes on; a model that takes longer than ``--limit`` is named.
"""

from __future__ import annotations

import argparse
import json
import signal
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

import models
import numpy as np
import pymc as pm
import pytensor
from exact_graphs import exact, exact_gradient, exact_second
from models import fields, lifetimes, mixtures, posteriors, regressions, series  # noqa: F401
from pytensor.compile.mode import Mode
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.traversal import ancestors
from pytensor.graph.utils import MethodNotDefined
from pytensor.tensor.random.type import RandomGeneratorType

import occelo as oc
import occelo_pytensor as bridge

# the rewriting of PyTensor's default mode, without compiling; NumPy takes no fused op of many operands
THEIRS = Mode("py", "fast_run").excluding("fusion")
QUICK = Mode("py", "fast_compile")
LIMIT = 300
"""Seconds of the processor that compiling by `THEIRS` may take."""
LIMIT_OF_EXACT = 60
"""Seconds of the processor that an exact number may take, with those at neighbours."""
pytensor.config.cxx = ""  # loops run in Python too: nothing is compiled
POINTS = 20
DECIDED = 20
"""So many elements of a point are computed exactly, those which differ most, and `FEW` second derivatives, or elements that one side has
not; more only as long as those of PyTensor are right.
"""
FEW = 3


@dataclass
class Counts:
    """Points of a model by who is right, and differing elements by who is nearer to the exact numbers."""

    same: int = 0
    only_ours: int = 0
    only_theirs: int = 0
    rounded: int = 0
    """Points where both are finite, and neither is right."""
    not_finite: int = 0
    ours_nearer: int = 0
    theirs_nearer: int = 0
    equally_near: int = 0
    """Elements whose errors differ by less than a factor of two."""
    not_decided: int = 0
    """Differing elements that were not computed exactly, of points where both are finite."""
    worse: list[int] = field(default_factory=list[int])
    """The positions of the points where only PyTensor is right."""
    rewriting: str = "FAST_RUN"
    """How PyTensor's function was rewritten."""
    seconds: float = 0.0
    """Of the processor, for the whole comparison."""

    def numbers(self) -> tuple[int, ...]:
        """The counts, in this order."""
        return tuple(n for n in asdict(self).values() if isinstance(n, int))

    def add(self, position: int, finite: list[bool], right: list[bool]) -> None:
        """Count a point by which sides are finite there, and right."""
        match right:
            case [True, True]:
                self.same += 1
            case [True, False]:
                self.only_ours += 1
            case [False, True]:
                self.only_theirs += 1
                self.worse.append(position)
            case _ if all(finite):
                self.rounded += 1
            case _:
                self.not_finite += 1

    def compare(self, off: list[float]) -> None:
        """Count an element by how far both sides are off."""
        ours, theirs = off
        if 2 * ours < theirs:
            self.ours_nearer += 1
        elif 2 * theirs < ours:
            self.theirs_nearer += 1
        else:
            self.equally_near += 1


class TooLong(BaseException):
    """What `limited` raises. No Exception, which PyTensor's rewriting would catch."""


@contextmanager
def limited(seconds: float) -> Generator[None]:
    """Raise `TooLong` if the block takes more than so many seconds of the processor. An outer limit holds in an inner one, and after it."""

    def stop(*_: object) -> None:
        raise TooLong

    before, start = signal.signal(signal.SIGPROF, stop), process_time()
    outer, _ = signal.getitimer(signal.ITIMER_PROF)
    signal.setitimer(signal.ITIMER_PROF, min(seconds, outer or seconds))
    try:
        yield
    finally:
        left = max(outer - process_time() + start, 1e-3) if outer else 0
        signal.setitimer(signal.ITIMER_PROF, left)
        signal.signal(signal.SIGPROF, before)


def points(model: Any, count: int) -> Iterator[list[Any]]:
    """Points around the initial one, at distances from 0.1 to 400."""
    rng = np.random.default_rng(0)
    start = model.initial_point(random_seed=0)
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
    """The positions where exact numbers must decide: theirs are finite, and ours are not the same within 1e-9; the worst first."""
    size = np.nanmax(np.abs(theirs[np.isfinite(theirs)]), initial=1e-3)
    off, allowed = np.abs(ours - theirs), 1e-9 * np.abs(theirs) + 1e-13 * size
    found = np.flatnonzero(np.isfinite(theirs) & ~(off <= allowed))
    return found[np.argsort(-(off / allowed)[found], kind="stable")]


def draws_again(function: Callable[..., Any], cost: Any) -> Callable[..., Any]:
    """The function with generators of the graph of ``cost`` in their state of now, whenever it is called."""
    states = [
        (v, v.get_value()) for v in ancestors([cost])
        if isinstance(v, SharedVariable) and isinstance(v.type, RandomGeneratorType)
    ]  # fmt: skip

    def again(*point: Any) -> Any:
        for variable, state in states:
            variable.set_value(state)
        return function(*point)

    return again if states else function


Compiled = tuple[str, Any, Callable[..., Any], Callable[..., Any]]


def compiled(model: Any) -> Compiled:
    """The log density with its gradient: as a graph of PyTensor, compiled here, and compiled by PyTensor. First the rewriting of the latter."""
    with model:
        cost, inputs = model.logp(), model.value_vars
        gradients = pytensor.grad(cost, inputs, disconnected_inputs="ignore")
        theirs = pm.pytensorf.compile(inputs, [cost, *gradients], mode=THEIRS)
    variables, value = bridge.from_pytensor(cost, inputs, checks="minus_infinity")
    slopes = oc.grad(value, variables, disconnected_inputs="ignore")
    ours = oc.function(variables, [value, *slopes])
    return "FAST_RUN", cost, draws_again(ours, cost), draws_again(theirs, cost)


def compiled_second(model: Any) -> Compiled:
    """As `compiled`, for all second derivatives. NotImplementedError where PyTensor has none."""
    with model:
        cost, inputs = model.logp(), model.value_vars
        second = model.d2logp(negate_output=False)
        rewriting = "FAST_RUN"
        try:
            with limited(LIMIT):
                theirs = pm.pytensorf.compile(inputs, [second], mode=THEIRS)
        except TooLong:
            rewriting = "FAST_COMPILE"
            theirs = pm.pytensorf.compile(inputs, [second], mode=QUICK)
    density = bridge.log_density(model, costs=cost, variables=inputs)
    hessian = oc.function([density.point], oc.hessian(density.value, density.point))
    ours = draws_again(lambda *point: [hessian(flat(point))], cost)
    return rewriting, cost, ours, draws_again(theirs, cost)


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
    """Which sides are right, by how far they are off."""
    return [distance <= 1e-9 * size for distance in off]


def compare(model: Any, second: bool = False, number: int = POINTS) -> Counts:
    """Count the points of a model by who is right: in value and gradient, or in all second derivatives.

    A side is right at a point if the value and all elements of the gradient are finite and within 1e-9 of the exact
    numbers, which are computed where the sides differ by more. Which of two finite numbers rounding hits is luck: where only one is
    right, the medians of mistakes at neighbours decide.
    """
    rewriting, cost, *sides_of = (compiled_second if second else compiled)(model)
    exact_element = right_second if second else right
    counts, inputs = Counts(rewriting=rewriting), model.value_vars

    def mistakes_at(point: Any, element: int) -> tuple[list[float], float]:
        with np.errstate(all="ignore"):
            found, wanted = (flat(f(*point))[element] for f in sides_of)
        exactly = exact_element(cost, inputs, point, element)
        return mistakes(found, wanted, exactly), max(1.0, abs(float(exactly)))

    def judged(point: Any, element: int) -> list[bool]:
        off, size = mistakes_at(point, element)
        if np.isfinite(off).all():
            if sum(within(off, size)) == 1:
                near = [mistakes_at(p, element)[0] for p in neighbours(point)]
                off = np.median(near, axis=0).tolist()
            counts.compare(off)
        return within(off, size)

    for position, point in enumerate(points(model, number)):
        with np.errstate(all="ignore"):
            found, wanted = (_values(f, point) for f in sides_of)
            finite = [bool(np.isfinite(v).all()) for v in (found, wanted)]
            asked = _asked(found, wanted, finite)
        right_sides = finite
        most = DECIDED if all(finite) and not second else FEW
        for rank, element in enumerate(asked):
            if rank >= most and not right_sides[1]:
                counts.not_decided += len(asked) - rank if all(finite) else 0
                break
            try:
                with limited(LIMIT_OF_EXACT):
                    decided = judged(point, int(element))
            except (Exception, TooLong):  # an op without an exact form, for example
                counts.not_decided += 1
                continue
            right_sides = [one and other for one, other in zip(right_sides, decided, strict=True)]
        counts.add(position, finite, right_sides)
    return counts


def models_by_size(names: list[str]) -> dict[str, Any]:
    """The models of these names, or all; first those with the fewest parameters."""
    makers: dict[str, Callable[[], Any]] = dict(models.MODELS)
    if posteriors.FOLDER is not None:
        makers |= {n: (lambda n=n: posteriors.make(n)) for n in posteriors.POSTERIORS}
    made = {name: makers[name]() for name in names or makers}
    sizes = {name: len(flat(model.initial_point().values())) for name, model in made.items()}
    return {name: made[name] for name in sorted(made, key=lambda name: (sizes[name], name))}


def row_of(model: Any, second: bool, number: int, limit: float) -> dict[str, Any] | str | None:
    """What `compare` counts, as a dictionary, or why there is nothing to compare. None if it takes more seconds than the limit."""
    start = process_time()
    try:
        with limited(limit):
            return asdict(compare(model, second, number)) | {"seconds": process_time() - start}
    except (NotImplementedError, MethodNotDefined) as error:
        return f"PyTensor has no second derivatives: {error}"
    except TooLong:
        return None
    except ValueError as error:
        if "No update found" not in str(error):
            raise
        return f"PyMC compiles no second derivatives of loops that draw: {error}"


def main() -> None:
    """Print a row for each model."""
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*")
    parser.add_argument("--second", action="store_true", help="compare second derivatives")
    parser.add_argument("--points", type=int, default=POINTS, help="how many points of each model")
    parser.add_argument("--keep", type=Path, help="a file for the rows")
    parser.add_argument(
        "--limit", type=float, default=3600, help="seconds of the processor a model may take"
    )
    chosen = parser.parse_args()
    rows: dict[str, Any] = {}
    if chosen.keep and chosen.keep.exists():
        rows = json.loads(chosen.keep.read_text())
    print(
        ", ".join(key for key in asdict(Counts()) if key not in ("worse", "rewriting", "seconds"))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = models_by_size(chosen.models)
        for name, model in made.items():
            row = rows.get(name) or row_of(model, chosen.second, chosen.points, chosen.limit)
            if row is None:  # another run with a higher limit compares it
                print("longer than the limit:", name, flush=True)
                continue
            rows[name] = row
            if chosen.keep:
                chosen.keep.write_text(json.dumps(rows, indent=1))
            if isinstance(row, str):
                print(row, name, flush=True)
            else:
                print(*Counts(**row).numbers(), name, row["rewriting"], *row["worse"], flush=True)
    counted = [Counts(**rows[n]).numbers() for n in made if isinstance(rows.get(n), dict)]
    print(*np.sum(counted, axis=0), "sum of", len(counted))


if __name__ == "__main__":
    main()
