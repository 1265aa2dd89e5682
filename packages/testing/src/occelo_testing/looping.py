"""`again`: a differentiable loop that has only carried values.

Tests of the package compile and of the backends use this loop to test ops with regions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from occelo_graph.fgraph.frozen import freeze
from occelo_graph.gradient.reverse import pullback
from occelo_graph.ir.clone import clone_replace
from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.op import Cotangents, op
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import OptionalTensors, Tensors
from occelo_loops.ops.iterate import Iterate


@op
class Again(Iterate):
    """An `Iterate` (the loop op of linkers) with a pullback."""

    def pullback(
        self, inputs: Tensors, outputs: Tensors, cotangents: OptionalTensors
    ) -> Cotangents:
        """A loop over the iterations in reverse order.

        Each iteration needs the carried values of one iteration of the original loop. An inner loop computes these
        values again, from the initial values on.
        """
        count, k = inputs[0], self.carried
        initial, read = list(inputs[1 : 1 + k]), list(inputs[1 + k :])
        seeds = [
            v.zeros_like() if ct is None else ct for v, ct in zip(outputs, cotangents, strict=True)
        ]

        def back(number: Any, *values: Any) -> list[Any]:
            total = len(initial) + len(read)
            cts, sums = list(values[:k]), list(values[k:total])
            first, others = values[total : total + k], list(values[total + k :])
            state = self(number, *first, *others, return_list=True)
            pulled = self._pulled([*state, *others], cts)
            added = [a + b for a, b in zip(sums, pulled[k:], strict=True)]
            return [number - 1, *pulled[:k], *added]

        zeros = [v.zeros_like() for v in read]
        results = again(count, [count - 1, *seeds, *zeros], back, [*initial, *read])
        return [None, *results[1:]]

    def _pulled(self, at: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Cotangents of the arguments of one iteration."""
        # New variables replace the arguments, so that the derivatives are partial: the carried
        # values themselves depend on the variables that the body reads.
        inner = [v.type.make_variable() for v in at]
        results = self.body.bind(inner)[: self.carried]
        pulled = pullback(results, inner, cotangents, disconnected_inputs="ignore")
        replaced: list[Any] = clone_replace(pulled, dict(zip(inner, at, strict=True)))
        return replaced


def again(
    count: Any,
    initial: Sequence[Any],
    function: Callable[..., Sequence[Any]],
    read: Sequence[Any] = (),
    stops: bool = False,
) -> list[Any]:
    """The carried values after ``count`` iterations of ``function(*carried, *read)``. They start from ``initial``.

    With ``stops`` the last result of ``function`` is a truth value, and the loop ends after the first iteration in
    which it is true.
    """
    first, others = (
        [v if isinstance(v, Variable) else as_tensor_variable(v) for v in values]
        for values in (initial, read)
    )
    arguments = [v.type.make_variable() for v in (*first, *others)]
    body = freeze(arguments, list(function(*arguments)))
    results: list[Any] = Again(body, len(first), stops)(count, *first, *others, return_list=True)
    return results
