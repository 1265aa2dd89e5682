"""Steps of a schedule: kernels, and anything else that runs in its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from occelo_link.loops.ir.program import Buffer
from occelo_link.loops.kernel import LoopKernel
from occelo_link.loops.tensors import Stored, Tensor

__all__ = ["AnyStep", "Step", "buffers_of", "reads_of", "targets_of"]


class Step:
    """Anything that runs in its place: reads tensors, writes buffers, and writes its statements.

    If the one result is a tensor of which parts are ``changed``, which comes first in ``reads`` then, the schedule may let it take the
    memory of that tensor, which is said by ``in_place`` before the statements are written. What may fail is written by ``prepare``,
    before the memory of a state is taken.
    """

    def __init__(
        self,
        reads: Sequence[Tensor],
        writes: list[Stored],
        emit: Callable[[], None],
        node: int = -1,
        changed: Tensor | None = None,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        self.node = node
        self.reads = reads
        self.writes = writes
        self.emit = emit
        self.changed = changed
        self.prepare = prepare
        self.in_place = False

    @property
    def others(self) -> list[Tensor]:
        """What it reads beside the tensor that is changed, which may be read once more, as what is written."""
        return list(self.reads if self.changed is None else self.reads[1:])


AnyStep = LoopKernel | Step


def targets_of(step: AnyStep) -> list[Stored]:
    """What a step writes."""
    return [r.target for r in step.roots] if isinstance(step, LoopKernel) else step.writes


def reads_of(step: AnyStep) -> Sequence[Tensor]:
    """What a step reads."""
    return [r.tensor for r in step.roots] if isinstance(step, LoopKernel) else step.reads


def buffers_of(tensors: Sequence[Tensor]) -> set[Buffer]:
    """The buffers that elements of tensors are read from."""
    return {stored.buffer for tensor in tensors for stored in tensor.reads}
