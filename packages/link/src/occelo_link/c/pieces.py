"""Divides long blocks of a loop program into pieces, each of which is printed as a C function.

The time that C compilers need grows with the square of the length of a function's blocks. `c.printer` asks `Pieces` how
to divide a program. The pieces of a program share a struct with the values and buffers that several of them use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from occelo_link.loops.ir.program import Block, Buffer, Program, Statement, Value
from occelo_link.loops.ir.uses import defined_in, used_by

__all__ = ["Pieces"]

_LONG = 2000
"""Blocks with more statements than this are divided."""
_PIECE = 250
"""A piece has at most this many statements, including those in nested blocks, unless it is one statement."""


class Pieces:
    """Says which blocks of a program are divided, and how."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.divided: set[Block] = set()
        """The long blocks, all blocks around them, and the other blocks of the same loops and branches."""
        for block in program.blocks():
            inner: Block | None = block if len(block.statements) > _LONG else None
            while inner is not None and inner not in self.divided:
                self.divided.add(inner)
                inner = inner.parent
        for block in list(self.divided):
            for statement in filter(self.encloses, block):
                self.divided.update(statement.blocks)

    @cached_property
    def _uses(self) -> Counter[int]:
        """The number of uses of each value in the program."""
        return _count(self._program.body)

    def of(self, block: Block) -> Iterator[list[Statement]]:
        """The pieces of a divided block, in order.

        A statement with a divided block is alone, and the only one in its list. It is no piece: it is printed where it
        is, and its blocks are divided.
        """
        piece: list[Statement] = []
        room = _PIECE
        for statement in block:
            size = _size(statement)
            if piece and (size > room or self.encloses(statement)):
                yield piece
                piece, room = [], _PIECE
            piece.append(statement)
            room -= size
            if self.encloses(statement):
                yield piece
                piece, room = [], _PIECE
        if piece:
            yield piece

    def encloses(self, statement: Statement) -> bool:
        """Whether a block of the statement is divided."""
        return not self.divided.isdisjoint(statement.blocks)

    def crossing(self, piece: Sequence[Statement]) -> tuple[list[Value], list[Value], list[Buffer]]:
        """What a piece has in common with the rest of the program.

        These are the values that it reads and does not define, the values that it defines and others read, and the
        buffers that it uses.
        """
        own = {v.number for v in defined_in(piece)}
        used = dict.fromkeys(used_by(piece))
        read = [v for v in used if isinstance(v, Value) and v.op != "const" and v.number not in own]
        uses = _count(piece)
        given = [v for v in defined_in(piece) if self._uses[v.number] > uses[v.number]]
        return read, given, [b for b in used if isinstance(b, Buffer)]


def _count(statements: Iterable[Statement]) -> Counter[int]:
    return Counter(v.number for v in used_by(statements) if isinstance(v, Value))


def _size(statement: Statement) -> int:
    """The number of statements, including those in nested blocks."""
    return 1 + sum(_size(s) for block in statement.blocks for s in block)
