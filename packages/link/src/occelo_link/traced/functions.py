"""The table of scalar functions of JAX and PyTorch: for each scalar op, functions of the two libraries that compute it.

`jax.functions` and `torch.functions` read the column of their library. Families add rows with `add_functions`. A scalar op that is not in the table is computed
by its formula. If it has no formula either, compiled code calls NumPy.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from occelo_link.libraries import LIBRARIES
from occelo_link.traced import unsigned
from occelo_link.traced.scalars import Conversion, Scalar
from occelo_link.traced.traced_values import Array

JAX, PYTORCH = 1, 2
"""The columns of the table `CALLED`."""

Library = Any
"""A namespace with the modules of a library under short names such as ``jnp``.

What the expansions use has the same names for both libraries:

- ``xp`` has the functions that are named as NumPy's, and ``special`` those of SciPy
- ``loop(more, step, state)`` applies ``step`` to ``state`` as long as ``more(state)`` is true, or a few times more often
- ``broadcast`` broadcasts several arrays to one shape
- ``igamma_grad_a`` is the derivative of gammainc by its first argument, or None
- ``differentiable(name, count, function, slopes)`` returns a function of ``count`` arrays of one shape and dtype, which
  the library can differentiate: ``slopes(needs, *arrays)`` returns its derivatives, or None where ``needs`` is false

It is untyped, so that type checking does not require the library.
"""
Called = str | Callable[..., Array] | None
"""An entry of the table: the path ``module.name`` of a library's function, or a function of this module.

