"""Loops over the batch dimensions of operands, for lowerings that treat each element of a batch by itself."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager

from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Index, Tensor, is_unit


def batch_lengths(context: Context, tensors: Sequence[Tensor], core: Sequence[int]) -> list[Value]:
    """The lengths of the batch dimensions of several tensors, broadcast.

    ``core`` has the number of the other dimensions for each tensor.
    """
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
    """The batch index at which an operand is read: 0 in dimensions along which the operand is broadcast."""
    lead = tensor.shape[: tensor.ndim - core]
    own = index[len(index) - len(lead) :]
    return [context.i64(0) if is_unit(n) else i for n, i in zip(lead, own, strict=True)]


@contextmanager
def each_element(context: Context, batch: Sequence[Value]) -> Generator[list[Value]]:
    """A context manager that writes loops over the batch dimensions. Its value is the index of an element of the batch.

    The elements may be computed in several threads.
    """
    index = [context.i64(0)] * len(batch)
    with ExitStack() as stack:
        for k, axis in enumerate(i for i, n in enumerate(batch) if not is_unit(n)):
            loop = context.builder.loop(batch[axis], parallel=k == 0, fixed=True)
            index[axis] = stack.enter_context(loop).index
        yield index
