"""Compiled functions as files for other programs: StableHLO (`to_stablehlo`, and JAX's own form of it, `to_jax_export`),
machine code that a process without a compiler runs (`save_function`, `load_function`), and ONNX (`to_onnx`).

Users call these functions from `occelo.export`. The modules are imported at the first use of their names: to load a function,
nothing of the other layers is imported.
"""

from typing import TYPE_CHECKING

from occelo_graph.lazy_names import deferred

__all__ = [
    "NotInONNX",
    "SavedFunction",
    "SavedFunctionError",
    "StableHLO",
    "load_function",
    "save_function",
    "to_jax_export",
    "to_onnx",
    "to_stablehlo",
]
__version__ = "0.1.0"

_LATER = {
    **dict.fromkeys(("StableHLO", "to_jax_export", "to_stablehlo"), "occelo_export.stablehlo"),
    "NotInONNX": "occelo_export.onnx.writer",
    "to_onnx": "occelo_export.onnx.exporting",
    "save_function": "occelo_export.saved.writing",
    **dict.fromkeys(
        ("SavedFunction", "SavedFunctionError", "load_function"), "occelo_export.saved.reading"
    ),
}

if TYPE_CHECKING:
    from occelo_export.onnx.exporting import to_onnx
    from occelo_export.onnx.writer import NotInONNX
    from occelo_export.saved.reading import SavedFunction, SavedFunctionError, load_function
    from occelo_export.saved.writing import save_function
    from occelo_export.stablehlo import StableHLO, to_jax_export, to_stablehlo
else:  # so that type checkers report unknown names
    __getattr__, __dir__ = deferred(__name__, _LATER)
