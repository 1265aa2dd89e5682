"""`ModuleWriter` collects the text of a module of LLVM IR: its lines, names and labels.

`printer` makes a writer for each loop program, and all parts of the LLVM printer write to it. `exports` makes a writer
for each function that it prints.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Generator
from contextlib import contextmanager

from occelo_link.loops.ir.program import Program
from occelo_link.native.llvm.literals import memory_type
from occelo_link.units.frame import table_slot

BRANCH_WEIGHTS = '!0 = !{!"branch_weights", i32 100000, i32 1}'
"""The metadata that branches printed by `ModuleWriter.branch_likely` refer to. `printer` puts it at a module's end."""


@functools.cache
def fixed_function(name: str) -> str:
    """Return the definition of a function that several units contain.

    Its source is in ``loops.c``, and ``loops.ll`` is made from that (``packages/link/llvm_from_c.py``).
    """
    with open(os.path.join(os.path.dirname(__file__), "loops.ll"), encoding="utf-8") as file:
        text = file.read()
    match = re.search(rf"^define ([^\n]* @{name}\(.*?^\}})", text, re.MULTILINE | re.DOTALL)
    assert match is not None
    return f"define internal {match[1]}"


class _TableEntries(dict[str, str]):
    """Maps table entries to their names in the current function.

    The first use of an entry adds a load of its address to the start of the function.
    """

    def __init__(self, out: ModuleWriter) -> None:
        super().__init__()
        self._out = out

    def __missing__(self, entry: str) -> str:
        out = self._out
        loaded = self[entry] = out.load_at_start("%table", table_slot(out.program, entry))
        return loaded


class ModuleWriter:
    """The text of a module: the function that is being printed, and the finished functions.

    The text of the current function consists of ``allocas`` (memory on the stack), ``header`` (loads at its start) and
    ``lines``. ``label`` is the label of the current basic block. ``entries`` has the names of table entries.
    ``declared`` are declarations of the module, and ``outlined`` are finished functions by their name and number of
    lanes.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.declared: set[str] = set()
        self.outlined: dict[tuple[str, int], str] = {}
        self._begin()

    def _begin(self) -> None:
        self.lines: list[str] = []
        self.allocas: list[str] = []
        self.header: list[str] = []
        self.label = "entry"
        self.count = 0
        self.entries: dict[str, str] = _TableEntries(self)

    @contextmanager
    def function(self) -> Generator[None]:
        """A context in which lines belong to a new function, whose last argument is the table.

        Names are counted anew, so that functions that do the same have the same text.
        """
        outer = self.lines, self.allocas, self.header, self.label, self.entries, self.count
        self._begin()
        yield
        self.lines, self.allocas, self.header, self.label, self.entries, self.count = outer

    # names and lines

    def fresh(self) -> str:
        self.count += 1
        return f"%t{self.count}"

    def emit(self, text: str) -> str:
        self.count += 1
        name = f"%t{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def branch_likely(self, condition: str, likely: str, unlikely: str) -> None:
        """Print a branch to ``likely`` if a condition holds, and otherwise to ``unlikely``.

        Branch weights tell LLVM the odds. Without weights LLVM assumes that both targets are about equally likely. A
        loop behind many checks would then seem to run rarely. So LLVM would assign the registers to the code before the
        loop.
        """
        self.line(f"br i1 {condition}, label %{likely}, label %{unlikely}, !prof !0")

    def new_label(self, hint: str) -> str:
        self.count += 1
        return f"{hint}{self.count}"

    def new_labels(self, *hints: str) -> list[str]:
        return [self.new_label(hint) for hint in hints]

    def start_block(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.label = label

    def declare(self, text: str) -> None:
        self.declared.add(text)

    def open_phi(self, kind: str, first: str, before: str) -> tuple[int, str]:
        """Print a phi without its second incoming value, which `close_phi` adds. Returns the position of its line, and
        its name.
        """
        name = self.fresh()
        self.lines.append(f"  {name} = phi {kind} [ {first}, %{before} ], ")
        return len(self.lines) - 1, name

    def close_phi(self, position: int, value: str, end: str) -> None:
        """Add the second incoming value of a phi, which comes from the block ``end``."""
        self.lines[position] += f"[ {value}, %{end} ]"

    # loads at the start, and memory on the stack

    def load_at_start(self, base: str, slot: int, kind: str = "ptr") -> str:
        """Load a slot of 8 bytes at the start of the function. Returns the name of the loaded value."""
        address, loaded = self.fresh(), self.fresh()
        self.header.append(f"  {address} = getelementptr i64, ptr {base}, i64 {slot}")
        self.header.append(f"  {loaded} = load {kind}, ptr {address}, align 8")
        return loaded

    def load_entries(self) -> None:
        """Load the addresses of all entries of the table at the start of the function."""
        for name in self.program.table:
            self.entries[name]

    def service(self, slot: int) -> str:
        """Return the name of a service's address, which is loaded at the start of the function."""
        key = f"service{slot}"
        if key not in self.entries:
            self.entries[key] = self.load_at_start("%table", slot)
        return self.entries[key]

    def on_stack(self, kind: str) -> str:
        """Reserve memory on the stack for a value of LLVM's type ``kind``. Returns its address."""
        name = f"%ref{len(self.allocas)}"
        self.allocas.append(f"  {name} = alloca {kind}, align 8")
        return name

    def reference_to(self, value: str, dtype: str) -> str:
        """Print code that stores a value on the stack. Returns the address of the value."""
        name = self.on_stack(memory_type(dtype))
        self.line(f"store {memory_type(dtype)} {value}, ptr {name}, align 8")
        return name
