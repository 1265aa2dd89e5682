"""Constants whose values Python code has taken, such as an axis or a number of times: `taken` records them.

An op keeps such a value in a field, so the constant is no input of its node, and nothing follows if the constant is
replaced later. `take_all` records the constants that an inner graph reads, such as the body of a loop: an inner graph
does not tell its constants from equal ones. `clone_replace`, `graph_replace`, `vectorize_graph` and the givens of
functions call `check_taken_constants`, which refuses to replace such a constant.

A constant is recorded with the call in the user's code that took it (`provenance.Mark`). The nodes that this call makes
have the same mark, and so do their copies. What is derived from them, such as a gradient, has other marks: `derived`
records the call that derives. Marks do not tell two runs of one line apart: if a function of the
user's was called with a constant and later with another number, the nodes of both calls count as made with the constant.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from types import CodeType
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakSet

from occelo_graph.errors import describe
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.traversal import toposort
from occelo_graph.provenance import Mark, Source, here


class _Call(NamedTuple):
    """A call in the user's code, the constants whose values it took, and the keys of calls from which it derived nodes.

    ``code`` is kept so that its address, a part of the key in ``_CALLS``, is not used again.
    """

    code: CodeType | None
    constants: WeakSet[Constant]
    sources: set[_Key]


_Key: TypeAlias = tuple[int, int]
_CALLS: dict[_Key, _Call] = {}
_LOCK = threading.RLock()
"""Held while ``_CALLS`` is read or changed: several threads may build graphs."""
_READ: WeakSet[Constant] = WeakSet()
"""Constants that became integers of Python (``__index__``): what was made with these cannot be known."""


def _key(mark: Mark | Source | None) -> _Key:
    """A key that is hashed fast, unlike a code object. One key stands for all calls without a mark."""
    return (id(mark[0]), mark[1]) if isinstance(mark, tuple) else (0, 0)


def _record(constants: Iterable[Constant], sources: Iterable[_Key] = ()) -> None:
    """Record constants and calls for the call in the user's code that is running."""
    mark = here()
    with _LOCK:
        call = _CALLS.get(_key(mark))
        if call is None:
            call = _CALLS[_key(mark)] = _Call(mark[0] if mark else None, WeakSet(), set())
        call.constants.update(constants)
        call.sources.update(sources)


def taken(value: Any) -> Any:
    """The data of a constant, which is recorded; any other value as it is."""
    if not isinstance(value, Constant):
        return value
    _record([value])
    return value.data


def read(constant: Constant) -> Any:
    """The data of a constant that becomes an integer of Python. It is recorded."""
    _READ.add(constant)
    return constant.data


class Held(NamedTuple):
    """What `take_all` records for an inner graph: its constants, and the calls that made its nodes."""

    constants: set[Constant]
    calls: set[_Key]


def held_by(nodes: Iterable[Apply], results: Iterable[Variable] = ()) -> Held:
    """The constants that ``nodes`` read and that are among ``results``, and the calls of ``nodes`` that took others."""
    listed = list(nodes)
    read_here = [*results, *(v for node in listed for v in node.inputs)]
    return Held({v for v in read_here if isinstance(v, Constant)}, _calls_of(listed))


def take_all(held: Held) -> None:
    """Record what an inner graph holds."""
    if held.constants or held.calls:
        _record(held.constants, held.calls)


def derived(nodes: Iterable[Apply]) -> None:
    """Record that the running call derives other nodes from ``nodes``, so that it has the constants of their calls."""
    calls = _calls_of(nodes)
    if calls:
        _record((), calls)


def _calls_of(nodes: Iterable[Apply]) -> set[_Key]:
    """The calls in the user's code that made ``nodes`` and that took a constant."""
    if not _CALLS:
        return set()
    return {key for key in {_key(node.mark) for node in nodes} if key in _CALLS}


def _calls_with(constant: Constant) -> set[_Key]:
    """The calls that took a constant, and all that derive nodes from theirs."""
    with _LOCK:
        keys = {key for key, call in _CALLS.items() if constant in call.constants}
        more = set(keys)
        while more:
            more = {key for key, call in _CALLS.items() if call.sources & more} - keys
            keys |= more
    return keys


def check_taken_constants(replaced: Iterable[Any], outputs: Sequence[Variable]) -> None:
    """Check the variables that are to be ``replaced`` in the graph of ``outputs``.

    ValueError if a node of the graph was made with the value of one of them. ValueError also if the value of one was
    taken and it is not in the graph, so that nothing would be replaced, or if it became an integer of Python.
    """
    calls = {v: _calls_with(v) for v in replaced if isinstance(v, Constant)}
    suspects = {variable: keys for variable, keys in calls.items() if keys or variable in _READ}
    if not suspects:
        return
    order = toposort(outputs)
    within = {*outputs, *(v for node in order for v in node.inputs)}
    for constant, keys in suspects.items():
        # the last node is the op that the user called, rather than what prepares its inputs
        users = [node for node in order if _key(node.mark) in keys]
        if users:
            where = f" at {users[-1].source}" if users[-1].source else ""
            raise ValueError(_refusal(constant, f"{users[-1].op}{where} was made with it and"))
        if constant in _READ or constant not in within:
            raise ValueError(_refusal(constant, "What was made with it"))


def _refusal(constant: Constant, what: str) -> str:
    return (
        f"{describe(constant)} was used as a Python number, for example as an axis or a number of times, or in an inner "
        f"graph, such as the body of a loop. {what} does not follow a replacement: build the graph anew instead"
    )
