"""Prints loop programs with long blocks as C. Each piece of a long block becomes a C function of its own.

`c.source` uses this printer for programs that `c.pieces` divides.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_link.c.literals import TYPES, memory_type
from occelo_link.c.pieces import Pieces
from occelo_link.c.printer import Printer, words_of
from occelo_link.loops.ir.program import Block, Buffer, For, Program, Statement, Value
from occelo_link.units.frame import GROW


class DividedPrinter(Printer):
    """Prints one program as several C functions.

    The functions share a struct, the state. The state contains the values and the addresses of buffers that more than
    one of the functions uses. The state lies in working memory, since the stack of a thread may be small.
    """

    def __init__(
        self, program: Program, function: str, helpers: dict[str, str], pieces: Pieces
    ) -> None:
        super().__init__(program, function, helpers)
        self.pieces = pieces
        self.fields: dict[str, str] = {}
        self.state = f"struct {function}_state"

    def run(self) -> str:
        self.block(self.program.body)
        fields = [f"{self.state} {{", *(f"  {text}" for text in self.fields.values()), "};"]
        memory = f"((grow_fn)table[{GROW}])(frame, sizeof({self.state}))"
        declared = ["i64 status;", f"{self.state} *s = {memory};", "if (!s) return -1;"]
        # addresses of buffers start as null pointers; values need no start, since they are set before they are read
        names = dict.fromkeys((*self.declarations.values(), *self.rooms.values()))
        declared += [f"{name} = 0;" for name in names]
        return "\n".join([*fields, *self.own.values(), *self.unit(declared)])

    def field(self, name: str, kind: str) -> str:
        """Add a field to the state. Returns an expression for the field."""
        self.fields[name] = f"{kind}{name};"
        return f"s->{name}"

    def shared(self, value: Value) -> str:
        """Return the field of a value."""
        return self.field(f"v{value.number}", f"{TYPES[value.dtype]} ")

    def address(self, buffer: Buffer) -> str:
        """Return the field of a buffer's address."""
        return self.field(buffer.name, f"{memory_type(buffer.dtype)} *")

    def room(self, buffer: Buffer) -> str:
        """Return the field of the size of a buffer's memory."""
        return self.field(f"{buffer.name}_room", "i64 ")

    def block(self, block: Block) -> None:
        if block not in self.pieces.divided:
            self.statements(block)
            return
        for piece in self.pieces.of(block):
            if self.pieces.encloses(piece[0]):
                self.statements(piece)
            else:
                self.piece(piece)

    def piece(self, statements: Sequence[Statement]) -> None:
        """Print a piece as a function, and print a call of this function."""
        crossing = self.pieces.crossing(statements)
        read, results = ([v for v in values if v.number in self.live] for values in crossing[:2])
        for value in read:
            if self.use(value) != self.shared(value):
                self.line(f"{self.shared(value)} = {self.use(value)};")
        outer = self.lines, self.names, self.declarations, self.rooms
        self.lines, self.names, self.declarations, self.rooms = [], {}, {}, {}
        self.statements(statements)
        self.lines += [f"  {self.shared(v)} = {self.use(v)};" for v in results]
        placed, rooms = dict.fromkeys((*self.declarations, *self.rooms)), list(self.rooms)
        self.lines += [f"  {self.address(b)} = {b.name};" for b in placed]
        self.lines += [f"  {self.room(b)} = {b.name}_room;" for b in rooms]
        words = words_of(self.lines)
        start = [
            f"{TYPES[v.dtype]} v{v.number} = {self.shared(v)};"
            for v in read
            if f"v{v.number}" in words
        ]
        start += [self.found(b) for b in crossing[2] if b.name in words]
        start += [f"i64 {b.name}_room = {self.room(b)};" for b in rooms]
        name = self.fresh(f"{self.function_name}_piece")
        head = f"static NOT_INLINED i64 {name}(i64 *frame UNUSED, void **table UNUSED, {self.state} *s UNUSED) {{"
        declared = [f"  {text}" for text in start]
        self.own[name] = "\n".join([head, *declared, *self.lines, "  return 0;", "}"])
        self.lines, self.names, self.declarations, self.rooms = outer
        self.declarations.update((b, self.address(b)) for b in placed)
        self.rooms.update((b, self.room(b)) for b in rooms)
        self.names.update((v.number, self.shared(v)) for v in results)
        self.line(f"if ((status = {name}(frame, table, s))) return status;")

    def found(self, buffer: Buffer) -> str:
        """Return the declaration of a buffer's address at the start of a piece."""
        if buffer.space in ("input", "constant"):
            return self.given(buffer)
        return f"{memory_type(buffer.dtype)} *{buffer.name} = {self.address(buffer)};"

    def independent(self, loop: For) -> None:
        # not independent if the body is divided: then the values of an iteration are in the state, which all iterations
        # share
        if loop.body not in self.pieces.divided:
            super().independent(loop)
