"""Calls of LAPACK routines from loop programs, and loops over the batch dimensions of their operands.

The other modules of this package use them.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager

from occelo_link.loops.ir.lapack_routines import ROUTINES
from occelo_link.loops.ir.program import Buffer, Pointer, Reference, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Index, Stored, Tensor, is_unit

__all__ = ["LETTERS", "Lapack", "batch_lengths", "each_element", "fill_with_nan", "own_index"]

LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


class Lapack:
    """Calls of routines for one dtype; made where the statements of a step are written."""

    def __init__(self, context: Context, dtype: str) -> None:
        self.context = context
        self.dtype = dtype
        self._info = self.integers(context.i64(1))

    def integers(self, length: Value) -> Buffer:
        """A new array of LAPACK's integers."""
        buffer = self.context.builder.buffer(self.context.blas_integer, "work", ndim=1)
        self.context.builder.alloc(buffer, length)
        return buffer

    def call(self, name: str, **given: str | Value | Pointer) -> Value:
        """Call a routine; returns its ``info``, an int64, which is 0 if it succeeded.

        Letters are strings or int8 values, integers int64 values, and arrays pointers.
        """
        context, builder = self.context, self.context.builder
        args: list[Pointer | Reference] = []
        written: list[Buffer] = []
        for argument in ROUTINES[name].arguments:
            if argument.name == "info":
                value: str | Value | Pointer = Pointer(self._info, context.i64(0))
            else:
                value = given.pop(argument.name)
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
        assert not given, f"{name} has no arguments {list(given)}"
        builder.invoke(f"lapack:{LETTERS[self.dtype]}{name}", args, writes=written)
        return builder.cast(builder.load(self._info, context.i64(0), fixed=True), "int64")


def batch_lengths(context: Context, tensors: Sequence[Tensor], core: Sequence[int]) -> list[Value]:
    """The broadcast batch dimensions of tensors with so many core dimensions each."""
    ndim = max(t.ndim - k for t, k in zip(tensors, core, strict=True))
    lengths: list[Value] = [context.i64(1)] * ndim
    for tensor, k in zip(tensors, core, strict=True):
        extra = tensor.ndim - k
        for i, n in enumerate(tensor.shape[:extra]):
            at = ndim - extra + i
            if not is_unit(n):
                lengths[at] = n if is_unit(lengths[at]) else context.unify(lengths[at], n)
    return lengths


def own_index(context: Context, tensor: Tensor, core: int, index: Index) -> list[Value]:
    """The batch index of an operand: 0 in dimensions along which it broadcasts."""
    lead = tensor.shape[: tensor.ndim - core]
    own = index[len(index) - len(lead) :]
    return [context.i64(0) if is_unit(n) else i for n, i in zip(lead, own, strict=True)]


@contextmanager
def each_element(context: Context, batch: Sequence[Value]) -> Generator[list[Value]]:
    """Loops over the batch dimensions; gives the index of an element of the batch."""
    with ExitStack() as stack:
        yield [stack.enter_context(context.builder.loop(n, fixed=True)).index for n in batch]


def fill_with_nan(context: Context, result: Stored, index: Index) -> None:
    """Fill the element of a batch of matrices at an index with NaN."""
    builder = context.builder
    nan = builder.const(float("nan"), result.dtype)
    zero = context.i64(0)
    start = result.position(builder, [*index, zero, zero])
    with builder.loop(builder.product(result.shape[-2:])) as loop:
        builder.store(result.buffer, builder.add(start, loop.index), nan)
