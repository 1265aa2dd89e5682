"""Compiled functions as files for other programs: StableHLO (`to_stablehlo`), and JAX's own form of it (`to_jax_export`).

Users call these functions from `occelo.export`. The modules are imported at the first use of their names.
"""

from typing import TYPE_CHECKING

from occelo_graph.lazy_names import deferred

__all__ = ["StableHLO", "to_jax_export", "to_stablehlo"]
__version__ = "0.1.0"

_LATER = dict.fromkeys(("StableHLO", "to_jax_export", "to_stablehlo"), "occelo_export.stablehlo")

if TYPE_CHECKING:
    from occelo_export.stablehlo import StableHLO, to_jax_export, to_stablehlo
else:  # so that type checkers report unknown names
    __getattr__, __dir__ = deferred(__name__, _LATER)
