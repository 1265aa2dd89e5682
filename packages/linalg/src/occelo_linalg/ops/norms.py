"""Norms of vectors and matrices, which are graphs of reductions and singular values.

Users call `norm` from `occelo.tensor` or from `occelo.tensor.linalg`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.nodes import Constant, Variable
from occelo_graph.ir.taken_constants import taken
from occelo_graph.ops.arguments import checked_keepdims, stands_for
from occelo_graph.ops.control.branches import ifelse
from occelo_graph.ops.elemwise.arithmetic import abs as abs_
from occelo_graph.ops.elemwise.arithmetic import eq, neq, sqrt, switch
from occelo_graph.ops.reduce import max, min, sum
from occelo_graph.ops.shape.axes import normalize_axes, normalize_axis
from occelo_graph.ops.shape.dimensions import expand_dims, moveaxis, squeeze
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import is_discrete
from occelo_linalg.ops.factorizations.svd import svdvals
from occelo_linalg.ops.scipy_options import ScipyOptions, checked_options

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.tensors.variable import TensorVariable


@stands_for("linalg.norm", "x ord axis keepdims")
def norm(
    x: Any,
    ord: Any = None,
    axis: Any = None,
    keepdims: bool = False,
    **options: Unpack[ScipyOptions],
) -> TensorVariable:
    """Norm of vectors along one axis, or of matrices along two axes, like NumPy's ``linalg.norm``.

    ``axis`` None means all dimensions. If ``axis`` and ``ord`` are both None, ``x`` may have any number of dimensions,
    and the norm is the square root of the sum of squares. Else there are one or two axes. ``keepdims`` keeps them.

    Orders of vectors are 2 (the default), 1, inf and -inf (largest and smallest absolute value), 0 (the number of
    nonzero elements) and other numbers. Orders of matrices are "fro" (the default), 1 and -1 (largest and smallest
    column sum), inf and -inf (largest and smallest row sum), 2 and -2 (largest and smallest singular value) and "nuc"
    (the sum of the singular values). ValueError for another order.

    The norm of integers is float64. The norm of no elements is 0, and inf for negative finite orders of vectors, as in
    NumPy 2.4. The norms that are the smallest of several numbers raise ValueError if there are no such numbers: -inf of
    vectors, and -1, -2 and -inf of matrices.

    At a zero vector the gradient is 0, the subgradient of least norm. The formula x / norm(x) would compute 0 / 0.
    ``options`` are SciPy's.
    """
    (x,) = checked_options("norm", options, [as_tensor_variable(x)], ("axis", "keepdims"))
    if is_discrete(x.dtype):
        x = x.astype("float64")
    order = _known_order(ord)
    axes = _given_axes(axis, x)
    if order is None and axis is None:
        return _euclidean(x, axes, keepdims)
    if len(axes) == 1:
        return _vector_norm(x, order, axes[0], keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, order, axes, keepdims)
    raise ValueError(f"norm takes one axis or two, not the {len(axes)} of axis={axis} for {x.type}")


def _known_order(order: Any) -> Any:
    if isinstance(order, Constant):
        order = taken(order).item()
    if isinstance(order, Variable):
        raise TypeError(f"The order of a norm must be known when the graph is built, got {order}")
    return order


def _given_axes(axis: Any, x: TensorVariable) -> tuple[int, ...]:
    """The axes as non-negative integers, in the order of ``axis``. ValueError for a repeated axis."""
    normalize_axes(axis, x)
    if axis is None:
        return tuple(range(x.type.ndim))
    listed: Any = list(axis) if np.ndim(axis) else [axis]
    return tuple(normalize_axis(a, x) for a in listed)


def _euclidean(x: Any, axes: tuple[int, ...], keepdims: bool) -> TensorVariable:
    size = abs_(x)
    total = sum(size * size, axis=axes, keepdims=keepdims)
    zero = eq(total, 0)
    return switch(zero, 0.0, sqrt(switch(zero, 1.0, total)))


def _vector_norm(x: Any, order: Any, axis: int, keepdims: bool) -> TensorVariable:
    if order is None or order == 2:
        return _euclidean(x, (axis,), keepdims)
    if isinstance(order, str):
        raise ValueError(f"ord={order!r} is no norm of vectors")
    size = abs_(x)
    if order == 1:
        return sum(size, axis=axis, keepdims=keepdims)
    if order == 0:
        return sum(neq(x, 0), axis=axis, keepdims=keepdims, dtype=size.dtype)
    if order == np.inf:
        return _largest(size, axis, keepdims)
    if order == -np.inf:
        return min(size, axis, keepdims)
    total = sum(size**order, axis=axis, keepdims=keepdims)
    if order < 0:
        return total ** (1.0 / order)
    zero = eq(total, 0)
    return switch(zero, 0.0, switch(zero, 1.0, total) ** (1.0 / order))


def _largest(sizes: Any, axis: int, keepdims: bool = False) -> TensorVariable:
    """The largest of the numbers ``sizes`` along ``axis``, or 0 if there are none. The numbers are not negative."""
    length = sizes.type.shape[axis]
    if length:
        return max(sizes, axis, keepdims)
    of_none = sum(sizes, axis, keepdims=keepdims)
    if length == 0:
        return of_none
    largest: TensorVariable = ifelse(eq(sizes.shape[axis], 0), of_none, max(sizes, axis, keepdims))
    return largest


def _matrix_norm(x: Any, order: Any, axes: tuple[int, ...], keepdims: bool) -> TensorVariable:
    row, column = axes
    if order is None or order in ("fro", "f"):
        return _euclidean(x, axes, keepdims)
    if order == "nuc" or order in (2, -2):
        return _norm_by_singular_values(x, order, axes, keepdims)
    if order not in (1, -1, np.inf, -np.inf):
        raise ValueError(f"ord={order!r} is no norm of matrices")
    summed, chosen = (row, column) if order in (1, -1) else (column, row)
    lengths = sum(abs_(x), axis=summed, keepdims=True)
    result = (_largest if order > 0 else min)(lengths, chosen, keepdims=True)
    return result if checked_keepdims(keepdims) else squeeze(result, axes)


def _norm_by_singular_values(
    x: Any, order: Any, axes: tuple[int, ...], keepdims: bool
) -> TensorVariable:
    values = svdvals(moveaxis(x, axes, (-2, -1)))
    reduction = sum if order == "nuc" else _largest if order > 0 else min
    norms = reduction(values, axis=-1)
    return expand_dims(norms, sorted(axes)) if checked_keepdims(keepdims) else norms
