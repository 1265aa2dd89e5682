"""NumPy's `polyfit`, by least squares, and `roots`, by eigenvalues. Users call them from `occelo.tensor`.

The functions of polynomials that need no linear algebra, such as `polyval`, are in `occelo_arrays`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_arrays.functions import vander
from occelo_graph import tensor as ot
from occelo_graph.errors import describe
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.shape.axes import static_integer
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.type import is_discrete
from occelo_linalg.ops.factorizations.eig import eigvals
from occelo_linalg.ops.inverse import inv
from occelo_linalg.ops.pinv import lstsq

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["polyfit", "roots"]


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
