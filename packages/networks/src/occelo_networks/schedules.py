"""Schedules: learning rates as functions of the number of the step, which is 0 in the first one. Named as in optax."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from occelo_graph import tensor as ot

if TYPE_CHECKING:
    from occelo_graph.tensor import TensorVariable

__all__ = [
    "constant_schedule",
    "cosine_decay_schedule",
    "exponential_decay",
    "join_schedules",
    "linear_schedule",
    "piecewise_constant_schedule",
    "polynomial_schedule",
    "warmup_cosine_decay_schedule",
]

Schedule: TypeAlias = "Callable[[Any], TensorVariable]"
"""A function from the number of the step, an integer variable or a number, to a float64 scalar."""


def constant_schedule(value: float) -> Schedule:
    """``value`` in all steps, a number or a scalar variable."""
    constant = _float(value)
    return lambda step: constant


def polynomial_schedule(
    init_value: float,
    end_value: float,
    power: float,
    transition_steps: int,
    transition_begin: int = 0,
) -> Schedule:
    """From ``init_value`` to ``end_value`` in ``transition_steps``: the distance falls as (1 - t)**power.

    It begins after ``transition_begin`` steps.
    """
    _positive("transition_steps", transition_steps)

    def schedule(step: Any) -> TensorVariable:
        part = ot.clip(_float(step) - transition_begin, 0.0, transition_steps) / transition_steps
        return (init_value - end_value) * (1 - part) ** power + end_value

    return schedule


def linear_schedule(
    init_value: float, end_value: float, transition_steps: int, transition_begin: int = 0
) -> Schedule:
    """A line from ``init_value`` to ``end_value`` in ``transition_steps``, after ``transition_begin`` steps."""
    return polynomial_schedule(init_value, end_value, 1, transition_steps, transition_begin)


def exponential_decay(
    init_value: float,
    transition_steps: int,
    decay_rate: float,
    transition_begin: int = 0,
    staircase: bool = False,
    end_value: float | None = None,
) -> Schedule:
    """``init_value`` times decay_rate**(step / transition_steps).

    With ``staircase`` the quotient is rounded down. ``end_value`` is the least value, or the largest if ``decay_rate`` is
    above 1. The decay begins after ``transition_begin`` steps.
    """
    _positive("transition_steps", transition_steps)
    _positive("decay_rate", decay_rate)

    def schedule(step: Any) -> TensorVariable:
        part = ot.clip(_float(step) - transition_begin, 0.0, math.inf) / transition_steps
        value = init_value * decay_rate ** (ot.floor(part) if staircase else part)
        if end_value is None:
            return value
        return (
            ot.clip(value, end_value, math.inf)
            if decay_rate < 1
            else ot.clip(value, 0.0, end_value)
        )

    return schedule


def cosine_decay_schedule(
    init_value: float, decay_steps: int, alpha: float = 0.0, exponent: float = 1.0
) -> Schedule:
    """Half a period of a cosine, from ``init_value`` to ``alpha * init_value`` in ``decay_steps``.

    What falls from 1 to 0 on the way is raised to the power ``exponent``.
    """
    _positive("decay_steps", decay_steps)

    def schedule(step: Any) -> TensorVariable:
        part = ot.clip(_float(step), 0.0, decay_steps) / decay_steps
        fall = (0.5 * (1 + ot.cos(math.pi * part))) ** exponent
        return init_value * ((1 - alpha) * fall + alpha)

    return schedule


def piecewise_constant_schedule(
    init_value: float, boundaries_and_scales: Mapping[int, float]
) -> Schedule:
    """``init_value``, multiplied by a factor from each boundary on.

    ``boundaries_and_scales`` is a mapping from boundaries to factors. TypeError for anything else.
    """
    if not isinstance(cast("object", boundaries_and_scales), Mapping):
        raise TypeError(
            f"boundaries_and_scales is a mapping from boundaries to factors, got {boundaries_and_scales!r}"
        )

    def schedule(step: Any) -> TensorVariable:
        value = ot.constant(float(init_value))
        for boundary, scale in sorted(boundaries_and_scales.items()):
            value = value * ot.switch(ot.as_tensor_variable(step) >= boundary, scale, 1.0)
        return value

    return schedule


def join_schedules(schedules: Sequence[Schedule], boundaries: Sequence[int]) -> Schedule:
    """One schedule after the other. Schedule ``i + 1`` begins at ``boundaries[i]``, and counts its steps from there.

    ValueError if there is not one boundary less than schedules, or if boundaries do not ascend.
    """
    if len(boundaries) != len(schedules) - 1 or list(boundaries) != sorted(boundaries):
        raise ValueError(
            f"{len(schedules)} schedules need {len(schedules) - 1} ascending boundaries, got {list(boundaries)}"
        )
    for each in schedules:
        if not callable(each):
            raise TypeError(
                f"A schedule is a function of the step, such as constant_schedule(0.1), got {each!r}"
            )

    def schedule(step: Any) -> TensorVariable:
        value = schedules[0](step)
        for boundary, each in zip(boundaries, schedules[1:], strict=True):
            value = ot.switch(ot.as_tensor_variable(step) < boundary, value, each(step - boundary))
        return value

    return schedule


def warmup_cosine_decay_schedule(
    init_value: float,
    peak_value: float,
    warmup_steps: int,
    decay_steps: int,
    end_value: float = 0.0,
    exponent: float = 1.0,
) -> Schedule:
    """Linearly from ``init_value`` to ``peak_value``, then along a cosine to ``end_value``.

    ``decay_steps`` counts all steps, those of ``warmup_steps`` included. ``exponent`` is that of
    `cosine_decay_schedule`.
    """
    if decay_steps <= warmup_steps:
        raise ValueError(
            f"decay_steps counts all steps, those of warmup_steps included: {decay_steps} must be above {warmup_steps}"
        )
    alpha = 0.0 if peak_value == 0 else end_value / peak_value
    fall = cosine_decay_schedule(peak_value, decay_steps - warmup_steps, alpha, exponent)
    if warmup_steps == 0:
        return fall
    return join_schedules(
        [linear_schedule(init_value, peak_value, warmup_steps), fall], [warmup_steps]
    )


def _positive(name: str, value: float) -> None:
    if not value > 0:
        raise ValueError(f"{name} must be positive, got {value}")


def _float(step: Any) -> TensorVariable:
    return ot.cast(step, "float64")
