"""Steps of a schedule: kernels, and steps with other statements.

`Context` adds steps to its schedule, which orders them and writes their statements.
"""

from __future__ import annotations

from collections.abc import Callable, KeysView, Sequence

from occelo_link.loops.ir.program import Buffer
from occelo_link.loops.kernel import LoopKernel, Passing
from occelo_link.loops.tensors import Stored, Tensor


class Step:
    """A step that is not a kernel.

    ``emit`` writes its statements. The statements read the tensors ``reads``, and fill the tensors ``writes``.

    Some steps only change elements of a tensor. Then ``changed`` is this tensor, which is the first of ``reads``, and
    the only result is its new value. The schedule may let the result take over the memory of ``changed``. In this case,
    the schedule sets ``in_place`` before ``emit`` is called. ``prepare`` writes statements that may fail, before the
    memory of any state is taken over. If ``can_fail`` is True, the statements of ``emit`` may fail, too, and the step
    never takes over the memory of a state. If ``passing`` is not None, roots that store its tensor may join the step, whose
    results then include their targets.
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
        passing: Passing | None = None,
    ) -> None:
        self.node = node
        self.reads = reads
        self.writes = writes
        self.emit = emit
        self.changed = changed
        self.prepare = prepare
        self.can_fail = can_fail
        self.passing = passing
        self.in_place = False

    @property
    def others(self) -> list[Tensor]:
        """The tensors that the step reads besides ``changed``.

        The list contains ``changed`` if the step also reads it in another way.
        """
        return list(self.reads if self.changed is None else self.reads[1:])


AnyStep = LoopKernel | Step


def targets_of(step: AnyStep) -> list[Stored]:
    """The stored tensors that a step writes."""
    return [r.target for r in step.roots] if isinstance(step, LoopKernel) else step.writes


def reads_of(step: AnyStep) -> Sequence[Tensor]:
    """The tensors that a step reads."""
    return [r.tensor for r in step.roots] if isinstance(step, LoopKernel) else step.reads


def buffers_of(tensors: Sequence[Tensor]) -> KeysView[Buffer]:
    """The buffers from which the elements of tensors are computed, in the order of the tensors."""
    return {stored.buffer: None for tensor in tensors for stored in tensor.reads}.keys()
