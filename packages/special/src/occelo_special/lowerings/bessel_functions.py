"""The modified Bessel functions of orders 0 and 1, also divided by exp(|x|), as loop programs.

Below 10 they are the power series (DLMF 10.25.2), whose terms are all positive. Above, they are exp(|x|) times a polynomial in 1 / |x|
divided by the root of |x| (10.40.1); it interpolates at Chebyshev's points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from occelo_link.loops.elementary import exponential
from occelo_link.loops.elementary.building_blocks import constant, horner
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowerings.elemwise.scalar import lowers_scalar_to_loops

_FROM = 10.0
_ZERO_NEAR, _ONE_NEAR = (
    tuple(1.0 / (math.factorial(k) * math.factorial(k + order)) for k in range(27, -1, -1))
    for order in (0, 1)
)  # I0(x) and 2 I1(x) / x in (x / 2)**2
_ZERO_FAR = (
    14472176070484.855,
    -15406943667142.117,
    7362418028744.224,
    -2097162326839.6467,
    398760179821.7365,
    -53715751565.22825,
    5308815041.855236,
    -393098350.1442957,
    22061164.20594603,
    -942265.9143182746,
    30576.83578796416,
    -744.1625561164019,
    14.205567610514505,
    0.05140215304122093,
    0.09221927085164529,
    0.044732468259069,
    0.029219440947321398,
    0.028050629022243437,
    0.04986778505023098,
    0.39894228040143265,
)  # sqrt(x) exp(-x) I0(x) in 1 / x, from 10 on
_ONE_FAR = (
    -14034520049002.596,
    15098525011617.754,
    -7273955784621.299,
    2085265745233.7239,
    -398519201856.8249,
    53902527316.07293,
    -5344875965.87667,
    396836086.31469864,
    -22320408.327896412,
    955086.6789086483,
    -31041.33712717651,
    756.118097863877,
    -14.548312988556015,
    -0.08967425226958477,
    -0.11238412250362283,
    -0.05751576666189219,
    -0.04090720378310912,
    -0.04675104841466859,
    -0.1496033551505902,
    0.3989422804014327,
)  # sqrt(x) exp(-x) I1(x) in 1 / x, from 10 on


def bessel(b: Builder, x: Value, order: int, is_scaled: bool) -> Value:
    """I(x) of order 0 or 1, or exp(-|x|) I(x) if ``is_scaled``, within 4 ulp."""
    near, far = (_ONE_NEAR, _ONE_FAR) if order else (_ZERO_NEAR, _ZERO_FAR)
    size = b.op("abs", x)
    is_near = b.op("lt", size, constant(b, _FROM))
    # a power of a large number would be infinite
    half = b.op("mul", b.select(is_near, size, constant(b, 1.0)), constant(b, 0.5))
    series = horner(b, near, b.op("mul", half, half))
    series = b.op("mul", series, half) if order else series
    inverse = b.op("div", constant(b, 1.0), b.select(is_near, constant(b, _FROM), size))
    polynomial = b.op("div", horner(b, far, inverse), b.op("sqrt", size))
    if is_scaled:
        decay = b.apply("exp", exponential.exp, b.op("neg", size))
        series = b.op("mul", series, decay)
    else:
        growth = b.apply("exp", exponential.exp, size)
        infinity = constant(b, math.inf)  # where the polynomial is 0
        polynomial = b.select(
            b.op("eq", growth, infinity), infinity, b.op("mul", polynomial, growth)
        )
    value = b.select(is_near, series, polynomial)
    return b.select(b.op("lt", x, constant(b, 0.0)), b.op("neg", value), value) if order else value


def _register(name: str, order: int, is_scaled: bool) -> None:
    def function(b: Builder, x: Value) -> Value:
        return bessel(b, x, order, is_scaled)

    @lowers_scalar_to_loops(name, cost=60)
    def lowering(b: Builder, dtype: str, args: Sequence[Value]) -> Value:
        return b.cast(b.apply(name, function, b.cast(args[0], "float64")), dtype)


for _order in (0, 1):
    _register(f"i{_order}e", _order, is_scaled=True)
    _register(f"i{_order}", _order, is_scaled=False)
