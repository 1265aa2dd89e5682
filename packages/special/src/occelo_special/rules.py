"""Rules for special functions: inverses, logarithms of Bessel functions, small orders of `polygamma` and incomplete gamma functions.

`occelo_rewrite.pipeline` registers them when special functions are used. Rules of error functions, which stable forms
contain, are in `occelo_rewrite.rules.elemwise`.
"""

from __future__ import annotations

import numpy as np

from occelo_graph import FunctionGraph, TensorApply, TensorVariable
from occelo_graph import tensor as ot
from occelo_rewrite.family_rules import USUAL, StageRules
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.patterns.pattern import number, p, wild
from occelo_rewrite.rules.elemwise.identities import cancels, cancels_where
from occelo_rewrite.rules.elemwise.stable import BELOW_CASTS, through_casts
from occelo_rewrite.rules.matching import rule_of_floats as rule
from occelo_special.ops.special_functions import erfinv, ive, kve, logit, psi, tri_gamma

x, y = wild("x y")
positive = number("c", lambda c: c > 0 and np.isfinite(c))

INVERSES = (
    cancels("erfinv", "erf", tags=("stabler", "finite")),
    cancels("logit", "sigmoid"),
    cancels_where("sigmoid", "logit", lambda x: ot.and_(ot.ge(x, 0), ot.le(x, 1)), "0 <= x <= 1"),
)


@rule(p.polygamma(0, x), same_dtype=False, tags=("rounding",))
def polygamma_zero(x: TensorVariable, node: TensorApply) -> TensorVariable | None:
    """polygamma(0, x) = psi(x) (DLMF 5.15)."""
    return psi(ot.cast(x, node.outputs[0].type.dtype))


@rule(p.polygamma(1, x), same_dtype=False, tags=("rounding",))
def polygamma_one(x: TensorVariable, node: TensorApply) -> TensorVariable | None:
    """polygamma(1, x) = tri_gamma(x) (DLMF 5.15)."""
    return tri_gamma(ot.cast(x, node.outputs[0].type.dtype))


@rule(p.gammainc(1, x), same_dtype=False, tags=("stabler",))
def gammainc_one(x: TensorVariable, node: TensorApply) -> TensorVariable | None:
    """gammainc(1, x) = 1 - exp(-x), and NaN below 0 (DLMF 8.4.5)."""
    x = ot.cast(x, node.outputs[0].type.dtype)
    return ot.switch(ot.lt(x, 0), np.nan, -ot.expm1(-x))


@rule(p.gammaincc(1, x), same_dtype=False, tags=("stabler",))
def gammaincc_one(x: TensorVariable, node: TensorApply) -> TensorVariable | None:
    """gammaincc(1, x) = exp(-x), and NaN below 0 (DLMF 8.4.5)."""
    x = ot.cast(x, node.outputs[0].type.dtype)
    return ot.switch(ot.lt(x, 0), np.nan, ot.exp(-x))


@rule(p.gammainc_dx(1, x), same_dtype=False, tags=("rounding",))
def gammainc_dx_one(x: TensorVariable, node: TensorApply) -> TensorVariable | None:
    """gammainc_dx(1, x) = exp(-x), and NaN below 0 (DLMF 8.8.13)."""
    x = ot.cast(x, node.outputs[0].type.dtype)
    return ot.switch(ot.lt(x, 0), np.nan, ot.exp(-x))


@rule(p.log(p.kv(y, x)), tags=("stabler",))
def log_kv(x: TensorVariable, y: TensorVariable) -> TensorVariable | None:
    """log(kv(v, x)) = log(kve(v, x)) - x (DLMF 10.40.2)."""
    return ot.log(kve(y, x)) - x


@rule(p.log(p.iv(y, x)), tags=("stabler",))
def log_iv(x: TensorVariable, y: TensorVariable) -> TensorVariable | None:
    """log(iv(v, x)) = log(ive(v, x)) + |x| (DLMF 10.40.1)."""
    return ot.log(ive(y, x)) + ot.abs(x)


@rule(p.log(p.mul(positive, p.kv(y, x))), tags=("stabler", "comparison"))
def log_of_scaled_kv(x: TensorVariable, y: TensorVariable, c: float) -> TensorVariable | None:
    """log(c kv(v, x)) = log(kve(v, x)) - x + log(c), for a constant c > 0. (comparison: the sum may cancel.)"""
    return ot.log(kve(y, x)) - x + float(np.log(c))


@rule(p.log(p.mul(positive, p.iv(y, x))), tags=("stabler", "comparison"))
def log_of_scaled_iv(x: TensorVariable, y: TensorVariable, c: float) -> TensorVariable | None:
    """log(c iv(v, x)) = log(ive(v, x)) + |x| + log(c), for a constant c > 0. (comparison: the sum may cancel.)"""
    return ot.log(ive(y, x)) + ot.abs(x) + float(np.log(c))


@node_rewriter(
    [logit, erfinv, ot.sigmoid], tags=("stabler", "comparison", "finite"), below=BELOW_CASTS
)
def inverse_through_casts(fgraph: FunctionGraph, node: TensorApply) -> Replacements:
    """logit(cast(sigmoid(x))) = cast(x), for a cast to a wider float dtype, and the same for other rules in `INVERSES`.

    (comparison: digits that cancel differ. finite: erfinv(cast(erf(x))) is x.)
    """
    return through_casts(fgraph, node, INVERSES)


RULES = (
    StageRules(
        "canonicalize",
        RuleSet(
            (
                *INVERSES,
                polygamma_zero,
                polygamma_one,
                gammainc_one,
                gammaincc_one,
                gammainc_dx_one,
            )
        ),
        USUAL,
    ),
    StageRules(
        "stabilize",
        RuleSet((log_kv, log_iv, log_of_scaled_kv, log_of_scaled_iv, inverse_through_casts)),
        USUAL,
    ),
)
