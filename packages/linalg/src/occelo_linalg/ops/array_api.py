"""Functions of `numpy.linalg` from the array API standard: norms, and functions that `numpy` has in another form.

Matrices lie in the last two dimensions, whereas functions such as `numpy.trace` read the first two by default. Users
call them from `occelo.tensor.linalg`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from occelo_arrays.ops import cross as crosses
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.blas import products
from occelo_graph.ops.index import search
from occelo_graph.ops.shape.axes import normalize_axes
from occelo_graph.ops.shape.dimensions import expand_dims, transpose
from occelo_graph.ops.shape.reshaping import join_dims
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_linalg.ops import norms

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["cross", "diagonal", "matrix_norm", "outer", "trace", "vector_norm"]


@stands_for("linalg.cross", "x1 x2 axis")
def cross(x1: Any, x2: Any, *, axis: int = -1) -> TensorVariable:
    """Cross products of the vectors ``x1`` and ``x2``, with three elements along ``axis``; the other dimensions broadcast."""
    return crosses.cross(x1, x2, axis=axis)


@stands_for("linalg.outer", "x1 x2")
def outer(x1: Any, x2: Any) -> TensorVariable:
    """The outer product of the vectors ``x1`` and ``x2``: all products of their elements. ValueError for other tensors."""
    a, b = as_tensor_variable(x1), as_tensor_variable(x2)
    if a.type.ndim != 1 or b.type.ndim != 1:
        raise ValueError(f"linalg.outer takes two vectors, got {a.type} and {b.type}")
    return products.outer(a, b)


@stands_for("linalg.trace", "x offset -dtype")
def trace(x: Any, *, offset: int = 0) -> TensorVariable:
    """The sum of one diagonal of each matrix in ``x`` of shape (..., n, m). The result has the shape (...).

    The main diagonal has the ``offset`` 0; diagonals above it have positive offsets.
    """
    return products.trace(x, offset, -2, -1)


@stands_for("linalg.diagonal", "x offset")
def diagonal(x: Any, *, offset: int = 0) -> TensorVariable:
    """One diagonal of each matrix in ``x`` of shape (..., n, m), in the last dimension of the result.

    The main diagonal has the ``offset`` 0; diagonals above it have positive offsets.
    """
    return search.diagonal(x, offset, -2, -1)


@stands_for("linalg.vector_norm", "x axis keepdims ord")
def vector_norm(
    x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2
) -> TensorVariable:
    """The norm of order ``ord`` of the vectors in ``x`` along ``axis``.

    Several axes are flattened to one axis first. None means all axes. ``keepdims`` keeps them with length 1.
    """
    x = as_tensor_variable(x)
    axes = normalize_axes(axis, x)
    if len(axes) == 1:
        return norms.norm(x, ord, axes[0], keepdims)
    rest = [i for i in range(x.type.ndim) if i not in axes]
    flat = join_dims(transpose(x, [*rest, *axes]), len(rest))
    result = norms.norm(flat, ord, -1)
    return expand_dims(result, axes) if keepdims else result


@stands_for("linalg.matrix_norm", "x keepdims ord")
def matrix_norm(x: Any, *, keepdims: bool = False, ord: Any = "fro") -> TensorVariable:
    """The norm of order ``ord`` of the matrices ``x`` (..., n, m). By default it is the Frobenius norm.

    With ``keepdims`` the last two dimensions stay, with length 1.
    """
    return norms.norm(x, ord, (-2, -1), keepdims)
