"""In-place computation: finds operands whose memory may be reused for the results of a step.

Also finds steps that may update the memory of a shared variable. The schedule calls these functions before it allocates
the results of its steps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeGuard

from occelo_link.loops.ir.program import Buffer
from occelo_link.loops.kernel import LoopKernel, ReduceRoot
from occelo_link.loops.steps import AnyStep, Step, buffers_of, reads_of, targets_of
from occelo_link.loops.tensors import Stored


def overwritable(step: AnyStep, dying: Collection[Buffer]) -> Iterator[tuple[Stored, Stored]]:
    """Yield pairs of a result of the step and an operand. The result may be written into the memory of this operand.

    ``dying`` are the buffers that no later step reads.
    """
    if isinstance(step, LoopKernel):
        yield from _in_kernel(step, dying)
        return
    changed = step.changed
    if not _is_whole(changed) or changed.buffer not in dying:
        return
    if changed.buffer not in buffers_of(step.others):
        yield step.writes[0], changed


def _is_whole(tensor: object) -> TypeGuard[Stored]:
    """Whether a tensor is stored and is not a view of another tensor."""
    return isinstance(tensor, Stored) and tensor.reads.get(tensor, False)


def _in_kernel(kernel: LoopKernel, dying: Collection[Buffer]) -> Iterator[tuple[Stored, Stored]]:
    """Yield the pairs of `overwritable` for a kernel.

    The last root that reads a tensor may overwrite the tensor, unless some root reads elements of it at another index.
    """
    if not dying:
        return
    order = sorted(kernel.roots, key=lambda root: isinstance(root, ReduceRoot))
    last: dict[Buffer, int] = {}
    # within the loop, results of this kernel are passed on as values, so they may have no memory
    elsewhere = {root.target.buffer for root in order}
    for place, root in enumerate(order):
        for stored, same in root.tensor.reads.items():
            last[stored.buffer] = place
            if not same:
                elsewhere.add(stored.buffer)
    for place, root in enumerate(order):
        if isinstance(root, ReduceRoot) or not root.target.readers:
            continue
        for stored in root.tensor.reads:
            buffer = stored.buffer
            fits = stored.flat and stored.dtype == root.target.dtype and buffer in dying
            if fits and buffer not in elsewhere and last[buffer] == place:
                yield root.target, stored


_MOST_SEARCHED = 100
"""How many steps the searches of `readers_first` examine at most, for each step of the program.

If each of n changes is read by a step far behind it, as in the gradient of n writes, the searches would take the time n^2.
"""


def readers_first(steps: Sequence[AnyStep]) -> list[AnyStep]:
    """The steps in an order in which a change of a tensor comes after the other steps that read the tensor.

    So the change can be made in place. A change stays where it is if a step that reads the tensor needs the result of
    the change, too, or if the search for such a step would take too long.
    """
    order = list(steps)
    changes = [s for s in steps if isinstance(s, Step) and _is_whole(s.changed)]
    if not changes:
        return order
    reads = {step: buffers_of(reads_of(step)) for step in steps}
    readers: dict[Buffer, list[AnyStep]] = {}
    for step in steps:
        for buffer in reads[step]:
            readers.setdefault(buffer, []).append(step)
    positions = {step: i for i, step in enumerate(order)}
    left = _MOST_SEARCHED * len(order)
    for change in changes:
        assert isinstance(change.changed, Stored)
        others = readers[change.changed.buffer]
        at, end = positions[change], max(positions[step] for step in others) + 1
        if end - at > left:
            continue
        left -= end - at
        later = order[at + 1 : end]
        first = _needed(later, others, change, reads)
        if first:
            rest = [s for s in later if s not in first]
            order[at:end] = [*(s for s in later if s in first), change, *rest]
            positions.update(zip(order[at:end], range(at, end), strict=True))
    return order


def _needed(
    later: Sequence[AnyStep],
    readers: Collection[AnyStep],
    change: Step,
    reads: Mapping[AnyStep, Collection[Buffer]],
) -> set[AnyStep]:
    """The steps among ``later`` that are in ``readers``, and the steps among ``later`` whose results they need.

    The set is empty if one of these steps needs the result of ``change``.
    """
    buffers: set[Buffer] = set()
    needed: set[AnyStep] = set()
    for step in reversed(later):
        written = {stored.buffer for stored in targets_of(step)}
        if step in readers or not written.isdisjoint(buffers):
            needed.add(step)
            buffers.update(reads[step])
    return needed if change.writes[0].buffer not in buffers else set()


def changes_of_states(
    steps: Sequence[AnyStep], states: Mapping[Buffer, Buffer]
) -> dict[Buffer, list[Step]]:
    """The steps that update states and that can be moved to the end of the schedule.

    ``states`` maps the buffer of an output to the buffer of the input that it updates. The result maps the buffer of
    the input to its chain of steps. The first step of a chain changes the input, which no other step reads. Each
    further step changes the result of the previous step. No chain reads a state that another chain changes, so chains
    may run in any order.
    """
    changes = {
        s.writes[0].buffer: s for s in steps if isinstance(s, Step) and s.changed and not s.can_fail
    }
    if not any(output in changes for output in states):
        return {}
    readers: dict[Buffer, int] = {}
    for step in steps:
        for buffer in buffers_of(reads_of(step)):
            readers[buffer] = readers.get(buffer, 0) + 1
    chains: dict[Buffer, list[Step]] = {}
    read: set[Buffer] = set()
    for output, state in states.items():
        chain = _chain(output, state, changes, readers)
        own = buffers_of([tensor for step in chain for tensor in step.others])
        if chain and state not in read and not own & chains.keys():
            chains[state] = chain
            read |= own
    return chains


def _chain(
    output: Buffer, state: Buffer, changes: Mapping[Buffer, Step], readers: Mapping[Buffer, int]
) -> list[Step]:
    """The chain of steps that turn a state into an output, in order.

    It is empty if there is no chain, or if other steps read its intermediate results.
    """
    chain: list[Step] = []
    buffer, expected = output, 0
    while buffer in changes and readers.get(buffer, 0) == expected:
        step, expected = changes[buffer], 1
        if not _is_whole(step.changed):
            break
        buffer = step.changed.buffer
        others = buffers_of(step.others)
        if buffer in others or state in others:
            break
        chain.append(step)
        if buffer is state:
            return chain[::-1]
    return []
