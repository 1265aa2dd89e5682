"""Examples of lists of tensors, for the table in `occelo_testing.examples`.

The expected results are the elements and lengths that the corresponding operations on Python's lists return.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.examples.example import Example
from occelo_graph.ops.typed_list import index as index_of
from occelo_graph.ops.typed_list import make_list

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array, ArrayFunction, TensorFunction

_ROWS = np.array([[1.0, 2.0], [3.0, 4.0]])
_PLACE = np.array(-1)


def _made(name: str, function: TensorFunction, reference: ArrayFunction, *args: Array) -> Example:
    return Example(name, "typed_list", function, reference, args)


def _three(x: Any) -> Any:
    return make_list([x[0], x[1], x[0]])


EXAMPLES: list[Example] = [
    _made("make_list", lambda x, at: _three(x)[at], lambda x, at: x[0], _ROWS, _PLACE),
    _made("append", lambda x, at: _three(x).append(x[1])[at], lambda x, at: x[1], _ROWS, _PLACE),
    _made("extend", lambda x: _three(x).extend(_three(x)[1:])[3], lambda x: x[1], _ROWS),
    _made("insert", lambda x, at: _three(x).insert(at, x[1])[2], lambda x, at: x[1], _ROWS, _PLACE),
    _made(
        "setitem", lambda x, at: _three(x).setitem(at, x[1])[2], lambda x, at: x[1], _ROWS, _PLACE
    ),
    _made("remove", lambda x: _three(x).remove(x[0])[0], lambda x: x[1], _ROWS),
    _made("reverse", lambda x: _three(x).append(x[1]).reverse()[0], lambda x: x[1], _ROWS),
    _made("length", lambda x: _three(x).length(), lambda x: np.asarray(3), _ROWS),
    _made("index", lambda x: index_of(_three(x), x[1]), lambda x: np.asarray(1), _ROWS),
    _made("count", lambda x: _three(x).count(x[0]), lambda x: np.asarray(2), _ROWS),
]
