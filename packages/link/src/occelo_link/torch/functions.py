"""Scalar functions by name: what PyTorch calls them, or how they are made of what it has."""

from __future__ import annotations

from typing import Any

from occelo_link.torch.library import special, torch
from occelo_link.traced.arrays import Scalar

__all__ = ["SCALARS"]


def _is_real(x: Any) -> bool:
    return bool(x.dtype.is_floating_point)


def _quotient(x: Any, y: Any) -> Any:
    if _is_real(x):
        return torch.floor_divide(x, y)
    none = y == 0
    divided = torch.div(x, torch.where(none, 1, y).to(y.dtype), rounding_mode="floor")
    return torch.where(none, 0, divided).to(x.dtype)


def _remainder(x: Any, y: Any) -> Any:
    if _is_real(x):
        return torch.remainder(x, y)
    none = y == 0
    return torch.where(none, 0, torch.remainder(x, torch.where(none, 1, y).to(y.dtype))).to(x.dtype)


def _sign(x: Any) -> Any:
    if x.dtype.is_complex:
        return torch.sgn(x)
    return torch.where(torch.isnan(x), x, torch.sign(x)) if _is_real(x) else torch.sign(x)


def _away_from_zero(x: Any) -> Any:
    if not _is_real(x):
        return x
    whole = torch.trunc(x)
    return torch.where(torch.abs(x - whole) >= 0.5, whole + torch.sign(x), whole)


def _whole(function: Any) -> Any:
    """A rounding, which leaves integers alone."""
    return lambda x: function(x) if _is_real(x) else x  # pyright: ignore[reportUnknownLambdaType, reportUnknownVariableType]


def _logical(of_numbers: Any, of_truth: Any) -> Any:
    return lambda x, y: (of_truth if x.dtype == torch.bool else of_numbers)(x, y)  # pyright: ignore[reportUnknownLambdaType, reportUnknownMemberType, reportUnknownVariableType]


def _maximum(x: Any, y: Any) -> Any:
    return torch.logical_or(x, y) if x.dtype == torch.bool else torch.maximum(x, y)


def _minimum(x: Any, y: Any) -> Any:
    return torch.logical_and(x, y) if x.dtype == torch.bool else torch.minimum(x, y)


def _power(x: Any, y: Any) -> Any:
    if x.dtype == torch.bool:
        return torch.logical_or(x, torch.logical_not(y))
    return torch.pow(x, y)


def _softplus(x: Any) -> Any:
    return torch.logaddexp(x, torch.zeros((), dtype=x.dtype))


def _erfcinv(x: Any) -> Any:
    return -special.ndtri(x / 2) / 1.4142135623730951


def _logaddexp(x: Any, y: Any) -> Any:
    if not x.dtype.is_complex:
        return torch.logaddexp(x, y)
    return torch.log(torch.exp(x) + torch.exp(y))


def _angle(x: Any) -> Any:
    return torch.angle(x)


def _betaln(x: Any, y: Any) -> Any:
    return special.gammaln(x) + special.gammaln(y) - special.gammaln(x + y)


def _gamma(x: Any) -> Any:
    # the sign of Gamma alternates between the poles of the negative numbers
    size = torch.exp(special.gammaln(x))
    odd = torch.remainder(torch.floor(x), 2) != 0
    signed = torch.where((x < 0) & odd, -size, size)
    return torch.where(
        (x <= 0) & (x == torch.floor(x)), torch.where(x == 0, size, torch.nan), signed
    )


