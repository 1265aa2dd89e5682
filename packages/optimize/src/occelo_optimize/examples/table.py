"""The example calls of the family, `EXAMPLES`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from occelo_optimize.examples import equations, roots_and_minima

if TYPE_CHECKING:
    from occelo_graph.examples.example import Example

EXAMPLES: list[Example] = [*roots_and_minima.EXAMPLES, *equations.EXAMPLES]
