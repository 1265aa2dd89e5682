"""Lowering of `Scatter`: a loop over the positions, which combines one value after another."""

from __future__ import annotations

from collections.abc import Sequence

from occelo_arrays.ops.parts.scatter import Scatter
from occelo_graph import TensorApply
from occelo_link.loops.kernel import Passing
from occelo_link.loops.lowering import Context
from occelo_link.loops.lowerings.index.subtensor import Layout, write_selected
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Stored, Tensor, Virtual


@lowers_to_loops(Scatter)
def lower_scatter(
    context: Context, node: TensorApply[Scatter], inputs: list[Tensor]
) -> Sequence[Tensor]:
    x, y, rows = [inputs[0], *(context.apart_from(inputs[0], v) for v in inputs[1:])]
    layout = Layout(context, node.op.key(node.inputs[0].type), x, [rows], [node.inputs[2]])
    for own, length in zip(y.shape, layout.shape, strict=True):
        context.unify(own, length)
    combine = "mul" if node.op.combine == "prod" else node.op.combine

    def write(result: Stored) -> None:
        write_selected(context, layout, result, y, combine, passing)

    passing = Passing(y) if isinstance(y, Virtual) else None
    return [context.change(x, [y, *layout.arrays], write, passing=passing)]
