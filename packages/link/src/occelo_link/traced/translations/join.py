"""Lowerings of joining, repeating and making vectors of scalars for JAX and PyTorch.

`occelo_link.traced.linker` imports this module to register the lowerings. The tracer calls them for nodes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from occelo_graph import TensorApply
from occelo_graph.ops.join import Join, MakeVector, Repeat
from occelo_link.traced.registry import traces
from occelo_link.traced.traced_values import Array, Arrays, Entry
from occelo_link.traced.tracer import Tracer


@traces(Join)
def lower_join(tracer: Tracer, node: TensorApply[Join], inputs: list[Array]) -> Arrays:
    op = node.op
    shapes = [[int(n) for i, n in enumerate(x.shape) if i != op.axis] for x in inputs]
    if any(s != shapes[0] for s in shapes):
        raise ValueError("Lengths of what is joined differ")
    return [tracer.arrays.concatenate([tracer.array(x) for x in inputs], op.axis)]


@traces(MakeVector)
def lower_vector(tracer: Tracer, node: TensorApply[MakeVector], inputs: list[Array]) -> Arrays:
    op = node.op
    arrays = tracer.arrays
    scalars = [arrays.cast(tracer.array(x), op.dtype) for x in inputs]
    return [arrays.concatenate([arrays.reshape(x, (1,)) for x in scalars], 0)]


@traces(Repeat)
def lower_repeat(tracer: Tracer, node: TensorApply[Repeat], inputs: list[Array]) -> Arrays:
    op = node.op
    x = inputs[0]
    counts: npt.NDArray[np.int64] = tracer.known(node, 1, inputs[1])
    if counts.shape[0] != int(x.shape[op.axis]):
        raise ValueError("There must be a number of repeats for each element")
    rows = np.repeat(np.arange(counts.shape[0], dtype=np.int64), counts)
    key: list[Entry] = [slice(None)] * len(x.shape)
    key[op.axis] = tracer.arrays.constant(rows)
    return [tracer.arrays.gather(tracer.array(x), key)]