The first argument of a function of this module, ``of``, is the library, and the others are arrays. A path ends with a
question mark if older versions of the library lack the function; a number after it is the position of the result, of a function
that has several. None means that the library has no such function.
"""


def _identity(of: Library, x: Array) -> Array:
    return x


def _square(of: Library, x: Array) -> Array:
    return x * x


# JAX


def _jax_second(of: Library, x: Array, y: Array) -> Array:
    return of.jnp.broadcast_to(y, of.jnp.broadcast_shapes(x.shape, y.shape))


def _jax_is_real(of: Library, x: Array) -> bool:
    return bool(of.jnp.issubdtype(x.dtype, of.jnp.floating))


def _jax_quotient(of: Library, x: Array, y: Array) -> Array:
    jnp = of.jnp
    if not jnp.issubdtype(x.dtype, jnp.integer):
        return jnp.floor_divide(x, y)
    # in NumPy, an integer divided by 0 is 0
    return jnp.where(y == 0, 0, jnp.floor_divide(x, jnp.where(y == 0, 1, y)))


def _jax_remainder(of: Library, x: Array, y: Array) -> Array:
    jnp = of.jnp
    if not jnp.issubdtype(x.dtype, jnp.integer):
        return jnp.remainder(x, y)
    return jnp.where(y == 0, 0, jnp.remainder(x, jnp.where(y == 0, 1, y)))


def _jax_reciprocal(of: Library, x: Array) -> Array:
    return 1 / x


def _jax_sign(of: Library, x: Array) -> Array:
    jnp = of.jnp
    if jnp.iscomplexobj(x):
        return jnp.where(x == 0, x, x / jnp.where(x == 0, 1, jnp.abs(x)))
    return jnp.sign(x)


def _jax_extreme(name: str) -> Callable[..., Array]:
    """Return a function that computes ``maximum`` or ``minimum``.

    Its result is NaN if an argument is NaN, also for complex numbers.
    """

    def function(of: Library, x: Array, y: Array) -> Array:
        jnp = of.jnp
        extreme = getattr(jnp, name)(x, y)
        if jnp.iscomplexobj(extreme):
            extreme = jnp.where(jnp.isnan(x), x, jnp.where(jnp.isnan(y), y, extreme))
        return extreme

    return function


_jax_maximum, _jax_minimum = _jax_extreme("maximum"), _jax_extreme("minimum")


def _jax_clip(of: Library, x: Array, low: Array, high: Array) -> Array:
    return _jax_minimum(of, _jax_maximum(of, x, low), high)


def _jax_switch(of: Library, condition: Array, x: Array, y: Array) -> Array:
    return of.jnp.where(condition.astype(bool), x, y)


def _jax_whole(name: str) -> Callable[..., Array]:
    """Return a rounding function that leaves integers unchanged. Both parts of complex numbers are rounded."""

    def function(of: Library, x: Array) -> Array:
        rounded = getattr(of.jnp, name)
        if of.jnp.iscomplexobj(x):
            return _jax_complex(of, rounded(of.jnp.real(x)), rounded(of.jnp.imag(x)))
        return rounded(x) if _jax_is_real(of, x) else x

    return function


def _jax_away_from_zero(of: Library, x: Array) -> Array:
    jnp = of.jnp
    if not _jax_is_real(of, x):
        return x
    whole = jnp.trunc(x)
    return jnp.where(jnp.abs(x - whole) >= 0.5, whole + jnp.sign(x), whole)


def _jax_power(of: Library, x: Array, y: Array) -> Array:
    if x.dtype == bool:
        return of.jnp.logical_or(x, of.jnp.logical_not(y))
    return of.jnp.power(x, y)


def _jax_complex(of: Library, re: Array, im: Array) -> Array:
    return re + of.lax.complex(of.jnp.zeros_like(im), im)


# PyTorch


def _torch_expm1(of: Library, x: Array) -> Array:
    """exp(x) - 1. Compiled by PyTorch, its own is 0 for small x."""
    torch = of.torch
    if x.is_complex():
        return torch.expm1(x)
    near = torch.abs(x) < 1.0
    half = torch.tanh(torch.where(near, x, 0.0) / 2)
    return torch.where(near, 2 * half / (1 - half), torch.exp(x) - 1)


def _torch_second(of: Library, x: Array, y: Array) -> Array:
    return of.torch.broadcast_to(y, of.torch.broadcast_shapes(x.shape, y.shape))


def _torch_is_real(x: Array) -> bool:
    return bool(x.dtype.is_floating_point)


def _torch_logical(of_numbers: str, of_truth: str) -> Callable[..., Array]:
    """Return a function that calls PyTorch's function ``of_truth`` for booleans, and ``of_numbers`` for all other
    dtypes.
    """

    def function(of: Library, x: Array, y: Array) -> Array:
        return getattr(of.torch, of_truth if x.dtype == of.torch.bool else of_numbers)(x, y)

    return function


def _torch_ordering(of_numbers: str, of_truth: str) -> Callable[..., Array]:
    """Return a function that computes the larger or the smaller of two arguments, which may be complex numbers."""
    of_real = _torch_logical(of_numbers, of_truth)

    def function(of: Library, x: Array, y: Array) -> Array:
        if x.dtype.is_complex:
            return _torch_extreme(of.torch, x, y, of_numbers == "maximum")
        return of_real(of, x, y)

    return function


def _torch_extreme(torch: Library, x: Array, y: Array, larger: bool) -> Array:
    """Return the larger or the smaller of two complex numbers. Real parts are compared first, then imaginary parts.

    If a number is NaN, the result is the first number that is NaN.
    """
    a, b = (x, y) if larger else (y, x)
    exceeds = (a.real > b.real) & ~torch.isnan(a.imag) & ~torch.isnan(b.imag)
    chosen = exceeds | ((a.real == b.real) & (a.imag >= b.imag)) | torch.isnan(x)
    return torch.where(chosen, x, y)


_torch_maximum = _torch_ordering("maximum", "logical_or")
_torch_minimum = _torch_ordering("minimum", "logical_and")


def _torch_quotient(of: Library, x: Array, y: Array) -> Array:
    torch = of.torch
    if _torch_is_real(x):
        return torch.floor_divide(x, y)
    none = y == 0
    divided = torch.div(x, torch.where(none, 1, y).to(y.dtype), rounding_mode="floor")
    return torch.where(none, 0, divided).to(x.dtype)


def _torch_remainder(of: Library, x: Array, y: Array) -> Array:
    torch = of.torch
    if _torch_is_real(x):
        return torch.remainder(x, y)
    none = y == 0
    return torch.where(none, 0, torch.remainder(x, torch.where(none, 1, y).to(y.dtype))).to(x.dtype)


def _torch_sign(of: Library, x: Array) -> Array:
    torch = of.torch
    if x.dtype.is_complex:
        return torch.sgn(x)
    return torch.where(torch.isnan(x), x, torch.sign(x)) if _torch_is_real(x) else torch.sign(x)


def _torch_abs(of: Library, x: Array) -> Array:
    return x if x.dtype == of.torch.bool else of.torch.abs(x)


def _torch_clip(of: Library, x: Array, low: Array, high: Array) -> Array:
    return _torch_minimum(of, _torch_maximum(of, x, low), high)


def _torch_switch(of: Library, condition: Array, x: Array, y: Array) -> Array:
    return of.torch.where(condition != 0, x, y)


def _torch_whole(name: str) -> Callable[..., Array]:
    """Return a rounding function that leaves integers unchanged. Both parts of complex numbers are rounded."""

    def function(of: Library, x: Array) -> Array:
        rounded = getattr(of.torch, name)
        if x.dtype.is_complex:
            return of.torch.complex(rounded(x.real), rounded(x.imag))
        return rounded(x) if _torch_is_real(x) else x

    return function


def _torch_away_from_zero(of: Library, x: Array) -> Array:
    torch = of.torch
    if not _torch_is_real(x):
        return x
    whole = torch.trunc(x)
    return torch.where(torch.abs(x - whole) >= 0.5, whole + torch.sign(x), whole)


def _torch_power(of: Library, x: Array, y: Array) -> Array:
    torch = of.torch
    if x.dtype == torch.bool:
        return torch.logical_or(x, torch.logical_not(y))
    return torch.pow(x, y)


def _torch_softplus(of: Library, x: Array) -> Array:
    return of.torch.logaddexp(x, of.torch.zeros((), dtype=x.dtype))


def _torch_logaddexp(of: Library, x: Array, y: Array) -> Array:
    torch = of.torch
    if not x.dtype.is_complex:
        return torch.logaddexp(x, y)
    return torch.log(torch.exp(x) + torch.exp(y))


def _torch_real(of: Library, x: Array) -> Array:
    return of.torch.real(x) if x.dtype.is_complex else x


def _torch_imag(of: Library, x: Array) -> Array:
    return of.torch.imag(x) if x.dtype.is_complex else of.torch.zeros_like(x)


def _has_power(arrays: Any, x: Array, y: Array) -> Array | None:
    """Whether all exponents are valid. A negative exponent is an error if the base and the exponent are integers.

    None if the dtypes exclude this error.
    """
    base, power = arrays.dtype(x), arrays.dtype(y)
    if power[0] != "i" or base[0] not in "iu":
        return None
    least = arrays.constant(np.zeros((), power))
    return arrays.reduce("and", arrays.scalars["ge"][1](y, least), range(len(y.shape)))


VALID: Mapping[str, Callable[..., Array | None]] = {"pow": _has_power}
"""For each scalar function that raises an error for some arguments, a function that checks the arguments.

