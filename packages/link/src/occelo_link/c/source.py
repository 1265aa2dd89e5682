"""Prints loop programs as C files, which include no header files.

The linkers ``c`` and ``c|py`` compile the printed text, and `dumping` writes it to files.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_link.c.divided import DividedPrinter
from occelo_link.c.pieces import Pieces
from occelo_link.c.prelude import PRELUDE
from occelo_link.c.printer import Printer
from occelo_link.loops.ir.program import Program


def print_c(programs: Sequence[tuple[str, Program]], threads: bool = False) -> str:
    """Return the text of a C file that defines a function for each pair of a name and a program.

    If ``threads`` is true, loops may run in several threads, but those of programs with long blocks.
    """
    bodies: list[str] = []
    helpers: dict[str, str] = {}
    for name, program in programs:
        pieces = Pieces(program)
        if pieces.divided:
            bodies.append(DividedPrinter(program, name, helpers, pieces).run())
        else:
            bodies.append(Printer(program, name, helpers, threads).run())
    return "\n".join([PRELUDE, *helpers.values(), "", *bodies])
