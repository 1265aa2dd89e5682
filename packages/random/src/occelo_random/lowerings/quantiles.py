"""Lowerings of the quantile functions of the normal and the exponential distribution.

`occelo_random.ops.draws` applies these functions to uniform random numbers to draw from the two distributions.
`elemwise.scalar` imports this module to register the lowerings.

The normal quantile is computed by the same formula as in the graph, but with fused multiply-add and with a logarithm
that omits special cases. A cold branch computes the tails of the distribution, which contain only about one of 500
numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from occelo_link.loops.elementary.building_blocks import constant, horner
from occelo_link.loops.elementary.logarithm import minus_log_of_normal
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowerings.elemwise.scalar import lowers_scalar_to_loops, scalar_value

# a copy of the coefficients in `draws`, which is imported only at its first use
_NEAR = (
    -3.3408952670514297e-22, -2.37408706321372e-19, 1.5595624147452077e-18, 1.5734249840893945e-17,
    -1.825328774880696e-16, 3.064593190079847e-17, 9.308290460578683e-15, -5.735221444041998e-14,
    -1.1464455824953867e-13, 3.724433936330848e-12, -1.835296386245696e-11, -7.658591205111031e-11,
    1.486649926123177e-09, -5.8161415131622495e-09, -4.111173507827262e-08, 5.988894294256318e-07,
    -1.9310650328765146e-06, -1.9632852817479085e-05, 0.00026408204954264024, -0.0010475115695030076,
    -0.00853289917726757, 0.33963495870114085, 2.338620710026593,
)  # fmt: skip
_MIDDLE = 3.125
_FARTHEST = math.exp(-6.25) / 4


def _of_float64(dtypes: Sequence[str], result: str) -> bool:
    return result == "float64" and all(dtype == "float64" for dtype in dtypes)


@lowers_scalar_to_loops("normal_quantile", cost=60, when=_of_float64)
def lower_normal_quantile(b: Builder, dtype: str, args: Sequence[Value]) -> Value:
    u = args[0]
    centred = b.op("fma", u, constant(b, 2.0), constant(b, -1.0))
    # u (1 - u), rounded once; t is minus the logarithm of 4 u (1 - u), shifted by _MIDDLE
    product = b.op("fma", b.op("neg", u), u, u)
    t = minus_log_of_normal(b, product, -_MIDDLE - math.log(4.0))
    near = b.op("mul", horner(b, _NEAR, t), centred)
    far = b.op("lt", product, constant(b, _FARTHEST))

    def tail(builder: Builder, u: Value) -> Value:
        return scalar_value(builder, "normal_quantile_tail", "float64", u)

    return b.unlikely(far, near, "normal_quantile_tail", tail, u)


@lowers_scalar_to_loops("exponential_quantile", cost=30, when=_of_float64)
def lower_exponential_quantile(b: Builder, dtype: str, args: Sequence[Value]) -> Value:
    return minus_log_of_normal(b, args[0])
