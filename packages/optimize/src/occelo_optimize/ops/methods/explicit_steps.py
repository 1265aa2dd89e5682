"""Steps of explicit methods of Runge and Kutta for differential equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from occelo_graph.ops.elemwise.arithmetic import eq, isfinite, switch
from occelo_graph.ops.join import stack
from occelo_graph.ops.reduce import all as all_of
from occelo_optimize.ops.methods.steps import Method, Rates, Step, root_mean_square
from occelo_optimize.ops.methods.tableaus import (
    BOGACKI_SHAMPINE,
    DORMAND_PRINCE,
    DORMAND_PRINCE_853,
    Tableau,
)


def _combined(weights: Sequence[float], stages: list[Any]) -> Any:
    return sum(w * k for w, k in zip(weights, stages, strict=False) if w)


def _step_of(tableau: Tableau) -> Callable[[Rates, Any, Any, Any, Any], Step]:
    def step(f: Rates, t: Any, y: Any, rate: Any, h: Any) -> Step:
        stages, after = [rate], y
        for number, (weights, c) in enumerate(
            zip(tableau.weights, tableau.times, strict=True), start=1
        ):
            reached = y + h * _combined(weights, stages)
            stages.append(f(t + c * h, reached))
            if number == tableau.size:
                after = reached
        errors = [h * _combined(row, stages) for row in tableau.errors]
        dense = stack([h * _combined(row, stages) for row in tableau.dense])
        error = errors[0] if len(errors) == 1 else stack(errors)
        return Step(after, stages[tableau.size], error, dense, all_of(isfinite(after)))

    return step


def _size_of_two(errors: Any, scale: Any) -> Any:
    """The estimate of order 5, made smaller where that of order 3 is much larger, as in DOP853."""
    fifth, third = (root_mean_square(errors[i], scale) for i in range(2))
    return switch(eq(fifth, 0.0), 0.0, fifth**2 / (fifth**2 + 0.01 * third**2) ** 0.5)


RK23 = Method(_step_of(BOGACKI_SHAMPINE), 3, 3)
RK45 = Method(_step_of(DORMAND_PRINCE), 5, 4)
DOP853 = Method(_step_of(DORMAND_PRINCE_853), 8, 7, _size_of_two)