The function gets the `Arrays` of either library and the arguments. It returns whether the arguments are valid, or None
if arguments of these dtypes are always valid.
"""

CALLED: dict[str, tuple[Conversion, Called, Called]] = {
    # name: conversion of the arguments, function of JAX, function of PyTorch
    "second": ("out", _jax_second, _torch_second),
    "identity": ("out", _identity, _identity),
    "add": ("out", "jnp.add", _torch_logical("add", "logical_or")),
    "mul": ("out", "jnp.multiply", _torch_logical("mul", "logical_and")),
    "sub": ("out", "jnp.subtract", "torch.sub"),
    "true_div": ("out", "jnp.divide", "torch.div"),
    "int_div": ("out", _jax_quotient, _torch_quotient),
    "mod": ("out", _jax_remainder, _torch_remainder),
    "neg": ("out", "jnp.negative", "torch.neg"),
    "reciprocal": ("out", _jax_reciprocal, "torch.reciprocal"),
    "sqr": ("out", _square, _square),
    "sqrt": ("out", "jnp.sqrt", "torch.sqrt"),
    "abs": ("as is", "jnp.abs", _torch_abs),
    "sign": ("out", _jax_sign, _torch_sign),
    "maximum": ("out", _jax_maximum, _torch_maximum),
    "minimum": ("out", _jax_minimum, _torch_minimum),
    "clip": ("out", _jax_clip, _torch_clip),
    "eq": ("common", "jnp.equal", "torch.eq"),
    "neq": ("common", "jnp.not_equal", "torch.ne"),
    "lt": ("common", "jnp.less", "torch.lt"),
    "le": ("common", "jnp.less_equal", "torch.le"),
    "gt": ("common", "jnp.greater", "torch.gt"),
    "ge": ("common", "jnp.greater_equal", "torch.ge"),
    "isnan": ("as is", "jnp.isnan", "torch.isnan"),
    "isinf": ("as is", "jnp.isinf", "torch.isinf"),
    "isfinite": ("as is", "jnp.isfinite", "torch.isfinite"),
    "and": ("out", "jnp.bitwise_and", "torch.bitwise_and"),
    "or": ("out", "jnp.bitwise_or", "torch.bitwise_or"),
    "xor": ("out", "jnp.bitwise_xor", "torch.bitwise_xor"),
    "invert": ("out", "jnp.bitwise_not", "torch.bitwise_not"),
    "switch": ("as is", _jax_switch, _torch_switch),
    "ceil": ("out", _jax_whole("ceil"), _torch_whole("ceil")),
    "floor": ("out", _jax_whole("floor"), _torch_whole("floor")),
    "trunc": ("out", _jax_whole("trunc"), _torch_whole("trunc")),
    "round_half_to_even": ("out", _jax_whole("round"), _torch_whole("round")),
    "round_half_away_from_zero": ("out", _jax_away_from_zero, _torch_away_from_zero),
    "exp": ("out", "jnp.exp", "torch.exp"),
    "exp2": ("out", "jnp.exp2", "torch.exp2"),
    "expm1": ("out", "jnp.expm1", _torch_expm1),
    "log": ("out", "jnp.log", "torch.log"),
    "log1p": ("out", "jnp.log1p", "torch.log1p"),
    "log2": ("out", "jnp.log2", "torch.log2"),
    "log10": ("out", "jnp.log10", "torch.log10"),
    "pow": ("out", _jax_power, _torch_power),
    "sin": ("out", "jnp.sin", "torch.sin"),
    "cos": ("out", "jnp.cos", "torch.cos"),
    "tan": ("out", "jnp.tan", "torch.tan"),
    "arcsin": ("out", "jnp.arcsin", "torch.arcsin"),
    "arccos": ("out", "jnp.arccos", "torch.arccos"),
    "arctan": ("out", "jnp.arctan", "torch.arctan"),
    "arctan2": ("out", "jnp.arctan2", "torch.arctan2"),
    "sinh": ("out", "jnp.sinh", "torch.sinh"),
    "cosh": ("out", "jnp.cosh", "torch.cosh"),
    "tanh": ("out", "jnp.tanh", "torch.tanh"),
    "arcsinh": ("out", "jnp.arcsinh", "torch.arcsinh"),
    "arccosh": ("out", "jnp.arccosh", "torch.arccosh"),
    "arctanh": ("out", "jnp.arctanh", "torch.arctanh"),
    "deg2rad": ("out", "jnp.deg2rad", "torch.deg2rad"),
    "rad2deg": ("out", "jnp.rad2deg", "torch.rad2deg"),
    "sigmoid": ("out", "nn.sigmoid", "torch.sigmoid"),
    "softplus": ("out", "nn.softplus", _torch_softplus),
    "logaddexp": ("out", "jnp.logaddexp", _torch_logaddexp),
    "real": ("as is", "jnp.real", _torch_real),
    "imag": ("as is", "jnp.imag", _torch_imag),
    "conj": ("out", "jnp.conj", "torch.conj_physical"),
    "complex": ("common", _jax_complex, "torch.complex"),
    "angle": ("as is", "jnp.angle", "torch.angle"),
    "erf": ("out", "special.erf", "torch.erf"),
    "erfc": ("out", "special.erfc", "torch.erfc"),
    "erfcx": ("out", "special.erfcx?", "special.erfcx"),
}


_UNSIGNED: dict[str, Callable[..., Array]] = {
    "lt": unsigned.less,
    "le": unsigned.not_more,
    "gt": unsigned.more,
    "ge": unsigned.not_less,
    "maximum": unsigned.larger,
    "minimum": unsigned.smaller,
    "clip": unsigned.within,
    "int_div": unsigned.quotient,
    "mod": unsigned.remainder,
    "sign": unsigned.sign_of,
    "abs": unsigned.itself,
}
"""Functions that replace PyTorch's signed functions for uint64.

