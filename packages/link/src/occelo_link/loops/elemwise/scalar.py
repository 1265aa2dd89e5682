"""The registry of scalar lowerings, and what they are written with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from occelo_graph.form.sources import register_extension
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value

__all__ = ["COSTS", "ScalarLowering", "find_scalar", "scalar", "scalars"]

ScalarLowering = Callable[[Builder, str, Sequence[Value]], Value]
"""``(builder, dtype of the result, arguments of any dtypes) -> result``."""

_rows: dict[str, ScalarLowering] = {}
_conditions: dict[str, Callable[[Sequence[str], str], bool]] = {}
COSTS: dict[str, int] = {}
"""About how many additions a function costs; 1 if it is not listed."""


def scalar(
    *names: str, cost: int = 1, when: Callable[[Sequence[str], str], bool] | None = None
) -> Callable[[ScalarLowering], ScalarLowering]:
    """Register the lowering of table rows; ``when`` of input dtypes and output dtype limits it."""

    def register(function: ScalarLowering) -> ScalarLowering:
        for name in names:
            _rows[name] = function
            COSTS[name] = cost
            _conditions.pop(name, None)
            if when is not None:
                _conditions[name] = when
            register_extension("lowering of the scalar function", name, function, when, cost)
        return function

    return register


def find_scalar(name: str, inputs: Sequence[str], output: str) -> ScalarLowering | None:
    """The lowering of a row for dtypes; None if there is none."""
    condition = _conditions.get(name)
    if condition is not None and not condition(inputs, output):
        return None
    return _rows.get(name)


def scalars() -> list[str]:
    """The rows that have lowerings."""
    return sorted(_rows)
