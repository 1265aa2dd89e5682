"""Products of several matrices, and powers of one, as graphs of `matmul` and, for negative powers, `inv`.

Users find them in `occelo.tensor.linalg`.
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
from occelo_graph.ops.linalg.inverse import inv
from occelo_graph.ops.linalg.matrix_op import check_on_error, if_square
from occelo_graph.ops.shape.dimensions import expand_dims, squeeze
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import TensorType

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["matrix_dot", "matrix_power", "multi_dot"]

_UNKNOWN = 100
"""The length that is assumed for dimensions of unknown length when an order of products is chosen."""


@stands_for("linalg.multi_dot", "arrays -out")
def multi_dot(arrays: Sequence[Any]) -> TensorVariable:
    """The product of two or more matrices, in the order that takes the fewest multiplications; NumPy's ``multi_dot``.

    The first matrix may be a vector, which counts as a row, and the last may be a vector, which counts as a column. The
    order is found when the graph is built, from static lengths; dynamic lengths count as 100. The dtype is the common
    one. ValueError for fewer than two matrices, or for a matrix without two dimensions.
    """
    given = [as_tensor_variable(a) for a in arrays]
    if len(given) < 2:
        raise ValueError(f"multi_dot takes at least two matrices, got {len(given)}")
    for i, v in enumerate(given):
        at_end = i in (0, len(given) - 1)
        if v.type.ndim != 2 and not (at_end and v.type.ndim == 1):
            raise ValueError(
                f"multi_dot takes matrices, and vectors at its ends; argument {i} is {v.type}"
            )
    return _chain(given)


def matrix_dot(*args: Any) -> TensorVariable:
    """The product of one or more matrices, `multi_dot` with the matrices as arguments.

    Matrices may have batch dimensions, which broadcast as in `matmul`. ValueError without arguments.
    """
    if not args:
        raise ValueError("matrix_dot takes at least one matrix")
    return _chain([as_tensor_variable(a) for a in args])


def _chain(matrices: Sequence[Any]) -> TensorVariable:
    """The product in the best order (Cormen et al., Introduction to Algorithms, section 15.2)."""
    dtype = np.result_type(*(v.type.numpy_dtype for v in matrices)).name
    parts = [cast(v, dtype) for v in matrices]
    if len(parts) == 1:
        return parts[0]
    is_row, is_column = parts[0].type.ndim == 1, parts[-1].type.ndim == 1
    has_batches = any(v.type.ndim > 2 for v in parts)
    if has_batches:  # a vector times a batch of matrices would be taken for a matrix afterwards
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
    """The number of rows of each matrix, and of columns of the last. ValueError if lengths that must be equal differ.

    A vector counts as a row at the start, and as a column at the end.
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
    """For each range of matrices, the matrix after which the product must be split to need the fewest multiplications."""
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
    """NumPy's power of square matrices, of shape (..., m, m), for an integer ``n`` that is known when the graph is built.

    It is computed by repeated squaring, with at most ``2 log2(n)`` products. The power 0 is the identity matrix. A
    negative power is the power of the inverse. The dtype is that of ``a``, but float64 for negative powers of integers.
    A singular matrix has no negative power: it raises ``numpy.linalg.LinAlgError``; with ``on_error="nan"`` it gives
    NaN. ValueError if ``a`` is not square, TypeError if ``n`` is no integer.
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
