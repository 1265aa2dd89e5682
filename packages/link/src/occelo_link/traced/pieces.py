"""Divides long graphs into pieces, each of which a library compiles as a function of its own.

Otherwise XLA would fuse a long chain of elementwise operations without a limit. XLA's code generator calls itself for
each operation of a chain, so a chain of some thousands would overflow the stack and end the process. XLA does not fuse
over the boundary of a function that it compiles separately (`Arrays.apart`).

`tracer` divides graphs with `trace_in_pieces`, and `elemwise` divides sums of many operands with `fold`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING

from occelo_graph import Apply, Variable
from occelo_graph.ir.regions import operands_of
from occelo_graph.ir.traversal import toposort
from occelo_link.traced.traced_values import Array, TracedValue, flat, grouped

if TYPE_CHECKING:
    from occelo_link.traced.arrays import Arrays
    from occelo_link.traced.tracer import Tracer

_LONG = 1000
"""Graphs with more nodes than this are divided."""
_PIECE = 50
"""The number of nodes of a piece.

XLA may compute a cheap chain again for each result of a piece, which takes time quadratic in this number.
"""


def fold(
    arrays: Arrays, function: Callable[[Array, Array], Array], operands: Sequence[Array]
) -> Array:
    """Apply a function of two arguments to all operands, from left to right."""
    if len(operands) <= _LONG:
        return reduce(function, operands)
    result = operands[0]
    for i in range(1, len(operands), _PIECE):
        part = [result, *operands[i : i + _PIECE]]
        (result,) = arrays.apart(partial(_reduced, function, part))
    return result


def _reduced(function: Callable[[Array, Array], Array], operands: Sequence[Array]) -> list[Array]:
    return [reduce(function, operands)]


def trace_in_pieces(tracer: Tracer, variables: Sequence[Variable]) -> None:
    """If ``variables`` need more than `_LONG` nodes, compute these nodes piece by piece, and store values in
    ``tracer``.

    For a shorter graph the function does nothing, and the tracer then computes the variables as usual.
    """
    order = _missing(tracer, variables)
    if len(order) <= _LONG:
        return
    pieces = [order[i : i + _PIECE] for i in range(0, len(order), _PIECE)]
    number = {node: k for k, piece in enumerate(pieces) for node in piece}
    read = set(variables)
    # nodes in regions are in no piece, and read results of pieces
    for node in toposort(variables):
        own = number.get(node)
        read.update(v for v in node.inputs if own is None or _place(v, number) != own)
    for piece in pieces:
        _trace(tracer, piece, [v for node in piece for v in node.outputs if v in read])


def _place(variable: Variable, number: Mapping[Apply, int]) -> int | None:
    """Return the number of the piece that computes a variable, or None if no piece does."""
    return None if variable.owner is None else number.get(variable.owner)


def _missing(tracer: Tracer, variables: Sequence[Variable]) -> list[Apply]:
    """Return the nodes that must run for some variables, in execution order, without nodes that only regions need."""

    def unknown(candidates: Sequence[Variable]) -> list[Apply]:
        owners = [v.owner for v in candidates if v.owner is not None and tracer.find(v) is None]
        return [node for node in owners if node not in order]

    order: dict[Apply, None] = {}
    stack = unknown(variables)[::-1]
    while stack:
        missing = [] if stack[-1] in order else unknown(operands_of(stack[-1]))
        if missing:
            stack += missing
        else:
            order[stack.pop()] = None
    return list(order)


def _trace(tracer: Tracer, piece: Sequence[Apply], wanted: Sequence[Variable]) -> None:
    """Run the nodes of one piece in a function of its own. Keep the values in ``wanted``, which other pieces read."""
    inner = tracer.within()
    traced: list[Variable] = []
    checked = False

    def run() -> Sequence[TracedValue]:
        nonlocal checked
        for node in piece:
            inner.value(node.outputs[0])
        traced[:] = [v for v in wanted if inner.is_traced(inner.values[v])]
        arrays = [inner.array(x) for x in flat(inner.values[v] for v in traced)]
        held = inner.all_checks()
        checked = held is not None
        return [*arrays, held] if checked else arrays

    results = tracer.arrays.apart(run)
    if checked:
        *results, held = results
        tracer.checks.append(held)
    shared = set(traced)
    tracer.values.update((v, inner.values[v]) for v in wanted if v not in shared)
    tracer.values.update(zip(traced, grouped((v.type for v in traced), results), strict=True))
