"""`ImplicitFunction`: the solution x of F(x, parameters) = 0 as an op, with derivatives by the implicit function theorem.

Where F(x, p) = 0 holds near a solution, dF/dx dx/dp + dF/dp = 0. So a pullback solves one system with the transposed
Jacobian dF/dx, whatever loop has found x. Derivatives of higher order follow, since x in this formula is the op's output.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occelo_graph.fgraph.frozen import FrozenFunctionGraph
from occelo_graph.gradient.forward import pushforward
from occelo_graph.gradient.jacobians import jacobian
from occelo_graph.gradient.reverse import pullback
from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.op import Cotangents, Tangents
from occelo_graph.ops.elemwise.arithmetic import neg
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.variable import TensorVariable
from occelo_linalg.ops.equations.solve import solve
from occelo_optimize.ops.solver import Solver, connected, with_values


class ImplicitFunction(Solver, further=("residual",)):
    """An op whose first output x solves F(x, parameters) = 0. The other outputs have no derivatives.

    - ``inputs``: the parameters, and then what only the search for the solution reads, such as its start.
    - ``outputs``: the solution, and for instance whether it was found.
    - ``residual``: the graph of F, from x and the parameters to a tensor like x.
    """

    residual: FrozenFunctionGraph

    def _inferred_pattern(self) -> list[list[bool]]:
        count = len(self.residual.inputs) - 1
        rest = [False] * (len(self.graph.outputs) - 1)
        return [[i < count, *rest] for i in range(len(self.graph.inputs))]

    def pullback(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Cotangents
    ) -> Cotangents:
        count = len(self.residual.inputs) - 1
        rest: list[Any] = [None] * (len(inputs) - count)
        ct: Any = cotangents[0]
        if not connected(ct):
            return [*([ct] * count), *rest]
        x, *parameters = own = [v.type.make_variable() for v in self.residual.inputs]
        (residual,) = self.residual.bind(own)
        seed = ct.type.make_variable()
        weights = self.solved(residual, x, seed, transposed=True)
        slopes = pullback(
            residual,
            parameters,
            neg(weights),
            disconnected_inputs="ignore",
            return_disconnected="none",
            null_gradients="return",
        )
        pairs = [(x, outputs[0]), (seed, ct), *zip(parameters, inputs, strict=False)]
        return [*with_values(slopes, pairs), *rest]

    def pushforward(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], tangents: Tangents
    ) -> Tangents:
        count = len(self.residual.inputs) - 1
        rest: list[Any] = [None] * (len(outputs) - 1)
        live = [i for i in range(count) if connected(tangents[i])]
        if not live:
            return [next((t for t in tangents[:count] if t is not None), None), *rest]
        x, *parameters = own = [v.type.make_variable() for v in self.residual.inputs]
        (residual,) = self.residual.bind(own)
        live_tangents: list[Any] = [tangents[i] for i in live]
        seeds = [t.type.make_variable() for t in live_tangents]
        (pushed,) = pushforward(
            [residual], [parameters[i] for i in live], seeds, disconnected_outputs="ignore"
        )
        moved = neg(self.solved(residual, x, pushed, transposed=False))
        pairs = [(x, outputs[0]), *zip(seeds, live_tangents, strict=True)]
        pairs += zip(parameters, inputs, strict=False)
        return [*with_values([moved], pairs), *rest]

    def solved(self, residual: Any, x: Any, right: Any, *, transposed: bool) -> TensorVariable:
        """The solution of a system with the Jacobian of ``residual``, or the transposed one. ``right`` is like ``x``."""
        matrix = jacobian(residual, x)
        if x.type.ndim == 0:
            return right / matrix
        lengths = lengths_by_variables(x)
        count = length_product(lengths)
        square = reshape(matrix, (count, count))
        solution = solve(square.T if transposed else square, reshape(right, (count,)))
        return reshape(solution, lengths)
