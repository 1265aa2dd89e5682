"""`BlockVM`: the VM that runs the compiled blocks of a graph, and Python thunks between them.

`BlockLinker` makes a `BlockVM` for a graph. If a region contains a node that cannot be compiled, the linker makes a
`PythonVM` instead. The linker ``c|py`` compiles each node alone. It also makes a `PythonVM`, which calls the units
through `taking_values`.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import Apply, Variable
from occelo_graph.ir.regions import perhaps_needless
from occelo_graph.lazy_names import at_first_call
from occelo_graph.provenance import warn_user
from occelo_link.array_parts import all_arrays, joined, split
from occelo_link.blocks.partition import Part
from occelo_link.cache.packing import pack
from occelo_link.linker import VM, Signature, Storage, StorageMap
from occelo_link.options import CHECK_BOUNDS
from occelo_link.units.callbacks import Effects
from occelo_link.units.compiled_unit import CompiledUnit, pack_unit
from occelo_link.units.interface import UnitFailure
from occelo_link.update_locks import UpdateLocks

if TYPE_CHECKING:
    from occelo_link.vm import NodeThunk

# the interpreter, where a call fails
evaluate = at_first_call("occelo_graph.interpret", "evaluate")
has_run = at_first_call("occelo_graph.interpret", "has_run")


def prepared(array: Any, in_either_order: bool = False) -> Any:
    """The array in the form that units require: aligned, in C order, in native byte order. If ``in_either_order`` is
    True, the array is a matrix that may also be in Fortran order (`Buffer.in_either_order`).
    """
    if type(array) is np.ndarray:
        flags, size = array.flags, array.itemsize
        if flags.carray:
            return array
        if in_either_order and flags.aligned and array.dtype.isnative:
            # entry.c has the same rule
            for (n, step), (m, across) in itertools.permutations(
                zip(array.shape, array.strides, strict=True)
            ):
                if (n <= 1 or step == size) and (m <= 1 or across >= n * size):
                    return array
    return np.require(array, dtype=array.dtype.newbyteorder("="), requirements=["C", "A", "W"])


def replay(
    part: Part,
    values: Sequence[Any],
    failure: UnitFailure,
    where: Apply | None = None,
    effects: Effects | None = None,
) -> Sequence[Any]:
    """Run a part again in the interpreter, which raises the error with its full message.

    The unit reports only the number of the failed check. ``where`` is the node of this check, if known. Ops with
    effects do not run again: the interpreter takes their results from ``effects``.

    If the interpreter raises no error, its results are right. They are returned if the failed node is needed only in
    branches that were not taken. Otherwise, if a callback failed, its exception is raised. In all other cases there is
    a RuntimeWarning and the results are returned; under the option ``check_bounds`` a RuntimeError is raised instead.
    """
    cause = failure.__cause__
    recorded = recorded_effects(failure, where, effects or Effects())
    if part.remake is not None:
        part = part.remake()
        recorded = {part.places.get(place, place): effect for place, effect in recorded.items()}
    with has_run(recorded):
        results: Sequence[Any] = evaluate(part.outputs, dict(zip(part.inputs, values, strict=True)))
    if _is_needless(part, where):
        return results
    if cause is not None:
        raise cause from None
    ops = ", ".join(str(node.op) for node in part.nodes[:5]) if where is None else str(where.op)
    message = (
        f"A check of compiled code failed (site {failure.site}; {ops}) but the interpreter finds "
        "nothing wrong: this is a fault of the compiler"
    )
    if CHECK_BOUNDS.get():
        raise RuntimeError(message)
    warn_user(f"{message}; this call ran in Python", RuntimeWarning)
    return results


def recorded_effects(
    failure: UnitFailure, where: Apply | None, effects: Effects
) -> Mapping[tuple[Apply, ...], deque[Any]]:
    """Return the results of the ops with effects that ran in a failed call, so that a replay need not run these ops
    again.

    If the results were too many to keep, this function raises the exception of the op that failed, or a RuntimeError if
    there is no such exception. If the unit ran out of memory, it raises MemoryError.
    """
    if effects.room < 0 and failure.__cause__ is not None:
        raise failure.__cause__ from None
    if failure.site < 0:
        raise MemoryError("There is not enough memory for the results of a compiled block")
    if effects.room < 0:
        raise RuntimeError(
            f"{where.op if where else 'A compiled block'} failed, and its message is lost: ops with effects have run too "
            "often for their results to be kept, and are not run again"
        )
    return effects.results


def _is_needless(part: Part, where: Apply | None) -> bool:
    """Whether the node ``where``, which failed, may have run although no output needs it (`perhaps_needless`).

    If ``where`` is None or lazy, the result says whether some node of the part may have run although no output needs
    it. (The code of a lazy node may compute another node. If that node fails, the lazy node is reported.)
    """
    optional = perhaps_needless(part.nodes, part.outputs)
    return bool(optional) if where is None or where.op.lazy else where in optional


def taking_values(
    unit: CompiledUnit, inputs: Sequence[Variable], outputs: Sequence[Variable]
) -> Callable[[Sequence[Any]], list[Any]]:
    """Wrap a unit so that it accepts values in any memory layout.

    The returned function accepts the values of ``inputs`` and returns the values of ``outputs``.
    """
    takes, gives = [v.type for v in inputs], [v.type for v in outputs]
    either = set(unit.in_either_order)

    def run(arrays: Sequence[Any]) -> list[Any]:
        return unit([prepared(array, i in either) for i, array in enumerate(arrays)])

    if all_arrays(takes) and all_arrays(gives):
        return run
    return lambda values: joined(gives, run(split(takes, values)))


class Block:
    """A compiled part with the cells that it reads and writes."""

    def __init__(self, part: Part, unit: CompiledUnit, storage_map: StorageMap) -> None:
        self.part = part
        self.unit = unit
        self.inputs = [storage_map[v] for v in part.inputs]
        self.outputs = [storage_map[v] for v in part.outputs]
        self._call = taking_values(unit, part.inputs, part.outputs)

    def __call__(self) -> None:
        values = [cell[0] for cell in self.inputs]
        try:
            results: Sequence[Any] = self._call(values)
        except UnitFailure as failure:
            # the unit reports only a number; the interpreter raises the error with its full message
            program = self.unit.program
            where = program.sites[failure.site] if program and failure.site >= 0 else None
            results = replay(self.part, values, failure, where, self.unit.effects())
        except Exception:
            # a callback failed; the interpreter raises the error if a branch that is taken needs the result
            part = self.part if self.part.remake is None else self.part.remake()
            if not perhaps_needless(part.nodes, part.outputs):
                raise
            results = evaluate(part.outputs, dict(zip(part.inputs, values, strict=True)))
        for cell, value in zip(self.outputs, results, strict=True):
            cell[0] = value


def places_of_callbacks(unit: CompiledUnit | None) -> list[tuple[Apply, ...]]:
    """The places of the nodes that a unit runs as callbacks."""
    callbacks = None if unit is None else unit.callbacks
    return [] if callbacks is None else callbacks.places


def called_by(unit: CompiledUnit | None) -> list[Apply]:
    """The nodes that a unit runs as callbacks."""
    return [place[-1] for place in places_of_callbacks(unit)]


class BlockVM(VM):
    """The VM of linkers that compile blocks: it runs blocks and thunks in order."""

    def __init__(
        self,
        fgraph: Signature,
        parts: Sequence[Part],
        units: Sequence[CompiledUnit | None],
        storage_map: StorageMap,
        inputs: Sequence[Storage],
        outputs: Sequence[Storage],
        allow_gc: bool = True,
    ) -> None:
        self.fgraph = fgraph
        self.storage_map = storage_map
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.allow_gc = allow_gc
        self.parts = list(parts)
        self.units = list(units)
        self._steps: list[Block | NodeThunk] = []
        for part, unit in zip(parts, units, strict=True):
            if unit is None:
                from occelo_link.vm import NodeThunk  # seldom needed

                self._steps += [NodeThunk(node, storage_map) for node in part.nodes]
            else:
                self._steps.append(Block(part, unit, storage_map))
        ends = {id(cell) for cell in (*self.inputs, *self.outputs)}
        # the outputs of parts, too: a block from the cache has no nodes
        computed = dict.fromkeys(v for part in parts for v in part.outputs)
        computed.update(dict.fromkeys(v for p in parts for node in p.nodes for v in node.outputs))
        self._intermediate = [
            storage_map[v] for v in computed if v in storage_map and id(storage_map[v]) not in ends
        ]

    @property
    def python_nodes(self) -> list[Apply]:
        """The nodes that run in Python, as thunks or as callbacks."""
        nodes: list[Apply] = []
        for part, unit in zip(self.parts, self.units, strict=True):
            nodes += part.nodes if unit is None else called_by(unit)
        return nodes

    @property
    def entry_is_cheap(self) -> bool:
        return all(unit.entry_is_cheap for unit in self.units if unit is not None)

    def entry(
        self,
        arguments: Mapping[Variable, int],
        scalars: Collection[Variable],
        updates: Mapping[int, int],
        kind: int,
        slow: Callable[..., Any],
        update_locks: UpdateLocks,
    ) -> Callable[..., Any] | None:
        """Make a builtin function that runs a whole call of the compiled function in machine code.

        The result is None if the graph is more than one block, has effects, or has inputs or outputs that are not
        arrays. It is also None if a call updates shared variables and runs callbacks: a callback may call a function
        that updates the same variables, and only Python knows which locks a thread holds.

        The output of an update is stored in the cell of the input that it updates.
        """
        unit = self.units[0] if len(self.units) == 1 else None
        part = self.parts[0] if self.parts else None
        if unit is None or part is None or part.outputs != self.fgraph.outputs:
            return None
        if update_locks.addresses and called_by(unit):
            # an op may call a function that updates the same variables: only Python knows which locks a thread holds
            return None
        if unit.has_effects:
            # after a failure the entry runs the call again, and would repeat the effects
            return None
        if not all_arrays([v.type for v in (*part.inputs, *part.outputs)]):
            return None  # machine code accepts and returns only arrays
        read, numbers = set(part.inputs), set(scalars)
        if any(v not in read for v in arguments):
            return None
        sources = [arguments.get(v, self.storage_map[v]) for v in part.inputs]
        cells = [
            self.inputs[updates[i]] if i in updates else None for i in range(len(self.outputs))
        ]
        takes_numbers = [v in numbers for v in part.inputs]
        return unit.entry(kind, slow, sources, takes_numbers, cells, update_locks.addresses)

    def pack(self) -> bytes | None:
        """A VM with a single unit as bytes. None if it cannot be cached in this form.

        The unit must compute all outputs of the graph without callbacks, and it must allow caching.
        """
        if len(self.units) != 1 or self.parts[0].outputs != self.fgraph.outputs:
            return None
        if called_by(self.units[0]):
            return None
        positions = {v: i for i, v in enumerate(self.fgraph.inputs)}
        if not all(v in positions for v in self.parts[0].inputs):
            return None
        unit = self.units[0]
        packed = None if unit is None else pack_unit(unit)
        if packed is None:
            return None
        return pack([positions[v] for v in self.parts[0].inputs], packed)

    def clear_storage(self) -> None:
        """Clear the cells of all intermediate values."""
        for cell in self._intermediate:
            cell[0] = None

    def __call__(self, output_subset: Sequence[int] | None = None) -> None:
        steps = self._steps if output_subset is None else self._needed(output_subset)
        try:
            with np.errstate(all="ignore"):
                for step in steps:
                    step()
        finally:
            if self.allow_gc:
                self.clear_storage()

    def _needed(self, output_subset: Sequence[int]) -> list[Block | NodeThunk]:
        """The blocks and thunks that compute the outputs in ``output_subset``, in order. A block always runs as a
        whole.
        """
        needed = {id(self.outputs[i]) for i in output_subset}
        steps: list[Block | NodeThunk] = []
        for step in reversed(self._steps):
            if needed.intersection(map(id, step.outputs)):
                steps.append(step)
                needed.update(map(id, step.inputs))
        return steps[::-1]
