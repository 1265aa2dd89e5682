"""Steps of a schedule: kernels, and steps that write other statements.

`Context` adds them to its schedule, which orders and writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from occelo_link.loops.ir.program import Buffer
from occelo_link.loops.kernel import LoopKernel
from occelo_link.loops.tensors import Stored, Tensor

__all__ = ["AnyStep", "Step", "buffers_of", "reads_of", "targets_of"]


class Step:
    """A step that is not a kernel.

    ``emit`` writes its statements, which read the tensors ``reads`` and fill the tensors ``writes``.

    Some steps only change elements of a tensor: then ``changed`` is this tensor, the first of ``reads``, and the only
    result is its new value. The schedule may let the result take over the memory of ``changed``; if so, it sets
    ``in_place`` before the statements are written. ``prepare`` writes statements that may fail, before any memory of a
    state is taken over. ``can_fail`` says that the statements of ``emit`` may fail as well: then the step never takes
    over the memory of a state.
    """

    def __init__(
        self,
        reads: Sequence[Tensor],
        writes: list[Stored],
        emit: Callable[[], None],
        node: int = -1,
        changed: Tensor | None = None,
        prepare: Callable[[], None] | None = None,
        can_fail: bool = False,
    ) -> None:
        self.node = node
        self.reads = reads
        self.writes = writes
        self.emit = emit
        self.changed = changed
        self.prepare = prepare
        self.can_fail = can_fail
        self.in_place = False

    @property
    def others(self) -> list[Tensor]:
        """The tensors that the step reads besides ``changed``.

        If the step also reads ``changed`` in another way, the list contains it.
        """
        return list(self.reads if self.changed is None else self.reads[1:])


AnyStep = LoopKernel | Step


def targets_of(step: AnyStep) -> list[Stored]:
    """The stored tensors that a step writes."""
    return [r.target for r in step.roots] if isinstance(step, LoopKernel) else step.writes


def reads_of(step: AnyStep) -> Sequence[Tensor]:
    """The tensors that a step reads."""
    return [r.tensor for r in step.roots] if isinstance(step, LoopKernel) else step.reads


def buffers_of(tensors: Sequence[Tensor]) -> set[Buffer]:
    """The buffers that elements of tensors are read from."""
    return {stored.buffer for tensor in tensors for stored in tensor.reads}
