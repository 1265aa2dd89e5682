"""Ends of the domains of elementary functions: exponentials, logarithms, powers, roots, error functions."""

from __future__ import annotations

import math

from occelo_graph import tensor as ot
from occelo_testing.ends.limits import INF, Row, mp, row

ELEMENTARY: list[Row] = [
    row("exp", ot.exp, mp.exp, [(-INF, 1), (INF, -1)]),
    row("exp2", ot.exp2, lambda x: mp.power(2, x), [(-INF, 1), (INF, -1)]),
    row("expm1", ot.expm1, mp.expm1, [(-INF, 1), (INF, -1), (0, 1)]),
    row("log", ot.log, mp.log, [(0, 1), (INF, -1)]),
    row("log2", ot.log2, lambda x: mp.log(x, 2), [(0, 1), (INF, -1)]),
    row("log10", ot.log10, mp.log10, [(0, 1), (INF, -1)]),
    row("log1p", ot.log1p, mp.log1p, [(-1, 1), (INF, -1), (0, 1)]),
    row("sqrt", ot.sqrt, mp.sqrt, [(0, 1), (INF, -1)]),
    row("sqr", ot.sqr, lambda x: x * x, [(0, 1), (INF, -1), (-INF, 1)]),
    row("reciprocal", ot.reciprocal, lambda x: 1 / x, [(0, 1), (INF, -1), (-INF, 1)]),
    row("arcsin", ot.arcsin, mp.asin, [(1, -1), (-1, 1), (0, 1)]),
    row("arccos", ot.arccos, mp.acos, [(1, -1), (-1, 1)]),
    row("arctan", ot.arctan, mp.atan, [(-INF, 1), (INF, -1)]),
    row("sinh", ot.sinh, mp.sinh, [(-INF, 1), (INF, -1)]),
    row("cosh", ot.cosh, mp.cosh, [(-INF, 1), (INF, -1)]),
    row("tanh", ot.tanh, mp.tanh, [(-INF, 1), (INF, -1)]),
    row("arcsinh", ot.arcsinh, mp.asinh, [(-INF, 1), (INF, -1), (0, 1)]),
    row("arccosh", ot.arccosh, mp.acosh, [(1, 1), (INF, -1)]),
    row("arctanh", ot.arctanh, mp.atanh, [(1, -1), (-1, 1), (0, 1)]),
    row("sigmoid", ot.sigmoid, lambda x: 1 / (1 + mp.exp(-x)), [(-INF, 1), (INF, -1)]),
    row("softplus", ot.softplus, lambda x: mp.log1p(mp.exp(x)), [(-INF, 1), (INF, -1)]),
    row("log1pexp", ot.log1pexp, lambda x: mp.log1p(mp.exp(x)), [(-INF, 1), (INF, -1)]),
    row("log1mexp", ot.log1mexp, lambda x: mp.log(-mp.expm1(x)), [(0, -1), (-INF, 1)]),
    row("erf", ot.erf, mp.erf, [(-INF, 1), (INF, -1)]),
    row("erfc", ot.erfc, mp.erfc, [(-INF, 1), (INF, -1)]),
    row("erfcx", ot.erfcx, lambda x: mp.exp(x * x) * mp.erfc(x), [(-INF, 1), (INF, -1)]),
    *[
        row(
            f"pow {y}",
            lambda x, y=y: ot.pow(x, y),
            lambda x, y=y: mp.power(x, y),
            [(0, 1), (INF, -1)],
        )
        for y in (-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
    ],
    *[
        row(
            f"pow base {y}",
            lambda x, y=y: ot.pow(y, x),
            lambda x, y=y: mp.power(y, x),
            [(0, 1), (INF, -1), (-INF, 1)],
        )
        for y in (0.5, 1.0, 2.0)
    ],
    row("pow base 0 at 1", lambda x: ot.pow(0.0, x), None, [(1, 1, 0.0, 0.0)]),
    *[
        row(
            f"logaddexp {y}",
            lambda x, y=y: ot.logaddexp(x, y),
            lambda x, y=y: mp.log(mp.exp(x) + mp.exp(y)),
            [(INF, -1), (-INF, 1)],
        )
        for y in (-1.0, 2.0)
    ],
    *[
        row(
            f"arctan2 y at 0, x={y}",
            lambda x, y=y: ot.arctan2(x, y),
            lambda x, y=y: mp.atan2(x, y),
            [(0, 1), (INF, -1)],
        )
        for y in (1.0, -1.0)
    ],
    row(
        "arctan2 in x",
        lambda x: ot.arctan2(1.0, x),
        None,
        [(INF, -1, 0.0, 0.0), (-INF, 1, math.pi, 0.0)],
    ),
]
