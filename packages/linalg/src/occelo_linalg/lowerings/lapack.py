"""Writes calls of LAPACK routines.

The other modules of this package use it to lower linear algebra.
"""

from __future__ import annotations

from occelo_link.loops.complexes import PARTS
from occelo_link.loops.ir.lapack_routines import find_routine
from occelo_link.loops.ir.program import Buffer, Pointer, Reference, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Index, Stored

LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


class Lapack:
    """Writes calls of LAPACK routines for one dtype.

    Construct it inside the ``emit`` function of a `Context.step`, since the constructor writes allocations.
    """

    def __init__(self, context: Context, dtype: str) -> None:
        self.context = context
        self.dtype = dtype
        self._info = self.integers(context.i64(1))

    def integers(self, length: Value) -> Buffer:
        """A new array of integers, in the dtype that LAPACK expects."""
        return self.context.builder.scratch(self.context.blas_integer, length)

    def call(self, name: str, **arguments: str | Value | Pointer) -> Value:
        """Write a call of a routine. Returns its ``info``, an int64 that is 0 if the routine succeeds.

        Arguments that are letters in LAPACK are passed as strings or int8 values, integers as int64 values, and arrays
        as pointers.
        """
        context, builder = self.context, self.context.builder
        args: list[Pointer | Reference] = []
        written: list[Buffer] = []
        routine = find_routine(LETTERS[self.dtype], name)
        assert routine is not None, name
        for argument in routine.arguments:
            if argument.name == "info":
                value: str | Value | Pointer = Pointer(self._info, context.i64(0))
            else:
                value = arguments.pop(argument.name)
            if isinstance(value, str):
                args.append(Reference(builder.const(ord(value), "int8")))
            elif isinstance(value, Pointer):
                args.append(value)
                if argument.written:
                    written.append(value.buffer)
            else:
                as_given = argument.kind == "letter"
                args.append(
                    Reference(value if as_given else builder.cast(value, context.blas_integer))
                )
        assert not arguments, f"{name} has no arguments {list(arguments)}"
        builder.invoke(f"lapack:{LETTERS[self.dtype]}{name}", args, writes=written)
        return builder.cast(builder.load(self._info, context.i64(0), fixed=True), "int64")

    def workspace(
        self, name: str, **arguments: str | Value | Pointer
    ) -> dict[str, str | Value | Pointer]:
        """Allocate the working memory of a routine, and return the arguments for it.

        A first call of the routine asks how much memory it needs.
        """
        context, builder = self.context, self.context.builder
        routine = find_routine(LETTERS[self.dtype], name)
        assert routine is not None, name
        kinds = {a.name: a.kind for a in routine.arguments}
        sizes = [n for n in ("lwork", "lrwork", "liwork") if n in kinds]
        asked = {n: self.memory(kinds[n[1:]], context.i64(1)) for n in sizes}
        other = {n: arguments.pop(n) for n in ("rwork", "iwork") if n in arguments}
        query: dict[str, Value | Pointer] = {
            n[1:]: Pointer(b, context.i64(0)) for n, b in asked.items()
        }
        self.call(name, **arguments, **other, **query, **dict.fromkeys(sizes, context.i64(-1)))
        room: dict[str, str | Value | Pointer] = {}
        for n, buffer in asked.items():
            answer = builder.load(buffer, context.i64(0), fixed=True)
            size = builder.op("max", builder.cast(answer, "int64"), context.i64(1))
            room[n] = size
            room[n[1:]] = Pointer(self.memory(kinds[n[1:]], size), context.i64(0))
        return {**room, **other}

    def memory(self, kind: str, length: Value) -> Buffer:
        """A new array of ``length`` elements; ``kind`` is one of the kinds in the table of routines."""
        if kind == "integers":
            return self.integers(length)
        context, real = self.context, PARTS.get(self.dtype, self.dtype)
        if kind == "array" and self.dtype in PARTS:
            length = context.builder.mul(length, context.i64(2))
        return context.builder.scratch(real, length)


def fill_with_nan(context: Context, result: Stored, index: Index) -> None:
    """Store NaN in all elements of one matrix. ``index`` is the matrix's index in the batch."""
    builder = context.builder
    nan = builder.const(float("nan"), result.dtype)
    zero = context.i64(0)
    start = result.position(builder, [*index, zero, zero])
    with builder.loop(builder.product(result.shape[-2:])) as loop:
        builder.store(result.buffer, builder.add(start, loop.index), nan)


def settle(context: Context, on_error: str, good: Value, result: Stored, index: Index) -> None:
    """Write what happens if a result is not ``good``: an error, or NaN in the result, as ``on_error`` says."""
    if on_error == "raise":
        context.check(good)
        return
    context.builder.branch(good, lambda: (), lambda: fill_with_nan(context, result, index) or ())


def clear_above_diagonal(context: Context, result: Stored, index: Index) -> None:
    """Store zeros above the diagonal of a square matrix in C order. ``index`` is the matrix's index in the batch."""
    builder, zero, n = context.builder, context.i64(0), result.shape[-1]
    first = result.position(builder, [*index, zero, zero])
    with builder.loop(n, fixed=True) as down:
        i = down.index
        row = builder.add(first, builder.mul(i, n))
        start = builder.add(i, context.i64(1))
        with builder.loop(n, start=start, lanes=8) as across:
            at = builder.add(row, across.index)
            builder.store(result.buffer, at, builder.const(0.0, result.dtype))
