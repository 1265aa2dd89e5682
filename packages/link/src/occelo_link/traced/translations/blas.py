"""Lowerings of matrix products for JAX and PyTorch, also of products that are added to a tensor.

`occelo_link.traced.linker` imports this module to register the lowerings. The tracer calls them for nodes.
"""

from __future__ import annotations

from occelo_graph import TensorApply
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.blas.updates import Gemm, Gemv, Ger
from occelo_link.traced.registry import traces
from occelo_link.traced.traced_values import Array, Arrays
from occelo_link.traced.tracer import Tracer


def _product(tracer: Tracer, node: TensorApply, inputs: list[Array], stacked: bool) -> Arrays:
    arrays = tracer.arrays
    dtype: str = node.outputs[0].type.dtype
    # booleans are multiplied as integers; a positive result means true
    working = "int64" if dtype == "bool" else dtype
    x, y = (arrays.cast(tracer.array(v), working) for v in inputs)
    contracted = y.shape[-2] if len(y.shape) > 1 else y.shape[0]
    if int(x.shape[-1]) != int(contracted):
        raise ValueError(f"Cannot multiply shapes {tuple(x.shape)} and {tuple(y.shape)}")
    result = arrays.matmul(x, y) if stacked else arrays.dot(x, y)
    return [arrays.cast(result, dtype)]


@traces(Dot)
def lower_dot(tracer: Tracer, node: TensorApply[Dot], inputs: list[Array]) -> Arrays:
    return _product(tracer, node, inputs, False)


@traces(MatMul)
def lower_matmul(tracer: Tracer, node: TensorApply[MatMul], inputs: list[Array]) -> Arrays:
    static = [v.type.shape[:-2] for v in node.inputs]
    shapes = [tuple(int(n) for n in x.shape[:-2]) for x in inputs]
    for axis in range(1, min(map(len, shapes)) + 1):
        (a, b), (sa, sb) = (s[-axis] for s in shapes), (s[-axis] for s in static)
        if a != b and sa != 1 and sb != 1:
            raise ValueError(f"Stacks of matrices of shapes {shapes} do not fit")
    return _product(tracer, node, inputs, True)


@traces(Gemm, Gemv, Ger)
def lower_update(
    tracer: Tracer, node: TensorApply[Gemm | Gemv | Ger], inputs: list[Array]
) -> Arrays:
    arrays = tracer.arrays
    z, alpha, x, y, *rest = (tracer.array(v) for v in inputs)
    add, mul = arrays.scalars["add"][1], arrays.scalars["mul"][1]
    if isinstance(node.op, Ger):
        x, y = arrays.reshape(x, (*x.shape, 1)), arrays.reshape(y, (1, *y.shape))
    contracted = y.shape[-2] if len(y.shape) > 1 else y.shape[0]
    expected = (*x.shape[:-1], *y.shape[1:])
    if int(x.shape[-1]) != int(contracted) or tuple(z.shape) != tuple(expected):
        raise ValueError(
            f"Shapes {tuple(x.shape)}, {tuple(y.shape)} and {tuple(z.shape)} do not fit"
        )
    product = mul(alpha, arrays.dot(x, y))
    return [add(mul(rest[0], z) if rest else z, product)]
