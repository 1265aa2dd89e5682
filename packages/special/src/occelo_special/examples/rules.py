"""Cases for the rules of special functions, which are part of the table in `occelo_testing.rules`."""

from __future__ import annotations

from occelo_graph import tensor as ot
from occelo_rewrite.examples.case import Case
from occelo_special.functions import erfinv, gammainc, gammaincc, iv, kv, logit
from occelo_special.ops.special_functions import gammainc_dx

CASES = [
    Case("gammainc_one", lambda x: gammainc(1.0, x), low=-0.1, differentiable=False),
    Case("gammaincc_one", lambda x: gammaincc(1.0, x), low=-0.1, differentiable=False),
    Case("gammainc_dx_one", lambda x: gammainc_dx(1.0, x), low=-0.1, differentiable=False),
    Case("log_kv", lambda x: ot.log(kv(1.5, x)), low=0.1, differentiable=False),
    Case("log_iv", lambda x: ot.log(iv(1.5, x)), low=0.1, differentiable=False),
    Case("log_of_scaled_kv", lambda x: ot.log(3.0 * kv(1.5, x)), low=0.1, differentiable=False),
    Case("log_of_scaled_iv", lambda x: ot.log(3.0 * iv(1.5, x)), low=0.1, differentiable=False),
    Case(
        "inverse_through_casts",
        lambda x: logit(ot.sigmoid(x).astype("float64")),
        dtype="float32",
        differentiable=False,
    ),
    Case(
        "inverse_through_casts",
        lambda x: erfinv(ot.erf(x).astype("float64")),
        dtype="float32",
        differentiable=False,
    ),
]
