"""Ragged variables: batches whose elements have different numbers of valid rows.

Ragged variables occur while a graph with loops is vectorized. The traces of a batched loop are ragged if the elements
of the batch end at different steps. All elements are stored with as many rows as the longest one needs. The valid rows
of an element come first. Rows after them have arbitrary values.

`batches` marks such traces as ragged (`mark`). `vectorize_graph` then gets the batching rule of each node that reads a
ragged variable from `ragged_rules`, whose rules use the functions of this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, ref

from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ops.batched_lengths import LengthsVary
from occelo_graph.ops.control.checks import raise_unless
from occelo_graph.ops.elemwise.arithmetic import eq, minimum
from occelo_graph.ops.shape.reading import shape_tuple
from occelo_graph.tensors.nodes import tensors

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

_COUNTS: WeakKeyDictionary[Variable, TensorVariable] = WeakKeyDictionary()
"""Maps a ragged variable to the numbers of valid rows, as in `mark`."""


_STORED: WeakKeyDictionary[Variable, tuple[ref[Variable], ...]] = WeakKeyDictionary()
"""Maps a variable with numbers of valid rows to ragged variables with these numbers.

Of the ragged variables that were marked with the same variable, only the first is listed. For a result of
`common_count`, there is a ragged variable for each loop whose numbers were compared.

The references are weak, since the graphs of these variables contain the key. With strong references, no entry of the
dictionary would ever be freed.
"""


_EQUAL: WeakKeyDictionary[Variable, frozenset[Variable]] = WeakKeyDictionary()
"""Maps a variable with numbers of valid rows to all variables that are checked to equal it (`common_count`)."""


def mark(variable: Variable, count: TensorVariable) -> Variable:
    """Mark a variable as ragged, and return it. ``count`` has the number of valid rows of each element of the batch.

    The dimensions of ``count`` are the batch dimensions. The valid rows are the first ones of an element.
    """
    _COUNTS[variable] = count
    if count not in _STORED:
        _STORED[count] = (ref(variable),)
    return variable


def is_ragged(variable: Variable) -> bool:
    """Whether a variable was marked as ragged."""
    return variable in _COUNTS


def is_ragged_in(node: Apply, position: int, variable: Variable) -> bool:
    """Whether ``variable``, the vectorized input of a node at ``position``, is ragged.

    If the vectorization did not replace the input, the result is False. Such an input may be marked as ragged by an
    earlier vectorization, which made the graph. But for this vectorization, its batch dimensions are dimensions like
    all others.
    """
    return is_ragged(variable) and variable is not node.inputs[position]


def count_of(variable: Variable) -> TensorVariable:
    """The ``count`` with which a ragged variable was marked."""
    return _COUNTS[variable]


def is_count(variable: Variable) -> bool:
    """Whether a variable has the numbers of valid rows of some ragged variable."""
    return variable in _STORED


def rows_of(count: TensorVariable) -> TensorVariable:
    """The number of rows that are stored for each element of the batch.

    If ``count`` is a result of `common_count`, it may belong to several loops. These loops store equal numbers of rows,
    unless the batch is empty. In all cases the result is the smallest number of rows that one of the loops stores.
    """
    stored = [v for r in _STORED[count] if (v := r()) is not None]
    rows, *others = [shape_tuple(x)[count.type.ndim] for x in tensors(stored)]
    for other in others:
        rows = minimum(rows, other)
    return rows


def common_count(counts: Sequence[TensorVariable], what: object) -> TensorVariable:
    """One variable for several numbers of valid rows, with a check at run time that they are equal.

    Different loops have different variables in ``counts``, even if the loops take the same steps. Other integers, such
    as the bound of a slice, may also be in ``counts``. If all are known to be equal from an earlier check, there is no
    new check. ``what`` is the op that needs equal numbers, for errors.
    """
    different = list(dict.fromkeys(counts))
    for count in different:
        if all(c is count or c in _EQUAL.get(count, ()) for c in different):
            return count
    if len({c.type.ndim for c in different}) > 1:
        raise refuse(what)
    first, *others = different
    count = raise_unless(
        first,
        *(eq(first, c).all() for c in others),
        error=ValueError,
        message=f"{what} reads rows of loops with different numbers of steps",
    )
    _STORED[count] = tuple(r for c in different for r in _STORED.get(c, ()))
    _EQUAL[count] = frozenset(v for c in different for v in (c, *_EQUAL.get(c, ())))
    return count


def refuse(what: object) -> LengthsVary:
    """The error that ``what`` cannot be computed from a ragged variable. ``what`` is an op, or a result of the graph."""
    return LengthsVary(
        f"{what} would need what a loop keeps of all steps for each element of a batch, but the elements end at different "
        "steps. Loops over the same steps, functions of elements, sums, single rows and the like read that; for anything "
        "else use only the state after the last step, or let all elements take the same steps"
    )
