"""Copies a graph so that static lengths become constants and fields of ops.

`maker` copies the user's graph in this way before rewriting. `occelo_rewrite.specialization` handles single nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from occelo_graph import Apply, Constant, Variable, toposort
from occelo_graph.ops.specialization import fill_of_known_shape
from occelo_graph.tensors.constant import constant
from occelo_rewrite.specialization import length_of_copy, specialized_lengths


def copy_specialized(outputs: Sequence[Variable], memo: dict[Any, Any]) -> None:
    """Copy the graph of ``outputs``. ``memo`` maps the inputs to their copies; the copies of all variables are added to
    it.

    Static lengths, and integers computed from them, become constants. A node that broadcasts a value to the static
    shape of another tensor, as in ``zeros_like(x)``, becomes a node that does not read the other tensor. Nodes that
    only computed such lengths are copied, too, although the outputs do not need the copies.
    """
    integers: dict[Variable, Any] = {}

    def of(variable: Variable) -> Any:
        if variable.owner is None and isinstance(variable, Constant):
            return _integers(variable.data)
        return integers.get(variable)

    for node in toposort(outputs, blockers=frozenset(memo)):
        out = node.outputs[0]
        if node.op.knows_integers and (integers or node.op.of_shapes):
            value = _known(node, of)
            if value is not None:
                integers[out] = value
                if not isinstance(value, tuple) or None not in value:
                    memo[out] = constant(np.array(integers[out], dtype=out.type.dtype))
                    continue
        inputs = [memo.get(v, v) for v in node.inputs]
        new = _made(node, inputs)
        if new is None:
            copied = node.clone_with_new_inputs(inputs)
            memo.update(zip(node.outputs, copied.outputs, strict=True))
        else:
            _take_provenance(new, out)
            memo[out] = new
    for variable in outputs:
        memo.setdefault(variable, variable)


def _known(node: Apply, of: Callable[[Variable], Any]) -> Any:
    """Return the known integers in a node's output: a number, or a tuple with None for each unknown number.

    Returns None if nothing is known.
    """
    kind = node.outputs[0].type
    if kind.ndim is None or kind.ndim > 1 or (kind.dtype == "bool" and kind.ndim):
        return None
    return node.op.known_integers(node, of)


def _integers(data: Any) -> Any:
    if getattr(getattr(data, "dtype", None), "kind", "f") not in "biu" or data.ndim > 1:
        return None
    return int(data) if data.ndim == 0 else tuple(data.tolist())


def _made(node: Apply, inputs: Sequence[Variable]) -> Variable | None:
    """Return a simpler variable that replaces the output of a node in the copy, or None if the node is copied."""
    fill = fill_of_known_shape(node)
    if fill is not None:
        op, _ = fill
        if not op.shape:
            return inputs[1] if inputs[1].type == node.outputs[0].type else None
        filled: Variable = op(inputs[1])
        return filled
    length = length_of_copy(node, inputs)
    return specialized_lengths(node, inputs) if length is None else length


def _take_provenance(new: Variable, old: Variable) -> None:
    if new.owner is None or old.owner is None or new.name is not None:
        return
    new.name = old.name
    new.set_mark(old.mark)
    new.owner.mark = old.owner.mark
