"""Draws by keys of multivariate normal vectors, Wishart matrices, and correlation matrices of the LKJ distribution.

Users call the functions from `occelo.tensor.random`. Draws have derivatives with respect to all parameters. The modules
of linear algebra are imported only when a function needs them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import arange, eye, tri
from occelo_graph.ops.elemwise.arithmetic import add, maximum, mul, sqrt, sub, true_div
from occelo_graph.ops.elemwise.transcendental import sigmoid
from occelo_graph.ops.shape.axes import static_integer
from occelo_graph.ops.shape.dimensions import swapaxes
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_random.ops.draws import normal_numbers
from occelo_random.ops.either_way import either_way
from occelo_random.ops.gamma import standard_gamma
from occelo_random.ops.keys import split
from occelo_random.ops.parameters import (
    POSITIVE,
    begin,
    draw_shape,
    float_parameters,
    require,
)

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["lkj", "multivariate_normal", "wishart"]


def _factor(cov: Any, method: str) -> Any:
    """Factor ``cov``: a matrix F with F F^T = cov."""
    if method == "cholesky":
        from occelo_linalg.ops.factorizations.cholesky import cholesky

        return cholesky(cov)
    if method == "eigh":
        from occelo_linalg.ops.factorizations.eigh import eigh

        values, vectors = eigh(cov)
        return mul(vectors, sqrt(maximum(values, 0.0))[..., None, :])
    if method == "svd":
        from occelo_linalg.ops.factorizations.svd import svd

        left, values, _ = svd(cov)
        return mul(left, sqrt(values)[..., None, :])
    raise ValueError(f"method must be cholesky, eigh or svd, got {method!r}")


@either_way
def multivariate_normal(
    key: Any,
    mean: Any,
    cov: Any = None,
    size: Any = None,
    dtype: str | None = None,
    *,
    chol: Any = None,
    method: str = "cholesky",
) -> TensorVariable:
    """Normal vectors with the means ``mean`` (..., n) and the covariances ``cov`` (..., n, n).

    The shape of the draw is ``size`` followed by n. Instead of ``cov``, the Cholesky factors of the covariances may be
    given as ``chol``. ``method`` is the method that factors ``cov``: "cholesky" (LinAlgError if ``cov`` is not positive
    definite), "eigh" or "svd". ValueError unless exactly one of ``cov`` and ``chol`` is given.
    """
    if (cov is None) == (chol is None):
        raise ValueError("multivariate_normal takes either cov or chol")
    (mean, matrix), name = float_parameters(mean, chol if cov is None else cov, dtype=dtype)
    if not mean.type.ndim or matrix.type.ndim < 2:
        raise ValueError(
            f"mean must be a vector and the covariance a matrix, got {mean.type} and {matrix.type}"
        )
    rows, columns = matrix.type.shape[-2:]
    if any(k is not None and k != (mean.type.shape[-1] or k) for k in (rows, columns)):
        raise ValueError(f"The mean {mean.type} does not fit the covariance {matrix.type}")
    factor = matrix if cov is None else _factor(matrix, method)
    shape = draw_shape(key, size, [mean, matrix[..., 0]], core=1)
    z = normal_numbers(key, (*shape, lengths_by_variables(mean)[-1]), name)
    if factor.type.ndim == 2 and z.type.ndim > 1:
        return add(mean, matmul(z, swapaxes(factor, -1, -2)))
    return add(mean, matmul(factor, z[..., None])[..., 0])


def _at_least(df: Any, n: Any) -> Any:
    return df > n - 1


@either_way
def wishart(
    key: Any, df: Any, scale: Any, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Wishart matrices: sums of ``df`` outer products of normal vectors with the covariance ``scale`` (..., n, n).

    The parameters are as in SciPy. The matrices are computed by Bartlett's decomposition, so ``df`` need not be an
    integer. ValueError unless ``df`` is above n - 1. The shape of the draw is ``size`` followed by (n, n).
    """
    (df, scale), name = float_parameters(df, scale, dtype=dtype)
    if scale.type.ndim < 2:
        raise ValueError(f"scale must be a matrix, got {scale.type}")
    n = lengths_by_variables(scale)[-1]
    key = require(key, _at_least, df, cast(n, "float64"), message="df <= n - 1")
    shape = draw_shape(key, size, [df, scale[..., 0, 0]])
    keys = split(key, 2)
    one, other = keys[..., 0], keys[..., 1]
    z = normal_numbers(one, (*shape, n, n), name)
    half = mul(sub(df[..., None], cast(arange(n), name)), 0.5)
    root = sqrt(mul(cast(standard_gamma(other, (*shape, n), half), name), 2.0))
    lower = add(mul(tri(n, n, -1, dtype=name), z), mul(eye(n, dtype=name), root[..., None]))
    factor = matmul(_factor(scale, "cholesky"), lower)
    return matmul(factor, swapaxes(factor, -1, -2))


@either_way
def lkj(
    key: Any, n: int, eta: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Correlation matrices x of the LKJ distribution, with a density proportional to ``det(x)**(eta - 1)``.

    A matrix is computed from its Cholesky factor. In each row of the factor, the part before the diagonal has the
    direction of a normal vector, and its squared length is a beta number (Lewandowski, Kurowicka and Joe, 2009). ``n``
    is the number of rows, a Python integer. ValueError if ``n`` is below 1, or if ``eta`` is not positive. The shape of
    the draw is ``size`` followed by (n, n).
    """
    n = static_integer(n, "number of rows n")
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    distribution = begin(key, size, dtype, eta=(eta, POSITIVE))
    (eta,) = distribution.values
    one, other, third = distribution.split(3)
    z = mul(
        normal_numbers(one, (*distribution.shape, n, n), distribution.dtype),
        np.tri(n, n, -1, dtype=distribution.dtype),
    )
    row = np.arange(n)
    first = np.where(row == 0, 1.0, row / 2)
    second = add(eta[..., None], np.asarray((n - 1 - row) / 2, distribution.dtype))
    shape = (*distribution.shape, n)
    mine = standard_gamma(other, shape, np.broadcast_to(first, (n,)), True)
    share = cast(sigmoid(sub(mine, standard_gamma(third, shape, second, True))), distribution.dtype)
    share = mul(share, np.asarray(row > 0, distribution.dtype))
    length = sqrt(add(mul(z, z).sum(axis=-1), np.asarray(row == 0, distribution.dtype)))
    directions = mul(z, true_div(sqrt(share), length)[..., None])
    lower = add(
        directions, mul(np.eye(n, dtype=distribution.dtype), sqrt(sub(1.0, share))[..., None])
    )
    return matmul(lower, swapaxes(lower, -1, -2))
