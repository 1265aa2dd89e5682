"""What runs as a Python thunk in compiled graphs, and why."""

from __future__ import annotations

from typing import Any

from occelo_graph import Apply, Op
from occelo_link.loops.complexes import has_complex

__all__ = ["COMPLEX", "SCALARS", "leave_to_python", "reason_for_python"]

_classes: dict[type[Op], str] = {}

COMPLEX = "loop programs have no formula for it over complex numbers, which are pairs in them"
SCALARS = {
    "pow": "a negative exponent of an integer is an error that depends on the data",
    "tri_gamma": "SciPy exports no function for it",
    "polygamma": "SciPy exports no function for it",
    "gammainc_dk": "a series whose number of terms depends on the data, in NumPy",
    "betainc_da": "a series whose number of terms depends on the data, in NumPy",
    "hyp2f1_da": "a series whose number of terms depends on the data, in NumPy",
    "hyp2f1_dc": "a series whose number of terms depends on the data, in NumPy",
}


def leave_to_python(op_class: type[Op], reason: str) -> None:
    """Say why a family has no lowering for one of its ops."""
    _classes[op_class] = reason


def reason_for_python(node: Apply) -> str | None:
    """Why a node of this library's ops has no loop lowering; None if there is no known reason."""
    if type(node.op) in _classes:
        return _classes[type(node.op)]
    scalar: Any = getattr(node.op, "scalar_op", None)
    if node.op.destroy_map:
        return "an op that overwrites its input needs the input's own memory"
    if has_complex(node):
        return COMPLEX
    return SCALARS.get(getattr(scalar, "name", ""))
