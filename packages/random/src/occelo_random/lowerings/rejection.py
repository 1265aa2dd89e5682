"""Lowerings of draws by rejection sampling (`occelo_random.ops.rejection`).

`elemwise.scalar` imports this module to register the lowerings. They are registered under the names of the
distributions, since the ops of random numbers are imported only at their first use.

An argument of the lowering is the result of the first attempt, or for the distributions in `QUICK` the result of a
cheaper formula. If this result is negative, a cold branch calls a function of the loop program. The function makes one
attempt, and calls itself for the next attempt if this one is rejected.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowerings.elemwise.scalar import lowers_scalar_to_loops, scalar_value

DISTRIBUTIONS = ("gamma", "poisson", "binomial", "hypergeometric", "vonmises")
"""The distributions with scalar ops called ``<distribution>_attempt`` and ``<distribution>_accepted``."""
QUICK = {"gamma"}
"""Distributions with a scalar op ``<distribution>_quick``. It returns the result of the first attempt, or a negative number if a
quick test cannot accept it. Then the cold branch begins with the first attempt; for other distributions it begins with
the second.
"""


def _register(distribution: str) -> None:
    def rejected(b: Builder, value: Value) -> Value:
        return b.op("lt", value, b.const(0.0, "float64"))

    def again(b: Builder, key: Value, index: Value, number: Value, *values: Value) -> Value:
        value = scalar_value(b, f"{distribution}_attempt", "float64", key, index, number, *values)
        following = b.add(number, b.const(1, "uint64"))
        return b.unlikely(
            rejected(b, value),
            value,
            f"{distribution}_again",
            again,
            key,
            index,
            following,
            *values,
        )

    @lowers_scalar_to_loops(f"{distribution}_accepted", cost=4)
    def lowering(b: Builder, dtype: str, args: Sequence[Value]) -> Value:
        first, key, index, *values = args
        number = b.const(0 if distribution in QUICK else 1, "uint64")
        return b.unlikely(
            rejected(b, first), first, f"{distribution}_again", again, key, index, number, *values
        )


for _distribution in DISTRIBUTIONS:
    _register(_distribution)
