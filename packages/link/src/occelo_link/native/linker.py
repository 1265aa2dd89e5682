"""The linker ``native``, which compiles blocks to machine code through LLVM. It needs no compiler on the machine.

``native`` is the default linker: `registry` makes it for the names ``native`` and ``auto``. `dumping` uses it to show
the code of any function, and the linker ``pytorch`` to compile loops. The linker ``numba`` calls
`compiled_by_llvm` for long loop programs, and for those with a long block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from occelo_link.blocks.linker import BlockLinker
from occelo_link.blocks.partition import Part
from occelo_link.cache.objects import object_code
from occelo_link.options import LLVM_LEVEL
from occelo_link.units.engine import compile_module, load_object
from occelo_link.units.interface import UnitInterface
from occelo_link.units.plain_units import PlainUnit, code_and_source
from occelo_link.units.unit import NativeUnit

if TYPE_CHECKING:
    from occelo_link.loops.ir.program import Program

_LONG_RUN = 1500
"""The length of the longest basic block, in operations, up to which LLVM's optimization level is 1.

With longer blocks the level is 0, because the time of level 1 is quadratic in the length of a block.
"""
_LONG_PROGRAM = 20_000
"""The length of a program, in statements, up to which LLVM's optimization level is 1.

The time of level 1 is quadratic in the length of a function, too: 80,000 statements took 31 s, and 3 s at level 0, whose
code took 1.2 times as long.
"""
_MOST_LABELS = 5_000
"""The number of basic blocks of LLVM IR up to which LLVM's optimization level is 1.

The time of level 1 to assign registers is quadratic in this number: 333 branches one after the other have 9,800 blocks and
took 14.4 s, and 0.5 s at level 0. The code of level 0 took 1.5 times as long in a program of 100 loops.
"""


def longest_run(program: Program) -> int:
    """Return the length of a program's longest basic block, in operations."""
    from occelo_link.loops.ir.program import Value  # slow, not needed for cached code

    longest = 0
    for block in program.blocks():
        run = 0
        for statement in block:
            run = run + 1 if isinstance(statement, Value) else 0
            longest = max(longest, run)
    return longest


def optimization_level(program: Program, text: str) -> int:
    """Return the optimization level of LLVM for a program, whose LLVM IR is ``text``: the option's, if it names one."""
    chosen: int | None = LLVM_LEVEL.get()
    if chosen is not None:
        return chosen
    if text.count(":\n") > _MOST_LABELS:
        return 0
    length = sum(len(block.statements) for block in program.blocks())
    return 0 if length > _LONG_PROGRAM or longest_run(program) > _LONG_RUN else 1


def compiled_by_llvm(
    program: Program, part: Part, *, threads: bool, later: bool = False
) -> NativeUnit:
    """Print a program as LLVM IR, compile the IR, and return the unit.

    If ``threads`` is true, loops of the unit may run in several threads. If ``later`` is true, the unit is optimized once
    that is worth it, unless the option says how much it is to be optimized.
    """
    from occelo_link.native.llvm import print_llvm  # slow, not needed for cached code

    text = print_llvm(program, threads=threads)
    level = optimization_level(program, text)
    interface = UnitInterface.of(program, part.inputs)
    if later and level == 1 and LLVM_LEVEL.get() is None:
        return NativeUnit(interface, PlainUnit(*code_and_source(text)), program)
    code = object_code(f"{level}\n{text}", lambda: compile_module(text, level=level))
    unit = NativeUnit(interface, load_object(code), program)
    unit.code = code
    return unit


class NativeLinker(BlockLinker):
    """The linker ``native``: compiles each block to machine code. TypeError for unknown options."""

    name = "native"
    takes_states = True
    optimizes_later = True
    """Whether units are optimized only after they have run for a while."""

    def fingerprint(self) -> str | None:
        text = f"{self.name}{('', ' in threads', ' in threads, and steps')[self.threaded()]}"
        return text if type(self) is NativeLinker else None

    def threaded(self) -> int:
        from occelo_link.machine.threads import divided_loops  # importing compiles nothing yet

        return divided_loops()

    def compile(self, program: Program, part: Part) -> NativeUnit:
        return compiled_by_llvm(
            program, part, threads=self.threaded() > 0, later=self.optimizes_later
        )
