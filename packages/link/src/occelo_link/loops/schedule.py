"""The schedule: which loops run, in which order, and what is computed together in one loop.

Roots are tensors that must be computed: stored element by element, or reduced. Roots over the same
lengths share one `LoopKernel` unless one of them needs all of another's result. Kernels and other
steps are written to the program in order by `Schedule.flush`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from occelo_link.loops.ir.program import Buffer
from occelo_link.loops.kernel import ElementRoot, LoopKernel, ReduceRoot, Root
from occelo_link.loops.nests import write_kernel
from occelo_link.loops.tensors import Stored, Tensor

if TYPE_CHECKING:
    from occelo_link.loops.lowering import Context

__all__ = ["ElementRoot", "LoopKernel", "ReduceRoot", "Root", "Schedule", "Step"]


class Step:
    """Anything that runs in its place: reads tensors, writes buffers, and writes its statements."""

    def __init__(
        self,
        reads: Sequence[Tensor],
        writes: list[Stored],
        emit: Callable[[], None],
        node: int = -1,
    ) -> None:
        self.node = node
        self.reads = reads
        self.writes = writes
        self.emit = emit


class Schedule:
    """Steps in order; those before ``done`` are written already."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.steps: list[LoopKernel | Step] = []
        self.done = 0
        self._free: dict[tuple[int, str], list[Buffer]] = {}
        self._sizes: dict[Buffer, tuple[int, str]] = {}

    def is_pending(self, tensor: Stored) -> bool:
        """Whether the tensor is still to be computed."""
        return tensor.producer >= self.done

    def owns(self, tensor: Stored) -> bool:
        """Whether a step writes the whole buffer of the tensor, and so allocates it."""
        step = self.steps[tensor.producer]
        targets = [r.target for r in step.roots] if isinstance(step, LoopKernel) else step.writes
        return tensor in targets

    def add_step(self, step: Step) -> None:
        """Append a step."""
        position = len(self.steps)
        for tensor in step.reads:
            for stored in tensor.reads:
                stored.readers += 1
        for stored in step.writes:
            stored.producer = position
            stored.readers += 1
        self.steps.append(step)

    def add_root(self, root: Root) -> None:
        """Compute a root in the first kernel that can, or in a new one."""
        context = self._context
        shape = root.tensor.shape
        space = context.space(shape)
        earliest = self.done
        for stored, same in root.tensor.reads.items():
            producer = stored.producer
            if producer < self.done:
                continue
            shared = same and self._is_element(stored, producer) and self._fits(producer, space)
            earliest = max(earliest, producer if shared else producer + 1)
        for position in range(earliest, len(self.steps)):
            step = self.steps[position]
            if isinstance(step, LoopKernel) and step.space == space and step.admits(root):
                break
        else:
            position = len(self.steps)
            step = LoopKernel(space, shape)
            self.steps.append(step)
        assert isinstance(step, LoopKernel)
        for stored in root.tensor.reads:
            if stored.producer != position:
                stored.readers += 1
        step.add(root)
        root.target.producer = position

    def _is_element(self, stored: Stored, producer: int) -> bool:
        step = self.steps[producer]
        return isinstance(step, LoopKernel) and any(
            isinstance(r, ElementRoot) and r.target is stored for r in step.roots
        )

    def _fits(self, producer: int, space: tuple[int, ...]) -> bool:
        step = self.steps[producer]
        return isinstance(step, LoopKernel) and step.space == space

    # writing

    def flush(self, last: bool = False) -> None:
        """Write all steps that are pending; if it is the ``last`` time, dead buffers are reused."""
        last_use = self._last_uses() if last else {}
        while self.done < len(self.steps):
            position = self.done
            step = self.steps[position]
            self.done += 1
            builder = self._context.builder
            before, builder.node = builder.node, step.node
            if isinstance(step, LoopKernel):
                if not last:
                    # who else will read the results is not known yet
                    for root in step.roots:
                        root.target.readers += 1
                write_kernel(self._context, step)
            else:
                for stored in step.writes:
                    self.allocate(stored)
                step.emit()
            builder.node = before
            for buffer in last_use.get(position, ()):
                if buffer in self._sizes:
                    self._free.setdefault(self._sizes.pop(buffer), []).append(buffer)

    def _reads(self, step: LoopKernel | Step) -> Iterator[Buffer]:
        tensors = [r.tensor for r in step.roots] if isinstance(step, LoopKernel) else step.reads
        for tensor in tensors:
            for stored in tensor.reads:
                yield stored.buffer

    def _last_uses(self) -> dict[int, list[Buffer]]:
        """The buffers that each pending step is the last to read."""
        last: dict[Buffer, int] = {}
        for position in range(self.done, len(self.steps)):
            for buffer in self._reads(self.steps[position]):
                if buffer.space == "work":
                    last[buffer] = position
        found: dict[int, list[Buffer]] = {}
        for buffer, position in last.items():
            found.setdefault(position, []).append(buffer)
        return found

    def allocate(self, stored: Stored) -> None:
        """Give the buffer of a tensor room, if possible that of one that is dead."""
        context = self._context
        builder = context.builder
        size = builder.product([context.canonical(n) for n in stored.shape])
        buffer = stored.buffer
        lengths = stored.shape if buffer.space == "output" else ()
        reuse = None
        if buffer.space == "work" and len(builder.stack) == 1:
            key = (size.number, buffer.dtype)
            free = self._free.get(key)
            reuse = free.pop() if free else None
            self._sizes[buffer] = key
        builder.alloc(buffer, size, lengths, reuse)
