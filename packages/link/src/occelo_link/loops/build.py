"""Lowering of whole graphs to loop programs; importing it registers all lowerings.

`BlockLinker` calls `lower_graph` for each block, which is a single node under the linker ``c|py``. `capabilities` asks
`find_lowering` what these linkers compile.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from itertools import accumulate

from occelo_graph import Apply, Variable
from occelo_graph.late_families import follow
from occelo_link.loops import blas, cast, control, create, join, reduce, regions, shape
from occelo_link.loops.callbacks import can_be_callback, lower_callback
from occelo_link.loops.elemwise import op as elemwise
from occelo_link.loops.index import search, subtensor, windows
from occelo_link.loops.ir.program import Program
from occelo_link.loops.lowering import Context
from occelo_link.loops.program_state import ProgramState
from occelo_link.loops.registry import find_lowering
from occelo_link.loops.tensor_groups import parts_of_type

__all__ = ["FAMILIES", "can_be_callback", "find_lowering", "lower_graph"]

FAMILIES = (
    create,
    elemwise,
    reduce,
    shape,
    subtensor,
    search,
    windows,
    join,
    blas,
    control,
    cast,
    regions,
)
"""The modules whose import registers the lowerings."""
follow("linalg", lambda: importlib.import_module("occelo_link.loops.linalg"))
follow("random", lambda: importlib.import_module("occelo_link.loops.random"))
follow("typed_list", lambda: importlib.import_module("occelo_link.loops.typed_list"))


def lower_graph(
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    order: Sequence[Apply],
    *,
    contiguous: Sequence[bool] | None = None,
    blas_integer: str = "int64",
    check_bounds: bool = False,
    callbacks: bool = False,
    threads: bool = False,
    states: Mapping[int, int] | None = None,
    name: str = "unit",
) -> Program:
    """The program that computes ``outputs`` from ``inputs`` by the nodes in ``order``.

    ``contiguous`` says for each input whether its memory is in C order (by default, all are). If ``callbacks`` is True,
    nodes without a lowering become callbacks; otherwise `NotLowered` is raised for them. With ``check_bounds`` every
    access to memory is checked. With ``threads`` a sum of a whole tensor may compute its blocks in several threads.
    ``states`` maps the position of an output to the position of the input that it updates. The output may take over the
    memory of that input; both are tensors.
    """
    state = ProgramState(name, lower_callback if callbacks else None, blas_integer)
    state.builder.threads = threads
    context = Context(state)
    for i, variable in enumerate(inputs):
        context.add_input(variable, contiguous is None or contiguous[i])
    context.lower_graph(order, outputs)
    starts, ends = _starts(inputs), _starts(outputs)
    updated = {ends[k]: starts[j] for k, j in (states or {}).items()}
    program = context.finish(outputs, None if check_bounds else updated)
    if not check_bounds:
        return program
    from occelo_link.loops.ir.bounds_checked import with_bounds_checks  # for debugging only

    return with_bounds_checks(program, context.builder)


def _starts(variables: Sequence[Variable]) -> list[int]:
    """For each variable, the position of its first part in the list of all parts of all variables."""
    counts = [len(parts_of_type(v.type)) for v in variables]
    return [0, *accumulate(counts)]
