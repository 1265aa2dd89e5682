"""Scalar functions by name: what JAX calls them, or how they are made of what it has."""

from __future__ import annotations

from typing import Any

from occelo_link.jax.library import jnp, lax, nn, special
from occelo_link.traced.arrays import Scalar

__all__ = ["SCALARS"]


def _quotient(x: Any, y: Any) -> Any:
    if not jnp.issubdtype(x.dtype, jnp.integer):
        return jnp.floor_divide(x, y)
    # NumPy divides integers by 0 to 0
    return jnp.where(y == 0, 0, jnp.floor_divide(x, jnp.where(y == 0, 1, y)))


def _remainder(x: Any, y: Any) -> Any:
    if not jnp.issubdtype(x.dtype, jnp.integer):
        return jnp.remainder(x, y)
    return jnp.where(y == 0, 0, jnp.remainder(x, jnp.where(y == 0, 1, y)))


def _sign(x: Any) -> Any:
    if jnp.iscomplexobj(x):
        return jnp.where(x == 0, x, x / jnp.where(x == 0, 1, jnp.abs(x)))
    return jnp.sign(x)


def _away_from_zero(x: Any) -> Any:
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    whole = jnp.trunc(x)
    return jnp.where(jnp.abs(x - whole) >= 0.5, whole + jnp.sign(x), whole)


def _whole(function: Any) -> Any:
    """A rounding, which leaves integers alone."""
    return lambda x: function(x) if jnp.issubdtype(x.dtype, jnp.floating) else x  # pyright: ignore[reportUnknownLambdaType, reportUnknownMemberType, reportUnknownVariableType]


def _power(x: Any, y: Any) -> Any:
    if x.dtype == bool:
        return jnp.logical_or(x, jnp.logical_not(y))
    return jnp.power(x, y)


def _xlogy(x: Any, y: Any) -> Any:
    return jnp.where((x == 0) & ~jnp.isnan(y), 0, x * jnp.log(y))


def _xlog1py(x: Any, y: Any) -> Any:
    return jnp.where((x == 0) & ~jnp.isnan(y), 0, x * jnp.log1p(y))


def _polygamma(n: Any, x: Any) -> Any:
    return special.polygamma(n.astype("int64"), x)


def _erfcinv(x: Any) -> Any:
    return -special.ndtri(x / 2) / 1.4142135623730951


SCALARS: dict[str, Scalar] = {
    "second": ("out", lambda x, y: jnp.broadcast_to(y, jnp.broadcast_shapes(x.shape, y.shape))),  # pyright: ignore[reportUnknownLambdaType, reportUnknownMemberType]
    "identity": ("out", lambda x: x),  # pyright: ignore[reportUnknownLambdaType]
    "add": ("out", jnp.add),
    "mul": ("out", jnp.multiply),
    "sub": ("out", jnp.subtract),
    "true_div": ("out", jnp.divide),
    "int_div": ("out", _quotient),
    "mod": ("out", _remainder),
    "neg": ("out", jnp.negative),
    "reciprocal": ("out", lambda x: 1 / x),  # pyright: ignore[reportUnknownLambdaType]
    "sqr": ("out", lambda x: x * x),  # pyright: ignore[reportUnknownLambdaType]
    "sqrt": ("out", jnp.sqrt),
    "abs": ("as is", jnp.abs),
    "sign": ("out", _sign),
    "maximum": ("out", jnp.maximum),
    "minimum": ("out", jnp.minimum),
    "clip": ("out", lambda x, low, high: jnp.minimum(jnp.maximum(x, low), high)),  # pyright: ignore[reportUnknownLambdaType]
    "eq": ("common", jnp.equal),
    "neq": ("common", jnp.not_equal),
    "lt": ("common", jnp.less),
    "le": ("common", jnp.less_equal),
    "gt": ("common", jnp.greater),
    "ge": ("common", jnp.greater_equal),
    "isnan": ("as is", jnp.isnan),
    "isinf": ("as is", jnp.isinf),
    "isfinite": ("as is", jnp.isfinite),
    "and": ("out", jnp.bitwise_and),
    "or": ("out", jnp.bitwise_or),
    "xor": ("out", jnp.bitwise_xor),
    "invert": ("out", jnp.bitwise_not),
    "switch": ("as is", lambda c, a, b: jnp.where(c.astype(bool), a, b)),  # pyright: ignore[reportUnknownLambdaType, reportUnknownMemberType]
    "ceil": ("out", _whole(jnp.ceil)),
    "floor": ("out", _whole(jnp.floor)),
    "trunc": ("out", _whole(jnp.trunc)),
    "round_half_to_even": ("out", _whole(jnp.round)),
    "round_half_away_from_zero": ("out", _away_from_zero),
    "exp": ("out", jnp.exp),
    "exp2": ("out", jnp.exp2),
    "expm1": ("out", jnp.expm1),
    "log": ("out", jnp.log),
    "log1p": ("out", jnp.log1p),
    "log2": ("out", jnp.log2),
    "log10": ("out", jnp.log10),
    "pow": ("out", _power),
    "sin": ("out", jnp.sin),
    "cos": ("out", jnp.cos),
    "tan": ("out", jnp.tan),
    "arcsin": ("out", jnp.arcsin),
    "arccos": ("out", jnp.arccos),
    "arctan": ("out", jnp.arctan),
    "arctan2": ("out", jnp.arctan2),
    "sinh": ("out", jnp.sinh),
    "cosh": ("out", jnp.cosh),
    "tanh": ("out", jnp.tanh),
    "arcsinh": ("out", jnp.arcsinh),
    "arccosh": ("out", jnp.arccosh),
    "arctanh": ("out", jnp.arctanh),
    "deg2rad": ("out", jnp.deg2rad),
    "rad2deg": ("out", jnp.rad2deg),
    "sigmoid": ("out", nn.sigmoid),
    "softplus": ("out", nn.softplus),
    "logaddexp": ("out", jnp.logaddexp),
    "real": ("as is", jnp.real),
    "imag": ("as is", jnp.imag),
    "conj": ("out", jnp.conj),
    "complex": ("common", lambda re, im: re + lax.complex(jnp.zeros_like(im), im)),  # pyright: ignore[reportUnknownLambdaType]
    "angle": ("as is", jnp.angle),
    "erf": ("out", special.erf),
    "erfc": ("out", special.erfc),
    "erfinv": ("out", special.erfinv),
    "erfcinv": ("out", _erfcinv),
    "gamma": ("out", special.gamma),
    "gammaln": ("out", special.gammaln),
    "psi": ("out", special.digamma),
    "tri_gamma": ("out", lambda x: special.polygamma(1, x)),  # pyright: ignore[reportUnknownLambdaType]
    "polygamma": ("as is", _polygamma),
    "poch": ("out", special.poch),
    "gammainc": ("out", special.gammainc),
    "gammaincc": ("out", special.gammaincc),
    "gammainc_dk": ("out", lax.igamma_grad_a),
    "beta": ("out", special.beta),
    "betaln": ("out", special.betaln),
    "betainc": ("out", special.betainc),
    "i0": ("out", special.i0),
    "i1": ("out", special.i1),
    "logit": ("out", special.logit),
    "xlogy": ("out", _xlogy),
    "xlog1py": ("out", _xlog1py),
}
# newer versions have more
for _name in ("erfcx", "owens_t", "hyp2f1"):
    if hasattr(special, _name):
        SCALARS[_name] = ("out", getattr(special, _name))
