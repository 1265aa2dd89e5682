"""Functions by which the gradient of a scan keeps only a few rows of a state for each step, instead of the whole state.

A state such as a delay line (`looping.delays`) may have thousands of rows, but each step reads and writes only a few of
them. The pullback of a read writes a cotangent into zeros that have the shape of the state, and so needs the state for
its shape. `lengths_of_cotangents` takes this shape from the cotangent of the state instead. Then
`rows_instead_of_states` finds the rows that the gradient needs. `looping.derivatives` calls both functions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.clone import clone_replace
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.traversal import ancestors, toposort
from occelo_graph.ops.shape.reading import shape_tuple
from occelo_graph.tensors.nodes import is_tensor
from occelo_loops.ops.lengths import element_shapes

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable
    from occelo_loops.ops.scan_op import Scan


def lengths_of_cotangents(
    op_: Scan,
    inputs: Sequence[Variable],
    arguments: Sequence[Variable],
    seeds: Mapping[int, Variable],
    cts: Sequence[Any],
) -> list[Any]:
    """The cotangents ``cts`` of a body's inputs, changed to read the lengths of a state from the state's cotangent.

    ``arguments`` are the body's inputs. ``seeds`` maps the position of a carried value to the variable for its
    cotangent. The lengths of a state are replaced only if ``cts`` reads nothing of the state except its lengths and a
    few rows, and if no step changes these lengths. ``inputs`` are the inputs of the node of `Scan`.
    """
    positions = [i for i, v in enumerate(cts) if isinstance(v, Variable)]
    graphs = [cts[i] for i in positions]
    readers = _readers(toposort(graphs))
    pairs: dict[Variable, Variable] = {}
    for j, seed in seeds.items():
        state = arguments[j]
        of_state = readers.get(state, [])
        lengths = [n for n in of_state if _reads_lengths(n, state)]
        rows = [v for n in of_state if n not in lengths for v in n.outputs]
        if (
            lengths
            and is_tensor(state)
            and _are_few_rows(rows, state)
            and _is_steady(op_, inputs, j)
        ):
            pairs.update((n.outputs[0], _with_input(n, state, seed)) for n in lengths)
    if not pairs:
        return list(cts)
    copies: list[Any] = clone_replace(graphs, pairs, rebuild_strict=False)
    by_position = dict(zip(positions, copies, strict=True))
    return [by_position.get(i, v) for i, v in enumerate(cts)]


def rows_instead_of_states(
    states: Sequence[TensorVariable],
    cts: Sequence[Variable],
    stops: Sequence[Variable],
    seeds: Collection[Variable],
) -> list[Variable]:
    """The rows that ``cts`` reads of ``states``, for those states of which ``cts`` reads nothing but a few rows.

    The search ends at the variables ``stops``, whose values are known. States are left out if their rows depend on
    ``seeds``. The original loop keeps the rows, but the seeds are known only when the loop of the gradient runs.
    """
    readers = _readers(toposort(cts, stops))
    few_rows: list[Variable] = []
    for state in states:
        rows = [v for n in readers.get(state, ()) for v in n.outputs]
        few = bool(rows) and is_tensor(state) and _are_few_rows(rows, state)
        if few and state not in cts and set(seeds).isdisjoint(ancestors(rows)):
            few_rows += rows
    return few_rows


def _readers(nodes: Iterable[Apply]) -> dict[Variable, list[Apply]]:
    readers: dict[Variable, list[Apply]] = {}
    for node in nodes:
        for v in dict.fromkeys(node.inputs):
            readers.setdefault(v, []).append(node)
    return readers


def _reads_lengths(node: Apply, state: Variable) -> bool:
    """Whether a node reads only lengths of a state: the node computes lengths, or makes zeros of the state's shape."""
    if node.op.of_shapes:
        return len(node.inputs) == 1
    if node.op.moves is None:
        return False
    moved = node.inputs[node.op.moves]
    return state not in moved and all(isinstance(v, Constant) and not np.any(v.data) for v in moved)


def _with_input(node: Apply, old: Variable, new: Variable) -> Variable:
    """The output of a node like ``node`` that reads ``new`` in place of its input ``old``."""
    reader: Variable = node.op(*(new if v is old else v for v in node.inputs))
    return reader


def _are_few_rows(rows: Sequence[Variable], state: TensorVariable) -> bool:
    """Whether ``rows`` are single rows of a state along an axis of static length, and fewer than all rows along this
    axis.
    """
    shape = state.type.shape
    for row in rows:
        node = row.owner
        if node is None or node.op.view_map != {0: [0]} or node.inputs[0] is not state:
            return False
        axes = [i for i in range(len(shape)) if (*shape[:i], *shape[i + 1 :]) == row.type.shape]
        lengths = [shape[i] for i in axes]
        if not axes or any(n is None or n <= len(rows) for n in lengths):
            return False
    return True


def _is_steady(op_: Scan, inputs: Sequence[Variable], position: int) -> bool:
    """Whether no step changes a length of the carried value at ``position``."""
    shapes = [shape_tuple(v) if v.type.is_array else None for v in inputs]
    return None not in element_shapes(op_, inputs, shapes)[0][position]
