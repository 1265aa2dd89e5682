"""Lowerings of linear algebra for JAX and PyTorch, whose functions take batches of matrices.

The tracer applies them at nodes; `traced.linker` imports this module when linear algebra is first used.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from occelo_graph import TensorApply
from occelo_graph.ops.batching import parse_signature
from occelo_graph.ops.linalg.cholesky import Cholesky
from occelo_graph.ops.linalg.matrix_op import MatrixOp
from occelo_graph.ops.linalg.triangular import SolveTriangular
from occelo_link.traced.parts import Array
from occelo_link.traced.registry import traces
from occelo_link.traced.tracer import Tracer

__all__: list[str] = []


def _operands(tracer: Tracer, node: TensorApply[MatrixOp], inputs: Sequence[Array]) -> list[Array]:
    """The inputs with the same batch dimensions; ValueError where shapes do not fit."""
    arrays = [tracer.array(x) for x in inputs]
    shapes = [tuple(int(n) for n in x.shape) for x in arrays]
    node.op.check_shapes([v.type for v in node.inputs], shapes)
    names, _ = parse_signature(node.op.signature)
    extras = [len(s) - len(own) for s, own in zip(shapes, names, strict=True)]
    batch = np.broadcast_shapes(*(s[:k] for s, k in zip(shapes, extras, strict=True)))
    return [
        x if s[:k] == batch else tracer.arrays.broadcast(x, (*batch, *s[k:]))
        for x, s, k in zip(arrays, shapes, extras, strict=True)
    ]


def _settled(tracer: Tracer, on_error: str, result: Array, good: Array) -> Array:
    """The result: NaN where it is not ``good``, or with a check that all of it is."""
    arrays = tracer.arrays
    if on_error == "raise":
        every = arrays.reduce("and", good, range(len(good.shape))) if len(good.shape) else good
        tracer.check(every)
        return result
    shape = tuple(int(n) for n in result.shape)
    whole = arrays.broadcast(arrays.reshape(good, (*good.shape, 1, 1)), shape)
    nan = arrays.constant(np.full(shape, np.nan, arrays.dtype(result)))
    return arrays.where(whole, result, nan)


@traces(Cholesky)
def lower_cholesky(
    tracer: Tracer, node: TensorApply[Cholesky], inputs: list[Array]
) -> Sequence[Array]:
    (x,) = _operands(tracer, node, inputs)
    if 0 in x.shape:
        return [x]
    factor, good = tracer.arrays.cholesky(x)
    return [_settled(tracer, node.op.on_error, factor, good)]


@traces(SolveTriangular)
def lower_solve_triangular(
    tracer: Tracer, node: TensorApply[SolveTriangular], inputs: list[Array]
) -> Sequence[Array]:
    a, b = _operands(tracer, node, inputs)
    op, arrays = node.op, tracer.arrays
    if 0 in b.shape:
        return [b]
    result = arrays.solve_triangular(a, b, op.lower, op.unit_diagonal)
    if op.unit_diagonal:
        return [result]
    ndim = len(a.shape)
    pivots = arrays.diagonal(a, 0, ndim - 2, ndim - 1)
    good = arrays.reduce("and", arrays.apply("neq", pivots, 0), [ndim - 2])
    return [_settled(tracer, op.on_error, result, good)]
