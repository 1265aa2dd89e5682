"""Divides long blocks of a loop program into pieces, each of which is printed as a C function.

The time that C compilers need grows with the square of the length of a function's blocks. `c.source` and `c.divided`
use `Pieces` to print long programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from occelo_link.loops.ir.program import Block, Buffer, Program, Statement, Value
from occelo_link.loops.ir.uses import defined_in, used_by

_LONG = 2000
"""Blocks with more statements than this are divided."""
_PIECE = 250
"""The most statements of a piece, including those in nested blocks. A piece of one statement may have more."""


class Pieces:
    """The division of a program into pieces. ``divided`` is empty if no block of the program is long."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.divided: set[Block] = set()
        """The blocks that are divided: long blocks, all blocks around them, and the other blocks of the same loops and
        branches.
        """
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
        """Iterate over the pieces of a divided block, in order.

        A statement that contains a divided block is yielded in a list of its own. Such a statement does not become a
        function: it stays in its place, and its blocks are divided.
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
        """Whether a statement contains a divided block."""
        return not self.divided.isdisjoint(statement.blocks)

    def crossing(self, piece: Sequence[Statement]) -> tuple[list[Value], list[Value], list[Buffer]]:
        """Return the values and buffers that a piece shares with the rest of the program, in three lists.

        The lists are the values that the piece reads but does not define, the values that the piece defines and that
        other code reads, and all buffers that the piece uses.
        """
        own = {v.number for v in defined_in(piece)}
        used = dict.fromkeys(used_by(piece))
        read = [v for v in used if isinstance(v, Value) and v.op != "const" and v.number not in own]
        uses = _count(piece)
        results = [v for v in defined_in(piece) if self._uses[v.number] > uses[v.number]]
        return read, results, [b for b in used if isinstance(b, Buffer)]


def _count(statements: Iterable[Statement]) -> Counter[int]:
    return Counter(v.number for v in used_by(statements) if isinstance(v, Value))


def _size(statement: Statement) -> int:
    """Return the number of statements, including those in nested blocks."""
    return 1 + sum(_size(s) for block in statement.blocks for s in block)
