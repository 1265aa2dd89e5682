"""Functions that compute the shape to which several tensors or shapes broadcast.

Users call `broadcast_shape` from `occelo.tensor`. `ops.create` (`broadcast_arrays`), draws of random numbers and
`stats.normal_orthants` call `broadcast_lengths`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Variable
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.elemwise.arithmetic import eq
from occelo_graph.ops.length_inputs import Lengths, lengths_of
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable


def broadcast_shape(*arrays: Any, arrays_are_shapes: bool = False) -> Lengths:
    """The shape to which the tensors ``arrays`` broadcast. If ``arrays_are_shapes`` is True, they are shapes.

    Only lengths that are statically 1 broadcast. ValueError if other lengths differ. Dynamic lengths are checked when
    the graph runs.
    """
    shapes = [lengths_of(a) if arrays_are_shapes else lengths_by_variables(a) for a in arrays]
    result = list(broadcast_lengths(shapes))
    for i, length in enumerate(result):
        others = [s[i - len(result)] for s in shapes if len(s) >= len(result) - i]
        conditions = [eq(n, length) for n in others if n is not length and known_integer(n) is None]
        if conditions:
            result[i] = CheckAndRaise(
                ValueError,
                f"The lengths of dimension {i} differ; only a length known to be 1 when the graph is built broadcasts",
            )(as_tensor_variable(length), *conditions)
    return tuple(result)


def broadcast_lengths(shapes: Sequence[Lengths]) -> Lengths:
    """The shape to which ``shapes`` broadcast. ValueError if static lengths other than 1 differ.

    Dynamic lengths are not checked.
    """
    ndim = max((len(s) for s in shapes), default=0)
    result: list[Any] = [1] * ndim
    static: list[int | None] = [1] * ndim
    for lengths in shapes:
        for i, n in enumerate(lengths, start=ndim - len(lengths)):
            mine, theirs = static[i], known_integer(n)
            if theirs == 1:
                if mine == 1 and isinstance(n, Variable):
                    result[i] = n
                continue
            if mine is not None and theirs is not None and mine not in (1, theirs):
                raise ValueError(
                    f"The lengths {mine} and {theirs} do not broadcast in dimension {i}"
                )
            if mine != 1 and (theirs is None or mine is not None):
                continue  # the static length is kept if there is one, else the first length
            result[i], static[i] = n, theirs
    return tuple(result)
