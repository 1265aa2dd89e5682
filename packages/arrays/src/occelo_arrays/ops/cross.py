"""Cross products of vectors, built as graphs of products and differences of elements.

Users call `cross` from `occelo.tensor`. The function `cross` of `occelo.tensor.linalg` (`occelo_linalg.ops.array_api`) calls
it, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.cast import cast
from occelo_graph.ops.join import stack
from occelo_graph.ops.shape.asserting import specify_shape
from occelo_graph.ops.shape.axes import normalize_axis
from occelo_graph.ops.shape.dimensions import moveaxis
from occelo_graph.tensors.constant import as_tensor_variable

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["cross"]


@stands_for("cross", "a b axisa axisb axisc axis")
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> TensorVariable:
    """NumPy's cross product of vectors with three elements, over broadcasting batches.

    The vectors lie along ``axisa`` of ``a``, ``axisb`` of ``b`` and ``axisc`` of the result. ``axis`` replaces all
    three parameters. The result has the common dtype of ``a`` and ``b``. ValueError if the vectors do not have three
    elements. Dynamic lengths are checked when the graph runs. TypeError for booleans.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = _vectors(a, axisa, "a"), _vectors(b, axisb, "b")
    dtype = np.result_type(x.type.numpy_dtype, y.type.numpy_dtype).name
    if dtype == "bool":
        raise TypeError("cross subtracts, which truth values do not; cast to integers")
    x1, x2, x3 = (cast(x[..., i], dtype) for i in range(3))
    y1, y2, y3 = (cast(y[..., i], dtype) for i in range(3))
    product = stack([x2 * y3 - x3 * y2, x3 * y1 - x1 * y3, x1 * y2 - x2 * y1], axis=-1)
    return moveaxis(product, -1, normalize_axis(axisc, product, "axisc"))


def _vectors(x: Any, axis: int, name: str) -> Any:
    """Move the dimension ``axis`` of ``x`` to the end, and check that its length is three.

    ``name`` is "a" or "b", for messages.
    """
    v = as_tensor_variable(x)
    if v.type.ndim == 0:
        raise ValueError(f"cross takes vectors, got a scalar for {name}")
    v = moveaxis(v, normalize_axis(axis, v, f"axis{name}"), -1)
    if v.type.shape[-1] not in (None, 3):
        raise ValueError(f"cross takes vectors of three elements, got {name} of {v.type}")
    return specify_shape(v, [*[None] * (v.type.ndim - 1), 3])
