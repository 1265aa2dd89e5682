"""`OdeSolution`: the solution of y' = f(t, y, parameters) at given times, as an op with derivatives by further equations.

Reverse mode solves the adjoint equation backward, from each time to the one before it, where y is known. Forward mode solves
the equation of y together with that of its derivative. Both are solutions of this kind again, so there are derivatives of every order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from occelo_graph.fgraph.frozen import FrozenFunctionGraph
from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.op import Cotangents, Tangents
from occelo_graph.ops.create import zeros_like
from occelo_graph.ops.join import concatenate, stack
from occelo_graph.ops.shape.reading import length_product, shape_tuple
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import is_tensor
from occelo_graph.tensors.type import TensorType
from occelo_graph.tensors.variable import TensorVariable
from occelo_graph.vectorize import vectorize_graph
from occelo_loops.ops.building.loops import loop
from occelo_optimize.ops.methods.explicit_steps import DOP853, RK23, RK45
from occelo_optimize.ops.methods.integrating import integrate
from occelo_optimize.ops.methods.steps import RADAU
from occelo_optimize.ops.regions import region_between
from occelo_optimize.ops.solver import Solver, connected, is_float, pulled, pushed

METHODS = {"rk23": RK23, "rk45": RK45, "dop853": DOP853, "radau": RADAU}
"""The methods by SciPy's names, in lower case."""


class Settings(NamedTuple):
    """The method of an integration, its tolerances, and the most steps between two times."""

    method: str
    rtol: float
    atol: float
    max_steps: int


class OdeSolution(Solver, further=("rates", "settings")):
    """An op with the inputs y(t0), the times, of which the first is t0, and the parameters.

    Its outputs are the values at all times, of shape (times, n), whether they were reached, and the number of steps.

    - ``rates``: the graph of f, from t, y and the parameters to a vector like y.
    - ``settings``: a `Settings`, as a tuple.
    """

    rates: FrozenFunctionGraph
    settings: tuple[Any, ...]

    def _inferred_pattern(self) -> list[list[bool]]:
        return [[is_float(v), False, False] for v in self.graph.inputs]

    def pullback(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Cotangents
    ) -> Cotangents:
        ct: Any = cotangents[0]
        if not connected(ct):
            return [ct if is_float(v) else None for v in inputs]
        values: Any = outputs[0]
        times: Any = inputs[1]
        chosen = [i for i, v in enumerate(inputs) if i > 1 and is_float(v)]
        n = values.shape[1]
        shapes = [shape_tuple(v) for v in (inputs[i] for i in chosen) if is_tensor(v)]

        def adjoint(s: Any, z: Any) -> Any:
            y, weights = z[:n], z[n : 2 * n]
            rate, *slopes = pulled(self.rates, [-s, y, *inputs[2:]], [1, *chosen], weights)
            return concatenate(
                [-rate, *(reshape(v, (length_product(shape_tuple(v)),)) for v in slopes)]
            )

        def back(state: Any, at: Any) -> Any:
            weights, sums = state
            low, high, y, more = at
            start = concatenate([y, weights, sums])
            reached, _, _ = solve_ode(
                adjoint, start, stack([-high, -low]), Settings(*self.settings)
            )
            last = reached[1]
            return (last[n : 2 * n] + more, last[2 * n :]), last[n : 2 * n]

        flat = [
            reshape(zeros_like(inputs[i]), (length_product(s),))
            for i, s in zip(chosen, shapes, strict=True)
        ]
        sums = concatenate(flat) if flat else np.zeros(0, values.dtype)
        xs = (times[:-1], times[1:], values[1:], ct[:-1])
        (start, total), before = loop(back, (ct[-1], sums.astype(values.dtype)), xs, reverse=True)
        moved = (self._rates_at(inputs, values) * ct).sum(1)
        # the rows after the first depend on where the start is: before has the weights that reach it
        rows = concatenate([before, zeros_like(ct[-1:])])
        first = -(self._rates_at(inputs, values)[0] * rows[0]).sum()
        results: list[Any] = [start, concatenate([first[None], moved[1:]])]
        position: Any = 0
        pieces: dict[int, Any] = {}
        for i, shape in zip(chosen, shapes, strict=True):
            end = position + length_product(shape)
            pieces[i] = reshape(total[position:end], shape).astype(inputs[i].type.dtype)
            position = end
        return [*results, *(pieces.get(i) for i in range(2, len(inputs)))]

    def _rates_at(self, inputs: Sequence[Variable], values: Any) -> TensorVariable:
        """The derivatives at all times, of shape (times, n)."""
        t, y = (v.type.make_variable() for v in self.rates.inputs[:2])
        rate = self.rates.bind([t, y, *inputs[2:]])[0]
        rates: TensorVariable = values * 0.0 + vectorize_graph(rate, {t: inputs[1], y: values})
        return rates

    def pushforward(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], tangents: Tangents
    ) -> Tangents:
        live_tangents: list[Any] = [t if connected(t) else None for t in tangents]
        if all(t is None for t in live_tangents):
            return [next((t for t in tangents if t is not None), None), None, None]
        values: Any = outputs[0]
        times: Any = inputs[1]
        n = values.shape[1]
        live = [i for i in range(2, len(inputs)) if live_tangents[i] is not None]

        def together(t: Any, z: Any) -> Any:
            tangents = [z[n:], *(live_tangents[i] for i in live)]
            return concatenate(pushed(self.rates, [t, z[:n], *inputs[2:]], [1, *live], tangents))

        start = zeros_like(inputs[0]) if live_tangents[0] is None else live_tangents[0]
        by_times: Any = None
        moving = start
        if live_tangents[1] is not None:
            by_times = self._rates_at(inputs, values) * live_tangents[1][:, None]
            moving = start - by_times[0]
        begin = concatenate([inputs[0], moving])
        rows = solve_ode(together, begin, times, Settings(*self.settings))[0][1:, n:]
        if by_times is not None:
            rows = rows + by_times[1:]
        return [concatenate([start[None, :], rows]), None, None]


def solve_ode(
    f: Callable[[Any, Any], Any], y0: Any, times: Any, settings: Settings
) -> tuple[Any, Any, Any]:
    """The values of y at ``times``, of shape (times, n), whether they were reached, and the steps, for a vector ``y0``."""
    y0, times = as_tensor_variable(y0), as_tensor_variable(times)
    t = TensorType(times.dtype, ()).make_variable("t")
    y = TensorType(y0.dtype, y0.type.shape).make_variable("y")
    region = region_between([f(t, y)], (t, y))
    inner = [v.type.make_variable(v.name) for v in (y0, times, *region.parameters)]
    method = METHODS[settings.method]

    def rates(t: Any, y: Any) -> Any:
        return region.graph.bind([t, y, *inner[2:]])[0]

    results = integrate(
        rates,
        inner[0],
        inner[1],
        method,
        rtol=settings.rtol,
        atol=settings.atol,
        max_steps=settings.max_steps,
    )
    op = OdeSolution(inner, list(results), "ode", rates=region.graph, settings=tuple(settings))
    values, success, steps = op(y0, times, *region.parameters, return_list=True)
    return values, success, steps
