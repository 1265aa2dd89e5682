"""The example calls of the family, `EXAMPLES`."""

from __future__ import annotations

from occelo_optimize.examples.roots_and_minima import EXAMPLES as EXAMPLES
