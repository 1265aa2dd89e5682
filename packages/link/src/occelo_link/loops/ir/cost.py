"""Estimates how much work loops do, and how much working memory programs need.

Printers use the estimates to choose how often loops poll for interrupts, and which loops they unroll. The textual form
of a program shows its working memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from occelo_link.loops.ir.operations import PRIMITIVES
from occelo_link.loops.ir.program import (
    Alloc,
    Block,
    For,
    If,
    Invoke,
    Program,
    Reference,
    Statement,
    Value,
    While,
    itemsize,
)
from occelo_link.loops.ir.uses import called_in, is_plain
from occelo_link.loops.ir.visitor import Visitor

BUDGET = 40_000_000
"""The number of operations between two polls for interrupts. That many operations take some tens of milliseconds."""
_UNKNOWN_ITERATIONS = 64
"""The number of iterations between two polls if the work of an iteration is unknown."""
_FEW, _SHORT = 8, 160
"""A loop is unrolled if it has at most `_FEW` iterations with at most `_SHORT` statements altogether."""
ENOUGH = 1_500_000
"""Loops with fewer operations (`parallel_work`) than this do not wake other threads.

That many take some 75 us. A thread that sleeps wakes within 5 us, and on some virtual machines within 40.
"""
BLAS_ALONE = 100_000
"""Loops that call BLAS or LAPACK, with more operations than this, are run by the service `PARALLEL`, which lets BLAS have one
thread, also if they do not wake other threads. Threads of BLAS took up to twice as long for matrices of 20 to 60 rows.
"""
ROW_PRODUCTS = "occelo_link.units.row_products:"
"""The first part of the names of products of ours."""
_SCALAR = 4
"""The number of operations on one lane that an operation of a loop without lanes counts as."""
_GUESSED = 8
"""The number of iterations of a loop whose number is not known."""
_LIBRARY = 4_000
"""The number of operations that a call of BLAS or LAPACK counts as, besides what it computes."""
_CALL = 20
"""The number of operations that a call counts as."""


class Work:
    """A number of operations: ``own`` operations, plus the work of inner loops.

    ``inner`` has a tuple for each inner loop: its start, its stop and the work of one iteration.
    """

    __slots__ = ("inner", "own")

    def __init__(self, own: int, inner: Sequence[tuple[Value, Value, Work]]) -> None:
        self.own = own
        self.inner = inner


_ONE = Work(1, ())
_ZERO = Value(0, "int64", "const", (0,), Block(None))
_UNKNOWN = Work(BUDGET // _UNKNOWN_ITERATIONS, ())


def iteration_work(loop: For | While) -> Work:
    """The approximate work of an iteration, as far as it is known before the loop begins.

    The work is unknown if the iteration computes the number of iterations of an inner loop, contains a while loop, or
    calls Python. Unknown work counts so much that only few iterations run between two polls.
    """
    return _Works(loop.body.depth if isinstance(loop, For) else -1).block(loop.body)


class _Works(Visitor[Work]):
    """Visitor that returns the work of a statement. Values are known if their block is less deep than ``before``."""

    def __init__(self, before: int, parallel: bool = False) -> None:
        self.before, self.parallel = before, parallel

    def block(self, block: Block) -> Work:
        works = [self.statement(statement) for statement in block]
        own = 1 + sum(work.own for work in works)
        return Work(own, [each for work in works for each in work.inner])

    def known(self, value: Value) -> bool:
        return value.op == "const" or value.block.depth < self.before

    def loop(self, loop: For) -> Work:
        if self.parallel:
            return self.cost(loop)
        if self.known(loop.start) and self.known(loop.stop):
            return Work(0, [(loop.start, loop.stop, self.block(loop.body))])
        most = _most_iterations(loop.start, loop.stop)
        if most is None:
            return _UNKNOWN
        work = self.block(loop.body)
        return _UNKNOWN if work.inner else Work(most * work.own, ())

    def while_loop(self, loop: While) -> Work:
        return self.repeated(loop.body, _SCALAR, _GUESSED) if self.parallel else _UNKNOWN

    def invoke(self, statement: Invoke) -> Work:
        """The work of a call. Of BLAS and LAPACK, it is about the product of the first three integers, which are lengths."""
        passed = [a.value for a in statement.args if isinstance(a, Reference)]
        plain = [v.args[0] if v.op == "cast" else v for v in passed]
        lengths = [v for v in plain if v.dtype == "int64" and self.known(v)]
        if not is_of_blas(statement) or not lengths:
            return _UNKNOWN
        work, vectors = _ONE, "gemv" in statement.entry
        for length in (lengths[:1] * (3 - len(lengths)) + lengths)[: 2 if vectors else 3]:
            work = Work(0, [(_ZERO, length, work)])
        return Work(_LIBRARY, work.inner)

    def one(self, statement: Statement, /) -> Work:
        return _ONE

    store = check = alloc = swap = one

    def branch(self, statement: If) -> Work:
        then, orelse = self.block(statement.then), self.block(statement.orelse)
        each = _SCALAR if self.parallel else 1
        return Work(each * (1 + then.own + orelse.own), [*then.inner, *orelse.inner])

    def value(self, value: Value) -> Work:
        return Work(_size(value), ())

    def of(self, body: Block, each: int, left_out: For | None = None) -> Work:
        """The work of an iteration, in which an operation counts as ``each``, without an inner loop that is ``left_out``."""
        own, inner = each, list[tuple[Value, Value, Work]]()
        for statement in body:
            if statement is not left_out:
                work = self.statement(statement)
                own += work.own if statement.blocks else each * work.own
                inner += work.inner
        return Work(own, inner)

    def repeated(self, body: Block, each: int, times: int) -> Work:
        work = self.of(body, each)
        return Work(times * work.own, work.inner)

    def cost(self, loop: For) -> Work:
        each = 1 if loop.lanes > 1 else _SCALAR
        if self.known(loop.start) and self.known(loop.stop):
            loops = [(s, n) for s in loop.body if isinstance(s, For) and (n := self.whole(loop, s))]
            part, length = loops[0] if loops else (None, loop.start)
            inner = [(loop.start, loop.stop, self.of(loop.body, each, part))]
            if part is not None:
                inner.append(
                    (loop.start, length, self.of(part.body, 1 if part.lanes > 1 else _SCALAR))
                )
            return Work(0, inner)
        most = _most_iterations(loop.start, loop.stop)
        return self.repeated(loop.body, each, _GUESSED if most is None else most)

    def whole(self, blocks: For, loop: For) -> Value | None:
        """The number of iterations of ``loop`` in all of ``blocks``, which each run over a part, or None if not known."""
        if loop.stop.op != "min" or blocks.index not in loop.start.args:
            return None
        return next((end for end in loop.stop.args if self.known(end)), None)


def parallel_work(loop: For) -> Work:
    """The work of an iteration, for the decision whether several threads are worth it.

    The unit is an operation on one lane, about 0.05 ns. Numbers of iterations that are not known before the loop are guessed.
    """
    each = 1 if loop.lanes > 1 else _SCALAR
    return _Works(loop.body.depth, parallel=True).of(loop.body, each)


def may_be_divided(loop: For, nested: bool) -> bool:
    """Whether a loop may run in several threads, and may have enough work for that. A ``nested`` loop must be known to have
    enough, unless it is a part of a step (`For.in_step`).

    It carries no value, allocates nothing, and calls nothing but BLAS and LAPACK.
    """
    if not loop.parallel or loop.carried or not is_plain(loop.body):
        return False
    here = not nested or loop.in_step or not may_be_small(loop)
    alone = all(map(is_of_blas, called_in(loop.body)))
    return alone and here and not is_short(loop, parallel_work(loop), ENOUGH)


def may_be_small(loop: For) -> bool:
    """Whether a loop, which is not always short, may have too little work for several threads."""
    return loop.stop.op != "const" or bool(parallel_work(loop).inner)


def least_work(loop: For) -> int:
    """From which work on the service `PARALLEL` runs a loop."""
    if any(not call.entry.startswith(ROW_PRODUCTS) for call in called_in(loop.body)):
        return min(ENOUGH, BLAS_ALONE)
    # what a step reads was written by the step before, and half of it then lies in the cache of another processor
    return 3 * ENOUGH if loop.in_step and parallel_work(loop).own < _CALL else ENOUGH


def is_of_blas(call: Invoke) -> bool:
    """Whether a function of BLAS or LAPACK is called, or a product of ours. Several threads may call them at the same time."""
    return call.entry.startswith(("blas:", "lapack:", ROW_PRODUCTS))


def _most_iterations(start: Value, stop: Value) -> int | None:
    """An upper bound of the number of iterations of a loop from ``start`` to ``start + n``, with n a constant, or one of several.

    The loop may also end at ``min(start + n, length)``. The result is None for any other loop.
    """
    for end in stop.args if stop.op == "min" else (stop,):
        if end.op == "add" and start in end.args:
            size = end.args[1] if end.args[0] is start else end.args[0]
            most = _most(size)
            if most is not None:
                return max(0, most)
    return None


def _most(size: Value) -> int | None:
    """The largest of the constants of which an integer is one, or None."""
    if size.op == "select":
        sizes = [_most(each) for each in size.args[1:]]
        return None if None in sizes else max(n for n in sizes if n is not None)
    return size.args[0] if size.op == "const" else None


def unrolled_range(loop: For) -> range | None:
    """The indices of a loop that should be unrolled. None unless the indices are static and few."""
    if loop.start.op != "const" or loop.stop.op != "const":
        return None
    # iterations over blocks of a vector loop are each as long as the others
    if any(isinstance(s, For) and s.lanes > 1 and s.stop.block is loop.body for s in loop.body):
        return None
    indices = range(loop.start.args[0], loop.stop.args[0])
    count = -(-len(indices) // loop.lanes)
    return indices if count <= _FEW and count * _statements(loop.body) <= _SHORT else None


def _statements(block: Block) -> int:
    """The number of statements that a block and its inner blocks print. A call counts for `_CALL` statements."""
    return sum(_size(s) + _copies(s) * sum(map(_statements, s.blocks)) for s in block)


def _copies(statement: Statement) -> int:
    """How often the body of a statement is printed."""
    if not isinstance(statement, For) or (indices := unrolled_range(statement)) is None:
        return 1
    return -(-len(indices) // statement.lanes)


def _size(statement: Statement) -> int:
    if not isinstance(statement, Value) or statement.op not in ("apply", "call", "unlikely"):
        return 1
    return 1 if statement.args[0] in PRIMITIVES else _CALL


def work_memory(program: Program) -> list[tuple[int, Value | None]]:
    """An upper bound of the working memory in bytes, as a sum of products.

    Each product is a pair: a number of bytes, and a value by which it is multiplied, or None for 1. If both branches of
    a conditional allocate memory, both count. Actual allocations are rounded up to multiples of 64 bytes, which the
    bound ignores.
    """
    allocs = [
        (itemsize(statement.buffer.dtype), statement.size)
        for block in program.blocks()
        for statement in block
        if isinstance(statement, Alloc)
        and statement.buffer.space == "work"
        and statement.reuse is None
    ]
    fixed = sum(size * value.args[0] for size, value in allocs if value.op == "const")
    terms: list[tuple[int, Value | None]] = [(fixed, None)] if fixed else []
    return terms + [(size, value) for size, value in allocs if value.op != "const"]


def poll_interval_text(loop: For, use: Callable[[Value], str], divided_by: str) -> str:
    """The number of iterations between two polls for interrupts, as an expression in C or Python.

    ``use`` returns the text of a value. ``divided_by`` is the operator of integer division.
    """
    work = iteration_work(loop)
    return (
        f"{BUDGET} {divided_by} ({work_text(work, use)}) + 1"
        if work.inner
        else str(static_poll_interval(loop))
    )


def static_poll_interval(loop: For) -> int:
    """The number of iterations between two polls, for a loop without inner loops. It is a multiple of the loop's lanes."""
    return max(1, BUDGET // iteration_work(loop).own // loop.lanes) * loop.lanes


def work_text(work: Work, use: Callable[[Value], str]) -> str:
    """A number of operations, as an expression in C or Python."""
    terms = (
        f" + ({use(stop)} - {use(start)}) * ({use(start)} < {use(stop)}) * ({work_text(each, use)})"
        for start, stop, each in work.inner
    )
    return f"{work.own}{''.join(terms)}"


def iterations_between_polls(loop: While) -> int:
    """The number of iterations of a while loop between two polls for interrupts."""
    return max(1, BUDGET // iteration_work(loop).own)


def is_long(loop: For) -> bool:
    """Whether a loop may take more operations than `BUDGET`."""
    return not is_short(loop, iteration_work(loop), BUDGET)


def is_short(loop: For, work: Work, most: int) -> bool:
    """Whether a loop, whose iterations take ``work``, is known to take at most ``most`` operations."""
    fixed = loop.stop.op == "const" and loop.start.op == "const" and not work.inner
    return fixed and (loop.stop.args[0] - loop.start.args[0]) * work.own <= most
