"""Ops that a library has no lowering for run in Python, called from the compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import Apply, TensorType
from occelo_link.traced.registry import NeedsValue

if TYPE_CHECKING:
    from occelo_link.traced.tracer import Tracer

__all__ = ["fall_back"]


def fall_back(tracer: Tracer, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
    """Call the op's NumPy code when the graph runs.

    Shapes of the results must be known while tracing; if they are not, the values of the inputs must be.
    """
    if tracer.on_fallback is not None:
        tracer.on_fallback(node)
    results: list[tuple[str, tuple[int, ...]]] = []
    for variable, shape in zip(node.outputs, _shapes(node, inputs), strict=True):
        kind = variable.type
        if not isinstance(kind, TensorType) or shape is None:
            unknown = next(
                v for v, x in zip(node.inputs, inputs, strict=True) if tracer.arrays.is_traced(x)
            )
            raise NeedsValue(unknown, node)
        results.append((kind.dtype, shape))
    kernel = node.op.kernel(node)

    tensors = [isinstance(v.type, TensorType) for v in node.inputs]

    def run(*arrays: Any) -> Sequence[Any]:
        rest = iter(arrays)
        # what is no tensor is static, and known here
        values = [np.array(next(rest)) if t else x for t, x in zip(tensors, inputs, strict=True)]
        with np.errstate(all="ignore"):
            return [np.asarray(r) for r in kernel(*values)]

    given = [tracer.array(x) for t, x in zip(tensors, inputs, strict=True) if t]
    return tracer.arrays.callback(run, given, results)


def _unchanged(node: Apply, inputs: Sequence[Any]) -> list[tuple[int, ...] | None]:
    """The shapes of what a loop carries, if one iteration does not change them; else None."""
    loop, kernel = node.op.loop(node), node.op.kernel(node)
    kinds: list[Any] = [v.type for v in node.inputs]
    tried = [np.zeros(tuple(x.shape), k.dtype) for x, k in zip(inputs, kinds, strict=True)]
    tried[loop.count] = np.ones_like(tried[loop.count])
    before = [tried[i].shape for i in loop.carried]
    try:
        with np.errstate(all="ignore"):
            after = [np.shape(r) for r in kernel(*tried)]
    except Exception:
        return [None] * len(before)
    return list(before) if after == before else [None] * len(before)


def _shapes(node: Apply, inputs: Sequence[Any]) -> list[tuple[int, ...] | None]:
    """The shapes of a node's results, by their types or by the op's rule; None where that fails."""
    if node.op.loops:
        return _unchanged(node, inputs)
    known = [v.type.shape for v in node.outputs]
    if all(shape is not None and None not in shape for shape in known):
        return known  # type: ignore[return-value]
    try:
        shapes = [
            tuple(int(n) for n in x.shape) if isinstance(v.type, TensorType) else None
            for v, x in zip(node.inputs, inputs, strict=True)
        ]
        found: Any = node.op.infer_shape(node, shapes)
        return [tuple(int(n) for n in shape) for shape in found]
    except Exception:
        return [None] * len(node.outputs)
