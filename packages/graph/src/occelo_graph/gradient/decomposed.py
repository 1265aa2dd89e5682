"""`pull_decomposition`: the pullback of an op that defines a decomposition (`Op.decompose`), but no derivative.

The default `Op.pullback` calls it (`upward`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occelo_graph.gradient.reverse import pullback
from occelo_graph.ir.clone import clone_replace
from occelo_graph.ir.decomposing import decomposition
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import ZERO, Zero
from occelo_graph.tensors.nodes import is_tensor


def pull_decomposition(
    node: Apply, inputs: Sequence[Variable], cotangents: Sequence[Any]
) -> Sequence[Any] | None:
    """The cotangents of a node's inputs, by the pullback of its decomposition. None if its op has no decomposition.

    ``cotangents`` are the cotangents of the node's outputs. An input of the node may depend on another input. So the
    decomposition is differentiated with respect to new variables, which are then replaced by the inputs of the node.
    """
    simpler = decomposition(node)
    if simpler is None:
        return None
    results: list[Any] = [ZERO for _ in inputs]
    live = [
        (output, cotangent)
        for output, cotangent in zip(simpler.outputs, cotangents, strict=True)
        if cotangent is not None and not isinstance(cotangent, Zero)
    ]
    positions = [i for i, v in enumerate(simpler.inputs) if is_tensor(v)]
    if not live or not positions:
        return results
    pulled: Sequence[Any] = pullback(
        [output for output, _ in live],
        [simpler.inputs[i] for i in positions],
        [cotangent for _, cotangent in live],
        disconnected_inputs="ignore",
        return_disconnected="none",
    )
    connected = [(i, ct) for i, ct in zip(positions, pulled, strict=True) if ct is not None]
    replaced = clone_replace(
        [ct for _, ct in connected], dict(zip(simpler.inputs, inputs, strict=True))
    )
    for i in positions:
        results[i] = None
    for (i, _), cotangent in zip(connected, replaced, strict=True):
        results[i] = cotangent
    return results
