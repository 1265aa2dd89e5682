"""Computing in place: which results may take the memory of what they are computed from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeGuard

from occelo_link.loops.ir.program import Buffer
from occelo_link.loops.kernel import LoopKernel, ReduceRoot
from occelo_link.loops.steps import AnyStep, Step, buffers_of, reads_of
from occelo_link.loops.tensors import Stored

__all__ = ["changes_of_states", "overwritable"]


def overwritable(step: AnyStep, target: Stored, dying: Collection[Buffer]) -> Stored | None:
    """A tensor, in one of the buffers that nobody reads after the step, to compute ``target`` over."""
    if isinstance(step, LoopKernel):
        return _in_kernel(step, target, dying)
    changed = step.changed
    if not _is_whole(changed) or changed.buffer not in dying:
        return None
    return None if changed.buffer in buffers_of(step.others) else changed


def _is_whole(tensor: object) -> TypeGuard[Stored]:
    """Whether a tensor is stored, and no view of another one."""
    return isinstance(tensor, Stored) and tensor.reads.get(tensor, False)


def _in_kernel(kernel: LoopKernel, target: Stored, dying: Collection[Buffer]) -> Stored | None:
    """Each element may be written over once it is read, if nothing at another index needs it."""
    order = sorted(kernel.roots, key=lambda root: isinstance(root, ReduceRoot))
    place = next(i for i, root in enumerate(order) if root.target is target)
    root, after = order[place], order[place + 1 :]
    if isinstance(root, ReduceRoot) or not target.readers:
        return None
    own = {each.target for each in kernel.roots}
    for stored, same in root.tensor.reads.items():
        if stored in own:
            continue  # it is passed on within the loop, and may have no memory
        fits = same and stored.flat and stored.dtype == target.dtype and stored.buffer in dying
        if not fits or stored.buffer in buffers_of([r.tensor for r in after]):
            continue
        if all(
            kept
            for each in order[: place + 1]
            for read, kept in each.tensor.reads.items()
            if read.buffer is stored.buffer
        ):
            return stored
    return None


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
    for output, state in states.items():
        chain = _chain(output, state, changes, readers)
        if chain and _independent(state, chain, found):
            found[state] = chain
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


def _independent(
    state: Buffer, chain: Sequence[Step], found: Mapping[Buffer, Sequence[Step]]
) -> bool:
    """Whether the chain reads no other state that is changed, and no other chain this state."""
    own = {buffer for step in chain for buffer in buffers_of(step.others)}
    return not own & found.keys() and not any(
        state in buffers_of(step.reads) for other in found.values() for step in other
    )
