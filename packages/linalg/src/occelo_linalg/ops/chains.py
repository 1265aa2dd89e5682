"""Products of several matrices (`multi_dot`, `matrix_dot`), and powers of a matrix (`matrix_power`).

Users call them from `occelo.tensor.linalg`. They build graphs of `matmul` and, for negative powers, `inv`.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import broadcast_to, eye
from occelo_graph.ops.shape.dimensions import expand_dims, squeeze
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import TensorType
from occelo_linalg.ops.inverse import inv
from occelo_linalg.ops.matrix_op import check_on_error, if_square

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["matrix_dot", "matrix_power", "multi_dot"]

_UNKNOWN = 100
"""When the order of products is chosen, dynamic lengths are assumed to be this number."""


@stands_for("linalg.multi_dot", "arrays -out")
def multi_dot(arrays: Sequence[Any]) -> TensorVariable:
    """The product of ``arrays``, two or more matrices, like NumPy's ``multi_dot``.

    The products are computed in the order that needs the fewest multiplications. The order is found when the graph is
    built; dynamic lengths are assumed to be 100. The first argument may be a vector, which counts as a row. The last
    may be a vector, which counts as a column. The result has the common dtype. ValueError for fewer than two matrices,
    or if a matrix does not have two dimensions.
    """
    matrices = [as_tensor_variable(a) for a in arrays]
    if len(matrices) < 2:
        raise ValueError(f"multi_dot takes at least two matrices, got {len(matrices)}")
    for i, v in enumerate(matrices):
        at_end = i in (0, len(matrices) - 1)
        if v.type.ndim != 2 and not (at_end and v.type.ndim == 1):
            raise ValueError(
                f"multi_dot takes matrices, and vectors at its ends; argument {i} is {v.type}"
            )
    return _chain(matrices)


def matrix_dot(*args: Any) -> TensorVariable:
    """The product of one or more matrices, like `multi_dot`, but with the matrices as separate arguments ``args``.

    The matrices may have batch dimensions, which broadcast as in `matmul`. ValueError without arguments.
    """
    if not args:
        raise ValueError("matrix_dot takes at least one matrix")
    if isinstance(args[0], Sequence):
        raise TypeError(
            "matrix_dot takes matrices as separate arguments; multi_dot takes a list of them"
        )
    return _chain([as_tensor_variable(a) for a in args])


def _chain(matrices: Sequence[Any]) -> TensorVariable:
    """Multiply matrices in the best order (Cormen et al., Introduction to Algorithms, section 15.2)."""
    dtype = np.result_type(*(v.type.numpy_dtype for v in matrices)).name
    parts = [cast(v, dtype) for v in matrices]
    if len(parts) == 1:
        return parts[0]
    is_row, is_column = parts[0].type.ndim == 1, parts[-1].type.ndim == 1
    has_batches = any(v.type.ndim > 2 for v in parts)
    if (
        has_batches
    ):  # without the new dimension, a vector times a batch of matrices would look like one matrix
        parts[0] = expand_dims(parts[0], 0) if is_row else parts[0]
        parts[-1] = expand_dims(parts[-1], 1) if is_column else parts[-1]
    splits = _best_splits(_known_lengths([v.type for v in parts]))

    def product(first: int, last: int) -> TensorVariable:
        if first == last:
            return parts[first]
        k = splits[first, last]
        return matmul(product(first, k), product(k + 1, last))

    whole = product(0, len(parts) - 1)
    ends = [-2] * is_row + [-1] * is_column
    return squeeze(whole, ends) if has_batches and ends else whole


def _known_lengths(types: Sequence[TensorType]) -> list[int]:
    """The number of rows of each matrix, followed by the number of columns of the last matrix.

    Dynamic lengths are replaced by `_UNKNOWN`. The first type may be a vector, which counts as a row. The last may be a
    vector, which counts as a column. ValueError if static lengths that must be equal differ.
    """
    first, last = types[0], types[-1]
    shapes = [t.shape[-2:] for t in types]
    shapes[0] = shapes[0] if first.ndim > 1 else (1, *shapes[0])
    shapes[-1] = shapes[-1] if last.ndim > 1 else (*shapes[-1], 1)
    lengths = [shapes[0][0]] + [None] * (len(shapes) - 1)
    for i, (x, y) in enumerate(pairwise(shapes)):
        if len(x) != 2 or len(y) != 2:
            raise ValueError(
                f"a product of matrices takes matrices, and vectors at its ends; got {types[i]} and {types[i + 1]}"
            )
        lengths[i + 1] = x[1] if y[0] is None else y[0]
        if x[1] is not None and x[1] != lengths[i + 1]:
            raise ValueError(
                f"Cannot multiply matrices {i} and {i + 1} of the product, {types[i]} and {types[i + 1]}"
            )
    return [_UNKNOWN if n is None else n for n in (*lengths, shapes[-1][1])]


def _best_splits(lengths: Sequence[int]) -> dict[tuple[int, int], int]:
    """For each range of matrices, where to split its product into two factors: the last matrix of the first factor.

    The split with the fewest multiplications is chosen. A range is a pair: the numbers of its first and last matrix.
    """
    count = len(lengths) - 1
    cost: dict[tuple[int, int], int] = {(i, i): 0 for i in range(count)}
    splits: dict[tuple[int, int], int] = {}
    for width in range(1, count):
        for i in range(count - width):
            j = i + width
            options = [
                (cost[i, k] + cost[k + 1, j] + lengths[i] * lengths[k + 1] * lengths[j + 1], k)
                for k in range(i, j)
            ]
            cost[i, j], splits[i, j] = min(options)
    return splits


@stands_for("linalg.matrix_power", "a n")
def matrix_power(a: Any, n: int, *, on_error: str = "raise") -> TensorVariable:
    """The power ``n`` of square matrices ``a`` of shape (..., m, m), like NumPy's ``matrix_power``.

    ``n`` is an integer that is known when the graph is built. The power is computed by repeated squaring, with at most
    ``2 log2(n)`` products. The power 0 is the identity matrix. A negative power is a power of the inverse. The result
    has the dtype of ``a``, but negative powers of integers are float64.

    If ``n`` is negative and a matrix is singular, ``numpy.linalg.LinAlgError`` is raised. With ``on_error="nan"``, the
    result is NaN for this matrix. ValueError if ``a`` is not square, TypeError if ``n`` is not an integer.
    """
    x = as_tensor_variable(a)
    check_on_error(on_error)
    try:
        exponent = operator.index(n)
    except TypeError:
        raise TypeError(f"The exponent of matrix_power must be an integer, got {n!r}") from None
    if x.type.ndim < 2 or len({*x.type.shape[-2:]} - {None}) > 1:
        raise ValueError(f"matrix_power takes square matrices, got {x.type}")
    if exponent < 0:
        x, exponent = inv(x, on_error=on_error), -exponent
    if exponent == 0:
        lengths = lengths_by_variables(x)
        one = if_square("matrix_power", x, eye(lengths[-1], dtype=x.dtype))
        return broadcast_to(one, lengths) if x.type.ndim > 2 else one
    result: TensorVariable | None = None
    while exponent:
        exponent, odd = divmod(exponent, 2)
        if odd:
            result = x if result is None else matmul(result, x)
        if exponent:
            x = matmul(x, x)
    assert result is not None
    return result