Their arguments are int64 tensors with the same bits.
"""


def unsigned_functions_of(library: Library) -> dict[str, Callable[..., Array]]:
    """Return functions for uint64 in PyTorch, by the names of scalar ops. Their arguments are int64 tensors with the
    same bits.
    """
    return {name: partial(function, library) for name, function in _UNSIGNED.items()}


_made: list[tuple[Library, int, dict[str, Scalar]]] = []
"""The results of `functions_of`, each with its library and its column, so that `add_functions` can extend them."""


def functions_of(library: Library, column: int) -> dict[str, Scalar]:
    """Return the functions of a library by the names of scalar ops. ``column`` is `JAX` or `PYTORCH`.

    `add_functions` adds to the result. Raises AttributeError if the library lacks a function whose path has no question
    mark.
    """
    functions = _column(CALLED, library, column)
    _made.append((library, column, functions))
    return functions


def library_has(backend: str, name: str) -> bool:
    """Whether the table has a function for a scalar op. The library is imported only if that depends on its version."""
    called = CALLED[name][JAX if backend == "jax" else PYTORCH] if name in CALLED else None
    if isinstance(called, str) and "?" in called:
        functions = importlib.import_module(f"occelo_link.{LIBRARIES[backend]}.functions")
        return name in functions.SCALARS
    return called is not None


def add_functions(rows: Mapping[str, tuple[Conversion, Called, Called]]) -> None:
    """Add the rows of a family to the table `CALLED`, and to the functions of the libraries that are imported."""
    CALLED.update(rows)
    for library, column, functions in _made:
        functions.update(_column(rows, library, column))


def _column(
    rows: Mapping[str, tuple[Conversion, Called, Called]], library: Library, column: int
) -> dict[str, Scalar]:
    resolved = {name: (row[0], _resolved(library, row[column])) for name, row in rows.items()}
    return {name: (how, function) for name, (how, function) in resolved.items() if function}


def _resolved(library: Library, called: Called) -> Callable[..., Array] | None:
    if not isinstance(called, str):
        return None if called is None else partial(called, library)
    module, _, name = called.partition(".")
    name, optional, position = name.partition("?")
    default = (None,) if optional else ()
    function: Callable[..., Any] | None = getattr(getattr(library, module), name, *default)
    if function is None or not position:
        return function
    return partial(_result, function, int(position))


def _result(function: Callable[..., Any], position: int, *arrays: Array) -> Array:
    return function(*arrays)[position]
