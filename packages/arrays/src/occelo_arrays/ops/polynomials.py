"""Polynomials as vectors of coefficients, the one of the highest power first: NumPy's `polyval`, `polyadd` and others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.shape.axes import static_integer
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import promote_arguments
from occelo_graph.tensors.type import is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["poly", "polyadd", "polyder", "polyint", "polymul", "polysub", "polyval"]

_UNROLLED = 64
"""Polynomials of at most so many coefficients are evaluated by Horner's rule, one step of the graph for each."""


def _coefficients(p: Any, name: str, argument: str = "p") -> TensorVariable:
    v = ot.atleast_1d(ot.as_tensor_variable(p))
    if v.type.ndim != 1:
        raise ValueError(f"{argument} of {name} must be a vector of coefficients, got {v.type}")
    return v


@stands_for("polyval", "p x")
def polyval(p: Any, x: Any) -> TensorVariable:
    """The values at ``x`` of the polynomial with the coefficients ``p``: p[0] x^(n-1) + ... + p[n-1].

    The result has the shape of ``x``. Horner's rule computes it if there are at most 64 coefficients and their number is
    static, and a sum of powers else. ValueError unless ``p`` is a vector.
    """
    p, x = _coefficients(p, "polyval"), ot.as_tensor_variable(x)
    length = p.type.shape[0]
    if length is not None and length <= _UNROLLED:
        p = ot.specify_shape(p, (length,))
        value = ot.zeros_like(x)
        for i in range(length):
            value = value * x + p[i]
        return value
    x = ot.cast(x, np.result_type(p.type.numpy_dtype, x.type.numpy_dtype).name)
    powers = ot.arange(p.shape[0])[::-1]
    if p.dtype == x.dtype == "bool":  # products and sums of booleans are booleans
        return ot.any(ot.and_(p, ot.or_(ot.expand_dims(x, -1), ot.eq(powers, 0))), axis=-1)
    terms = p * ot.expand_dims(x, -1) ** powers.astype(x.dtype)
    return ot.sum(terms, axis=-1, dtype=terms.dtype)


def _of_one_length(a: Any, b: Any, name: str) -> tuple[Any, Any]:
    """Two vectors of coefficients, the shorter with zeros in front."""
    a, b = (_coefficients(v, name, f"a{i + 1}") for i, v in enumerate(promote_arguments([a, b])))
    (n,), (m,) = lengths_by_variables(a), lengths_by_variables(b)
    shapes = a.type.shape[0], b.type.shape[0]
    if shapes[0] is not None and shapes[0] == shapes[1]:
        return a, b

    def longer(v: Any, own: Any, other: Any) -> Any:
        return ot.join(0, ot.zeros((ot.maximum(other - own, 0),), dtype=v.dtype), v)

    return longer(a, n, m), longer(b, m, n)


@stands_for("polyadd", "a1 a2")
def polyadd(a1: Any, a2: Any) -> TensorVariable:
    """The coefficients of the sum of the polynomials ``a1`` and ``a2``, as many as the longer one has. ValueError for matrices."""
    a, b = _of_one_length(a1, a2, "polyadd")
    return a + b


@stands_for("polysub", "a1 a2")
def polysub(a1: Any, a2: Any) -> TensorVariable:
    """The coefficients of the polynomial ``a1`` minus ``a2``, as many as the longer one has. ValueError for matrices."""
    a, b = _of_one_length(a1, a2, "polysub")
    return a - b


def _not_empty(v: Any, name: str) -> Any:
    message = f"{name} must not be empty"
    if v.type.shape == (0,):
        raise ValueError(message)
    check = ot.CheckAndRaise(ValueError, message)
    return check(v, ot.gt(v.shape[0], 0)) if v.type.shape == (None,) else v


