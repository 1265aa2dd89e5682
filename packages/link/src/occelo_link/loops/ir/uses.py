"""Finds the values and buffers that blocks of a loop program use, and the buffers that nested blocks allocate.

The printers use these functions to decide where memory is allocated, which variables an outlined loop captures, and
which constants need names.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator

from occelo_link.loops.ir.program import (
    Alloc,
    Block,
    Buffer,
    Check,
    For,
    If,
    Invoke,
    Pointer,
    Program,
    Reference,
    Statement,
    Store,
    Swap,
    Value,
    While,
    itemsize,
)
from occelo_link.loops.ir.visitor import Visitor


class _Used(Visitor[Iterable[Value | Buffer]]):
    """Visitor that returns the values and buffers that a statement itself uses, without those used only in its nested
    blocks.
    """

    def value(self, value: Value) -> Iterable[Value | Buffer]:
        return [a for a in value.args if isinstance(a, Value | Buffer)]

    def store(self, statement: Store) -> Iterable[Value | Buffer]:
        return (statement.buffer, statement.offset, statement.value)

    def loop(self, loop: For) -> Iterable[Value | Buffer]:
        yield from (loop.start, loop.stop)
        for each in loop.carried:
            yield from (each.initial, each.following)

    def while_loop(self, loop: While) -> Iterable[Value | Buffer]:
        yield loop.condition
        for each in loop.carried:
            yield from (each.initial, each.following)

    def branch(self, statement: If) -> Iterable[Value | Buffer]:
        yield statement.condition
        for _, then, orelse in statement.results:
            yield from (then, orelse)

    def check(self, statement: Check) -> Iterable[Value | Buffer]:
        return (statement.condition,)

    def alloc(self, statement: Alloc) -> Iterable[Value | Buffer]:
        yield statement.buffer
        yield from (statement.size, *statement.lengths)
        if statement.reuse is not None:
            yield statement.reuse

    def swap(self, statement: Swap) -> Iterable[Value | Buffer]:
        return (statement.first, statement.second)

    def invoke(self, statement: Invoke) -> Iterable[Value | Buffer]:
        for argument in statement.args:
            if isinstance(argument, Pointer):
                yield argument.buffer
                yield argument.offset
            else:
                yield argument.value if isinstance(argument, Reference) else argument


class _Defined(Visitor[Iterable[Value]]):
    """Visitor that returns the values that a statement itself defines, without those of its nested blocks."""

    def none(self, statement: Statement, /) -> Iterable[Value]:
        return ()

    def value(self, value: Value) -> Iterable[Value]:
        return (value,)

    def loop(self, loop: For) -> Iterable[Value]:
        yield loop.index
        for each in loop.carried:
            yield from (each.param, each.result)

    def while_loop(self, loop: While) -> Iterable[Value]:
        for each in loop.carried:
            yield from (each.param, each.result)

    def branch(self, statement: If) -> Iterable[Value]:
        return [result for result, _, _ in statement.results]

    def invoke(self, statement: Invoke) -> Iterable[Value]:
        return () if statement.result is None else (statement.result,)

    store = check = alloc = swap = none


class _Placed(Visitor[Iterable[Buffer]]):
    """Visitor that returns the buffers whose memory a statement allocates or exchanges."""

    def none(self, statement: Statement, /) -> Iterable[Buffer]:
        return ()

    def alloc(self, statement: Alloc) -> Iterable[Buffer]:
        return (statement.buffer,)

    def swap(self, statement: Swap) -> Iterable[Buffer]:
        return (statement.first, statement.second)

    value = store = loop = while_loop = branch = check = invoke = none


_USED, _DEFINED, _PLACED = _Used(), _Defined(), _Placed()


def operands_first(
    value: Value, seen: Container[Value], follows: Callable[[Value], bool]
) -> Iterator[Value]:
    """The values from which ``value`` is computed, and ``value`` last, each once and after its operands.

    Values in ``seen`` are left out, also those that the caller adds meanwhile. The operands of a value are visited if
    ``follows`` holds for the value. The walk does not recurse: formulas may be as deep as a graph is long.
    """
    pending = [value]
    opened: set[Value] = set()
    while pending:
        each = pending[-1]
        if each in seen:
            pending.pop()
        elif each in opened or not follows(each):
            pending.pop()
            yield each
        else:
            opened.add(each)
            pending += [a for a in each.args[::-1] if isinstance(a, Value) and a not in seen]


def used_by(statements: Iterable[Statement]) -> Iterator[Value | Buffer]:
    """The values and buffers that statements and their nested blocks use.

    The same value or buffer may occur several times.
    """
    for statement in statements:
        yield from _USED.statement(statement)
        for inner in statement.blocks:
            yield from used_by(inner)


def defined_in(statements: Iterable[Statement]) -> Iterator[Value]:
    """The values that statements and their nested blocks define."""
    for statement in statements:
        yield from _DEFINED.statement(statement)
        for inner in statement.blocks:
            yield from defined_in(inner)


def captured_by(loop: For) -> list[Value | Buffer]:
    """The values and buffers from outside that the body of a loop uses, scratch first, without constant values."""
    inside = {v.number for v in defined_in([loop])}
    outside = [
        each
        for each in dict.fromkeys(used_by(loop.body))
        if isinstance(each, Buffer) or (each.op != "const" and each.number not in inside)
    ]
    return sorted(outside, key=lambda v: isinstance(v, Value) or v.scratch is None)


def scratch_of(loop: For) -> list[tuple[Value, int]] | None:
    """The lengths of the scratch memory that a loop uses, each with the bytes of an element. None if it has and calls none."""
    used = [v for v in captured_by(loop) if isinstance(v, Buffer)]
    scratch = [(v.scratch, itemsize(v.dtype)) for v in used if v.scratch is not None]
    return scratch if scratch or any(called_in(loop.body)) else None


def is_plain(block: Block) -> bool:
    """Whether a block allocates nothing, so that it may be a part of a function of its own."""
    return not any(placed_by(block)) and all(is_plain(b) for s in block for b in s.blocks)


def called_in(block: Block) -> Iterator[Invoke]:
    """The calls in a block and its nested blocks."""
    for statement in block:
        if isinstance(statement, Invoke):
            yield statement
        for inner in statement.blocks:
            yield from called_in(inner)


def placed_by(statements: Iterable[Statement]) -> Iterator[Buffer]:
    """The buffers whose memory the statements allocate or exchange, without those of their nested blocks.

    A buffer occurs once for each statement that does so.
    """
    for statement in statements:
        yield from _PLACED.statement(statement)


def nested_memory(program: Program) -> list[Buffer]:
    """The buffers that are allocated or exchanged in loops and branches, that is, perhaps not exactly once."""
    nested = (block for block in program.blocks() if block is not program.body)
    return list(dict.fromkeys(buffer for block in nested for buffer in placed_by(block)))


def constants_of(program: Program) -> list[Buffer]:
    """The buffers of constants that a program reads."""
    used = dict.fromkeys(used_by(program.body))
    return [v for v in used if isinstance(v, Buffer) and v.space == "constant"]


def live_values(program: Program) -> set[int]:
    """The numbers of the values that statements other than values use, directly or through other values.

    Of an allocation, only what it needs counts: the size or, of an output, the lengths, and neither if it takes over the
    memory of another buffer.
    """
    blocks = [*program.blocks(), *(f.body for f in program.functions.values())]
    pending: list[Value] = [f.result for f in program.functions.values()]
    for block in blocks:
        for statement in block:
            if isinstance(statement, Alloc):
                allocates = statement.reuse is None
                by_lengths = allocates and statement.buffer.space == "output"
                by_size = (allocates and not by_lengths) or statement.updates_input
                pending += [*statement.lengths] * by_lengths + [statement.size] * by_size
            elif not isinstance(statement, Value):
                pending += [v for v in _USED.statement(statement) if isinstance(v, Value)]
    live: set[int] = set()
    while pending:
        each = pending.pop()
        if each.number not in live:
            live.add(each.number)
            pending += [a for a in each.args if isinstance(a, Value)]
    return live
