"""The lines of a module of LLVM IR, and the names of what they define: what all parts of the printer share."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from occelo_link.loops.ir.program import Program
from occelo_link.native.llvm.literals import memory_type
from occelo_link.units.frame import table_slot

__all__ = ["USUAL", "Emission"]

USUAL = '!0 = !{!"branch_weights", i32 100000, i32 1}'
"""What branches refer to that `Emission.unless` prints; modules with such branches end with it."""


class _Entries(dict[str, str]):
    """Names of table entries inside a function, loaded from the table where it begins, on first use."""

    def __init__(self, out: Emission) -> None:
        super().__init__()
        self._out = out

    def __missing__(self, entry: str) -> str:
        out = self._out
        loaded = self[entry] = out.load_first("%table", table_slot(out.program, entry))
        return loaded


class Emission:
    """The function that is being printed, and those that are done.

    Of the function: ``allocas`` (memory on the stack), then the ``header`` (what is loaded once), then ``lines``;
    ``label`` is the basic block that lines are added to, ``entries`` are the names of table entries. Of the
    module: ``declared``, and the functions that are ``outlined``, by name and number of lanes.
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
        self.entries: dict[str, str] = _Entries(self)

    @contextmanager
    def function(self) -> Generator[None]:
        """Within it lines belong to a function of its own, which gets the table."""
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

    def unless(self, condition: str, usual: str, rare: str) -> None:
        """Go on at ``usual`` where a condition holds, and at ``rare`` where not, which is seldom.

        LLVM takes two ways for about equally likely otherwise, so what follows many checks would seem to run less often
        than what comes before them, even in loops, and registers would go to the latter.
        """
        self.line(f"br i1 {condition}, label %{usual}, label %{rare}, !prof !0")

    def new_label(self, hint: str) -> str:
        self.count += 1
        return f"{hint}{self.count}"

    def new_labels(self, *hints: str) -> list[str]:
        return [self.new_label(hint) for hint in hints]

    def place(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.label = label

    def declare(self, text: str) -> None:
        self.declared.add(text)

    def open_phi(self, kind: str, first: str, before: str) -> tuple[int, str]:
        """Begin a phi, whose second way in is not printed yet: where to add it, and its name."""
        name = self.fresh()
        self.lines.append(f"  {name} = phi {kind} [ {first}, %{before} ], ")
        return len(self.lines) - 1, name

    def close_phi(self, position: int, value: str, end: str) -> None:
        """The second way into a phi: a value from where ``end`` ends."""
        self.lines[position] += f"[ {value}, %{end} ]"

    # what is loaded first, and memory of the stack

    def load_first(self, base: str, slot: int, kind: str = "ptr") -> str:
        """Load what is in a slot of 8 bytes where the function begins."""
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
            self.entries[key] = self.load_first("%table", slot)
        return self.entries[key]

    def held(self, value: str, dtype: str) -> str:
        """The address of memory of a call's own that holds a value."""
        name = f"%ref{len(self.allocas)}"
        self.allocas.append(f"  {name} = alloca {memory_type(dtype)}, align 8")
        self.line(f"store {memory_type(dtype)} {value}, ptr {name}, align 8")
        return name
