"""What a cotangent or tangent must be to belong to a variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph.errors import describe, lines
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.op import ZERO, Zero
from occelo_graph.ir.types import DisconnectedType, NullType
from occelo_graph.ops.lengths import held_to_shape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import TensorType, is_complex, is_discrete

__all__ = ["Cotangent", "fitting", "from_rule", "of_shape"]

Cotangent = Variable | Zero | None
"""A variable, `ZERO` (connected, but the derivative vanishes) or None (not connected)."""


def fitting(cotangent: Any, variable: Variable, what: str, node: Apply | None = None) -> Cotangent:
    """A cotangent (or tangent) of ``variable`` as one of the three kinds, and of its dtype.

    TypeError unless it has as many dimensions and is a tensor of floating-point numbers, complex only if
    the variable is; ValueError for lengths that are known to differ. ``what`` is what the message calls it,
    or the rule of the op of ``node`` that gave it.
    """
    if cotangent is None or cotangent is ZERO:
        return cotangent
    given: Variable = (
        cotangent if isinstance(cotangent, Variable) else as_tensor_variable(cotangent)
    )
    if isinstance(given.type, DisconnectedType):
        return None
    kind = variable.type
    if isinstance(given.type, NullType) or not isinstance(kind, TensorType):
        return given
    if _is_zero(given):
        return ZERO
    error, problem = _misfit(given, kind)
    if problem:
        subject = what if node is None else f"What the {what} of {node.op} gave"
        cause = f"{subject} is of type {given.type} for {describe(variable)}: {problem}"
        raise error(lines([] if node is None else _of_node(node), cause))
    found: Any = given
    if not is_discrete(kind.dtype) and found.type.dtype != kind.dtype:
        found = found.astype(kind.dtype)
    return found


def _is_zero(cotangent: Variable) -> bool:
    """Whether it is the integer 0, which rules return for a derivative that vanishes."""
    if not isinstance(cotangent, Constant) or not is_discrete(cotangent.type.dtype):
        return False
    return not np.any(cotangent.data)


def _misfit(given: Variable, kind: TensorType) -> tuple[type[Exception], str]:
    own = given.type
    if not isinstance(own, TensorType):
        return TypeError, "it must be a tensor"
    if own.ndim != kind.ndim:
        return TypeError, f"it must have {kind.ndim} dimensions, not {own.ndim}"
    if is_discrete(own.dtype):
        return TypeError, "its dtype must be one of floating-point numbers"
    if is_complex(own.dtype) and not is_complex(kind.dtype):
        return TypeError, "it must be real, as the variable is"
    for axis, (n, wanted) in enumerate(zip(own.shape, kind.shape, strict=True)):
        if n is not None and wanted is not None and n != wanted:
            return ValueError, f"dimension {axis} must have length {wanted}, not {n}"
    return ValueError, ""


def from_rule(found: Any, variable: Variable, node: Apply, rule: str, place: str) -> Cotangent:
    """What the ``rule`` (pullback, pushforward) of a node's op gave for its ``variable``.

    It is checked as `fitting` says, and if the rule is not one of this package, its shape is checked
    when the graph runs. ``place`` says whether the variable is an input or an output.
    """
    cotangent = fitting(found, variable, rule, node)
    if isinstance(cotangent, Variable) and node.op.foreign_derivative:
        name = f"what the {rule} of {node.op} gave for its {place} {variable}"
        return of_shape(cotangent, variable, name)
    return cotangent


def _of_node(node: Apply) -> list[str]:
    source = node.source
    return [f"{node.op} was applied at {source}"] if source is not None else []


def of_shape(cotangent: Variable, variable: Variable, of: str) -> Variable:
    """A cotangent that is checked to have the shape of its variable when the graph runs.

    The forward graph need not be computed for a gradient, and with it go its checks of lengths. Nothing is
    added where the shape is certain.
    """
    if not isinstance(variable.type, TensorType) or not isinstance(cotangent.type, TensorType):
        return cotangent
    held: Variable = held_to_shape(cotangent, variable, of)
    return held