SCALARS: dict[str, Scalar] = {
    "second": ("out", lambda x, y: torch.broadcast_to(y, torch.broadcast_shapes(x.shape, y.shape))),  # pyright: ignore[reportUnknownLambdaType, reportUnknownMemberType]
    "identity": ("out", lambda x: x),  # pyright: ignore[reportUnknownLambdaType]
    "add": ("out", _logical(torch.add, torch.logical_or)),
    "mul": ("out", _logical(torch.mul, torch.logical_and)),
    "sub": ("out", torch.sub),
    "true_div": ("out", torch.div),
    "int_div": ("out", _quotient),
    "mod": ("out", _remainder),
    "neg": ("out", torch.neg),
    "reciprocal": ("out", torch.reciprocal),
    "sqr": ("out", lambda x: x * x),  # pyright: ignore[reportUnknownLambdaType]
    "sqrt": ("out", torch.sqrt),
    "abs": ("as is", lambda x: x if x.dtype == torch.bool else torch.abs(x)),  # pyright: ignore[reportUnknownLambdaType, reportUnknownMemberType]
    "sign": ("out", _sign),
    "maximum": ("out", _maximum),
    "minimum": ("out", _minimum),
    "clip": ("out", lambda x, low, high: _minimum(_maximum(x, low), high)),  # pyright: ignore[reportUnknownLambdaType]
    "eq": ("common", torch.eq),
    "neq": ("common", torch.ne),
    "lt": ("common", torch.lt),
    "le": ("common", torch.le),
    "gt": ("common", torch.gt),
    "ge": ("common", torch.ge),
    "isnan": ("as is", torch.isnan),
    "isinf": ("as is", torch.isinf),
    "isfinite": ("as is", torch.isfinite),
    "and": ("out", torch.bitwise_and),
    "or": ("out", torch.bitwise_or),
    "xor": ("out", torch.bitwise_xor),
    "invert": ("out", torch.bitwise_not),
    "switch": ("as is", lambda c, a, b: torch.where(c != 0, a, b)),  # pyright: ignore[reportUnknownLambdaType]
    "ceil": ("out", _whole(torch.ceil)),
    "floor": ("out", _whole(torch.floor)),
    "trunc": ("out", _whole(torch.trunc)),
    "round_half_to_even": ("out", _whole(torch.round)),
    "round_half_away_from_zero": ("out", _away_from_zero),
    "exp": ("out", torch.exp),
    "exp2": ("out", torch.exp2),
    "expm1": ("out", torch.expm1),
    "log": ("out", torch.log),
    "log1p": ("out", torch.log1p),
    "log2": ("out", torch.log2),
    "log10": ("out", torch.log10),
    "pow": ("out", _power),
    "sin": ("out", torch.sin),
    "cos": ("out", torch.cos),
    "tan": ("out", torch.tan),
    "arcsin": ("out", torch.arcsin),
    "arccos": ("out", torch.arccos),
    "arctan": ("out", torch.arctan),
    "arctan2": ("out", torch.arctan2),
    "sinh": ("out", torch.sinh),
    "cosh": ("out", torch.cosh),
    "tanh": ("out", torch.tanh),
    "arcsinh": ("out", torch.arcsinh),
    "arccosh": ("out", torch.arccosh),
    "arctanh": ("out", torch.arctanh),
    "deg2rad": ("out", torch.deg2rad),
    "rad2deg": ("out", torch.rad2deg),
    "sigmoid": ("out", torch.sigmoid),
    "softplus": ("out", _softplus),
    "logaddexp": ("out", _logaddexp),
    "real": ("as is", lambda x: torch.real(x) if x.dtype.is_complex else x),  # pyright: ignore[reportUnknownLambdaType, reportUnknownMemberType]
    "imag": ("as is", lambda x: torch.imag(x) if x.dtype.is_complex else torch.zeros_like(x)),  # pyright: ignore[reportUnknownLambdaType, reportUnknownMemberType]
    "conj": ("out", lambda x: torch.conj_physical(x)),  # pyright: ignore[reportUnknownLambdaType]
    "complex": ("common", torch.complex),
    "angle": ("as is", _angle),
    "erf": ("out", torch.erf),
    "erfc": ("out", torch.erfc),
    "erfcx": ("out", special.erfcx),
    "erfinv": ("out", torch.erfinv),
    "erfcinv": ("out", _erfcinv),
    "gamma": ("out", _gamma),
    "gammaln": ("out", special.gammaln),
    "psi": ("out", special.digamma),
    "tri_gamma": ("out", lambda x: special.polygamma(1, x)),  # pyright: ignore[reportUnknownLambdaType]
    "gammainc": ("out", special.gammainc),
    "gammaincc": ("out", special.gammaincc),
    "beta": ("out", lambda x, y: torch.exp(_betaln(x, y))),  # pyright: ignore[reportUnknownLambdaType]
    "betaln": ("out", _betaln),
    "j0": ("out", special.bessel_j0),
    "j1": ("out", special.bessel_j1),
    "i0": ("out", special.i0),
    "i1": ("out", special.i1),
    "logit": ("out", special.logit),
    "xlogy": ("out", special.xlogy),
    "xlog1py": ("out", special.xlog1py),
}
