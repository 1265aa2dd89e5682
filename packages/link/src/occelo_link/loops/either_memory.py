"""`memory_of_either`: a tensor that is another one in most calls, and new elements in the others.

The lowerings of ops that seldom have something to do call it, so that usually nothing is copied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Stored, Tensor


def memory_of_either(
    context: Context,
    tensor: Tensor,
    same: Value,
    shape: Sequence[Value],
    fill: Callable[[Tensor, Stored], None],
) -> Stored:
    """A tensor of the lengths ``shape`` that is ``tensor`` if ``same`` holds, which is usual.

    Otherwise ``fill(stored, target)`` fills new memory from ``stored``, which is ``tensor`` in memory. The result has a
    buffer without memory of its own, so later steps neither overwrite it nor reuse its memory.
    """
    builder = context.builder
    stored = context.contiguous_copy(context.store(tensor))
    context.schedule.flush_for(stored)
    view = builder.buffer(stored.dtype, "work", ndim=len(shape))
    size = builder.product(shape)

    def usual() -> Sequence[Value]:
        builder.alloc(view, size, reuse=stored.buffer, keeps=True)
        return []

    def unusual() -> Sequence[Value]:
        filled = context.new_stored(stored.dtype, shape)
        builder.alloc(filled.buffer, size)
        fill(stored, filled)
        builder.alloc(view, size, reuse=filled.buffer, keeps=True)
        return []

    context.check_size(shape)
    builder.branch(same, usual, unusual)
    offset = builder.select(same, stored.offset, context.i64(0))
    result = Stored(view, shape, offset, context.contiguous(shape), True)
    # the memory of ``stored`` must stay as it is while the result is read
    result.reads = {result: True, **dict.fromkeys(stored.reads, False)}
    return result
