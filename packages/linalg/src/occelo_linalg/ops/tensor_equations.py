"""Solves linear equations with tensors (`tensorsolve`), and inverts tensors (`tensorinv`).

Users call both functions from `occelo.tensor.linalg`. The functions reshape the tensors to matrices, and call `solve`
or `inv`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.shape.axes import normalize_axes, static_integer
from occelo_graph.ops.shape.dimensions import transpose
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables
from occelo_graph.ops.shape.reshaping import ravel, reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_linalg.ops.equations.solve import solve
from occelo_linalg.ops.inverse import inv

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["tensorinv", "tensorsolve"]


@stands_for("linalg.tensorsolve", "a b axes")
def tensorsolve(a: Any, b: Any, axes: Sequence[int] | None = None) -> TensorVariable:
    """Solve ``tensordot(a, x, x.ndim) == b``, like NumPy's ``tensorsolve``.

    First, the dimensions ``axes`` of ``a`` are moved to the end. Then the shape of ``a`` must be the shape of ``b``,
    followed by the shape of ``x``. ``b`` and ``x`` must have the same number of elements. The result has the common
    dtype, or float64 for integers. ValueError if ``a`` has fewer dimensions than ``b``, or if the numbers of elements
    differ. ``numpy.linalg.LinAlgError`` if the equations are singular. TypeError for float16.
    """
    x, right = as_tensor_variable(a), as_tensor_variable(b)
    if axes is not None:
        moved = normalize_axes(axes, x)
        x = transpose(x, [*(i for i in range(x.type.ndim) if i not in moved), *moved])
    if x.type.ndim < right.type.ndim:
        raise ValueError(f"tensorsolve: {x.type} has fewer dimensions than {right.type}")
    shape = lengths_by_variables(x)
    columns = shape[right.type.ndim :]
    matrix = _square("tensorsolve", x, right.type.ndim)
    return reshape(solve(matrix, ravel(right)), columns)


@stands_for("linalg.tensorinv", "a ind")
def tensorinv(a: Any, ind: int = 2) -> TensorVariable:
    """The inverse of a tensor, like NumPy's ``tensorinv``.

    If ``ainv`` is the result, then ``x = tensordot(ainv, b, ind)`` solves ``tensordot(a, x, x.ndim) == b``.

    The product of the first ``ind`` lengths of ``a`` must equal the product of the remaining lengths. The shape of the
    result is the remaining lengths, followed by the first ``ind`` lengths. The result has the dtype of ``a``, or
    float64 for integers. ValueError if ``ind`` is not positive, or if the products differ. ``numpy.linalg.LinAlgError``
    if the inverse does not exist. TypeError for float16.
    """
    x = as_tensor_variable(a)
    ind = static_integer(ind, "number of axes")
    if ind <= 0:
        raise ValueError(f"tensorinv: ind must be positive, got {ind}")
    shape = lengths_by_variables(x)
    rows, columns = shape[:ind], shape[ind:]
    return reshape(inv(_square("tensorinv", x, ind)), (*columns, *rows))


def _square(function: str, x: TensorVariable, ind: int) -> TensorVariable:
    """The square matrix whose rows are the first ``ind`` dimensions of ``x``. ValueError if it is surely not square."""
    shape = lengths_by_variables(x)
    matrix = reshape(x, (length_product(shape[:ind]), length_product(shape[ind:])))
    rows, columns = matrix.type.shape
    if None not in (rows, columns) and rows != columns:
        raise ValueError(
            f"{function} needs a square matrix: the first {ind} dimensions of {x.type} have {rows} elements, and the others "
            f"{columns}"
        )
    return matrix