def _product(a: Any, b: Any) -> Any:
    (n,), (m,) = lengths_by_variables(a), lengths_by_variables(b)
    terms = a.dimshuffle(0, "x") * b.dimshuffle("x", 0)
    places = ot.arange(n).dimshuffle(0, "x") + ot.arange(m).dimshuffle("x", 0)
    return ot.zeros((n + m - 1,), dtype=terms.dtype)[places].inc(terms)


@stands_for("polymul", "a1 a2")
def polymul(a1: Any, a2: Any, *, trim_leading_zeros: bool = False) -> TensorVariable:
    """The n + m - 1 coefficients of the product of ``a1`` and ``a2``, which have n and m. ValueError if one is empty.

    With ``trim_leading_zeros``, the zeros in front of both are left out first, as in NumPy, so that the length of the
    result follows from the values.
    """
    a, b = (
        _coefficients(v, "polymul", f"a{i + 1}") for i, v in enumerate(promote_arguments([a1, a2]))
    )
    a, b = (_not_empty(v, f"{name} of polymul") for v, name in ((a, "a1"), (b, "a2")))
    if trim_leading_zeros:
        a, b = (v[ot.argmax(ot.join(0, ot.neq(v[:-1], 0), np.array([True]))) :] for v in (a, b))
    return _product(a, b)


@stands_for("polyder", "p m")
def polyder(p: Any, m: int = 1) -> TensorVariable:
    """The coefficients of the ``m``-th derivative of the polynomial ``p``. ValueError if ``m`` is negative."""
    p, order = _coefficients(p, "polyder"), static_integer(m, "m of polyder")
    if order < 0:
        raise ValueError(f"m of polyder must not be negative, got {order}")
    for _ in range(order):
        p = p[:-1] * ot.arange(1, p.shape[0])[::-1]
    return p


@stands_for("polyint", "p m k")
def polyint(p: Any, m: int = 1, k: Any = None) -> TensorVariable:
    """The coefficients of the ``m``-th antiderivative of the polynomial ``p``.

    ``k`` are the constants of integration, the first of them of the first integral: 0 if it is None, one number if
    ``m`` is 1, or ``m`` of them. ValueError if ``m`` is negative or there are fewer constants.
    """
    p, order = _coefficients(p, "polyint"), static_integer(m, "m of polyint")
    if order < 0:
        raise ValueError(f"m of polyint must not be negative, got {order}")
    constants = ot.atleast_1d(ot.as_tensor_variable(np.zeros(order, "int64") if k is None else k))
    many = constants.type.shape[0]
    if many == 1 and order > 1:
        constants = ot.broadcast_to(constants, (order,))
    elif many is not None and many < order:
        raise ValueError(f"k of polyint must have {order} constants, got {many}")
    for i in range(order):
        powers = ot.arange(1, p.shape[0] + 1)[::-1]
        p = ot.join(0, p / powers, constants[i : i + 1])
    return p


@stands_for("poly", "seq_of_zeros")
def poly(seq_of_zeros: Any) -> TensorVariable:
    """The coefficients of the polynomial with the given zeros and 1 before the highest power.

    Their number is static. The result is real for real zeros and complex for complex ones. TypeError for an unknown
    length, ValueError unless ``seq_of_zeros`` is a vector; the zeros of a matrix are its eigenvalues, ``linalg.eigvals``.
    """
    zeros = _coefficients(seq_of_zeros, "poly", "seq_of_zeros")
    length = zeros.type.shape[0]
    if length is None:
        raise TypeError(f"poly takes zeros of a static length, got {zeros.type}")
    zeros = ot.specify_shape(zeros, (length,))
    if is_discrete(zeros.dtype):
        zeros = ot.cast(zeros, "float64")
    coefficients: Any = ot.ones((1,), dtype=zeros.dtype)
    for i in range(length):
        none = ot.zeros((1,), dtype=zeros.dtype)
        coefficients = ot.join(0, coefficients, none) - zeros[i] * ot.join(0, none, coefficients)
    return coefficients
