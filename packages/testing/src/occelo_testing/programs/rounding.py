"""Expected results of a random program, computed by NumPy, with tolerances for rounding errors.

`occelo_testing.random_programs` compares the results of compiled programs with these results.

Compiled code may round differently, and later steps, for instance sums that cancel, may amplify the difference. Monte
Carlo arithmetic (Parker, 1997) measures this amplification. NumPy runs the program several more times. Each run
perturbs the results of rounding steps, and the terms of sums, by one unit in the last place, up or down at random. The
tolerance is 12 times the spread of these runs, plus a few units in the last place.

Exact steps are perturbed less. Steps that only move elements are not perturbed. For other exact steps, such as
arithmetic of small integers, only the signs of zeros are changed. A result that depends on no rounding step has a
tolerance equal to the spread of the runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from occelo_testing.programs.program import Input, Program, Step

EXACT = ("no", "zeros")  # the values of `Step.rounds` that mean an exact step
_SAFETY = 12.0  # errors can be larger than the spread of a few runs by about this factor
_UNITS = 8.0  # an elementary function may have an error of several units in the last place


@dataclass(frozen=True)
class Expected:
    """A result with a tolerance for each element. An element with the tolerance NaN is not compared."""

    value: Any
    tolerance: Any

    @property
    def undecided(self) -> int:
        """The number of elements whose tolerance is NaN, or more than 1 % of the value (10 % for float16)."""
        if self.value.dtype.kind not in "fc":
            return int(np.sum(np.isnan(self.tolerance)))
        size = np.maximum(np.abs(np.where(np.isfinite(self.value), self.value, 0)), 1e-3)
        share = max(0.01, 100 * float(np.finfo(self.value.dtype).eps))
        return int(np.sum(~(self.tolerance <= share * size)))

    def difference(self, found: Any) -> str | None:
        """How ``found`` differs from the expected value, as text; None if it does not differ."""
        if type(found) is not np.ndarray:
            return f"not an array but {type(found).__name__}"
        if found.dtype != self.value.dtype:
            return f"dtype {found.dtype}, NumPy gives {self.value.dtype}"
        if found.shape != self.value.shape:
            return f"shape {found.shape}, NumPy gives {self.value.shape}"
        wrong = self.wrong(found)
        if not wrong.any():
            return None
        place: Any = tuple(np.argwhere(wrong)[0].tolist())
        return (
            f"{int(wrong.sum())} of {wrong.size} elements differ, first at {place}: "
            f"{found[place]!r}, NumPy gives {self.value[place]!r} (tolerance {self.tolerance[place]:.3g})"
        )

    def wrong(self, found: Any) -> Any:
        """A mask of the elements of ``found`` that differ by more than the tolerance."""
        undecidable = np.isnan(self.tolerance)
        if self.value.dtype.kind not in "fc":
            return (found != self.value) & ~undecidable
        with np.errstate(all="ignore"):
            finite = np.isfinite(self.value)
            near = np.abs(found - self.value) <= self.tolerance
            if self.value.dtype.kind == "c":
                same = ~np.isfinite(found)
            else:
                same = (found == self.value) | (np.isnan(found) & np.isnan(self.value))
        return ((finite & ~near) | (~finite & ~same)) & ~undecidable


def expected_results(
    program: Program, runs: int = 4, values: Sequence[Any] | None = None
) -> list[Expected]:
    """The results of NumPy for a program, with tolerances from ``runs`` perturbed runs."""
    inputs = program.values() if values is None else list(values)
    base = program.run(inputs)
    rounded = _rounded(program, base)
    perturbed = [base]
    if any(isinstance(node, Step) and node.rounds != "no" for node in program.nodes):
        seed = program.seed if program.seed >= 0 else 0
        perturbed = [
            # the first run changes the signs of all zeros, so that every zero changes at least once
            _perturbed_run(program, inputs, np.random.default_rng([seed, k]), 0.5 if k else 1.0)
            for k in range(runs)
        ]
    return [
        Expected(base[i], _tolerance(base[i], [m[i] for m in perturbed], rounded[i]))
        for i in program.outputs
    ]


def _rounded(program: Program, base: Sequence[Any]) -> list[bool]:
    """For each node, whether it depends on a step that rounds."""
    is_rounded: list[bool] = []
    for node in program.nodes:
        if isinstance(node, Input):
            is_rounded.append(False)
        else:
            is_rounded.append(node.rounds not in EXACT or any(is_rounded[i] for i in node.args))
    return is_rounded


def _perturbed_run(
    program: Program, given: Sequence[Any], random: np.random.Generator, turned: float
) -> list[Any]:
    """The values of all nodes, each with random errors; ``turned`` is the fraction of zeros whose sign changes."""
    rest = iter(given)
    node_values: list[Any] = []
    with np.errstate(all="ignore"):
        for node in program.nodes:
            if isinstance(node, Input):
                node_values.append(next(rest))
            else:
                args = [node_values[i] for i in node.args]
                node_values.append(
                    None
                    if any(a is None for a in args)
                    else _tried_step(node, args, random, turned)
                )
    return node_values


def _tried_step(step: Step, args: list[Any], random: np.random.Generator, turned: float) -> Any:
    """The perturbed result of a step.

    None if the perturbed arguments do not fit, such as masks that select more elements than before.
    """
    try:
        return _perturbed_step(step, args, random, turned)
    except (ValueError, IndexError):
        return None


def _perturbed_step(step: Step, args: list[Any], random: np.random.Generator, turned: float) -> Any:
    result = step.on_arrays(args)
    if step.rounds == "no" or result.dtype.kind not in "fc":
        return result
    integral = step.integral and _small_integers(result) and all(map(_small_integers, args))
    if step.rounds == "zeros" or integral:
        flipped = np.array(result)
        flipped[(result == 0) & (random.random(tuple(result.shape)) < turned)] *= -1
        return flipped
    eps = np.finfo(result.dtype).eps
    if step.rounds == "cancels":
        size = max(1.0, *(float(np.max(np.abs(a), initial=0)) for a in args))
        result = np.asarray(
            result + eps * size * np.sign(random.random(tuple(result.shape)) - 0.5), result.dtype
        )
    elif step.rounds == "inside":
        result = step.on_arrays([_perturbed(a, eps, random) for a in args])
    return _perturbed(result, eps, random)


def _small_integers(array: Any) -> bool:
    if array.dtype.kind in "biu":
        return True
    if array.dtype.kind == "c":
        return _small_integers(array.real) and _small_integers(array.imag)
    limit = 0.25 / np.finfo(array.dtype).eps
    return bool(np.all((array == np.rint(array)) & (np.abs(array) < limit)))


def _perturbed(array: Any, eps: Any, random: np.random.Generator) -> Any:
    kind = array.dtype.kind
    if kind == "c":
        return (
            _perturbed(array.real, eps, random) + 1j * _perturbed(array.imag, eps, random)
        ).astype(array.dtype)
    if kind != "f":
        return array
    up: Any = random.random(tuple(array.shape)) < 0.5
    step = max(float(eps), float(np.finfo(array.dtype).eps))
    signs: Any = up * 2 - 1
    # a product, since a sum would lose the sign of -0.0
    perturbed = np.asarray(array * (1 + array.dtype.type(step) * signs.astype(array.dtype)))
    finite = np.isfinite(array)
    perturbed[~finite] = array[~finite]
    return perturbed


def _tolerance(base: Any, perturbed: Sequence[Any], rounded: bool) -> Any:
    if base.dtype.kind not in "fc":
        agree = np.ones(base.shape, bool)
        for other in perturbed:
            agree = (
                agree & (other == base)
                if other is not None and other.shape == base.shape
                else np.zeros(base.shape, bool)
            )
        return np.where(agree, 0.0, np.nan)
    spread = np.zeros(base.shape)
    with np.errstate(all="ignore"):
        for other in perturbed:
            if other is None or other.shape != base.shape:
                return np.full(base.shape, np.nan)
            both = np.isfinite(base) & np.isfinite(other)
            same = (
                (other == base)
                | (np.isnan(other) & np.isnan(base))
                | (~np.isfinite(base) & ~np.isfinite(other) if base.dtype.kind == "c" else False)
            )
            gap = np.where(both, np.abs(np.where(both, other - base, 0)), np.where(same, 0, np.nan))
            spread = np.fmax(spread, gap) + 0 * gap
        if not rounded:
            return spread
        info = np.finfo(base.dtype)
        size = np.abs(np.where(np.isfinite(base), base, 0)).astype("float64")
        return _SAFETY * spread + _UNITS * float(info.eps) * size + 8 * float(info.smallest_normal)


def wide_results(program: Program) -> list[Any] | None:
    """The results for inputs converted to longdouble and clongdouble; None if NumPy cannot compute them."""
    widened = [
        v.astype("longdouble")
        if v.dtype.kind == "f"
        else v.astype("clongdouble")
        if v.dtype.kind == "c"
        else v
        for v in program.values()
    ]
    rest = iter(widened)
    node_values: list[Any] = []
    with np.errstate(all="ignore"):
        for node in program.nodes:
            if isinstance(node, Input):
                node_values.append(next(rest))
                continue
            args = [node_values[i] for i in node.args]
            try:
                if node.name == "cast" and args[0].dtype.kind in "fc" and "float" in node.numpy:
                    node_values.append(args[0])
                else:
                    node_values.append(node.on_arrays(args))
            except (TypeError, ValueError, IndexError):
                return None
    return [node_values[i] for i in program.outputs]
