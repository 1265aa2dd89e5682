"""Reasons why some nodes have no lowering to loops, so that they run in Python.

Modules of lowerings record reasons with `leave_to_python`, and scalar ops declare reasons (`ScalarOp.python_only`).
Other reasons follow from the node itself. Tests call `reason_for_python` to check that there is a reason for every node
without a lowering.
"""

from __future__ import annotations

from occelo_graph import Apply, Op
from occelo_graph.ops.elemwise.scalar import ScalarOp
from occelo_link.loops.complexes import has_complex

_classes: dict[type, str] = {}

COMPLEX = "loop programs have no formula for it over complex numbers, which are pairs in them"


def leave_to_python(op_class: type[Op], reason: str) -> None:
    """Record why the ops of a class and its subclasses have no lowering."""
    _classes[op_class] = reason


def reason_for_python(node: Apply) -> str | None:
    """The reason why a node has no lowering to loops, or None if no reason is known."""
    for op_class in type(node.op).__mro__:
        if op_class in _classes:
            return _classes[op_class]
    if node.op.destroy_map:
        return "an op that overwrites its input needs the input's own memory"
    if has_complex(node):
        return COMPLEX
    scalar_op: object = getattr(node.op, "scalar_op", None)
    return scalar_op.python_only if isinstance(scalar_op, ScalarOp) else None
