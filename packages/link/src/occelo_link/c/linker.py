"""The linkers ``c`` and ``c|py``: ``c`` compiles whole blocks as C, and ``c|py`` compiles each node separately.

`registry` imports this module when a mode names one of them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from occelo_graph import Apply
from occelo_graph.interpret import has_run
from occelo_graph.ir.op import Kernel
from occelo_link.blocks.linker import BlockLinker
from occelo_link.blocks.partition import Part
from occelo_link.blocks.vm import recorded_effects, taking_values
from occelo_link.c.compiler import shared_library
from occelo_link.c.source import print_c
from occelo_link.cache.store import default_store
from occelo_link.linker import VM, Linking
from occelo_link.loops import build as build  # registers the lowerings
from occelo_link.loops.ir.program import Program
from occelo_link.loops.registry import find_lowering
from occelo_link.machine.threads import divided_loops
from occelo_link.units.interface import UnitFailure, UnitInterface
from occelo_link.units.unit import NativeUnit
from occelo_link.vm import PythonVM
from occelo_link.withheld_lowerings import running_kernel
from occelo_rewrite import RewriteDatabaseQuery


class SharedUnit:
    """The address of a compiled C function. The object keeps the shared library of the function loaded."""

    def __init__(self, library: ctypes.CDLL, function: str) -> None:
        self._library = library
        address = ctypes.cast(getattr(library, function), ctypes.c_void_p).value
        assert address is not None
        self.address = address


def _load(programs: Sequence[tuple[str, Program]], threads: bool = False) -> ctypes.CDLL:
    return shared_library(print_c(programs, threads), default_store())


class CLinker(BlockLinker):
    """The linker ``c``: compiles each block as one C function. TypeError for unknown options."""

    name = "c"
    takes_states = True

    def threaded(self) -> int:
        return divided_loops()

    def compile(self, program: Program, part: Part) -> NativeUnit:
        library = _load([("unit", program)], self.threaded() > 0)
        return NativeUnit(
            UnitInterface.of(program, part.inputs), SharedUnit(library, "unit"), program
        )


class OpWiseCLinker(BlockLinker):
    """The linker ``c|py``: compiles each node as one C function, and runs nodes without a lowering in Python.

    Nodes whose results may be views, and lazy nodes, also run in Python. There, a view is made without a copy, and only
    the branch that is taken runs. TypeError for unknown options.
    """

    name = "c|py"
    incompatible_rewrites = RewriteDatabaseQuery(
        include=["py_only", "accumulate_products", "inplace"]
    )

    def make_vm(self, linking: Linking) -> VM:
        kernels = self._kernels(linking.order)
        return PythonVM(linking, self.no_recycling, self.allow_gc, kernels=kernels)

    def _kernels(self, order: Sequence[Apply]) -> dict[Apply, Kernel]:
        parts: dict[Apply, Part] = {}
        for node in order:
            view = node.op.view_map or node.op.lazy
            if not view and find_lowering(node) is not None:
                read = [v for v in dict.fromkeys(node.inputs)]
                parts[node] = Part(True, [node], read, list(node.outputs))
        programs = [self.program(part) for part in parts.values()]
        names = [f"unit_{i}" for i in range(len(programs))]
        if not programs:
            return {}
        library = _load(list(zip(names, programs, strict=True)))
        return {
            node: _kernel(
                node,
                part,
                NativeUnit(UnitInterface.of(program, part.inputs), SharedUnit(library, name)),
            )
            for name, program, (node, part) in zip(names, programs, parts.items(), strict=True)
        }


def _kernel(node: Apply, part: Part, unit: NativeUnit) -> Kernel:
    positions = [node.inputs.index(v) for v in part.inputs]
    fallback = running_kernel(node)
    call = taking_values(unit, part.inputs, part.outputs)

    def running(*values: Any) -> Sequence[Any]:
        try:
            return call([values[i] for i in positions])
        except UnitFailure as failure:
            # run the node again with NumPy, which raises the same error with a full message
            with has_run(recorded_effects(failure, node, unit.effects()), (node,)):
                return fallback(*values)

    return running
