"""From a graph to its loop program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from occelo_graph import Apply, Variable
from occelo_link.loops import blas, cast, control, create, join, reduce, shape
from occelo_link.loops.elemwise import op as elemwise
from occelo_link.loops.host import hostable, lower_host
from occelo_link.loops.index import search, subtensor
from occelo_link.loops.ir.checked import with_bounds_checks
from occelo_link.loops.ir.program import Program
from occelo_link.loops.lowering import Context
from occelo_link.loops.registry import find_lowering

__all__ = ["FAMILIES", "find_lowering", "hostable", "lower_graph"]

FAMILIES = (create, elemwise, reduce, shape, subtensor, search, join, blas, control, cast)
"""The modules whose import registers the lowerings."""


def lower_graph(
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    order: Sequence[Apply],
    *,
    contiguous: Sequence[bool] | None = None,
    blas_integer: str = "int64",
    check_bounds: bool = False,
    hosts: bool = False,
    threads: bool = False,
    states: Mapping[int, int] | None = None,
    name: str = "unit",
) -> Program:
    """The program that computes ``outputs`` from ``inputs`` by the nodes in ``order``.

    ``contiguous`` says which inputs lie in memory in C order (all, by default). `NotLowered` if a
    node has no lowering, unless ``hosts`` says that it is to be called in Python. With
    ``check_bounds`` every access to memory is checked; with ``threads`` sums of whole tensors are
    written so that their blocks can be computed in any order. ``states`` maps positions of outputs to
    those of the inputs that they update, whose memory they may take.
    """
    context = Context(name, lower_host if hosts else None)
    context.blas_integer = blas_integer
    context.builder.threads = threads
    for i, variable in enumerate(inputs):
        context.add_input(variable, contiguous is None or contiguous[i])
    context.uses = _uses(order, outputs)
    context.lower_nodes(_split(order, outputs, context))
    program = context.finish(outputs, None if check_bounds else states)
    return with_bounds_checks(program, context.builder) if check_bounds else program


def _uses(order: Sequence[Apply], outputs: Sequence[Variable]) -> dict[Variable, list[Any]]:
    """The nodes that read each variable; being an output does not count."""
    uses: dict[Variable, list[Any]] = {}
    for node in order:
        for variable in dict.fromkeys(node.inputs):
            uses.setdefault(variable, []).append(node)
    return uses


def _split(order: Sequence[Apply], outputs: Sequence[Variable], context: Context) -> list[Apply]:
    """The nodes outside of branches; those that only one branch needs go to ``context.regions``."""
    if not any(node.op.lazy for node in order):
        return list(order)
    needed = set(outputs)
    taken: set[Apply] = set()
    main: list[Apply] = []
    for node in reversed(order):
        if node in taken:
            continue
        main.append(node)
        if node.op.lazy:
            _take_branches(node, order, needed, taken, context)
    main.reverse()
    return main


def _take_branches(
    node: Apply,
    order: Sequence[Apply],
    needed: set[Variable],
    taken: set[Apply],
    context: Context,
) -> None:
    count = len(node.outputs)
    branches = (node.inputs[1 : 1 + count], node.inputs[1 + count :])
    regions: list[list[Apply]] = []
    for which, branch in enumerate(branches):
        own = _exclusive(node, which, order, needed)
        taken.update(own)
        regions.append(_split(own, [*branch], context))
    context.regions[node] = (regions[0], regions[1])


def _exclusive(
    lazy: Apply, which: int, order: Sequence[Apply], needed: set[Variable]
) -> list[Apply]:
    """The nodes, in order, whose results nothing but one branch of a lazy node reads."""
    count = len(lazy.outputs)
    first = 1 + which * count
    mine = set(lazy.inputs[first : first + count])
    others = {v for i, v in enumerate(lazy.inputs) if not first <= i < first + count}
    readers: dict[Variable, list[Apply]] = {}
    for node in order:
        for variable in node.inputs:
            readers.setdefault(variable, []).append(node)
    own: set[Apply] = set()
    for node in reversed(order):
        if node is lazy:
            continue
        only_here = all(
            v not in needed
            and v not in others
            and all(r in own or (r is lazy and v in mine) for r in readers.get(v, []))
            for v in node.outputs
        )
        if only_here and any(readers.get(v) for v in node.outputs):
            own.add(node)
    return [node for node in order if node in own]
