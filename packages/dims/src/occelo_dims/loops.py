"""Loops whose states, sequences and results are tensors with names: those of `occelo`, with the names of dimensions.

Steps run along one named dimension of the sequences, wherever it comes. A step gets its elements without this dimension,
and results of all steps have it first. A state keeps its dimensions: one in another order is transposed, and one with
other names is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import occelo_loops
from occelo_dims.labelled import (
    Dims,
    Labelled,
    as_xtensor,
    check_dims,
    describe,
    dims_of_leaves,
    is_data_array,
    labelled,
    read_value,
    require,
)
from occelo_graph.errors import explained_by
from occelo_graph.ir import trees
from occelo_graph.narrowing import is_dict, is_list_or_tuple, is_tuple
from occelo_graph.ops.control.branches import ifelse as ifelse_of_tensors
from occelo_loops.ops.nested import Stepped


@explained_by("dimensions")
def loop(
    step: Stepped,
    init: Any,
    xs: Any = None,
    length: Any = None,
    until: Callable[[Any], Any] | None = None,
    reverse: bool = False,
    *,
    dim: str = "step",
    checkpoint: int | str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Run ``step(state, x)`` for each element of ``xs`` along the dimension ``dim``, as `occelo.loop` does.

    ``init``, ``xs``, the state and what a step keeps are trees of tensors with names; those without names in ``xs`` are
    read along their first axis. Returns the last state, and what was kept, with ``dim`` as first dimension. ``length``,
    ``until``, ``reverse``, ``checkpoint`` and ``name`` are those of `occelo.loop`.

    ValueError if a tensor of ``xs`` lacks ``dim``, and if a step changes the dimensions of the state.
    """
    check_dims((dim,))
    start, form = trees.flatten(init, "the initial state")
    read, sequences = trees.flatten(xs, "xs")
    fronts = [
        x if dims is None else _in_front(labelled(x, dims), dim, "loop")
        for x, dims in zip(read, dims_of_leaves(sequences), strict=True)
    ]
    structures: list[trees.Structure] = []

    def inner(state: list[Any], *at: list[Any]) -> Any:
        elements = (
            [_element(each, front) for each, front in zip(*at, fronts, strict=True)] if at else []
        )
        arguments = [sequences.unflatten(elements)] if at else []
        called: Callable[..., Any] = step
        returned = called(form.unflatten(state), *arguments)
        if not is_tuple(returned) or len(returned) != 2:
            return returned  # the loop says what a step returns
        following, trace = returned
        leaves, structure = trees.flatten(trace, "kept")
        structures[:] = [structure]
        return form.leaves_of(following, "The state after a step"), leaves

    stop = None if until is None else _condition(until, form)
    values = None if xs is None else [_plain(x) for x in fronts]
    final, traces = occelo_loops.loop(
        inner, start, values, length, stop, reverse, checkpoint=checkpoint, name=name
    )
    return form.unflatten(final), _stacked(structures[0], traces, dim)


@explained_by("dimensions")
def fori_loop(lower: Any, upper: Any, body: Callable[[Any, Any], Any], init: Any) -> Any:
    """The last state of ``for i in range(lower, upper): state = body(i, state)``, as of `occelo.fori_loop`.

    ``init`` is a tree of tensors with names. ValueError if ``body`` changes the dimensions of the state.
    """
    start, form = trees.flatten(init, "the initial state")

    def inner(i: Any, state: list[Any]) -> list[Any]:
        return form.leaves_of(body(i, form.unflatten(state)), "The state after a step")

    return form.unflatten(occelo_loops.fori_loop(lower, upper, inner, start))


@explained_by("dimensions")
def while_loop(
    cond: Callable[[Any], Any], body: Callable[[Any], Any], init: Any, max_steps: Any = None
) -> Any:
    """The last state of ``while cond(state): state = body(state)``, as of `occelo.while_loop`, with its ``max_steps``.

    ``init`` is a tree of tensors with names. ValueError if ``body`` changes the dimensions of the state.
    """
    start, form = trees.flatten(init, "the initial state")

    def inner(state: list[Any]) -> list[Any]:
        return form.leaves_of(body(form.unflatten(state)), "The state after a step")

    return form.unflatten(occelo_loops.while_loop(_condition(cond, form), inner, start, max_steps))


@explained_by("dimensions")
def ifelse(condition: Any, then_branch: Any, else_branch: Any, name: str | None = None) -> Any:
    """The tree ``then_branch`` if the scalar ``condition`` is true, else ``else_branch``; only one of them is computed.

    Both are trees of tensors with names, as of `occelo.ifelse`, and ``name`` is that of the node. The result has the
    order of dimensions of ``then_branch``. ValueError if the other one has other dimensions.
    """
    first, form = trees.flatten(then_branch, "then_branch")
    second = form.leaves_of(else_branch, "else_branch")
    results: Any = ifelse_of_tensors(_scalar(condition), first, second, name)
    return form.unflatten(results if is_list_or_tuple(results) else [results])


