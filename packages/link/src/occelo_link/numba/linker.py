"""The linker ``numba``, which prints each block as one Python function and lets Numba compile it.

`registry` imports this module when a mode names the linker.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from typing import Any

from occelo_graph import Op
from occelo_graph.provenance import warn_user
from occelo_link.blocks.linker import BlockLinker
from occelo_link.blocks.partition import Part
from occelo_link.cache.objects import object_code
from occelo_link.libraries import require
from occelo_link.linker import VM, Linking, Scheduler
from occelo_link.loops.build import find_lowering
from occelo_link.loops.ir.program import Program
from occelo_link.native.linker import compiled_by_llvm
from occelo_link.numba.printer import Printed, print_numba
from occelo_link.units.engine import load_object
from occelo_link.units.interface import UnitInterface
from occelo_link.units.unit import NativeUnit
from occelo_rewrite import RewriteDatabaseQuery

_LONG_BLOCK = 300
"""Numba compiles a program only if no block of the program has more statements than this number.

A program with a longer block is compiled as by ``native``, with the same results. Numba would inline all functions that
such a block calls, and the time of compiling grows faster than the number of statements: a block of 500 statements took
15 s, and one of 2,000 took 100 s.
"""
_LONG_PROGRAM = 1000
"""Numba compiles a program only if all blocks together have at most this number of statements.

The time of compiling grows faster than the number of statements, too: 190 statements in 19 blocks took 2.5 s, 950 in 81
blocks 14 s, and 1,200 in 89 blocks 27 s.
"""

# checked here, since cached code needs no Numba, so that a missing Numba would be noticed only later
require("numba")


@cache
def _numba() -> str:
    return f"numba {version('numba')}"


def _compiled(printed: Printed) -> bytes:
    from occelo_link.numba.compiling import (
        compile_printed,  # cached code needs no Numba
    )

    return compile_printed(printed)


class NumbaLinker(BlockLinker):
    """The linker ``numba``: compiles each block as one Numba function. Results have the same bits as those of
    ``native``.

    A node without a lowering to loops runs in Python, as a callback. If its op has effects and the node is in no
    region, it runs between blocks instead. There is one warning for each op without a lowering. If ``strict`` is true,
    such an op raises NotImplementedError when the graph is linked.
    """

    name = "numba"
    takes_states = True
    incompatible_rewrites = RewriteDatabaseQuery(
        include=["cxx_only", "py_only", "BlasOpt", "fusion", "inplace"]
    )

    def __init__(
        self,
        *,
        allow_gc: bool | None = None,
        scheduler: Scheduler | None = None,
        strict: bool = False,
    ) -> None:
        super().__init__(allow_gc=allow_gc, scheduler=scheduler)
        self.strict = strict

    def make_vm(self, linking: Linking) -> VM:
        before = dict.fromkeys(n.op for n in linking.order if find_lowering(n) is None)
        self._tell(before)
        vm = super().make_vm(linking)
        inside = [n.op for n in vm.python_nodes if n.op not in before]
        self._tell(dict.fromkeys(inside))  # in bodies of loops
        return vm

    def unpack(self, *what: Any, **more: Any) -> VM | None:
        vm = super().unpack(*what, **more)
        if vm is not None:
            self._tell(dict.fromkeys(n.op for n in vm.python_nodes))
        return vm

    def _tell(self, ops: Iterable[Op]) -> None:
        for op in ops:
            message = f"numba has no {op}: it runs in Python, called by the compiled function"
            if self.strict:
                raise NotImplementedError(message)
            warn_user(message)

    def fingerprint(self) -> str | None:
        return _numba() if type(self) is NumbaLinker else None

    def compile(self, program: Program, part: Part) -> NativeUnit:
        lengths = [len(block.statements) for block in program.blocks()]
        if max(lengths) > _LONG_BLOCK or sum(lengths) > _LONG_PROGRAM:
            return compiled_by_llvm(program, part, threads=False)
        printed = print_numba(program)
        code = object_code(f"{_numba()}\n{printed}", lambda: _compiled(printed))
        unit = NativeUnit(UnitInterface.of(program, part.inputs), load_object(code), program)
        unit.code = code
        return unit
