"""`Schedule`: fuses the roots of a region into kernels, orders the steps, and reuses memory.

Each `Context` has one schedule. A root is a tensor that must be computed: stored element by element, or reduced. Roots
over the same lengths share a `LoopKernel`, unless one root needs the complete result of another root. `Schedule.flush`
writes kernels and other steps to the program, in order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from occelo_link.loops.in_place import changes_of_states, overwritable, readers_first
from occelo_link.loops.ir.program import Buffer
from occelo_link.loops.kernel import ElementRoot as ElementRoot
from occelo_link.loops.kernel import LoopKernel as LoopKernel
from occelo_link.loops.kernel import ReduceRoot as ReduceRoot
from occelo_link.loops.kernel import Root as Root
from occelo_link.loops.loop_nests import write_kernel
from occelo_link.loops.row_blocks import in_row_blocks
from occelo_link.loops.steps import AnyStep, buffers_of, reads_of, targets_of
from occelo_link.loops.steps import Step as Step
from occelo_link.loops.tensors import Stored, Tensor

if TYPE_CHECKING:
    from occelo_link.loops.lowering import Context

MANY_STEPS = 200
"""When the elements of a tensor are needed, the pending steps are searched for those that compute them, and only these
are written. If more than this number of steps are pending, all are written without a search.
"""


class Schedule:
    """The steps of one region, in order.

    The positions of steps begin at ``first``, which is larger than all positions in enclosing regions. Steps at
    positions below ``done`` are already written.
    """

    def __init__(self, context: Context, first: int = 0) -> None:
        self._context = context
        self._steps: list[AnyStep] = []
        self._kernels: dict[tuple[int, ...], list[int]] = {}
        """The positions of kernels, in order, by the lengths of their loops; also those of some that are written."""
        self._first = first
        self._depth = len(context.builder.stack)
        self.done = first
        self._apart = first
        """Roots that are added later are computed in no kernel below this position. See `part`."""
        self.carried: dict[Buffer, Buffer] = {}
        """Maps each buffer that an iteration passes to the next one to the corresponding buffer of the previous
        iteration.
        """
        self._free: dict[tuple[int, str], list[Buffer]] = {}
        self._checked: set[tuple[int, ...]] = set()
        self._sizes: dict[Buffer, tuple[int, str]] = {}
        self._origins: dict[Buffer, tuple[Buffer, int]] = {}
        """Maps the buffer of each changed tensor to the buffer that was changed first, and the number of changes."""
        self._taken_over: dict[Buffer, Buffer] = {}
        """Maps the buffer of each result that is computed in place to the buffer whose memory it takes over."""
        self._passing: dict[Tensor, Step] = {}
        """Maps tensors to the steps that compute all of their elements (`Passing`)."""

    @property
    def end(self) -> int:
        """The position of the next step."""
        return self._first + len(self._steps)

    def step(self, position: int) -> AnyStep:
        """The step at a position."""
        return self._steps[position - self._first]

    def pending(self) -> list[AnyStep]:
        """The steps that are not yet written."""
        return self._steps[self.done - self._first :]

    def continue_after(self, inner: Schedule) -> None:
        """Continue with positions after those of a nested region. All steps so far must be written."""
        self._steps.clear()
        self._kernels.clear()
        self._first = self.done = self._apart = inner.end

    def is_pending(self, tensor: Stored) -> bool:
        """Whether the step that computes the tensor is not yet written."""
        return tensor.producer >= self.done

    def owns(self, tensor: Stored) -> bool:
        """Whether a step of this schedule computes the whole buffer of the tensor, and so also allocates it."""
        return tensor in targets_of(self.step(tensor.producer))

    def may_change(self, tensor: Stored, other: Tensor) -> bool:
        """Whether a step that changes elements of ``tensor`` in place may overwrite elements that ``other`` reads.

        If a step computes ``tensor`` by changing elements of another tensor, both may have the same memory, and so on.
        """
        if not tensor.reads.get(tensor, False):
            return False
        origin, changes = self._origin(tensor.buffer)
        return any(
            first is origin and count <= changes
            for first, count in map(self._origin, buffers_of([other]))
        )

    def _changes_input(self, step: Step) -> bool:
        """Whether a step changes elements of an input, which may be a state, or of its changed value."""
        return self._origin(step.writes[0].buffer)[0].space == "input"

    def _origin(self, buffer: Buffer) -> tuple[Buffer, int]:
        return self._origins.get(buffer, (buffer, 0))

    def part(self) -> None:
        """Let all that is added later run after the steps so far, in kernels of its own."""
        self._apart = self.end

    def add_step(self, step: Step) -> None:
        """Append a step."""
        position = self.end
        for tensor in step.reads:
            for stored in tensor.reads:
                stored.readers += 1
        for stored in step.writes:
            stored.producer = position
            stored.readers += 1
        changed = step.changed
        if isinstance(changed, Stored) and changed.reads.get(changed, False):
            origin, changes = self._origin(changed.buffer)
            self._origins[step.writes[0].buffer] = origin, changes + 1
        if step.passing is not None and not self._changes_input(step):
            self._passing[step.passing.tensor] = step
        self._steps.append(step)

    def add_root(self, root: Root) -> None:
        """Add a root to the first kernel that can compute it, or to a new kernel."""
        if isinstance(root, ElementRoot) and self._joins_step(root):
            return
        context = self._context
        shape = root.tensor.shape
        space = context.space(shape)
        earliest = max(self.done, self._apart)
        for stored, same in root.tensor.reads.items():
            producer = stored.producer
            if producer < self.done:
                continue
            shared = same and self._is_element(stored, producer) and self._fits(producer, space)
            earliest = max(earliest, producer if shared else producer + 1)
        kernels = self._kernels.setdefault(space, [])
        first = self.end if self._is_changed(root.tensor) else earliest
        for position in kernels[bisect_left(kernels, first) :]:
            step = self.step(position)
            if isinstance(step, LoopKernel) and step.admits(root):
                break
        else:
            position = self.end
            step = LoopKernel(space, shape)
            self._steps.append(step)
            kernels.append(position)
        assert isinstance(step, LoopKernel)
        for stored in root.tensor.reads:
            if stored.producer != position:
                stored.readers += 1
        step.add(root)
        root.target.producer = position

    def _joins_step(self, root: ElementRoot) -> bool:
        """Let a step that computes the elements of a root anyway store them; returns whether there is one.

        A step that changes a state is left alone: it runs after everything else.
        """
        step = self._passing.get(root.tensor)
        if step is None or step.writes[0].producer < max(self.done, self._apart):
            return False
        assert step.passing is not None
        step.passing.roots.append(root)
        step.writes.append(root.target)
        root.target.producer = step.writes[0].producer
        root.target.readers += 1
        return True

    def _is_changed(self, tensor: Tensor) -> bool:
        """Whether a tensor is the result of a pending change of another tensor.

        A root that copies this result should have a kernel of its own. If the kernel also read the other tensor, the
        change could not be made in place.
        """
        step = None
        if isinstance(tensor, Stored) and self.is_pending(tensor):
            step = self.step(tensor.producer)
        return isinstance(step, Step) and step.changed is not None

    def _is_element(self, stored: Stored, producer: int) -> bool:
        step = self.step(producer)
        return isinstance(step, LoopKernel) and stored in step.elements

    def _fits(self, producer: int, space: tuple[int, ...]) -> bool:
        step = self.step(producer)
        return isinstance(step, LoopKernel) and step.space == space

    # writing

    def flush(self) -> None:
        """Write all pending steps and store their results, so that later steps may read them."""
        self._write_first(self.end - self.done)

    def read_last(self, tensors: Sequence[Tensor]) -> None:
        """Let steps be computed in blocks of rows, since only pending steps and then these tensors will read their results."""
        needed = [
            stored for tensor in tensors for stored in tensor.reads if self.is_pending(stored)
        ]
        for stored in needed:
            stored.readers += 1
        if needed:
            self._order(in_row_blocks(self._context, self.pending()), [])

    def flush_for(self, tensor: Tensor) -> None:
        """Write the pending steps that compute the elements of a tensor, directly or indirectly."""
        pending = self.pending()
        if len(pending) > MANY_STEPS:
            # searching all pending steps for each tensor would take quadratic time
            self.flush()
            return
        needed: set[int] = set()
        looking = [tensor]
        while looking:
            producers = {s.producer for s in looking.pop().reads} - needed
            for position in (p for p in producers if p >= self.done):
                needed.add(position)
                looking += reads_of(self.step(position))
        first = [self.step(p) for p in sorted(needed)]
        chosen = set(first)
        self._order(first, [s for s in pending if s not in chosen])
        self._write_first(len(first))

    def _write_first(self, count: int) -> None:
        for step in self.pending()[:count]:
            if isinstance(step, LoopKernel):
                for root in step.roots:
                    root.target.readers += 1
            self._write(step)

    def _order(self, first: Sequence[AnyStep], last: Sequence[AnyStep]) -> None:
        """Replace the pending steps by ``first`` and then ``last``, and update the positions of their results."""
        before = set(self._steps[self.done - self._first : self._apart - self._first])
        self._steps[self.done - self._first :] = [*first, *last]
        self._kernels.clear()
        self._apart = self.done
        for position in range(self.done, self.end):
            step = self.step(position)
            if step in before:
                self._apart = position + 1
            if isinstance(step, LoopKernel):
                self._kernels.setdefault(step.space, []).append(position)
            for stored in targets_of(step):
                stored.producer = position

    def finish(self, states: Mapping[Buffer, Buffer]) -> None:
        """Write all pending steps. No further step will read their results, so memory is reused after its last use.

        ``states`` maps the buffer of an output to the buffer of the input that it updates.
        """
        self._order(in_row_blocks(self._context, readers_first(self.pending())), [])
        changes = self._put_last(changes_of_states(self.pending(), states))
        last_uses = self._last_uses()
        self._compute_in_place(last_uses)
        first_change = self.end - len(changes)
        for position in range(self.done, first_change):
            self._write(self.step(position))
            for buffer in last_uses.get(position, ()):
                if buffer in self._sizes:
                    self._free.setdefault(self._sizes.pop(buffer), []).append(buffer)
        # from the first change of a state on, no statement may fail
        builder = self._context.builder
        for step in changes:
            builder.node = step.node
            if step.prepare is not None:
                step.prepare()
        for step in changes:
            builder.node = step.node
            self.allocate(step.writes[0])
        for step in changes:
            builder.non_interruptible = True
            self._write(step, allocated=True)

    def _write(self, step: AnyStep, allocated: bool = False) -> None:
        self.done += 1
        builder = self._context.builder
        before, builder.node = builder.node, step.node
        if isinstance(step, LoopKernel):
            for root in [r for r in step.roots if self._stays(r)]:
                self.allocate(root.target)
                step.roots.remove(root)
            if step.roots:
                write_kernel(self._context, step)
        else:
            if not allocated:
                if step.prepare is not None:
                    step.prepare()
                for stored in step.writes:
                    self.allocate(stored)
            step.emit()
        builder.node = before

    def _stays(self, root: Root) -> bool:
        """Whether a root only copies elements to where they already are, since its target takes over the memory of the
        copied tensor.
        """
        tensor = root.tensor
        return (
            isinstance(root, ElementRoot)
            and isinstance(tensor, Stored)
            and tensor in tensor.reads
            and self._taken_over.get(root.target.buffer) is tensor.buffer
        )

    def _put_last(self, changes: Mapping[Buffer, list[Step]]) -> list[Step]:
        """Move the steps that change states to the end of the schedule, and return them.

        There their results take over the memory of the states.
        """
        last = [step for chain in changes.values() for step in chain]
        if not last:
            return []
        for state, chain in changes.items():
            self._taken_over[chain[0].writes[0].buffer] = state
            chain[0].in_place = True
        moved = set(last)
        self._order([s for s in self.pending() if s not in moved], last)
        return last

    def _last_uses(self) -> dict[int, list[Buffer]]:
        """Map the position of each pending step to the working buffers that no later step uses."""
        last: dict[Buffer, int] = {}
        states = set(self.carried.values())
        for position in range(self.done, self.end):
            for buffer in buffers_of(reads_of(self.step(position))):
                if buffer.space == "work" or buffer in states:
                    last[buffer] = position
        uses: dict[int, list[Buffer]] = {}
        for buffer, position in last.items():
            uses.setdefault(position, []).append(buffer)
        return uses

    def _compute_in_place(self, last_use: dict[int, list[Buffer]]) -> None:
        """Let results take over the memory of tensors whose last use is the step that computes these results.

        The search goes from the last step to the first, so that a chain of steps is computed in the memory of an
        output.
        """
        for position in range(self.end - 1, self.done - 1, -1):
            step, dying = self.step(position), set(last_use.get(position, ()))
            for target, operand in overwritable(step, dying):
                if target.buffer in self._taken_over or not self._may_take(operand, target):
                    continue
                self._taken_over[target.buffer] = operand.buffer
                if target.buffer.space == "output":
                    self._context.transfer_output(target.buffer, operand.buffer)
                elif target.buffer in self.carried:
                    self._transfer_carried(target.buffer, operand.buffer)
                if isinstance(step, Step):
                    step.in_place = True

    def _transfer_carried(self, buffer: Buffer, other: Buffer) -> None:
        """Pass the carried tensor to the next iteration in the buffer ``other`` instead of ``buffer``.

        The caller ensures that the tensor is computed in the memory of ``other``.
        """
        replaced = self.carried.pop(buffer)
        buffer.space = "work"
        if other is not replaced:
            other.space = "carried"
            self.carried[other] = replaced

    def _may_take(self, operand: Stored, target: Stored) -> bool:
        """Whether the target may take over the memory of ``operand``, which must be a whole buffer."""
        if operand.buffer.space == "carried":
            # if the target belonged to another carried tensor, the swap of buffers would mix up the two tensors
            return self.carried.get(target.buffer, operand.buffer) is operand.buffer
        if not self.is_pending(operand):
            return target.buffer.space == "work" and operand.buffer in self._sizes
        return self.owns(operand)

    def allocate(self, stored: Stored) -> None:
        """Allocate the buffer of a tensor. If possible, the memory of a dead buffer is reused."""
        context = self._context
        builder = context.builder
        size = builder.product([context.canonical(n) for n in stored.shape])
        buffer = stored.buffer
        lengths = stored.shape if buffer.space == "output" else ()
        over = self._taken_over.get(buffer)
        if over is not None:
            if over in self._sizes:
                self._sizes[buffer] = self._sizes.pop(over)
            builder.alloc(buffer, size, lengths, over, keeps=True)
            return
        reuse = None
        if buffer.space == "work" and len(builder.stack) == self._depth:
            key = (size.number, buffer.dtype)
            free = self._free.get(key)
            reuse = free.pop() if free else None
            self._sizes[buffer] = key
        self._check_size(stored)
        builder.alloc(buffer, size, lengths, reuse)

    def _check_size(self, stored: Stored) -> None:
        """Write a check that fails if a tensor is so large that no memory could hold it.

        The length of each single dimension was checked where it was computed. NumPy refuses to make results that are
        too large.
        """
        context = self._context
        lengths = list(map(context.canonical, stored.shape))
        plain = all(n.op in ("length", "const") for n in lengths)
        made_by_numpy = plain and stored.buffer.space == "output"
        single = len(lengths) < 2 and all(n.op != "const" for n in lengths)
        # with repetitions: the square of a length may be too large, though the length is not
        checked = tuple(sorted(n.number for n in lengths))
        if single or made_by_numpy or checked in self._checked:
            return
        node = context.builder.node
        context.check_size(lengths, context.program.nodes[node] if node >= 0 else None)
        if len(context.builder.stack) == self._depth:
            self._checked.add(checked)
