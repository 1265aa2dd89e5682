"""Types for type checkers, such as `TensorApply`: a node whose inputs and outputs are all tensors.

The functions tell the type checker that a variable or node has such a type. Ops, gradients, rules and lowerings call
them where all variables are known to be tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph.errors import explained
from occelo_graph.ir.nodes import Apply, OpT, Variable
from occelo_graph.tensors.type import TensorType

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from occelo_graph.tensors.variable import TensorVariable

    TensorApply = Apply[OpT, TensorVariable]
    Tensors = Sequence[TensorVariable]
    OptionalTensors = Sequence[TensorVariable | None]
else:
    TensorApply = Apply
    Tensors = OptionalTensors = Sequence


def is_tensor(value: object) -> TypeIs[TensorVariable]:
    """Whether a value is a variable whose type is a `TensorType`."""
    return isinstance(value, Variable) and isinstance(value.type, TensorType)


def tensors(variables: Sequence[Variable]) -> Sequence[TensorVariable]:
    """Return ``variables`` unchanged, with the static type of tensors.

    Nothing is checked at run time. The caller must know, for instance from the op, that all variables are tensors.
    """
    typed: Any = variables  # a call of `cast` would take as long as this function
    return typed


def computed_by(variable: Variable, *op_classes: type[OpT]) -> TensorApply[OpT] | None:
    """The node that computes a variable, if its op is of one of ``op_classes``. Else None.

    ``op_classes`` must be classes of ops whose inputs and outputs are all tensors. An op of a subclass matches only if
    the subclass inherits the NumPy code of the base class (`Op.computes_as`), so that it computes the same.
    """
    try:
        node = variable.owner
    except AttributeError:
        text = f"computed_by takes a variable, got {variable!r}"
        raise explained(TypeError(text), "graphs") from None
    if node is None:
        return None
    any_node: Any = node
    op = any_node.op
    if type(op) in op_classes:
        return any_node
    derived = isinstance(op, op_classes) and any(c in op.computes_as for c in op_classes)
    return any_node if derived else None
