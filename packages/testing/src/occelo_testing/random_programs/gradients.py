"""The law that gradients equal finite differences, which NumPy computes in the widest float that it can.

It is one of the `LAWS` in `laws`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from occelo_graph import grad
from occelo_testing.programs.program import Program
from occelo_testing.programs.rounding import expected_results
from occelo_testing.random_programs.case import Case, Unsuited, Violation


def gradient_law(case: Case, random: np.random.Generator) -> None:
    """Gradients equal finite differences, whether they are compiled separately or together with the results."""
    program = case.program
    values = _away_from_ties(program, random)
    expected = expected_results(program, case.runs, values)
    real = [k for k, v in enumerate(values) if v.dtype == np.float64 and v.size]
    floats = [k for k, v in enumerate(case.outputs) if v.type.dtype == "float64"]
    if not real or not floats:
        raise Unsuited
    weights: list[Any] = [random.integers(1, 9, expected[k].value.shape) / 4 for k in floats]
    try:
        cost: Any = sum((case.outputs[k] * w).sum() for k, w in zip(floats, weights, strict=True))
        gradients = grad(cost, [case.inputs[k] for k in real], disconnected_inputs="ignore")
    except Exception as error:
        raise Violation("build", f"grad: {type(error).__name__}: {error}") from error
    alone = case.called(case.compiled(case.inputs, gradients), values)
    for gradient, k in zip(alone, real, strict=True):
        if gradient.dtype != np.float64 or gradient.shape != values[k].shape:
            shown = f"{gradient.dtype} {gradient.shape}, the input {values[k].shape}"
            raise Violation("value", f"the gradient with respect to input {k} is {shown}")
    positions = [program.outputs[k] for k in floats]
    decided = 0
    for _ in range(2):
        directions: list[Any] = [random.integers(-2, 3, values[k].shape) / 2 for k in real]
        slope, gap = _slope(program, values, real, directions, positions, weights)
        decided += _is_slope(alone, directions, slope, gap)
    if not decided:
        raise Unsuited
    together = case.called(case.compiled(case.inputs, [*case.outputs, *gradients]), values)
    case.compare(together[: len(case.outputs)], expected)
    # a gradient that is 0, of solve(x, x) for instance, is the rounding of terms of the size of the results
    sizes = [float(np.max(np.abs(expected[k].value), initial=0.0)) for k in floats]
    rounding = 1e-14 * max(n for n in (1.0, *sizes) if np.isfinite(n))
    for a, b in zip(alone, together[len(case.outputs) :], strict=True):
        scale = np.max(np.abs(a), initial=0.0)
        if not np.allclose(a, b, rtol=1e-8, atol=1e-9 * scale + rounding, equal_nan=True):
            raise Violation("value", f"the gradient is {a!r} alone, {b!r} together with the value")


def _away_from_ties(program: Program, random: np.random.Generator) -> list[Any]:
    """Values of the inputs near those of the program, moved away from the kinks of maxima and comparisons."""
    values: list[Any] = [
        v + np.asarray(random.random(tuple(v.shape)) / 128) if v.dtype == np.float64 else v
        for v in program.values()
    ]
    values = [np.asarray(v) for v in values]
    try:
        node_values = program.run(values)
    except (ValueError, IndexError) as error:  # a mask has changed
        raise Unsuited from error
    numbers = [v for v in node_values if v.dtype.kind in "fc"]
    # for narrower floats and for large numbers, finite differences are inaccurate
    if not all(v.dtype == np.float64 and (np.abs(v) < 1e6).all() for v in numbers):
        raise Unsuited
    return values


def _is_slope(
    gradients: Sequence[Any], directions: Sequence[Any], slope: float, gap: float
) -> bool:
    """Compare the directional derivative that the gradients give with ``slope``, the finite difference. Raises `Violation` if they differ.

    Returns True if they are equal, and False if the finite difference is too inaccurate to be compared.
    """
    terms: list[Any] = [g * d for g, d in zip(gradients, directions, strict=True)]
    derivative = float(sum(t.sum() for t in terms))
    size = float(sum(np.abs(t).sum() for t in terms)) + abs(slope) + 1e-6
    if not gap <= 1e-5 * size:
        return False
    if not abs(derivative - slope) <= 20 * gap + 1e-7 * size:
        difference = f"{derivative!r}, finite differences give {slope!r} (error {gap:.2g})"
        raise Violation("value", f"the slope in a direction is {difference}")
    return True


def _slope(
    program: Program,
    values: Sequence[Any],
    real: Sequence[int],
    directions: Sequence[Any],
    positions: Sequence[int],
    weights: Sequence[Any],
) -> tuple[float, float]:
    """Return the directional derivative by finite differences, and a measure of its error.

    The error is the difference between the estimates for two step sizes.
    """

    def cost(step: float, dtype: str) -> Any:
        moved = [np.asarray(v, dtype) if v.dtype == np.float64 else v for v in values]
        for k, d in zip(real, directions, strict=True):
            moved[k] = np.asarray(moved[k] + np.dtype(dtype).type(step) * d, dtype)
        node_values = program.run(moved)
        return sum((node_values[p] * w).sum() for p, w in zip(positions, weights, strict=True))

    for dtype in ("longdouble", "float64"):  # NumPy and SciPy have no linear algebra for the first
        try:
            return _estimates(lambda step, dtype=dtype: cost(step, dtype))
        except (TypeError, ValueError, IndexError):
            continue  # or a mask or a shape has changed
    return 0.0, float("inf")


def _estimates(cost: Callable[[float], Any]) -> tuple[float, float]:
    def central(step: float) -> Any:
        return (cost(step) - cost(-step)) / (2 * np.longdouble(step))

    with np.errstate(all="ignore"):
        # at a kink, the slopes to the right and to the left differ
        coarse, fine = central(2e-5), central(5e-6)
        middle = cost(0.0)
        right, left = (cost(5e-6) - middle) / 5e-6, (middle - cost(-5e-6)) / 5e-6
        error = abs(coarse - fine)
        if abs(right - left) > 1e-3 * (abs(right) + abs(left) + 1):
            error = np.longdouble(np.inf)
    return float(fine), float(error)
