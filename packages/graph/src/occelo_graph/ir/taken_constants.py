"""Constants whose values Python code has taken, such as an axis or a number of times: `taken` records them.

An op keeps such a value in a field, so the constant is no input of its node, and nothing follows if the constant is
replaced later. `take_all` records the constants that an inner graph reads, such as the body of a loop. `clone_replace`, `graph_replace`, `vectorize_graph` and the givens of functions call
`check_taken_constants`, which says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any
from weakref import WeakSet

from occelo_graph.errors import describe
from occelo_graph.ir.nodes import Constant, Variable
from occelo_graph.ir.traversal import ancestors

_TAKEN: WeakSet[Constant] = WeakSet()


def taken(value: Any) -> Any:
    """The data of a constant, which is recorded; any other value as it is."""
    if not isinstance(value, Constant):
        return value
    _TAKEN.add(value)
    return value.data


def take_all(variables: Iterable[Variable]) -> None:
    """Record the constants among ``variables``."""
    _TAKEN.update(v for v in variables if isinstance(v, Constant))


def check_taken_constants(replaced: Iterable[Any], outputs: Sequence[Variable]) -> None:
    """Check the variables that are to be ``replaced`` in the graph of ``outputs``.

    ValueError if one is a constant whose value was taken, and that is not in the graph: nothing would be replaced. If it
    is in the graph as well, there is a warning, since fields of ops may still have the old value.
    """
    found = [v for v in replaced if isinstance(v, Constant) and v in _TAKEN]
    if not found:
        return
    within = set(ancestors(outputs))
    for constant in found:
        text = (
            f"{describe(constant)} was used as a Python number, for example as an axis or a number of times, or in an "
            "inner graph, such as the body of a loop. Ops that were made with it keep the value in a field and do not "
            "follow a replacement: build the graph anew instead"
        )
        if constant not in within:
            raise ValueError(text)
        warnings.warn(text, stacklevel=4)
