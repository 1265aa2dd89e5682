"""What runs as a Python thunk in compiled graphs, and why."""

from __future__ import annotations

from typing import Any

from occelo_graph import Apply
from occelo_graph.ops.blas.updates import Ger
from occelo_link.loops.complexes import has_complex

__all__ = ["COMPLEX", "SCALARS", "reason_for_python"]

COMPLEX = "loop programs have no formula for it over complex numbers, which are pairs in them"
SCALARS = {
    "pow": "a negative exponent of an integer is an error that depends on the data",
    "tri_gamma": "SciPy exports no function for it",
    "polygamma": "SciPy exports no function for it",
    "kn": "SciPy's function takes the order as an integer of the platform",
    "gammainc_dk": "a series whose number of terms depends on the data, in NumPy",
    "betainc_da": "a series whose number of terms depends on the data, in NumPy",
    "hyp2f1_da": "a series whose number of terms depends on the data, in NumPy",
    "hyp2f1_dc": "a series whose number of terms depends on the data, in NumPy",
}


def reason_for_python(node: Apply) -> str | None:
    """Why a node of this library's ops has no loop lowering; None if there is no known reason."""
    if isinstance(node.op, Ger):
        return (
            "made by rewriting, for linkers that run op by op; a loop computes the same in one pass"
        )
    scalar: Any = getattr(node.op, "scalar_op", None)
    if node.op.destroy_map:
        return "an op that overwrites its input needs the input's own memory"
    if has_complex(node):
        return COMPLEX
    return SCALARS.get(getattr(scalar, "name", ""))
