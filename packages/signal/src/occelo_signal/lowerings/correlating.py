"""Lowering of `Correlate`: products as formulas, summed over the elements of the kernel.

The kernel's dimensions come first. So the vector loops of the sum run along the places of the kernel, where neighbours
read neighbours, and not along the kernel, which is often short.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import TensorApply
from occelo_graph.tensors.type import is_complex
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Index, Tensor
from occelo_signal.ops.correlating import Correlate

__all__: list[str] = []


def _is_real(node: TensorApply[Correlate]) -> bool:
    return not is_complex(node.inputs[0].type.dtype)


@lowers_to_loops(Correlate, _is_real)
def lower_correlate(
    context: Context, node: TensorApply[Correlate], inputs: list[Tensor]
) -> Sequence[Tensor]:
    builder, ndim = context.builder, node.op.ndim
    x, k = (context.store(v) for v in inputs)
    split = x.ndim - ndim
    static = [v.type.shape[:split] for v in node.inputs]
    lead: list[Value] = []
    for i in range(split):
        if static[0][i] == 1 or static[1][i] == 1:
            lead.append((k if static[0][i] == 1 else x).shape[i])
        else:
            lead.append(context.unify(x.shape[i], k.shape[i]))
    places: list[Value] = []
    for n, m in zip(x.shape[split:], k.shape[split:], strict=True):
        context.check(builder.op("le", context.i64(1), m))
        context.check(builder.op("le", m, n))
        places.append(builder.add(builder.sub(n, m), context.i64(1)))

    def element(b: Builder, index: Index) -> Value:
        within, front, at = index[:ndim], index[ndim : ndim + split], index[ndim + split :]
        zero = b.i64(0)
        rows = [[zero if n == 1 else j for n, j in zip(s, front, strict=True)] for s in static]
        reads = [b.add(i, j) for i, j in zip(at, within, strict=True)]
        return b.mul(x.at(b, [*rows[0], *reads]), k.at(b, [*rows[1], *within]))

    shape = [*k.shape[split:], *lead, *places]
    products = context.virtual(x.dtype, shape, element, [x, k], cost=3)
    return [context.reduce(products, tuple(range(ndim)), "add", x.dtype, x.dtype)]
