"""NumPy's `polyfit`, by least squares, `polydiv`, by a triangular system, and `roots`, by eigenvalues.

Users call them from `occelo.tensor`.
The functions of polynomials that need no linear algebra, such as `polyval`, are in `occelo_arrays`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_arrays.functions import polymul, vander
from occelo_graph import tensor as ot
from occelo_graph.errors import describe
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.shape.axes import static_integer
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import promote_arguments
from occelo_graph.tensors.type import is_discrete
from occelo_linalg.ops.equations.toeplitz import toeplitz
from occelo_linalg.ops.equations.triangular import solve_triangular
from occelo_linalg.ops.factorizations.eig import eigvals
from occelo_linalg.ops.inverse import inv
from occelo_linalg.ops.pinv import lstsq

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["polydiv", "polyfit", "roots"]

_UNROLLED = 64
"""Quotients of at most so many coefficients are computed in as many steps of the graph."""


def _floats(value: Any) -> TensorVariable:
    x = ot.as_tensor_variable(value)
    return ot.cast(x, "float64") if is_discrete(x.dtype) else x


@stands_for("polyfit", "x y deg rcond full w cov")
def polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: Any = None,
    full: bool = False,
    w: Any = None,
    cov: bool | str = False,
) -> Any:
    """The coefficients of the polynomial of degree ``deg`` that fits best at the points ``x``, the highest power first.

    ``x`` is a vector of length m. ``y`` is a vector of m values, or a matrix of shape (m, k), of which each column is
    fitted. ``w`` are m weights of the differences, not of their squares. The result has the shape (deg + 1,) or (deg + 1, k).
    Singular values of the scaled Vandermonde matrix up to ``rcond`` times the largest one count as 0; the default is m
    times the machine epsilon. There is no warning if the rank is too small.

    With ``full=True``, the results are the coefficients, and the sums of squared differences, the rank and the singular
    values that `linalg.lstsq` returns, and ``rcond``. With ``cov=True``, they are the coefficients and their covariance
    matrix, of shape (deg + 1, deg + 1) or (deg + 1, deg + 1, k), scaled by the sum of squares divided by m - deg - 1;
    ``cov="unscaled"`` leaves out this factor (and k is 1).

    ValueError if ``deg`` is negative or numbers of points differ. TypeError if ``x`` or ``w`` is not a vector or ``y`` has
    more than 2 dimensions.
    """
    points, values = _floats(x), _floats(y)
    order = static_integer(deg, "deg") + 1
    if order < 1:
        raise ValueError(f"deg of polyfit must not be negative, got {deg}")
    if points.type.ndim != 1 or values.type.ndim not in (1, 2):
        raise TypeError(
            f"polyfit takes a vector x, and a vector or a matrix y, got {describe(points)} and {describe(values)}"
        )
    _check_lengths(points, values, "y")
    (count,) = lengths_by_variables(points)
    if rcond is None:
        eps = np.finfo(points.dtype).eps
        rcond = ot.as_tensor_variable(count).astype("float64") * float(eps)
    left: Any = vander(points, order)
    if w is not None:
        weights = _floats(w)
        if weights.type.ndim != 1:
            raise TypeError(f"w of polyfit must be a vector, got {describe(weights)}")
        _check_lengths(points, weights, "w")
        left = left * weights.dimshuffle(0, "x")
        values = values * (weights.dimshuffle(0, "x") if values.type.ndim == 2 else weights)
    scale: Any = ot.sqrt(ot.sum(left * left, axis=0))
    left = left / scale
    solution, squares, rank, singular = lstsq(left, values, rcond)
    coefficients: Any = (solution.T / scale).T
    if full:
        return coefficients, squares, rank, singular, rcond
    if not cov:
        return coefficients
    spread: Any = inv(left.T @ left) / (scale.dimshuffle(0, "x") * scale.dimshuffle("x", 0))
    if values.type.ndim == 2:
        spread = spread.dimshuffle(0, 1, "x")
    if isinstance(cov, str) and cov == "unscaled":
        return coefficients, spread
    difference: Any = values - left @ solution
    free = ot.as_tensor_variable(count) - order
    if points.type.shape[0] is not None and points.type.shape[0] <= order:
        raise ValueError(
            f"polyfit: {count} points are too few to scale the covariance of {order} coefficients"
        )
    factor: Any = ot.sum(difference * difference, axis=0) / free
    return coefficients, spread * factor


def _check_lengths(x: Any, other: Any, name: str) -> None:
    lengths = x.type.shape[0], other.type.shape[0]
    if 0 in lengths:
        raise TypeError(f"polyfit takes at least one point, got {describe(x)}")
    if None not in lengths and lengths[0] != lengths[1]:
        raise ValueError(
            f"x and {name} of polyfit must have the same length, got {describe(x)} and {describe(other)}"
        )


@stands_for("polydiv", "u v")
def polydiv(u: Any, v: Any) -> tuple[TensorVariable, TensorVariable]:
    """The quotient and the remainder of the polynomials ``u`` and ``v``, the coefficient of the highest power first.

    The coefficients of the quotient solve a triangular system: step by step in the graph if the lengths are static and there
    are at most 64; else NaN among the coefficients spreads over the quotient. As in NumPy, leading coefficients of the remainder
    within 1e-8 of 0 are left out, so that its length follows from the values. ValueError unless both are vectors, or if ``v`` is empty.
    """
    a, b = (_floats(ot.atleast_1d(w)) for w in promote_arguments([u, v]))
    for value, name in ((a, "u"), (b, "v")):
        if value.type.ndim != 1:
            raise ValueError(
                f"{name} of polydiv must be a vector of coefficients, got {describe(value)}"
            )
    (m,), (n,) = a.type.shape, b.type.shape
    if n == 0:
        raise ValueError("v of polydiv must not be empty")
    dtype = np.result_type(a.dtype, b.dtype).name
    a, b = ot.cast(a, dtype), ot.cast(b, dtype)
    if m is not None and n is not None and m - n < _UNROLLED:
        quotient, rest = _divided_in_steps(a, b, m, n)
    else:
        quotient, rest = _divided_by_solving(a, b)
    counts = ot.join(0, ot.invert(abs(rest[:-1]) <= 1e-8), np.array([True]))
    return quotient, rest[ot.argmax(counts) :]


def _divided_in_steps(a: Any, b: Any, m: int, n: int) -> tuple[Any, Any]:
    a, b = ot.specify_shape(a, (m,)), ot.specify_shape(b, (n,))
    factors: list[Any] = []
    for k in range(m - n + 1):
        factors.append(a[k] / b[0])
        a = a[k : k + n].inc(-factors[-1] * b)
    return ot.stack(factors) if factors else ot.zeros((1,), dtype=a.dtype), a


def _divided_by_solving(a: Any, b: Any) -> tuple[Any, Any]:
    """The quotient, whose coefficients are the first ones of the series of ``a / b``, and all of the remainder."""
    if b.type.shape[0] is None:
        check = ot.CheckAndRaise(ValueError, "v of polydiv must not be empty")
        b = check(b, ot.gt(b.shape[0], 0))
    (m,), (n,) = lengths_by_variables(a), lengths_by_variables(b)
    fits = ot.ge(m, n)
    count = ot.switch(fits, m - n + 1, 1)  # a quotient by a polynomial of a higher degree is one 0
    column = ot.join(0, b, ot.zeros((count,), dtype=b.dtype))[:count]
    right = ot.switch(fits, ot.join(0, a, np.zeros(1, a.dtype))[:count], 0)
    quotient = solve_triangular(
        toeplitz(column, ot.zeros_like(column)), right, lower=True, on_error="nan"
    )
    rest = a - polymul(quotient, b)[:m]
    # not what rounding leaves of the leading coefficients, but NaN of a quotient that is not finite
    leading = ot.join(0, quotient * 0, ot.zeros((m,), dtype=a.dtype))[:m]
    return quotient, ot.switch(fits, ot.switch(ot.lt(ot.arange(m), count), leading, rest), a)


@stands_for("roots", "p")
def roots(p: Any, *, strip_zeros: bool = True) -> TensorVariable:
    """The zeros of the polynomial with the coefficients ``p``, the one of the highest power first: complex numbers.

    They are eigenvalues of the companion matrix, in no particular order. Zeros at the front of ``p`` count as no
    coefficients and each one at the end is a root 0, so that the number of roots follows from the values. With
    ``strip_zeros=False``, as in JAX, ``p`` of n coefficients has n - 1 roots, which are NaN if the first coefficient is
    0. The gradient is correct if the roots are distinct. ValueError unless ``p`` is a vector.
    """
    v = _floats(ot.atleast_1d(ot.as_tensor_variable(p)))
    if v.type.ndim != 1:
        raise ValueError(f"p of roots must be a vector of coefficients, got {describe(v)}")
    if not strip_zeros:
        return _eigenvalues(v, on_error="nan")
    one = np.array([True])
    filled = ot.neq(v, 0)
    some = ot.any(filled)
    # an appended True is found if there is no other
    first = ot.argmax(ot.join(0, filled, one))
    at_end = ot.switch(some, ot.argmax(ot.join(0, filled[::-1], one)), 0)
    inner = v[first : v.shape[0] - at_end]
    of_inner = _eigenvalues(inner)
    return ot.join(0, of_inner, ot.zeros((at_end,), dtype=of_inner.dtype))


def _eigenvalues(p: Any, on_error: str = "raise") -> TensorVariable:
    """The eigenvalues of the companion matrix of coefficients of which the first is not 0; none of less than two."""
    (length,) = lengths_by_variables(p)
    count = ot.maximum(length - 1, 0)
    leading = ot.join(0, p, np.ones(1, p.dtype))[0]
    row = (-p[1:] / leading).dimshuffle("x", 0)
    matrix = ot.join(0, row[: ot.minimum(count, 1)], ot.eye(count, dtype=p.dtype)[:-1])
    return eigvals(matrix, on_error=on_error)
