"""Prints loop programs as C files.

The linkers ``c`` and ``c|py`` compile the text, and `dumping` writes it to files. It includes no header files.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_link.c.divided import DividedPrinter
from occelo_link.c.pieces import Pieces
from occelo_link.c.prelude import PRELUDE
from occelo_link.c.printer import Printer
from occelo_link.loops.ir.program import Program

__all__ = ["print_c"]


def print_c(programs: Sequence[tuple[str, Program]]) -> str:
    """Return a C file that defines a function for each program, under the given names."""
    bodies: list[str] = []
    helpers: dict[str, str] = {}
    for name, program in programs:
        pieces = Pieces(program)
        if pieces.divided:
            bodies.append(DividedPrinter(program, name, helpers, pieces).run())
        else:
            bodies.append(Printer(program, name, helpers).run())
    return "\n".join([PRELUDE, *helpers.values(), "", *bodies])
