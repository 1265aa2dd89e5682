"""Functions of floating-point numbers at the ends of their domains, against one-sided limits by mpmath."""

from __future__ import annotations

import math

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_arrays import functions as arrays
from occelo_arrays.ops import floats
from occelo_graph import tensor as ot
from occelo_testing.ends.limits import (
    BOTH,
    INF,
    NAN,
    Row,
    compare_at_ends,
    mp,
    named_parameter,
    row,
)

LARGEST = float(np.finfo("float64").max)
ROWS: list[Row] = [
    row("cbrt", arrays.cbrt, lambda x: mp.sign(x) * mp.cbrt(abs(x)), [*BOTH, (0, 1), (-0.0, -1)]),
    *[
        each
        for y in (0.0, 2.0, -3.0)
        for each in (
            row(
                f"hypot of {y}",
                lambda x, y=y: arrays.hypot(x, y),
                lambda x, y=y: mp.sqrt(x * x + y * y),
                [*BOTH, (0, 1) if y else (0, 1, 0.0, 0.0), (1e200, 0), (5e-324, 0)],
            ),
            row(
                f"copysign of {y}",
                lambda x, y=y: arrays.copysign(x, y),
                lambda x, y=y: math.copysign(1, y) * abs(x),
                [*BOTH, (0, 1), (-0.0, -1)],
            ),
            row(
                f"logaddexp2 of {y}",
                lambda x, y=y: arrays.logaddexp2(x, y),
                lambda x, y=y: mp.log(mp.power(2, x) + mp.power(2, y), 2),
                [*BOTH, (0, 1), (1000, 0), (-1000, 0)],
            ),
            row(
                f"fmax of {y}",
                lambda x, y=y: arrays.fmax(x, y),
                lambda x, y=y: max(x, y),
                [*BOTH, (NAN, 0, y, 0.0)],
            ),
            row(
                f"fmin of {y}",
                lambda x, y=y: arrays.fmin(x, y),
                lambda x, y=y: min(x, y),
                [*BOTH, (NAN, 0, y, 0.0)],
            ),
        )
    ],
    row("hypot of inf", lambda x: arrays.hypot(x, INF), None, [(0, 1, INF, 0.0), (2, 1, INF, 0.0)]),
    row("logaddexp2 of -inf", lambda x: arrays.logaddexp2(x, -INF), None, [(0, 1, 0.0, 1.0), (INF, -1, INF, 1.0)]),
    row("logaddexp2 of inf", lambda x: arrays.logaddexp2(x, INF), None, [(0, 1, INF, 0.0), (-INF, 1, INF, 0.0)]),
    row("fabs", arrays.fabs, abs, [*BOTH, (0, 1, 0.0, 0.0)]),
    # at infinity it is NaN, as NumPy's
    row("sinc", arrays.sinc, None, [(0, 1, 1.0, 0.0), (1, 1, 0.0, -1.0)]),
    *[
        row(
            f"float_power of {y}",
            lambda x, y=y: arrays.float_power(x, y),
            lambda x, y=y: mp.power(x, y),
            [(0, 1), (INF, -1)],
        )
        for y in (-1.0, 0.0, 0.5, 1.0, 2.0, 3.0)
    ],
    *[
        row(
            f"fmod by {y}",
            lambda x, y=y: arrays.fmod(x, y),
            lambda x, y=y: x - y * int(x / y),
            [(0, 1), (-0.0, -1), (-7.25, 0)],
        )
        for y in (2.0, -1.5)
    ],
    row("fmod of 2", lambda y: arrays.fmod(2.0, y), None, [(INF, -1, 2.0, 0.0), (-INF, 1, 2.0, 0.0)]),
    row("ldexp", lambda x: arrays.ldexp(x, 3), lambda x: 8 * x, [*BOTH, (0, 1), (-0.0, -1)]),
    row(
        "modf",
        lambda x: arrays.modf(x)[0],
        None,
        [(0, 1, 0.0, 1.0), (-0.0, -1, -0.0, 1.0), (-2, 1, -0.0, 1.0), (2.5, 1, 0.5, 1.0), (INF, -1, 0.0, 0.0)],
    ),
    row("frexp", lambda x: arrays.frexp(x)[0], None, [(0, 1, 0.0, 1.0), (8, 1, 0.5, 1 / 16), (INF, -1, INF, 1.0)]),
    row("nextafter", lambda x: arrays.nextafter(x, 1.0), None, [(INF, -1, LARGEST, 1.0), (-INF, 1, -LARGEST, 1.0)]),
    row("heaviside", lambda h: arrays.heaviside(0.0, h), lambda h: h, BOTH),
    row("spacing", arrays.spacing, None, [(0, 1, 5e-324, 0.0), (-INF, 1, NAN, 0.0)]),
    row("signbit", arrays.signbit, None, [(-0.0, -1, 1.0, 0.0), (INF, -1, 0.0, 0.0)]),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", ["py", "native"])
@pytest.mark.parametrize("case", ROWS, ids=[r[0] for r in ROWS])
def test_a_function_and_its_slope_at_the_ends_of_its_domain(case: Row, mode: str) -> None:
    _, build, exact, ends = case
    x = ot.dscalar("x")
    made = build(x)
    slope = og.grad(ot.cast(made, "float64"), x)
    compare_at_ends(oc.function([x], [made, slope], mode=mode), exact, ends)


def test_every_function_has_a_row() -> None:
    assert set(floats.__all__) <= {named_parameter(each[0])[0] for each in ROWS}
