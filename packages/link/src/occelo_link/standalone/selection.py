"""Finds the unit of a compiled function that runs without Python, or says why there is none.

`c_function` uses the unit that the function has. Only where this unit calls threads of Python, reads strides of inputs, or
does not compute all outputs, the graph is compiled again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from occelo_graph import Apply, Variable
from occelo_graph.errors import describe
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_link.blocks.linker import BlockLinker
from occelo_link.blocks.partition import Part
from occelo_link.blocks.vm import BlockVM
from occelo_link.linker import VM, WrappingVM
from occelo_link.native.linker import NativeLinker
from occelo_link.units.unit import NativeUnit

if TYPE_CHECKING:
    from occelo_link.loops.ir.program import Program


class NeedsPython(TypeError):
    """A function cannot run without Python. The message names the op and the user's variable."""


@frozen_dataclass(eq=False)
class Chosen:
    """A unit that runs without Python.

    ``inputs`` and ``outputs`` are the positions of its inputs and outputs in the graph. ``program`` returns its loop
    program, for which the graph may be rewritten again.
    """

    unit: NativeUnit
    inputs: Sequence[int]
    outputs: Sequence[int]
    program: Callable[[], Program]


class _WithoutThreads(NativeLinker):
    """The linker ``native``, whose units never call threads of Python, and get only arrays in C order."""

    takes_either_order = False
    optimizes_later = False

    def threaded(self) -> bool:
        return False


def block_of(function: Any) -> tuple[Part, NativeUnit | None]:
    """Return the only block of a compiled function, and its unit.

    The unit is None if the graph has no nodes. Raises `NeedsPython` if a part of the graph runs in Python, and TypeError
    if the mode makes no machine code of whole blocks.
    """
    linker = function.maker.mode.linker
    if not isinstance(linker, BlockLinker) or linker.name not in ("native", "c"):
        raise TypeError(
            f"Functions without Python are compiled in the modes native and c, not {linker}"
        )
    vm: VM = function.vm
    if isinstance(vm, WrappingVM):  # of a profile
        vm = vm.vm
    if not isinstance(vm, BlockVM):
        raise _needs_python(
            [n for n in function.maker.fgraph.toposort() if not _is_lowered(linker, n)]
        )
    nodes = vm.python_nodes
    if nodes:
        raise _needs_python(nodes)
    if not vm.parts:
        inputs = list(function.maker.call_graph.inputs)
        return Part(True, [], inputs, []), None
    (part,), (unit,) = vm.parts, vm.units
    assert isinstance(unit, NativeUnit)
    return part, unit


def _is_lowered(linker: BlockLinker, node: Apply) -> bool:
    return linker.compilable([node])(node, True)


def _needs_python(nodes: Sequence[Apply]) -> NeedsPython:
    from occelo_link.loops.python_only import reason_for_python  # slow to import

    node = nodes[0]
    output: Variable = node.outputs[0]
    reason = reason_for_python(node)
    because = f": {reason}" if reason else ""
    return NeedsPython(
        f"The function needs Python. The op {node.op} of {describe(output)} runs in Python{because}"
    )


def choose(function: Any) -> Chosen:
    """Return the unit of a function. Raises what `block_of` raises."""
    part, unit = block_of(function)
    graph = function.maker.call_graph
    computes_all = list(part.outputs) == list(graph.outputs)
    if unit is not None and computes_all and _is_for_c(unit):
        unit.optimize()
        positions = [graph.inputs.index(v) for v in part.inputs]
        return Chosen(unit, positions, range(len(graph.outputs)), lambda: _program(function, unit))
    whole = whole_part(function)
    linker = _WithoutThreads()
    program = linker.program(whole)
    compiled = linker.compile(program, whole)
    assert isinstance(compiled, NativeUnit)
    inputs = [function.maker.fgraph.inputs.index(v) for v in whole.inputs]
    return Chosen(compiled, inputs, range(len(graph.outputs)), lambda: program)


def _is_for_c(unit: NativeUnit) -> bool:
    """Whether a unit calls no threads of Python, and reads no strides of its inputs."""
    return "service:parallel" not in unit.interface.table and not unit.in_either_order


def whole_part(function: Any) -> Part:
    """Return the block of a function with its nodes. Its outputs are all outputs of the graph.

    Raises what `block_of` raises.
    """
    part, _ = block_of(function)
    whole = part if part.remake is None else part.remake()
    outputs = list(function.maker.fgraph.outputs)
    if whole.outputs == outputs:
        return whole
    missing = [v for v in outputs if v in function.maker.fgraph.inputs]
    return replace(
        whole, inputs=list(dict.fromkeys([*whole.inputs, *missing])), outputs=outputs, states={}
    )


def _program(function: Any, unit: NativeUnit) -> Program:
    if unit.program is not None:
        return unit.program
    linker = function.maker.mode.linker
    program: Program = linker.program(whole_part(function))
    return program


def meaning(node: Apply | None) -> str:
    """Return what it means that a check of a node has failed."""
    where = "a check" if node is None else f"a check of {node.op}: {describe(node.outputs[0])}"
    return f"{where} failed"
