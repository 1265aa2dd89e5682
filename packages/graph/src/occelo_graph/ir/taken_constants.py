"""Constants whose values Python code has taken, such as an axis or a number of times: `taken` records them.

An op keeps such a value in a field, so the constant is no input of its node, and nothing follows if the constant is
replaced later. `take_all` records the constants that an inner graph reads, such as the body of a loop: an inner graph
does not tell its constants from equal ones. `clone_replace`, `graph_replace`, `vectorize_graph` and the givens of
functions call `check_taken_constants`, which refuses to replace such a constant.

A constant is recorded with the call in the user's code that took it (`provenance.Mark`). The nodes that this call makes
have the same mark, and so do their copies. What is derived from them, such as a gradient, has other marks: `derived`
records the constants again for the call that derives. Marks do not tell two runs of one line apart: if a function of the
user's was called with a constant and later with another number, the nodes of both calls count as made with the constant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from types import CodeType
from typing import Any, NamedTuple
from weakref import WeakSet

from occelo_graph.errors import describe
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.traversal import toposort
from occelo_graph.provenance import Mark, Source, here


class _Call(NamedTuple):
    """A call in the user's code, and the constants whose values it took.

    ``code`` is kept so that its address, a part of the key in ``_CALLS``, is not used again.
    """

    code: CodeType | None
    constants: WeakSet[Constant]


_CALLS: dict[tuple[int, int], _Call] = {}
_READ: WeakSet[Constant] = WeakSet()
"""Constants that became integers of Python (``__index__``): what was made with these cannot be known."""


def _key(mark: Mark | Source | None) -> tuple[int, int]:
    """A key that is hashed fast, unlike a code object. One key stands for all calls without a mark."""
    return (id(mark[0]), mark[1]) if isinstance(mark, tuple) else (0, 0)


def _record(constants: Iterable[Constant], mark: Mark | None) -> None:
    call = _CALLS.get(_key(mark))
    if call is None:
        call = _CALLS[_key(mark)] = _Call(mark[0] if mark else None, WeakSet())
    call.constants.update(constants)


def taken(value: Any) -> Any:
    """The data of a constant, which is recorded; any other value as it is."""
    if not isinstance(value, Constant):
        return value
    _record([value], here())
    return value.data


def read(constant: Constant) -> Any:
    """The data of a constant that becomes an integer of Python. It is recorded."""
    _READ.add(constant)
    return constant.data


def take_all(constants: Collection[Constant]) -> None:
    """Record the constants of an inner graph."""
    if constants:
        _record(constants, here())


def constants_of(nodes: Iterable[Apply], results: Iterable[Variable] = ()) -> set[Constant]:
    """The constants that ``nodes`` read, that are among ``results``, and whose values ``nodes`` were made with."""
    listed = list(nodes)
    read_here = [*results, *(v for node in listed for v in node.inputs)]
    return {v for v in read_here if isinstance(v, Constant)} | _taken_for(listed)


def derived(nodes: Iterable[Apply]) -> None:
    """Record for the running call the constants that ``nodes`` were made with: the call derives other nodes from them."""
    take_all(_taken_for(nodes) if _CALLS else ())


def _taken_for(nodes: Iterable[Apply]) -> set[Constant]:
    keys = {_key(node.mark) for node in nodes}
    return {constant for key in keys & _CALLS.keys() for constant in _CALLS[key].constants}


def check_taken_constants(replaced: Iterable[Any], outputs: Sequence[Variable]) -> None:
    """Check the variables that are to be ``replaced`` in the graph of ``outputs``.

    ValueError if a node of the graph was made with the value of one of them. ValueError also if the value of one was
    taken and it is not in the graph, so that nothing would be replaced, or if it became an integer of Python.
    """
    calls = {
        variable: {key for key, call in _CALLS.items() if variable in call.constants}
        for variable in replaced
        if isinstance(variable, Constant)
    }
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
