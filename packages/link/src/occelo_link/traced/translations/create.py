"""Lowerings of ops that make arrays (`Alloc`, `ARange`, `Eye`) for JAX and PyTorch. The arrays' lengths must be static.

`occelo_link.traced.linker` imports this module to register the lowerings. The tracer calls them for nodes.
"""

from __future__ import annotations

import math

import numpy as np

from occelo_graph import TensorApply
from occelo_graph.interpret import run_node
from occelo_graph.ops.create import Alloc, ARange, Eye
from occelo_graph.ops.length_inputs import fill_static
from occelo_link.traced.registry import traces
from occelo_link.traced.traced_values import Array, Arrays
from occelo_link.traced.tracer import Tracer


@traces(Alloc)
def lower_alloc(tracer: Tracer, node: TensorApply[Alloc], inputs: list[Array]) -> Arrays:
    op = node.op
    value, *rest = inputs
    lengths = [tracer.integer(node, i + 1, v) for i, v in enumerate(rest)]
    shape = [int(n) for n in fill_static(op.shape, lengths)]
    if any(n < 0 for n in shape):
        raise ValueError("negative dimensions are not allowed")
    # XLA would end the process
    if math.prod(n for n in shape if n) * np.dtype(node.outputs[0].type.dtype).itemsize >= 2**63:
        raise ValueError(f"An array of shape {tuple(shape)} is too big")
    lead = len(shape) - len(value.shape)
    for axis, length in enumerate(value.shape):
        static = node.inputs[0].type.shape[axis]
        if static != 1 and int(length) != shape[lead + axis]:
            raise ValueError(f"A value of shape {tuple(value.shape)} does not fill {tuple(shape)}")
    return [tracer.arrays.broadcast(tracer.array(value), shape)]


@traces(ARange, Eye)
def lower_known(tracer: Tracer, node: TensorApply[ARange | Eye], inputs: list[Array]) -> Arrays:
    return run_node(node, [tracer.known(node, i, v) for i, v in enumerate(inputs)])
