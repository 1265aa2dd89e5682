"""Computes which memory a call of BLAS or LAPACK accesses, from the arguments of the call.

`bounds_checked` compares these extents with the sizes of buffers. They follow the documentation of the routines, not
the lowerings that write the calls. This module has the table of BLAS routines; `lapack_routines` has the table of
LAPACK routines. A program with bounds checks can call only routines that are in the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from occelo_link.loops.ir.lapack_routines import Routine, routine_of
from occelo_link.loops.ir.program import Invoke, Pointer, Reference, Value

Operate = Callable[..., Value]
"""``operate(name, *values)`` appends an operation to the program, and returns its result."""


class Extent:
    """A range of memory: ``count`` elements from ``pointer`` on. If ``count`` is 0, no memory is accessed.

    ``valid`` is a value of the program: whether the strides are valid arguments of the routine.
    """

    def __init__(self, pointer: Pointer, count: Value, valid: Value) -> None:
        self.pointer = pointer
        self.count = count
        self.valid = valid


def extents_of(
    call: Invoke, operate: Operate, i64: Callable[[int], Value]
) -> Sequence[Extent] | None:
    """The extents that a call of BLAS or LAPACK accesses. None for a call of another function.

    Raises NotImplementedError for a routine of BLAS that is not in the table.
    """
    lapack = routine_of(call.entry)
    if lapack is not None:
        return _of_lapack(lapack, call, operate, i64)
    kind, _, routine = call.entry.partition(":")
    if kind != "blas":
        return None
    rule = _ROUTINES.get(routine[1:])
    if rule is None:
        raise NotImplementedError(f"It is not known what {call.entry} reads and writes")
    extents = rule(_Arguments(call, operate, i64))
    if routine[0] not in "cz":
        return extents
    # a complex element is two numbers; the complex factors alpha and beta are in memory, too
    two, real = i64(2), [e.pointer for e in extents]
    scales = [a for a in call.args if isinstance(a, Pointer) and a not in real]
    true = operate("eq", two, two)
    return [
        *(Extent(e.pointer, operate("mul", e.count, two), e.valid) for e in extents),
        *(Extent(pointer, two, true) for pointer in scales),
    ]


class _Arguments:
    """The arguments of a call. Methods read them by position, counted from 0."""

    def __init__(self, call: Invoke, operate: Operate, i64: Callable[[int], Value]) -> None:
        self._args = call.args
        self._operate = operate
        self._i64 = i64

    def _reference(self, position: int) -> Reference:
        argument = self._args[position]
        assert isinstance(argument, Reference)
        return argument

    def _pointer(self, position: int) -> Pointer:
        argument = self._args[position]
        assert isinstance(argument, Pointer)
        return argument

    def integer(self, position: int) -> Value:
        """The argument at a position, as an int64 value."""
        value = self._reference(position).value
        return value if value.dtype == "int64" else self._operate("cast", value, dtype="int64")

    def letter(self, position: int) -> str:
        """The letter that is the argument at a position."""
        reference = self._reference(position)
        assert reference.value.op == "const"
        return chr(reference.value.args[0])

    def plain(self, position: int) -> bool:
        """Whether the argument is the letter N, which means "not transposed", or in some routines "result not wanted"."""
        return self.letter(position) == "N"

    def spread(self, lines: Value, step: Value, width: Value) -> Value:
        """The number of elements from the start of the first row to the end of the last row, with the gaps between
        rows.

        There are ``lines`` rows of ``width`` elements, and ``step`` elements from the start of a row to the start of
        the next.
        """
        run, one, zero = self._operate, self._i64(1), self._i64(0)
        count = run("add", run("mul", run("sub", lines, one), step), width)
        some = run("and", run("lt", zero, lines), run("lt", zero, width))
        return run("select", some, count, zero)

    def matrix(self, at: int, leading: int, rows: int, columns: int, letter: int = -1) -> Extent:
        """The extent of a matrix in column-major order. All parameters are positions of arguments of the call.

        The argument at ``letter`` says whether the routine transposes the matrix. If it does, the matrix in memory has
        ``columns`` rows and ``rows`` columns.
        """
        run = self._operate
        if letter >= 0 and not self.plain(letter):
            rows, columns = columns, rows
        height, step = self.integer(rows), self.integer(leading)
        count = self.spread(self.integer(columns), step, height)
        return Extent(self._pointer(at), count, run("le", run("max", height, self._i64(1)), step))

    def vector(self, at: int, step: int, length: int) -> Extent:
        """The extent of a vector. All parameters are positions of arguments of the call.

        If the step is negative, the elements lie in reverse order, but begin at the same address.
        """
        run = self._operate
        by = self.integer(step)
        count = self.spread(self.integer(length), run("abs", by), self._i64(1))
        return Extent(self._pointer(at), count, run("ne", by, self._i64(0)))


def _gemm(args: _Arguments) -> Sequence[Extent]:
    # transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc
    return [
        args.matrix(6, 7, rows=2, columns=4, letter=0),
        args.matrix(8, 9, rows=4, columns=3, letter=1),
        args.matrix(11, 12, rows=2, columns=3),
    ]


def _gemv(args: _Arguments) -> Sequence[Extent]:
    # trans, m, n, alpha, a, lda, x, incx, beta, y, incy
    transposed = not args.plain(0)
    return [
        args.matrix(4, 5, rows=1, columns=2),
        args.vector(6, 7, length=1 if transposed else 2),
        args.vector(9, 10, length=2 if transposed else 1),
    ]


def _trsm(args: _Arguments) -> Sequence[Extent]:
    # side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb
    order = 4 if args.letter(0) == "L" else 5
    return [args.matrix(7, 8, rows=order, columns=order), args.matrix(9, 10, rows=4, columns=5)]


_ROUTINES: dict[str, Callable[[_Arguments], Sequence[Extent]]] = {
    "gemm": _gemm,
    "gemv": _gemv,
    "trsm": _trsm,
}


def _of_lapack(
    routine: Routine, call: Invoke, operate: Operate, i64: Callable[[int], Value]
) -> Sequence[Extent]:
    """The extents of a call of LAPACK, from the table of the routine's arguments."""
    arguments = _Arguments(call, operate, i64)
    places = {argument.name: k for k, argument in enumerate(routine.arguments)}
    complex_ = call.entry.partition(":")[2][0] in "cz"
    extents: list[Extent] = []
    for argument, value in zip(routine.arguments, call.args, strict=True):
        if isinstance(value, Pointer):
            letter = argument.wanted
            if letter and arguments.plain(places[letter]):
                continue
            height, leading, width = (
                _length(n, arguments, places, operate, i64) for n in argument.extent
            )
            if argument.extent[1] == "1":
                # a vector is treated as a matrix with one column
                height, leading, width = height, operate("max", height, i64(1)), i64(1)
            count = arguments.spread(width, leading, height)
            if complex_ and argument.kind == "array":
                count = operate("mul", count, i64(2))
            valid = operate("le", operate("max", height, i64(1)), leading)
            extents.append(Extent(value, count, valid))
    return extents


def _length(
    text: str,
    arguments: _Arguments,
    places: Mapping[str, int],
    operate: Operate,
    i64: Callable[[int], Value],
) -> Value:
    """A length of an array. ``text`` is a number, the name of an integer argument, or two such names (``m&n``) for the
    smaller of their values.
    """
    if text.isdigit():
        return i64(int(text))
    first, *second = (arguments.integer(places[name]) for name in text.split("&"))
    return operate("min", first, second[0]) if second else first
