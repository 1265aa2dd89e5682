"""Barriers: identities that change the gradient through them (`zero_grad`, `grad_clip`, ...).

Users apply barriers to parts of a cost. The pullbacks of users' ops may return `grad_undefined` or
`grad_not_implemented`. The rule `drop_gradient_barriers` of `occelo_rewrite` removes barriers from compiled graphs. If
a mode excludes this rule, linkers lower a barrier to its input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import ZERO, Cotangents, Kernel, Op, Tangents, op
from occelo_graph.ir.traits import FIRST
from occelo_graph.ir.types import DisconnectedType, NullType, Type
from occelo_graph.ops.elemwise.arithmetic import clip
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "DisconnectedGrad",
    "GradClip",
    "GradScale",
    "UndefinedGrad",
    "ZeroGrad",
    "disconnected_grad",
    "disconnected_type",
    "grad_clip",
    "grad_not_implemented",
    "grad_scale",
    "grad_undefined",
    "undefined_grad",
    "zero_grad",
]

disconnected_type = DisconnectedType()


class _Identity(Op):
    """Base of barriers: the output is the input."""

    moves = FIRST

    view_map = {0: [0]}
    identity_at_runtime: ClassVar[bool] = True

    def infer(self, x: Type) -> Type:
        return x

    def evaluate(self, x: Any) -> Any:
        return x

    def decompose(self, x: Any) -> Sequence[Any]:
        return [x]

    def kernel(self, node: Apply) -> Kernel:
        # a value may be a tuple, and must not be taken for a tuple of results
        return lambda *values: (self.evaluate(*values),)

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [self(inputs[0])]


@op
class ZeroGrad(_Identity):
    """An identity with a derivative of 0; its input is still connected to its output."""

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [ZERO]

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: Tensors) -> Tangents:
        return [ZERO]


@op
class DisconnectedGrad(_Identity):
    """An identity through which no derivative passes: its input is not connected to its output."""

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [None]

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: Tensors) -> Tangents:
        return [None]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False]]


@op
class UndefinedGrad(_Identity):
    """An identity with an undefined derivative."""

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [grad_undefined(self, 0, inputs[0], "undefined_grad was applied")]


@op
class GradClip(_Identity):
    """An identity that clips cotangents to an interval."""

    lower: float
    upper: float

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        ct = cotangents[0]
        low, high = (as_tensor_variable(v).astype(ct.dtype) for v in (self.lower, self.upper))
        return [clip(ct, low, high)]


@op
class GradScale(_Identity):
    """An identity that multiplies cotangents by a number."""

    multiplier: float

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [cotangents[0] * self.multiplier]


def zero_grad(x: Any) -> TensorVariable:
    """``x``, with a gradient of 0 through it."""
    made: TensorVariable = ZeroGrad()(as_tensor_variable(x))
    return made


def disconnected_grad(x: Any) -> TensorVariable:
    """``x``, which gradients treat as a constant: no derivative passes through it."""
    made: TensorVariable = DisconnectedGrad()(as_tensor_variable(x))
    return made


def undefined_grad(x: Any) -> TensorVariable:
    """``x``, with a gradient that raises `NullTypeGradError` when it is needed."""
    made: TensorVariable = UndefinedGrad()(as_tensor_variable(x))
    return made


def grad_clip(x: Any, lower_bound: float, upper_bound: float) -> TensorVariable:
    """``x``, with cotangents through it limited to ``[lower_bound, upper_bound]``."""
    made: TensorVariable = GradClip(float(lower_bound), float(upper_bound))(as_tensor_variable(x))
    return made


def grad_scale(x: Any, multiplier: float) -> TensorVariable:
    """``x``, with cotangents through it multiplied by ``multiplier``."""
    made: TensorVariable = GradScale(float(multiplier))(as_tensor_variable(x))
    return made


def grad_undefined(op_: Any, x_pos: int, x: Any, comment: str = "") -> Any:
    """The value that the pullback of an op returns for a derivative that does not exist mathematically."""
    reason = f"the gradient of {op_} by its input {x_pos}, {x}, is not defined"
    return NullType(reason + (f": {comment}" if comment else ""))()


def grad_not_implemented(op_: Any, x_pos: int, x: Any, comment: str = "") -> Any:
    """The value that the pullback of an op returns for a derivative that is not implemented."""
    reason = f"the gradient of {op_} by its input {x_pos}, {x}, is not implemented"
    return NullType(reason + (f": {comment}" if comment else ""))()
