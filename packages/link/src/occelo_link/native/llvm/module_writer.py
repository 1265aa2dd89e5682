"""`ModuleWriter`: collects the lines, names and labels of a module of LLVM IR.

`printer` makes a writer for each loop program, and all parts of the printer write to it; `exports` makes others.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from occelo_link.loops.ir.program import Program
from occelo_link.native.llvm.literals import memory_type
from occelo_link.units.frame import table_slot

__all__ = ["BRANCH_WEIGHTS", "ModuleWriter"]

BRANCH_WEIGHTS = '!0 = !{!"branch_weights", i32 100000, i32 1}'
"""The metadata to which `ModuleWriter.branch_likely` refers. Modules with such branches end with it."""


class _TableEntries(dict[str, str]):
    """Names of table entries within a function; the first use adds a load to the start of the function."""

    def __init__(self, out: ModuleWriter) -> None:
        super().__init__()
        self._out = out

    def __missing__(self, entry: str) -> str:
        out = self._out
        loaded = self[entry] = out.load_at_start("%table", table_slot(out.program, entry))
        return loaded


class ModuleWriter:
    """The current function and the finished functions of a module.

    The text of the current function is ``allocas`` (memory on the stack), the ``header`` (loads at its start), then
    ``lines``. ``label`` is the current basic block, ``entries`` are the names of table entries. The module has
    declarations (``declared``) and ``outlined`` functions, by name and number of lanes.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.declared: set[str] = set()
        self.outlined: dict[tuple[str, int], str] = {}
        self.count = 0
        self._begin()

    def _begin(self) -> None:
        self.lines: list[str] = []
        self.allocas: list[str] = []
        self.header: list[str] = []
        self.label = "entry"
        self.entries: dict[str, str] = _TableEntries(self)

    @contextmanager
    def function(self) -> Generator[None]:
        """Within the ``with`` block, lines belong to a new function, which gets the table."""
        outer = self.lines, self.allocas, self.header, self.label, self.entries
        self._begin()
        yield
        self.lines, self.allocas, self.header, self.label, self.entries = outer

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
        """Branch to ``likely`` if a condition holds, else to ``unlikely``.

        Without branch weights LLVM takes both branches for about equally likely. A loop behind many checks would then
        seem to run rarely, so LLVM would give the registers to the code before the loop.
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
        """Begin a phi whose second incoming value is added by `close_phi`; returns its line and its name."""
        name = self.fresh()
        self.lines.append(f"  {name} = phi {kind} [ {first}, %{before} ], ")
        return len(self.lines) - 1, name

    def close_phi(self, position: int, value: str, end: str) -> None:
        """Add the second incoming value of a phi, from the block ``end``."""
        self.lines[position] += f"[ {value}, %{end} ]"

    # loads at the start, and memory on the stack

    def load_at_start(self, base: str, slot: int, kind: str = "ptr") -> str:
        """Load a slot of 8 bytes at the start of the function."""
        address, loaded = self.fresh(), self.fresh()
        self.header.append(f"  {address} = getelementptr i64, ptr {base}, i64 {slot}")
        self.header.append(f"  {loaded} = load {kind}, ptr {address}, align 8")
        return loaded

    def load_entries(self) -> None:
        """Load all entries of the table."""
        for name in self.program.table:
            self.entries[name]

    def service(self, slot: int) -> str:
        """The address of a service."""
        key = f"service{slot}"
        if key not in self.entries:
            self.entries[key] = self.load_at_start("%table", slot)
        return self.entries[key]

    def on_stack(self, kind: str) -> str:
        """The address of memory on the stack for a value of LLVM's type ``kind``."""
        name = f"%ref{len(self.allocas)}"
        self.allocas.append(f"  {name} = alloca {kind}, align 8")
        return name

    def reference_to(self, value: str, dtype: str) -> str:
        """The address of a temporary on the stack that holds a value."""
        name = self.on_stack(memory_type(dtype))
        self.line(f"store {memory_type(dtype)} {value}, ptr {name}, align 8")
        return name
