"""The schedule: which loops run, in which order, and what is computed together in one loop.

Roots are tensors that must be computed: stored element by element, or reduced. Roots over the same
lengths share one `LoopKernel` unless one of them needs all of another's result. Kernels and other
steps are written to the program in order by `Schedule.flush`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from occelo_link.loops.ir.program import Buffer
from occelo_link.loops.kernel import ElementRoot, LoopKernel, ReduceRoot, Root
from occelo_link.loops.nests import write_kernel
from occelo_link.loops.tensors import Stored, Tensor

if TYPE_CHECKING:
    from occelo_link.loops.lowering import Context

__all__ = ["ElementRoot", "LoopKernel", "ReduceRoot", "Root", "Schedule", "Step"]


class Step:
    """Anything that runs in its place: reads tensors, writes buffers, and writes its statements.

    If the one result is a tensor of which parts are ``changed``, the schedule may let it take the
    memory of that tensor, which is said by ``in_place`` before the statements are written.
    """

    def __init__(
        self,
        reads: Sequence[Tensor],
        writes: list[Stored],
        emit: Callable[[], None],
        node: int = -1,
        changed: Tensor | None = None,
    ) -> None:
        self.node = node
        self.reads = reads
        self.writes = writes
        self.emit = emit
        self.changed = changed
        self.in_place = False


class Schedule:
    """Steps in order; those before ``done`` are written already."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.steps: list[LoopKernel | Step] = []
        self.done = 0
        self._free: dict[tuple[int, str], list[Buffer]] = {}
        self._sizes: dict[Buffer, tuple[int, str]] = {}
        self._over: dict[Buffer, Buffer] = {}

    def is_pending(self, tensor: Stored) -> bool:
        """Whether the tensor is still to be computed."""
        return tensor.producer >= self.done

    def owns(self, tensor: Stored) -> bool:
        """Whether a step writes the whole buffer of the tensor, and so allocates it."""
        return tensor in _targets(self.steps[tensor.producer])

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
        if last:
            self._compute_in_place(last_use)
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

    def _compute_in_place(self, last_use: dict[int, list[Buffer]]) -> None:
        """Let results take the memory of what is read for the last time where they are computed.

        From the last step to the first: the memory of an output is handed on to what it is
        computed over.
        """
        for position in range(len(self.steps) - 1, self.done - 1, -1):
            step, dying = self.steps[position], set(last_use.get(position, ()))
            for target in _targets(step):
                found = overwritable(step, target, dying)
                if found is None or not self._may_take(found, target):
                    continue
                dying.remove(found.buffer)
                self._over[target.buffer] = found.buffer
                if target.buffer.space == "output":
                    self._context.hand_on_output(target.buffer, found.buffer)
                if isinstance(step, Step):
                    step.in_place = True

    def _may_take(self, found: Stored, target: Stored) -> bool:
        """Whether the whole buffer is the tensor's, and may become what the target's is."""
        if not self.is_pending(found):
            return target.buffer.space == "work" and found.buffer in self._sizes
        return self.owns(found)

    def allocate(self, stored: Stored) -> None:
        """Give the buffer of a tensor room, if possible that of one that is dead."""
        context = self._context
        builder = context.builder
        size = builder.product([context.canonical(n) for n in stored.shape])
        buffer = stored.buffer
        over = self._over.get(buffer)
        if over is not None:
            if over in self._sizes:
                self._sizes[buffer] = self._sizes.pop(over)
            builder.alloc(buffer, size, reuse=over, keeps=True)
            return
        lengths = stored.shape if buffer.space == "output" else ()
        reuse = None
        if buffer.space == "work" and len(builder.stack) == 1:
            key = (size.number, buffer.dtype)
            free = self._free.get(key)
            reuse = free.pop() if free else None
            self._sizes[buffer] = key
        builder.alloc(buffer, size, lengths, reuse)


def _targets(step: LoopKernel | Step) -> list[Stored]:
    """What a step writes."""
    return [r.target for r in step.roots] if isinstance(step, LoopKernel) else step.writes


def overwritable(
    step: LoopKernel | Step, target: Stored, dying: Collection[Buffer]
) -> Stored | None:
    """A tensor, in a buffer that nobody reads after the step, over which ``target`` can be computed."""
    if isinstance(step, Step):
        changed = step.changed
        others = [t for t in step.reads if t is not changed]
        fits = isinstance(changed, Stored) and changed.buffer in dying and changed.reads.get(changed)
        return changed if fits and not _read(others, changed.buffer) else None
    # element by element, in the order in which a kernel computes its roots
    order = sorted(step.roots, key=lambda root: isinstance(root, ReduceRoot))
    place = next(i for i, root in enumerate(order) if root.target is target)
    root = order[place]
    if isinstance(root, ReduceRoot) or not target.readers:
        return None
    for stored, same in root.tensor.reads.items():
        if not (same and stored.buffer in dying and stored.flat and stored.dtype == target.dtype):
            continue
        before, after = order[:place], order[place + 1 :]
        kept = all(
            same
            for r in [*before, root]
            for s, same in r.tensor.reads.items()
            if s.buffer is stored.buffer
        )
        if kept and not _read([r.tensor for r in after], stored.buffer):
            return stored
    return None


def _read(tensors: Sequence[Tensor], buffer: Buffer) -> bool:
    return any(stored.buffer is buffer for tensor in tensors for stored in tensor.reads)