@explained_by("dimensions")
def scan(
    fn: Stepped,
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    n_steps: Any = None,
    *,
    dim: str = "step",
    **options: Any,
) -> Any:
    """Call ``fn`` along the dimension ``dim``, as `occelo.scan` does along the first axis, and return what it returned.

    ``sequences``, the initial values ``outputs_info``, ``non_sequences`` and what ``fn`` returns are tensors with names. In the dicts of sequences
    and outputs with ``taps``, the tensor has ``dim``. Results have ``dim`` first, and are returned alone. ``n_steps`` and ``options``
    are those of `occelo.scan`.

    ValueError if a sequence lacks ``dim``, and if an output has other dimensions than its initial value.
    """
    check_dims((dim,))
    read = [_entry(x, dim, "input", "scan") for x in _listed(sequences)]
    starts = [_entry(x, dim, "initial", "scan") for x in _listed(outputs_info)]
    fixed = [_named(x) for x in _listed(non_sequences)]
    elements: list[Any] = [e.element for e in read for _ in e.taps]
    elements += [e.element for e in starts for _ in e.taps]
    elements += fixed
    returned: list[Any] = []

    def inner(*args: Any) -> Any:
        named = [
            labelled(each, like.dims) if isinstance(like, Labelled) else each
            for each, like in zip(args, elements, strict=True)
        ]
        returned.clear()
        called: Callable[..., Any] = fn
        return _without_names(called(*named), [e.element for e in starts], returned)

    traces: Any = occelo_loops.scan(
        inner,
        [e.argument for e in read],
        [e.argument for e in starts] or None,
        [_plain(x) for x in fixed],
        n_steps,
        return_updates=False,
        **options,
    )
    several = is_list_or_tuple(traces)
    results = [
        x if dims is None else labelled(x, (dim, *dims))
        for x, dims in zip(traces if several else [traces], returned, strict=True)
    ]
    return results if several else results[0]


class _Entry:
    """A sequence or an output of a scan: its argument without names, one element with names, and its taps."""

    def __init__(self, argument: Any, element: Any, taps: Sequence[int]) -> None:
        self.argument = argument
        self.element = element
        self.taps = taps


def _entry(value: Any, dim: str, key: str, what: str) -> _Entry:
    """An entry as a user gives it. An initial value without taps is one state, all others are read along ``dim``."""
    default = [0] if key == "input" else [-1]
    spec: dict[str, Any] = dict(value) if is_dict(value) else {key: value}
    x = _named(spec.get(key))
    taps: Any = spec.get("taps", default) or []
    taps = [taps] if isinstance(taps, int) else list(taps)
    if x is None:
        return _Entry(value, None, taps if "taps" in spec else [])
    if not isinstance(x, Labelled):
        return _Entry(value, None, taps)
    whole = key == "initial" and taps == [-1]
    front = x if whole else _in_front(x, dim, what)
    element = front if whole else labelled(front.values[0], front.dims[1:])
    spec[key] = front.values
    return _Entry(spec if is_dict(value) else front.values, element, taps)


def _without_names(value: Any, states: Sequence[Any], names: list[Any]) -> Any:
    """What a step returned, without names, which are appended to ``names``. An output has the order of its state."""
    if isinstance(value, Labelled) or is_data_array(value):
        own = as_xtensor(value)
        state = states[len(names)] if len(names) < len(states) else None
        dims = state.dims if isinstance(state, Labelled) else own.dims
        if set(dims) != set(own.dims):
            raise ValueError(
                f"scan: output {len(names)} of a step is {describe(own)}, and its initial value has {dims}"
            )
        names.append(dims)
        return read_value(own, dims)[0]
    if is_list_or_tuple(value):
        return type(value)(_without_names(each, states, names) for each in value)
    if not is_dict(value) and hasattr(value, "ndim"):
        names.append(None)
    return value


def _listed(value: Any) -> list[Any]:
    return list(value) if is_list_or_tuple(value) else [] if value is None else [value]


def _named(value: Any) -> Any:
    return as_xtensor(value) if is_data_array(value) else value


def _in_front(x: Labelled, dim: str, what: str) -> Any:
    axis = require(x, dim, what)
    rest = [i for i in range(len(x.dims)) if i != axis]
    return labelled(x.values.dimshuffle([axis, *rest]), (dim, *(x.dims[i] for i in rest)))


def _plain(x: Any) -> Any:
    return x.values if isinstance(x, Labelled) else x


def _element(value: Any, front: Any) -> Any:
    return labelled(value, front.dims[1:]) if isinstance(front, Labelled) else value


def _scalar(condition: Any) -> Any:
    return (
        as_xtensor(condition).__occelo_tensor__() if isinstance(condition, Labelled) else condition
    )


def _condition(cond: Callable[[Any], Any], form: trees.Structure) -> Callable[[Any], Any]:
    return lambda state: _scalar(cond(form.unflatten(state)))


def _stacked(structure: trees.Structure, values: Sequence[Any], dim: str) -> Any:
    names: list[Dims | None] = dims_of_leaves(structure)
    pairs = zip(values or [], names, strict=True)
    return structure.unflatten(
        x if dims is None else labelled(x, (dim, *dims)) for x, dims in pairs
    )
