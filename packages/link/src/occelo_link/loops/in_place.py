"""Computing in place: which results may take the memory of what they are computed from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeGuard

from occelo_link.loops.ir.program import Buffer
from occelo_link.loops.kernel import LoopKernel, ReduceRoot
from occelo_link.loops.steps import AnyStep, Step, buffers_of, reads_of
from occelo_link.loops.tensors import Stored

__all__ = ["changes_of_states", "overwritable"]


def overwritable(step: AnyStep, dying: Collection[Buffer]) -> Iterator[tuple[Stored, Stored]]:
    """Results of a step, each with a tensor over which it can be computed.

    ``dying`` are the buffers that nobody reads after the step.
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
    """Whether a tensor is stored, and no view of another one."""
    return isinstance(tensor, Stored) and tensor.reads.get(tensor, False)


def _in_kernel(kernel: LoopKernel, dying: Collection[Buffer]) -> Iterator[tuple[Stored, Stored]]:
    """Each element may be written over by the last result that reads it, if no other index needs it."""
    if not dying:
        return
    order = sorted(kernel.roots, key=lambda root: isinstance(root, ReduceRoot))
    last: dict[Buffer, int] = {}
    # what is computed here is passed on within the loop, and may have no memory
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


def changes_of_states(
    steps: Sequence[AnyStep], states: Mapping[Buffer, Buffer]
) -> dict[Buffer, list[Step]]:
    """The changes of states that can be put last, in any order of the states.

    ``states`` maps outputs to the inputs that they update. For an input there are the steps each of
    which changes what the one before it has made, the first of them the input itself, which nobody else reads then.
    """
    changes = {s.writes[0].buffer: s for s in steps if isinstance(s, Step) and s.changed}
    if not any(output in changes for output in states):
        return {}
    readers: dict[Buffer, int] = {}
    for step in steps:
        for buffer in buffers_of(reads_of(step)):
            readers[buffer] = readers.get(buffer, 0) + 1
    found: dict[Buffer, list[Step]] = {}
    read: set[Buffer] = set()
    for output, state in states.items():
        chain = _chain(output, state, changes, readers)
        own = buffers_of([tensor for step in chain for tensor in step.others])
        # no chain may read a state that another one changes
        if chain and state not in read and not own & found.keys():
            found[state] = chain
            read |= own
    return found


def _chain(
    output: Buffer, state: Buffer, changes: Mapping[Buffer, Step], readers: Mapping[Buffer, int]
) -> list[Step]:
    """The steps from a state to an output, if nothing else reads what they make; else none."""
    chain: list[Step] = []
    made, expected = output, 0
    while made in changes and readers.get(made, 0) == expected:
        step, expected = changes[made], 1
        if not _is_whole(step.changed):
            break
        made = step.changed.buffer
        others = buffers_of(step.others)
        if made in others or state in others:
            break
        chain.append(step)
        if made is state:
            return chain[::-1]
    return []
