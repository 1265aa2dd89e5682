"""The memory contract of functions: inserts copies of outputs that could share memory with other storage.

Unless the flag ``borrow`` of an input or output allows it, a function never returns an array of the user, a constant,
or the storage of a shared variable, and never returns one array twice. The copies are nodes of the graph, so every
linker fulfils the contract in the same way.

`maker` calls `insert_deepcopy` after rewriting. DebugMode calls it for the graph that has every variable as an output.
`calling` applies `own_value` to arguments that a call may overwrite. `copying` finds the arrays of values with
`arrays_of`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from occelo_graph import Container, Type, Variable
from occelo_graph.errors import explained_by
from occelo_graph.ops.control import DeepCopyOp as DeepCopyOp
from occelo_graph.ops.control import ViewOp as ViewOp

if TYPE_CHECKING:
    import numpy.typing as npt

    from occelo_graph import FunctionGraph


def alias_roots(variable: Variable) -> set[Variable]:
    """Return the variables whose storage ``variable`` may alias.

    Views and in-place ops lead from each of them to ``variable``.
    """
    roots: set[Variable] = set()
    pending = [variable]
    seen: set[Variable] = set()
    while pending:
        each = pending.pop()
        if each in seen:
            continue
        seen.add(each)
        sources: list[int] = []
        if each.owner is not None and each.index is not None:
            op_ = each.owner.op
            sources = [*op_.view_map.get(each.index, ()), *op_.destroy_map.get(each.index, ())]
        if sources:
            assert each.owner is not None
            pending.extend(each.owner.inputs[i] for i in sources)
        else:
            roots.add(each)
    return roots


@explained_by("graphs")
def insert_deepcopy(
    fgraph: FunctionGraph,
    borrowed_inputs: Sequence[bool],
    borrowed_outputs: Sequence[bool],
    states: Sequence[bool] = (),
) -> None:
    """Copy outputs of ``fgraph`` that may share storage with an input, a constant or an earlier output.

    ``borrowed_inputs`` and ``borrowed_outputs`` say which inputs and outputs may share storage. The last outputs are
    updates. An update may share storage only with the input that it updates in place.

    ``states`` says for each input whether only compiled functions refer to its value, as for shared variables. After an
    update of such an input, nothing uses its old array any more. So another update may take over this array without a
    copy.
    """
    from occelo_graph import FunctionGraph  # which functions from the cache need not

    if not isinstance(cast("object", fgraph), FunctionGraph):
        raise TypeError(f"insert_deepcopy takes a function graph, got {fgraph!r}")
    released = {
        fgraph.inputs[i] for i in fgraph.update_mapping.values() if i < len(states) and states[i]
    }
    borrow_of_input = dict(zip(fgraph.inputs, borrowed_inputs, strict=True))
    destroyed = _destroyed_roots(fgraph)
    owners: dict[Variable, bool] = {}
    for position, variable in enumerate(fgraph.outputs[: len(borrowed_outputs)]):
        is_update = position in fgraph.update_mapping
        borrowed = not is_update and borrowed_outputs[position]
        roots = alias_roots(variable)
        must_copy = False
        for root in roots:
            if root in owners:
                must_copy = must_copy or not (borrowed and owners[root])
            elif root.owner is None:
                shareable = borrowed and borrow_of_input.get(root, False)
                # an input that is updated in place keeps its array
                own = is_update and root is fgraph.inputs[fgraph.update_mapping[position]]
                in_place = own and root in destroyed and variable.owner is not None
                # the first output may take over the freed array; for later outputs, the array is in ``owners``
                in_place |= is_update and root is variable and root in released - destroyed
                must_copy = must_copy or not (shareable or in_place)
        if must_copy:
            node = fgraph.outputs[position]
            copied: Variable = DeepCopyOp()(node)
            copied.name = node.name
            fgraph.change_node_input(
                fgraph.output_node(position), 0, copied, reason="insert_deepcopy"
            )
            roots = {copied}
        for root in roots:
            owners[root] = owners.get(root, True) and borrowed


def _destroyed_roots(fgraph: FunctionGraph) -> set[Variable]:
    roots: set[Variable] = set()
    for node in fgraph.apply_nodes:
        for sources in node.op.destroy_map.values():
            for i in sources:
                roots |= alias_roots(node.inputs[i])
    return roots


def arrays_of(container: Container) -> list[Any]:
    """Return the NumPy arrays that the value in a container consists of. The list is empty for other Python objects."""
    kind, value = container.type, container.storage[0]
    if kind.is_array or kind.parts() is None:
        return [value] if isinstance(value, np.ndarray) else []
    return [] if value is None else list(kind.to_parts(value))


def own_value(kind: Type, value: Any) -> Any:
    """Return the value of a mutable input in a form that may be overwritten. Each of its arrays is passed to
    `own_memory`.
    """
    if kind.is_array or not kind.parts():
        return own_memory(value)
    parts = kind.to_parts(value)
    own = [own_memory(part) for part in parts]
    alike = all(a is b for a, b in zip(parts, own, strict=True))
    return value if alike else kind.from_parts(own)


def own_memory(value: Any) -> Any:
    """Return a value that may be overwritten: an array that is read-only or has overlapping elements is copied."""
    array: npt.NDArray[Any] = value
    if not isinstance(value, np.ndarray):
        return value
    if not array.flags.writeable:
        return array.copy()
    covered = array.itemsize  # the bytes that all dimensions with smaller strides cover
    for step, n in sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True)):
        if n > 1 and step < covered:
            return array.copy()
        covered += step * max(n - 1, 0)
    return array
