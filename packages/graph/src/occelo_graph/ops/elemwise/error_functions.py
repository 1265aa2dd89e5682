"""Error functions of each element, which stable forms of expressions (`occelo_forms`) and rules contain.

Users call them from `occelo.tensor`. The interpreter computes them with SciPy, which is imported when one is first
evaluated. All other special functions are in the package `occelo_special`. The formulas of derivatives are from the NIST
Digital Library of Mathematical Functions (DLMF), 7.2 and 7.12.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.elemwise.arithmetic import gt, sqr, switch
from occelo_graph.ops.elemwise.op import Elemwise, elementwise
from occelo_graph.ops.elemwise.scalar import special_float
from occelo_graph.ops.elemwise.transcendental import exp
from occelo_graph.optional_scipy import special_function

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["erf", "erfc", "erfcx"]

_ROOT_PI = math.sqrt(math.pi)


def _scipy(name: str) -> Callable[[Array], Array]:
    def computing(x: Array) -> Array:
        dtype = special_float([x.dtype.name])
        return np.asarray(special_function(name)(np.asarray(x, dtype)), dtype)

    return computing


erf: Elemwise = elementwise(
    "erf",
    1,
    special_float,
    _scipy("erf"),
    [lambda ct, x, out: ct * (2 / _ROOT_PI) * exp(-x * x)],
    "Error function of x.",
    monotone="increasing",
)
erfc: Elemwise = elementwise(
    "erfc",
    1,
    special_float,
    _scipy("erfc"),
    [lambda ct, x, out: -ct * (2 / _ROOT_PI) * exp(-x * x)],
    "1 - erf(x).",
    sign="unsigned",
    monotone="decreasing",
)


def _erfcx_slope(x: TensorVariable, out: TensorVariable) -> TensorVariable:
    far = gt(x, 25.0)
    # the terms of 2 x erfcx(x) - 2 / sqrt(pi) cancel for large x; then the asymptotic series DLMF 7.12.1 is differentiated
    by = 1 / sqr(switch(far, x, 25.0))
    series: Any = 1.0
    for n in range(5, 0, -1):
        series = 1.0 - (n + 0.5) * by * series
    return switch(far, by * series / -_ROOT_PI, 2 * x * out - 2 / _ROOT_PI)


erfcx: Elemwise = elementwise(
    "erfcx",
    1,
    special_float,
    _scipy("erfcx"),
    [lambda ct, x, out: ct * _erfcx_slope(x, out)],
    "exp(x ** 2) * erfc(x).",
    sign="unsigned",
    monotone="decreasing",
)
