"""Functions by which the gradient of a scan keeps single rows of a state instead of the whole state.

A state may have thousands of rows, such as a delay line (`looping.delays`), of which a step reads and writes only few.
The pullback of a read writes a cotangent into zeros that have the shape of the state. `lengths_of_cotangents` lets
these zeros have the shape of the state's cotangent, so that the state itself is not needed. Then
`rows_instead_of_states` finds the rows that are needed. `looping.derivatives` calls both functions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.clone import clone_replace
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.traversal import ancestors, toposort
from occelo_graph.looping.lengths import element_shapes
from occelo_graph.ops.shape.reading import shape_tuple
from occelo_graph.tensors.nodes import is_tensor

if TYPE_CHECKING:
    from occelo_graph.looping.scan_op import Scan
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["lengths_of_cotangents", "rows_instead_of_states"]


def lengths_of_cotangents(
    op_: Scan,
    inputs: Sequence[Variable],
    arguments: Sequence[Variable],
    seeds: Mapping[int, Variable],
    found: Sequence[Any],
) -> list[Any]:
    """The cotangents ``found`` of a body's inputs, with lengths of states read from cotangents of these states.

    ``arguments`` are the body's inputs, and ``seeds`` has the variables for cotangents of carried values. Lengths are
    replaced if the derivative of a step reads nothing else of the state, except few rows, and if no step changes them.
    ``inputs`` are the inputs of the node of `Scan`.
    """
    positions = [i for i, v in enumerate(found) if isinstance(v, Variable)]
    wanted = [found[i] for i in positions]
    readers = _readers(toposort(wanted))
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
        return list(found)
    made: list[Any] = clone_replace(wanted, pairs, rebuild_strict=False)
    by_position = dict(zip(positions, made, strict=True))
    return [by_position.get(i, v) for i, v in enumerate(found)]


def rows_instead_of_states(
    states: Sequence[TensorVariable],
    wanted: Sequence[Variable],
    stops: Sequence[Variable],
    seeds: Collection[Variable],
) -> list[Variable]:
    """The rows that ``wanted`` reads of those ``states`` of which it reads nothing but few rows.

    ``stops`` are variables that are known. A row is no function of ``seeds``, which are known only in reverse mode.
    """
    readers = _readers(toposort(wanted, stops))
    found: list[Variable] = []
    for state in states:
        rows = [v for n in readers.get(state, ()) for v in n.outputs]
        few = bool(rows) and is_tensor(state) and _are_few_rows(rows, state)
        if few and state not in wanted and set(seeds).isdisjoint(ancestors(rows)):
            found += rows
    return found


def _readers(nodes: Iterable[Apply]) -> dict[Variable, list[Apply]]:
    found: dict[Variable, list[Apply]] = {}
    for node in nodes:
        for v in dict.fromkeys(node.inputs):
            found.setdefault(v, []).append(node)
    return found


def _reads_lengths(node: Apply, state: Variable) -> bool:
    """Whether a node reads nothing but lengths of a state: it computes lengths, or moves zeros into the state's shape."""
    if node.op.of_shapes:
        return len(node.inputs) == 1
    if node.op.moves is None:
        return False
    moved = node.inputs[node.op.moves]
    return state not in moved and all(isinstance(v, Constant) and not np.any(v.data) for v in moved)


def _with_input(node: Apply, old: Variable, new: Variable) -> Variable:
    """The output of a node like ``node`` that reads ``new`` in place of its input ``old``."""
    made: Variable = node.op(*(new if v is old else v for v in node.inputs))
    return made


def _are_few_rows(rows: Sequence[Variable], state: TensorVariable) -> bool:
    """Whether all variables are single rows of a state, along an axis of known length, and fewer than the state has."""
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
