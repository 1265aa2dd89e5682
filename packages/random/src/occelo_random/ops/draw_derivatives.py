"""Differentiates draws from keys with respect to the parameters of their distribution, where the chain rule would fail.

For example, the chain rule fails for draws by rejection, since the parameters decide which attempt is accepted. Let F
be the distribution function of a distribution, p its density, and theta a parameter. The derivative of a draw with respect to
theta is -dF/dtheta / p: if theta changes, the draw changes so that F keeps its value (Figurnov, Mohamed and Mnih,
"Implicit reparameterization gradients", 2018).

`gamma` and `further` call `with_derivative`, which attaches this derivative to a draw. `counts`, `choosing` and `draws`
call `without_derivative`. It marks a draw that has no derivative, so that a gradient through the draw is an error and
not 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.op import Cotangents, Kernel, Op, Tangents, op
from occelo_graph.ir.traits import FIRST, trait
from occelo_graph.ir.types import NullType
from occelo_graph.ops.elemwise.arithmetic import add, mul
from occelo_graph.ops.elemwise.op import unbroadcast
from occelo_graph.ops.shape.dimensions import shape_padleft
from occelo_graph.tensors.nodes import Tensors

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

SLOPES: dict[str, Callable[..., Sequence[Any]]] = {}
"""Maps the name of a distribution to a function of its draws and their parameters.

The function returns the derivatives of the draws with respect to each parameter, and None for a parameter without a
derivative. `gamma` and `further` fill the mapping.
"""


class _OfParameters(Op):
    """Base class of ops that return their first input, a draw. The other inputs are the parameters of the distribution.

    Gradients treat the draw as a function of these parameters only.
    """

    view_map = {0: [0]}
    moves = FIRST
    identity_at_runtime: ClassVar[bool] = True

    def infer(self, value: Any, *parameters: Any) -> Any:
        return value

    def evaluate(self, value: Any, *parameters: Any) -> Any:
        return value

    def decompose(self, value: Any, *parameters: Any) -> Sequence[Any]:
        return [value]

    def kernel(self, node: Apply) -> Kernel:
        return lambda *values: (values[0],)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False], *[[True]] * (len(node.inputs) - 1)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return self.make_node(*inputs).outputs


@op
class ImplicitDerivative(_OfParameters):
    """Returns its first input, a draw. ``SLOPES[distribution]`` computes the derivatives of the draw with respect to the
    parameters.

    The parameters have as many dimensions as the draw.
    """

    distribution: str

    def _slopes(self, inputs: Tensors, outputs: Tensors) -> Sequence[Any]:
        # of the result, since second derivatives move it with the parameters
        return SLOPES[self.distribution](outputs[0], *inputs[1:])

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        terms: list[Any] = [None]
        for parameter, slope in zip(inputs[1:], self._slopes(inputs, outputs), strict=True):
            term = None if slope is None else mul(cotangents[0], slope)
            terms.append(None if term is None else unbroadcast(term, term.type, parameter.type))
        return terms

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: Tangents) -> Tangents:
        terms = [
            mul(tangent, slope)
            for tangent, slope in zip(tangents[1:], self._slopes(inputs, outputs), strict=True)
            if isinstance(tangent, Variable) and slope is not None
        ]
        return [add(*terms) if terms else None]


@op
class NoDerivative(_OfParameters):
    """Returns its first input, a draw. A gradient with respect to the parameters raises an error with the name ``distribution``."""

    distribution: str

    @trait
    def no_derivative(self) -> str:
        return (
            f"A draw of the distribution {self.distribution} has no derivative by its parameters; if none is wanted, give them without one, "
            "by disconnected_grad"
        )

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [None, *(NullType(self.no_derivative)() for _ in inputs[1:])]


def without_derivative(distribution: str, value: Any, *parameters: Any) -> TensorVariable:
    """The draw ``value``, marked so that a gradient with respect to ``parameters`` is an error and not 0."""
    variables = [p for p in parameters if not isinstance(p, Constant)]
    if not variables:
        return value
    marked: TensorVariable = NoDerivative(distribution)(value, *variables)
    return marked


def with_derivative(distribution: str, value: Any, *parameters: Any) -> TensorVariable:
    """The draw ``value``, with its derivatives with respect to ``parameters``. The parameters broadcast to the draw."""
    aligned = [shape_padleft(p, value.type.ndim - p.type.ndim) for p in parameters]
    draw: TensorVariable = ImplicitDerivative(distribution)(value, *aligned)
    return draw
