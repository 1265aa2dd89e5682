"""Checks of cotangents and tangents: each one is cast to the dtype of its variable, and must have the variable's shape.

Reverse mode (`reverse`, `pulling`) checks the cotangents that users pass, and the results of every pullback. Forward
mode (`forward`) checks the tangents that users pass, and the results of every pushforward.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph.errors import describe, lines
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.op import ZERO, Cotangent
from occelo_graph.ir.types import DisconnectedType, NullType
from occelo_graph.ops.cast import cast
from occelo_graph.ops.lengths import KnownLengths, assert_shape_of
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import TensorType, is_complex, is_discrete


def fitting(cotangent: Any, variable: Variable, what: str, node: Apply | None = None) -> Cotangent:
    """Check a cotangent or tangent of ``variable``. Cast it to the variable's dtype, if that is a floating-point dtype.

    `ZERO` and None are returned as they are. TypeError if ``cotangent`` is not a tensor of floating-point numbers with
    the variable's number of dimensions, or if it is complex and the variable is real. ValueError if its static lengths
    differ from the variable's.

    ``what`` names the cotangent in messages. If the op of ``node`` computed the cotangent, ``what`` is "pullback" or
    "pushforward".
    """
    if cotangent is None or cotangent is ZERO:
        return cotangent
    kind = variable.type
    if (
        isinstance(cotangent, Variable)
        and cotangent.type is kind
        and kind.is_array
        and not kind.is_discrete
    ):
        return cotangent
    term: Variable = cotangent if isinstance(cotangent, Variable) else as_tensor_variable(cotangent)
    if isinstance(term.type, DisconnectedType):
        return None
    if isinstance(term.type, NullType) or not isinstance(kind, TensorType):
        return term
    if _is_zero(term):
        return ZERO
    error, problem = _misfit(term, kind)
    if problem:
        subject = what if node is None else f"What the {what} of {node.op} gave"
        cause = f"{subject} is of type {term.type} for {describe(variable)}: {problem}"
        raise error(lines([] if node is None else _of_node(node), cause))
    if is_discrete(kind.dtype) or term.type.dtype == kind.dtype:
        return term
    return cast(term, kind.dtype)


def _is_zero(cotangent: Variable) -> bool:
    """Whether a cotangent is the integer 0, which some pullbacks return for a derivative of 0."""
    if not isinstance(cotangent, Constant) or not cotangent.type.is_discrete:
        return False
    return not np.any(cotangent.data)


def _misfit(term: Variable, kind: TensorType) -> tuple[type[Exception], str]:
    own = term.type
    if not isinstance(own, TensorType):
        return TypeError, "it must be a tensor"
    if own.ndim != kind.ndim:
        return TypeError, f"it must have {kind.ndim} dimensions, not {own.ndim}"
    if is_discrete(own.dtype):
        return TypeError, "its dtype must be one of floating-point numbers"
    if is_complex(own.dtype) and not is_complex(kind.dtype):
        return TypeError, "it must be real, as the variable is"
    for axis, (n, length) in enumerate(zip(own.shape, kind.shape, strict=True)):
        if n is not None and length is not None and n != length:
            return ValueError, f"dimension {axis} must have length {length}, not {n}"
    return ValueError, ""


def from_rule(term: Any, variable: Variable, node: Apply, rule: str, place: str) -> Cotangent:
    """Check the cotangent or tangent ``term`` that the op of a node returned for ``variable``. See `fitting`.

    ``rule`` is "pullback" or "pushforward". ``place`` is "input" if ``variable`` is an input of the node, else
    "output". If a user defined the pullback or pushforward (`Op.external_derivative`), the shape is also checked when
    the graph runs.
    """
    cotangent = fitting(term, variable, rule, node)
    if isinstance(cotangent, Variable) and node.op.external_derivative:
        name = f"what the {rule} of {node.op} gave for its {place} {variable}"
        return of_shape(cotangent, variable, name)
    return cotangent


def _of_node(node: Apply) -> list[str]:
    source = node.source
    return [f"{node.op} was applied at {source}"] if source is not None else []


def of_shape(
    cotangent: Variable, variable: Variable, of: str, lengths: KnownLengths | None = None
) -> Variable:
    """The cotangent, with a check at run time that it has the shape of ``variable``. Static shapes need no such check.

    The graph that computes ``variable`` may contain the same check. But that check does not run if only the gradient is
    computed and does not need ``variable``. ``of`` names the cotangent in the message.
    """
    if not isinstance(variable.type, TensorType) or not isinstance(cotangent.type, TensorType):
        return cotangent
    held: Variable = assert_shape_of(cotangent, variable, of, lengths)
    return held
