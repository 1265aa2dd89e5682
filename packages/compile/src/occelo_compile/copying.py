"""Copies and pickles compiled functions. `Function.copy`, ``copy.copy`` and ``pickle`` call the functions here."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from occelo_compile.calling import Function
from occelo_compile.errors import AliasedMemoryError
from occelo_compile.maker import FunctionMaker
from occelo_compile.memory import arrays_of
from occelo_compile.options import UNPICKLE_FUNCTION
from occelo_compile.profiling import chosen_profile
from occelo_compile.symbolic_io import SymbolicInput, SymbolicOutput
from occelo_graph import Container, SharedVariable, Variable, clone_replace
from occelo_graph.errors import describe
from occelo_graph.ir.pickling import NodeTable
from occelo_graph.provenance import warn_user

Swap = Mapping[Any, SharedVariable]


def copied(
    function: Function,
    share_memory: bool,
    swap: Swap | None,
    delete_updates: bool,
    name: str | None,
    profile: Any,
) -> Function:
    """Return a copy of a function, as `Function.copy` describes it."""
    old = function.maker
    name = f"{function.name} copy" if name is None and function.name is not None else name
    inputs, outputs = _symbols(function, _checked(function, swap), delete_updates)
    # without the updates, in-place ops may be wrong, so the graph is rewritten again
    reuse = old.is_rewritten and not delete_updates
    graph, same = old.fgraph.clone_get_equiv(check_integrity=False) if reuse else (None, {})
    maker = old.with_own_graph(inputs, outputs, graph, name, chosen_profile(profile, name))
    storage: dict[Any, Any] | None = None
    if share_memory and graph is not None:
        own_cells = {id(c.storage) for c in (*function.input_storage, *function.output_storage)}
        storage = {
            same[v]: cell
            for v, cell in function.vm.storage_map.items()
            if v in same and v.owner is not None and id(cell) not in own_cells
        }
    new: Function = maker.create(storage)
    new.trust_input = function.trust_input
    if share_memory:
        new.lock = function.lock
    _take_values(function, new)
    return new


def _checked(function: Function, swap: Swap | None) -> dict[Variable, SharedVariable]:
    used = set(function.get_shared())
    swaps: dict[Variable, object] = dict(swap or {})
    pairs: dict[Variable, SharedVariable] = {}
    for old, new in swaps.items():
        if old not in used:
            raise ValueError(f"{describe(old)} is not a shared variable of {function}")
        if not isinstance(new, SharedVariable):
            raise TypeError(f"{describe(old)} can be swapped for a shared variable, not {new!r}")
        if new.type != old.type:
            raise TypeError(f"{describe(old)} cannot be swapped for {describe(new)}: types differ")
        pairs[old] = new
    return pairs


def _symbols(
    function: Function, swap: dict[Variable, SharedVariable], delete_updates: bool
) -> tuple[list[SymbolicInput], list[SymbolicOutput]]:
    """Return the inputs and outputs of the copy. In their graphs the shared variables are swapped."""
    maker = function.maker
    updates = [each.update for each in maker.inputs if each.update is not None]
    roots = [each.variable for each in maker.outputs] + updates
    if swap:
        explicit = {i.variable: i.variable for i in maker.inputs if not i.implicit}
        roots = clone_replace(roots, {**explicit, **swap})
    new_updates = dict(zip(updates, roots[len(maker.outputs) :], strict=True))
    inputs: list[SymbolicInput] = []
    for each in maker.inputs:
        symbol = copy.copy(each)
        if symbol.variable in swap:
            symbol.variable = swap[symbol.variable]
            symbol.name = symbol.variable.name
            symbol.value = symbol.variable.container
        if symbol.update is not None:
            symbol.update = None if delete_updates else new_updates[symbol.update]
            if delete_updates and symbol.shared:
                symbol.mutable = False
        inputs.append(symbol)
    outputs = [
        type(each)(variable, borrow=each.borrow)
        for each, variable in zip(maker.outputs, roots, strict=False)
    ]
    return inputs, outputs


def with_same_maker(function: Function) -> Function:
    """Return another function with the same maker and with copies of the current values. ``copy.copy`` calls it."""
    new: Function = function.maker.create()
    new.name = function.name
    new.trust_input = function.trust_input
    _take_values(function, new)
    return new


def _own_values(function: Function) -> list[int]:
    """Return the positions of inputs whose values belong to this function only, such as inputs with a default."""
    return [
        i
        for i, (each, _) in enumerate(function.indices)
        if each.value is not None and not isinstance(each.value, Container)
    ]


def _take_values(function: Function, new: Function) -> None:
    for i in _own_values(function):
        each = function.indices[i][0]
        value = function.input_storage[i].storage[0]
        _give_value(new, i, copy.deepcopy(value) if each.mutable else value)


def _give_value(function: Function, i: int, value: Any) -> None:
    function.input_storage[i].storage[0] = value


def pickled(function: Function) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the tuple that ``Function.__reduce__`` returns: a function and its arguments.

    The first argument is a table of all nodes, so that variables are positions in this one table. Compiled code is
    not included. When the function is loaded, its code is found in the cache or compiled again.
    """
    function.free()
    _check_aliasing(function)
    values = {i: function.input_storage[i].storage[0] for i in _own_values(function)}
    return _restored, (_table(function.maker), function.maker, values, function.trust_input)


def _table(maker: FunctionMaker) -> NodeTable:
    variables: list[Variable] = [each.variable for each in maker.outputs]
    for each in maker.inputs:
        default = getattr(each.variable, "default_update", None)
        variables += [v for v in (each.variable, each.update, default) if v is not None]
    return NodeTable.of(variables)


def _restored(
    table: NodeTable, maker: FunctionMaker, values: dict[int, Any], trust_input: bool
) -> Function | None:
    if not UNPICKLE_FUNCTION.get():
        return None
    function: Function = maker.create()
    function.trust_input = trust_input
    for i, value in values.items():
        _give_value(function, i, value)
    return function


def _check_aliasing(function: Function) -> None:
    """Warn or raise an error if values share memory. After loading, they would no longer share it."""
    strategy = function.pickle_aliased_memory_strategy
    if strategy == "ignore":
        return
    held: list[tuple[int, int, Variable, Any]] = []
    for (each, _), container in zip(function.indices, function.input_storage, strict=True):
        held += [
            (*byte_bounds(array), each.variable, array)
            for array in arrays_of(container)
            if array.size
        ]
    held.sort(key=lambda entry: entry[:2])
    for (_, end, variable, value), (start, _, other, its) in itertools.pairwise(held):
        if variable is not other and start < end and np.may_share_memory(value, its):
            message = (
                f"The values of {describe(variable)} and {describe(other)} share memory, and "
                "will not when they are loaded"
            )
            if strategy == "raise":
                raise AliasedMemoryError(message)
            warn_user(message)
