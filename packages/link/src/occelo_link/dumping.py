"""Writes a graph and its compiled blocks to files: as loop programs, LLVM IR, assembly and C.

`Function.dump` calls `dump_graph` for users who want to read the code of a function. The blocks and their code are
those of the linker ``native``, even if another linker compiled the function.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from occelo_graph import Apply, FunctionGraph
from occelo_link.c.source import print_c
from occelo_link.loops.ir.text import program_text
from occelo_link.native.linker import NativeLinker
from occelo_link.native.llvm import print_llvm
from occelo_link.units.engine import assembly


def dump_graph(fgraph: FunctionGraph, directory: Path) -> list[Path]:
    """Write a graph to one file, and each compiled block to four files: its loop program, LLVM IR, assembly and C.

    The nodes between two blocks run in Python; a further file lists these nodes. The directory is made if it is
    missing. Returns the paths of the files.
    """
    directory.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []

    def write(name: str, text: str) -> None:
        path = directory / name
        path.write_text(text, encoding="utf-8")
        written.append(path)

    write("graph.txt", str(fgraph.dprint(file="str")))
    order: Sequence[Apply] = fgraph.toposort()
    linker = NativeLinker()
    parts = linker.parts(fgraph, order)
    if parts is None:
        return written  # nothing is compiled: the graph runs in Python, on demand
    for number, part in enumerate(parts):
        if not part.compiled:
            listed = "".join(f"{node.op}\n" for node in part.nodes)
            write(f"block{number}.python.txt", listed)
            continue
        program = linker.program(part)
        ir = print_llvm(program)
        write(f"block{number}.program.txt", program_text(program))
        write(f"block{number}.ll", ir)
        write(f"block{number}.s", assembly(ir))
        write(f"block{number}.c", print_c([("unit", program)]))
    return written
