"""Matrices made of blocks: Kronecker products and block-diagonal matrices, as graphs of simpler ops.

Users find `kron` in `occelo.tensor`, which imports it at its first use, and `block_diag` in `occelo.tensor.linalg`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import broadcast_to, zeros
from occelo_graph.ops.shape.broadcasting import broadcast_lengths
from occelo_graph.ops.shape.dimensions import dimshuffle, shape_padleft
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.constant import as_tensor_variable

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["block_diag", "kron"]


@stands_for("kron", "a b")
def kron(a: Any, b: Any) -> TensorVariable:
    """NumPy's Kronecker product: ``b`` in the place of each element of ``a``, times that element.

    The tensor with fewer dimensions gets new ones of length 1 in front. The length of each dimension of the result is
    the product of those of ``a`` and ``b``, and its dtype is the common one.
    """
    x, y = as_tensor_variable(a), as_tensor_variable(b)
    n = max(x.type.ndim, y.type.ndim)
    x, y = shape_padleft(x, n - x.type.ndim), shape_padleft(y, n - y.type.ndim)
    lengths = [i * j for i, j in zip(lengths_by_variables(x), lengths_by_variables(y), strict=True)]
    of_x: list[int | str] = [k for i in range(n) for k in (i, "x")]
    of_y: list[int | str] = [k for i in range(n) for k in ("x", i)]
    product = dimshuffle(x, of_x) * dimshuffle(y, of_y)
    return reshape(product, lengths) if n else product


def block_diag(*arrs: Any) -> TensorVariable:
    """The matrix with the given matrices as blocks on its diagonal, and zeros elsewhere; SciPy's ``block_diag``.

    A vector is a matrix of one row, a scalar one of one element. Leading dimensions are batch dimensions, which broadcast.
    The result has the common dtype. Without arguments it has shape (1, 0), as in SciPy.
    """
    if not arrs:
        return zeros((1, 0), "float64")
    given = [as_tensor_variable(a) for a in arrs]
    dtype = np.result_type(*(v.type.numpy_dtype for v in given)).name
    blocks = [cast(shape_padleft(v, max(0, 2 - v.type.ndim)), dtype) for v in given]
    lengths = [lengths_by_variables(v) for v in blocks]
    batch = broadcast_lengths([n[:-2] for n in lengths])
    rows = _ends([n[-2] for n in lengths])
    columns = _ends([n[-1] for n in lengths])
    whole = zeros((*batch, rows[-1], columns[-1]), dtype)
    for i, block in enumerate(blocks):
        place = whole[..., rows[i] : rows[i + 1], columns[i] : columns[i + 1]]
        own = broadcast_to(block, (*batch, *lengths[i][-2:])) if batch else block
        whole = place.set(own)
    return whole


def _ends(lengths: Sequence[Any]) -> list[Any]:
    """Where blocks of these lengths begin, and where the last one ends."""
    ends: list[Any] = [0]
    for n in lengths:
        ends.append(ends[-1] + n)
    return ends
