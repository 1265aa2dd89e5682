"""`ravel`: a tree of tensors as one vector, and back. Users call it, for instance around an optimizer of vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from occelo_graph.config import FLOAT_X
from occelo_graph.errors import explained_by
from occelo_graph.ir import trees
from occelo_graph.ir.nodes import Variable
from occelo_graph.ops.join import concatenate
from occelo_graph.ops.shape.asserting import specify_shape
from occelo_graph.ops.shape.reading import length_product, shape_tuple
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.constant import as_tensor_variable


@explained_by("trees")
def ravel(tree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """All elements of a tree of tensors as one vector, and a function that makes such a tree of a vector.

    The leaves are variables, or arrays and numbers. If one of them is a variable, the vector is symbolic, otherwise a
    NumPy array; a shared variable counts as a variable. The dtype of the vector is the common dtype of the leaves, and
    floatX if there are none. Leaves come in the order of `trees.leaves`, each in C order.

    The function takes a symbolic vector or an array. The leaves of its result have the shapes and dtypes of those of
    ``tree``. With an array, it needs leaves without unknown lengths, else ValueError, and also for an array that is not a
    vector of the right length.
    """
    leaves, structure = trees.flatten(tree)
    vector: Any
    if any(isinstance(leaf, Variable) for leaf in leaves):
        tensors = [as_tensor_variable(leaf) for leaf in leaves]
        dtypes = [x.type.dtype for x in tensors]
        shapes: list[Sequence[Any]] = [shape_tuple(x) for x in tensors]
        vector = concatenate(
            [reshape(x, (length_product(n),)) for x, n in zip(tensors, shapes, strict=True)]
        )
    else:
        arrays = [np.asarray(leaf) for leaf in leaves]
        for array, path in zip(arrays, structure.paths(), strict=True):
            if array.dtype.kind not in "biufc":
                raise TypeError(f"{path} is no array of numbers: its dtype is {array.dtype}")
        dtypes = [x.dtype.name for x in arrays]
        shapes = [x.shape for x in arrays]
        flat = [x.ravel() for x in arrays]
        vector = np.concatenate(flat) if flat else np.zeros(0, FLOAT_X.get())
    ends = list(accumulate((length_product(n) for n in shapes), initial=0))

    @explained_by("trees")
    def unravel(vector: Any) -> Any:
        return structure.unflatten(_cut(vector, ends, shapes, dtypes))

    return vector, unravel


def _cut(
    flat: Any, ends: Sequence[Any], shapes: Sequence[Sequence[Any]], dtypes: Sequence[str]
) -> Iterator[Any]:
    """Yield the leaves that lie between ``ends`` in a vector."""
    symbolic = isinstance(flat, Variable)
    vector: Any = as_tensor_variable(flat) if symbolic else np.asarray(flat)
    if vector.ndim != 1:
        raise ValueError(f"A raveled tree is a vector, got {vector.ndim} dimensions")
    if not symbolic and any(isinstance(n, Variable) for n in ends):
        raise ValueError(
            "The tree has leaves of unknown lengths, so an array cannot be cut; give a variable"
        )
    length: Any = vector.type.shape[0] if symbolic else len(vector)
    if length is not None and not isinstance(ends[-1], Variable) and length != ends[-1]:
        raise ValueError(f"The tree has {ends[-1]} elements, got a vector of {length}")
    if length is None and symbolic:
        vector = specify_shape(vector, (ends[-1],))
    for (start, end), shape, dtype in zip(pairwise(ends), shapes, dtypes, strict=True):
        yield vector[start:end].reshape(tuple(shape)).astype(dtype)
