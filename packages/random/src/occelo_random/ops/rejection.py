"""`rejection`, which makes functions that draw by rejection: each element makes attempts until one is accepted.

`gamma`, `counts` and `further` call `rejection` with the formula of an attempt, for distributions whose quantiles are costly to
compute. The attempts of an element depend only on its key, its position and its parameters. So every backend accepts
the same attempt. The first attempts of all elements are computed in one vectorized loop. Further attempts are made only
for elements whose first attempt was rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import ARange
from occelo_graph.ops.elemwise.arithmetic import add, int_div, mul
from occelo_graph.ops.elemwise.op import Elemwise, elementwise
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.ops.shape.reading import length_product
from occelo_graph.tensors.constant import constant
from occelo_random.ops.draws import normal_quantile
from occelo_random.ops.keys import as_key
from occelo_random.ops.philox import philox

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

FIRST_ATTEMPTS: set[Any] = set()
"""The scalar ops that compute first attempts. Their first input is a key. `reuse`, which looks for keys that are used
twice, recognizes by this set the nodes that draw by rejection.
"""

_NEXT_WORD = np.uint64(1 << 32)
_MOST_ROUNDS = 10_000


class Words:
    """The random numbers of one element in one attempt. A distribution reads as many numbers as it needs.

    Each number is computed from 64 bits of `philox`. For each number and each attempt, the second word of the counter
    is different.
    """

    def __init__(self, key: Any, index: Any, round_: Any, count: int) -> None:
        self._key = add(key, mul(round_, np.uint64(count << 32)))
        self._index = index

    def uniform(self, i: int) -> Any:
        """Number ``i`` of this attempt, as a uniform number in (0, 1)."""
        key = self._key if not i else add(self._key, np.uint64(i << 32))
        whole = int_div(philox(key, self._index), np.uint64(1 << 12))
        return mul(add(mul(cast(whole, "float64"), 2.0), 1.0), 2.0**-53)

    def normal(self, i: int) -> Any:
        """Number ``i`` of this attempt, as a standard normal number."""
        return normal_quantile(self.uniform(i))


def positions(key: Any, lengths: Sequence[Any]) -> tuple[Any, Any]:
    """The inputs of `philox` for a draw of the shape ``lengths``: keys and indices, which broadcast.

    The keys get a dimension of length 1 for each length. The indices number the positions in row-major order.
    """
    keys = as_key(key)
    if not lengths:
        return keys, constant(np.uint64(0))
    # always an `ARange`, since a constant would be as large as the draw
    index: Any = ARange("uint64")(constant(0), length_product(lengths), constant(1))
    return expand_dims(keys, tuple(range(-len(lengths), 0))), index.reshape(tuple(lengths))


def _float64(dtypes: Sequence[str]) -> str:
    return "float64"


def rejection(
    distribution: str,
    parameters: int,
    words: int,
    attempt: Callable[..., Any],
    quick: Callable[..., Any] | None = None,
) -> Callable[..., TensorVariable]:
    """Make a function that draws nonnegative float64 numbers by rejection.

    The function that is returned has the arguments key, lengths and float64 parameters. ``distribution`` is the name of the distribution,
    and ``parameters`` is the number of its parameters. ``attempt(words, *parameters)`` is a formula for one element,
    where ``words`` is a `Words`. The formula returns a negative number if the attempt is rejected. If a parameter is
    NaN, the formula must return NaN, or no attempt would be accepted. The argument ``words`` of `rejection` is the
    number of random numbers that an attempt reads.

    ``quick`` is a cheaper formula. It returns what the first attempt returns if this attempt is surely accepted, else a
    negative number. All elements compute ``quick`` first. Only elements for which ``quick`` is negative compute the
    full first attempt.
    """

    def declared(name: str, of_words: Callable[..., Any], text: str) -> Elemwise:
        def formula(key: Any, index: Any, round_: Any, *values: Any) -> Any:
            return of_words(Words(key, index, round_, words), *values)

        count = 3 + parameters
        return elementwise(
            f"{distribution}_{name}", count, _float64, None, [None] * count, text, formula=formula
        )

    each = declared(
        "attempt",
        attempt,
        f"One attempt at a number of the {distribution} distribution, from keys, positions and the number of the attempt; negative if rejected.",
    )
    first = each
    if quick is not None:
        first = declared(
            "quick",
            quick,
            f"An attempt at a number of the {distribution} distribution, from keys, positions and its number; negative if it may have to be rejected.",
        )

    FIRST_ATTEMPTS.add(first.scalar_op)

    def rounds(value: Array, key: Array, index: Array, *values: Array) -> Array:
        shape = np.broadcast_shapes(value.shape, key.shape, index.shape, *(v.shape for v in values))
        draws = np.array(np.broadcast_to(value, shape)).ravel()
        rest = np.flatnonzero(draws < 0)
        others = [np.broadcast_to(v, shape).ravel() for v in (key, index, *values)]
        for i in range(first is each, _MOST_ROUNDS):
            if not rest.size:
                break
            own, at, *selected = (other[rest] for other in others)
            attempts = each.scalar_op.evaluate(own, at, np.uint64(i), *selected)
            draws[rest] = attempts
            rest = rest[attempts < 0]
        return draws.reshape(shape)

    retried: Elemwise = elementwise(
        f"{distribution}_accepted",
        3 + parameters,
        _float64,
        rounds,
        [None] * (3 + parameters),
        f"A number of the {distribution} distribution from the first attempt, or where that is negative the first one accepted of the following.",
    )

    def draw(key: Any, lengths: Sequence[Any], *values: Any) -> TensorVariable:
        keys, index = positions(key, lengths)
        start = first(keys, index, np.uint64(0), *values)
        draws: TensorVariable = retried(start, keys, index, *values)
        return draws

    return draw
