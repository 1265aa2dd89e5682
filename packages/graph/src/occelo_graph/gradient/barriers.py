"""Barriers: ops that return their input, but change the gradient that passes through (`zero_grad`, `grad_clip`, ...).

Users apply barriers to parts of a cost. Stable forms of logarithms (`occelo_forms.logarithms`), distributions
(`stats`) and keys of random numbers (`random`) contain barriers, too. The rule `drop_gradient_barriers` of
`occelo_rewrite` removes barriers from compiled graphs. If a mode excludes this rule, linkers lower a barrier to its
input.

The module also has `grad_undefined` and `grad_not_implemented`, which pullbacks of ops can return.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from occelo_graph.errors import explained_by
from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import ZERO, Cotangents, Op, Tangents, op
from occelo_graph.ir.types import DisconnectedType, NullType
from occelo_graph.ops.control.identities import Unchanged
from occelo_graph.ops.elemwise.arithmetic import clip
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

disconnected_type = DisconnectedType()


class _Identity(Unchanged):
    """Base class of barriers: the output is the input."""

    identity_at_runtime: ClassVar[bool] = True
    pushforward = Op.pushforward  # by `pullback`, which barriers define


@op
class ZeroGrad(_Identity):
    """A barrier with the derivative 0. The gradient of its input is zero, but not disconnected."""

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [ZERO]

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: Tensors) -> Tangents:
        return [ZERO]


@op
class DisconnectedGrad(_Identity):
    """A barrier whose output is treated as a constant by gradients. So the input of the barrier is disconnected."""

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [None]

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: Tensors) -> Tangents:
        return [None]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False]]


@op
class UndefinedGrad(_Identity):
    """A barrier with an undefined derivative."""

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [grad_undefined(self, 0, inputs[0], "undefined_grad was applied")]


@op
class GradClip(_Identity):
    """A barrier that clips cotangents to the interval from ``lower`` to ``upper``."""

    lower: float
    upper: float

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        ct = cotangents[0]
        low, high = (as_tensor_variable(v).astype(ct.dtype) for v in (self.lower, self.upper))
        return [clip(ct, low, high)]


@op
class GradScale(_Identity):
    """A barrier that multiplies cotangents by ``multiplier``."""

    multiplier: float

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [cotangents[0] * self.multiplier]


def zero_grad(x: Any) -> TensorVariable:
    """The value of ``x``, with the derivative 0."""
    barrier: TensorVariable = ZeroGrad()(as_tensor_variable(x))
    return barrier


def disconnected_grad(x: Any) -> TensorVariable:
    """The value of ``x``, which gradients treat as a constant.

    If a cost depends on ``x`` only through the result, ``x`` is disconnected from the cost.
    """
    barrier: TensorVariable = DisconnectedGrad()(as_tensor_variable(x))
    return barrier


def undefined_grad(x: Any) -> TensorVariable:
    """The value of ``x``, with an undefined derivative: gradients that need it raise `NullTypeGradError`."""
    barrier: TensorVariable = UndefinedGrad()(as_tensor_variable(x))
    return barrier


@explained_by("gradients")
def grad_clip(x: Any, lower_bound: float, upper_bound: float) -> TensorVariable:
    """The value of ``x``. In gradients, its cotangent is clipped to ``[lower_bound, upper_bound]``.

    TypeError unless the bounds are numbers, ValueError if they are swapped.
    """
    lower, upper = _number(lower_bound, "lower_bound"), _number(upper_bound, "upper_bound")
    if lower > upper:
        raise ValueError(
            f"lower_bound of grad_clip is larger than upper_bound: {lower} and {upper}"
        )
    barrier: TensorVariable = GradClip(lower, upper)(as_tensor_variable(x))
    return barrier


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} must be a number that is known when the graph is built, got {value!r}"
        ) from None


@explained_by("gradients")
def grad_scale(x: Any, multiplier: float) -> TensorVariable:
    """The value of ``x``. In gradients, its cotangent is multiplied by ``multiplier``, a number (else TypeError)."""
    barrier: TensorVariable = GradScale(_number(multiplier, "multiplier"))(as_tensor_variable(x))
    return barrier


@explained_by("gradients")
def grad_undefined(op_: Any, x_pos: int, x: Any, comment: str = "") -> Any:
    """The cotangent that a pullback returns for the input ``x`` if the derivative does not exist mathematically.

    ``op_`` is the op, ``x_pos`` the position of the input ``x``, and ``comment`` a reason for the message.
    """
    reason = f"the gradient of {op_} by its input {x_pos}, {x}, is not defined"
    return NullType(reason + (f": {comment}" if comment else ""))()


@explained_by("gradients")
def grad_not_implemented(op_: Any, x_pos: int, x: Any, comment: str = "") -> Any:
    """The cotangent that a pullback returns for the input ``x`` if the derivative is not implemented.

    ``op_``, ``x_pos`` and ``comment`` are as in `grad_undefined`.
    """
    reason = f"the gradient of {op_} by its input {x_pos}, {x}, is not implemented"
    return NullType(reason + (f": {comment}" if comment else ""))()
