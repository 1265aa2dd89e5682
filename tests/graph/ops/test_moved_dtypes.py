"""Ops that move elements move those of any dtype: rules compute a cast of what they give from casts of their inputs."""

from __future__ import annotations

from typing import Any

import pytest

from occelo_graph import TensorVariable, toposort
from occelo_graph import tensor as ot
from occelo_testing.checks import symbolic
from occelo_testing.examples import CORE


def moving_nodes() -> dict[str, Any]:
    """For each class of ops that move elements of tensors, a node of the examples."""
    found: dict[str, Any] = {}
    for example in CORE:
        _, output = symbolic(example, known_shapes=False)
        for node in toposort([output]):
            if node.op.moves is None or len(node.outputs) > 1 or node.op.destroy_map:
                continue
            if all(
                isinstance(v, TensorVariable) and v.type.numpy_dtype.kind in "iuf"
                for v in (*node.inputs[node.op.moves], *node.outputs)
            ):
                found.setdefault(type(node.op).__name__, node)
    return found


NODES = moving_nodes()


@pytest.mark.parametrize("dtype", ["int16", "float32", "float64"])
@pytest.mark.parametrize("name", NODES)
def test_an_op_moves_elements_of_another_dtype(name: str, dtype: str) -> None:
    node = NODES[name]
    inputs = list(node.inputs)
    inputs[node.op.moves] = [ot.cast(v, dtype) for v in node.inputs[node.op.moves]]
    made = node.op.of_dtype(dtype)(*inputs)
    assert made.type == node.outputs[0].type.clone(dtype=dtype)
