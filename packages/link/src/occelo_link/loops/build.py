"""`lower_graph`: lowers a graph to a loop program. The lowerings of each family of ops are imported at their first use.

`BlockLinker` calls `lower_graph` for each block. Under the linker ``c|py`` a block is a single node. `capabilities`
calls `find_lowering` to report which ops ``native``, ``c``, ``c|py`` and ``numba`` compile to loops.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from occelo_graph import Apply, Variable
from occelo_graph.families import Family, follow
from occelo_link.loops.ir.program import Program
from occelo_link.loops.lowering import Context, readers_of
from occelo_link.loops.program_state import ProgramState
from occelo_link.loops.registry import can_be_callback as can_be_callback
from occelo_link.loops.registry import find_lowering as find_lowering
from occelo_link.loops.registry import late
from occelo_link.loops.tensor_groups import parts_of_type
from occelo_link.loops.tensors import Tensor

FAMILIES = {
    "regions": "regions",
    "occelo_graph.gradient.barriers": "lowerings.control",
    "occelo_graph.ops.blas": "lowerings.blas",
    "occelo_graph.ops.control": "lowerings.control",
    "occelo_graph.ops.create": "lowerings.create",
    "occelo_graph.ops.elemwise": "lowerings.elemwise.op",
    "occelo_graph.ops.index.search": "lowerings.index.search",
    "occelo_graph.ops.index.subtensor": "lowerings.index.subtensor",
    "occelo_graph.ops.join": "lowerings.join",
    "occelo_graph.ops.reduce": "lowerings.reduce",
    "occelo_graph.ops.shape": "lowerings.shape",
    "occelo_graph.ops.shape.stretching": "lowerings.stretching",
}
"""The modules of lowerings, by the modules or packages of the ops that they lower."""


def _load(module: str) -> None:
    importlib.import_module(f"occelo_link.loops.{module}")


for _family, _module in FAMILIES.items():
    late.follow(_family, functools.partial(_load, _module))


def _follow(family: Family) -> None:
    family.load("lowerings")
    if family.name == "typed_list":
        _load("lowerings.typed_list")


follow(_follow)


def _lower_callback(context: Context, node: Apply, inputs: list[Tensor]) -> Sequence[Tensor]:
    from occelo_link.loops.callbacks import lower_callback  # seldom needed

    return lower_callback(context, node, inputs)


def lower_graph(
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    order: Sequence[Apply],
    *,
    contiguous: Sequence[bool] | None = None,
    in_either_order: bool = False,
    blas_integer: str = "int64",
    check_bounds: bool = False,
    callbacks: bool = False,
    threads: int = 0,
    own_code: bool = False,
    states: Mapping[int, int] | None = None,
    name: str = "unit",
) -> Program:
    """Lower the nodes in ``order`` to a loop program that computes ``outputs`` from ``inputs``.

    ``contiguous`` says for each input whether its memory is in C order; by default all inputs are. If ``in_either_order``
    is True, matrices of which only products read elements may also be in Fortran order, and have gaps between their rows
    or columns (`Buffer.in_either_order`). ``blas_integer`` is
    the dtype of the integers that BLAS expects. If ``check_bounds`` is True, every access to memory is checked. If
    ``callbacks`` is True, nodes without a lowering become callbacks; otherwise `NotLowered` is raised for such a node.
    ``threads`` says which loops may run in several threads (`machine.threads.divided_loops`). If ``own_code`` is True, the
    program may call machine code of this package, else only libraries. ``states`` maps the position of an output to the
    position of the input that it updates; both must be tensors. The output may be written into the memory of this input.
    """
    state = ProgramState(name, _lower_callback if callbacks else None, blas_integer)
    state.builder.threads, state.own_code = threads, own_code and not check_bounds
    state.only_factors = _only_factors
    context = Context(state)
    starts, ends = _starts(inputs), _starts(outputs)
    updated = {ends[k]: starts[j] for k, j in (states or {}).items()}
    factors = set[Variable]()
    if in_either_order and not check_bounds and any(v.type.ndim == 2 for v in inputs):
        copied = [*outputs, *(inputs[j] for j in (states or {}).values())]
        factors = _only_factors(inputs, readers_of(order), copied)
    for i, variable in enumerate(inputs):
        in_order = contiguous is None or contiguous[i]
        context.add_input(variable, in_order and variable not in factors, variable in factors)
    context.lower_graph(order, outputs)
    program = context.finish(outputs, None if check_bounds else updated)
    if state.builder.foreign:
        _verify(program, list(state.builder.foreign))
    if not check_bounds:
        return program
    from occelo_link.loops.ir.bounds_checked import with_bounds_checks  # for debugging only

    return with_bounds_checks(program, context.builder)


def _only_factors(*arguments: Any) -> set[Variable]:
    from occelo_link.loops.lowerings.blas import only_factors  # seldom needed

    return only_factors(*arguments)


def _verify(program: Program, foreign: Sequence[str]) -> None:
    """TypeError if a program is not well formed. ``foreign`` are the names of the ops whose lowerings are from other
    packages.
    """
    from occelo_link.loops.ir.verify import InvalidProgram, verify  # seldom needed

    try:
        verify(program)
    except InvalidProgram as error:
        raise TypeError(
            f"The lowerings of other packages ({', '.join(foreign)}) make a wrong program: {error}"
        ) from None


def _starts(variables: Sequence[Variable]) -> list[int]:
    """The position of each variable's first array in the list of the arrays of all variables, and the length of this
    list.
    """
    counts = [len(parts_of_type(v.type)) for v in variables]
    return [0, *accumulate(counts)]
