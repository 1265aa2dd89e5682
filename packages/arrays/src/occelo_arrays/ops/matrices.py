"""Identity matrices of a given shape, and positions of elements in triangles of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.create import diagonal_number, eye, tri
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "identity_like",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
]


def identity_like(x: Any, dtype: Any = None) -> TensorVariable:
    """A matrix of the shape of the matrix ``x``, with ones on the diagonal and zeros elsewhere.

    ``dtype`` None is that of ``x``. ValueError unless ``x`` is a matrix.
    """
    x = as_tensor_variable(x)
    if x.type.ndim != 2:
        raise ValueError(f"identity_like takes a matrix, got {x.type}")
    n, m = lengths_by_variables(x)
    return eye(n, m, dtype=x.dtype if dtype is None else dtype)


def tril_indices(n: Any, k: Any = 0, m: Any = None) -> tuple[TensorVariable, ...]:
    """Row and column numbers of the elements on and below diagonal ``k`` of an ``n`` by ``m`` matrix."""
    indices: tuple[TensorVariable, ...] = tri(n, m, k, dtype="bool").nonzero()
    return indices


def triu_indices(n: Any, k: Any = 0, m: Any = None) -> tuple[TensorVariable, ...]:
    """Row and column numbers of the elements on and above diagonal ``k`` of an ``n`` by ``m`` matrix."""
    indices: tuple[TensorVariable, ...] = (
        ~tri(n, m, diagonal_number(k) - 1, dtype="bool")
    ).nonzero()
    return indices


@stands_for("tril_indices_from", "arr:a k")
def tril_indices_from(a: Any, k: Any = 0) -> tuple[TensorVariable, ...]:
    """`tril_indices` for a matrix of the shape of the matrix ``a`` and diagonal ``k``. ValueError unless it is a matrix."""
    return tril_indices(*_lengths_of_matrix(a, k, "tril_indices_from"))


@stands_for("triu_indices_from", "arr:a k")
def triu_indices_from(a: Any, k: Any = 0) -> tuple[TensorVariable, ...]:
    """`triu_indices` for a matrix of the shape of the matrix ``a`` and diagonal ``k``. ValueError unless it is a matrix."""
    return triu_indices(*_lengths_of_matrix(a, k, "triu_indices_from"))


def _lengths_of_matrix(a: Any, k: Any, name: str) -> tuple[Any, Any, Any]:
    """The number of rows, ``k``, and the number of columns."""
    x = as_tensor_variable(a)
    if x.type.ndim != 2:
        raise ValueError(f"{name} takes a matrix, got {x} of type {x.type}")
    n, m = lengths_by_variables(x)
    return n, k, m
