"""`get_scalar_constant_value`: the value that all elements of a variable have, known while the graph is built.

Users and libraries call the functions from `occelo.tensor`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph.errors import OcceloError
from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ops.create import Alloc
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index.subtensor import Subtensor
from occelo_graph.ops.join import MakeVector
from occelo_graph.ops.length_inputs import lengths_of
from occelo_graph.ops.shape.asserting import SpecifyShape
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.ops.shape.reshaping import Reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import StaticShape, TensorType

__all__ = [
    "NotScalarConstantError",
    "get_scalar_constant_value",
    "get_underlying_scalar_constant_value",
    "infer_static_shape",
]

_SAME_ELEMENTS = Alloc | DimShuffle | Reshape | SpecifyShape | Subtensor


class NotScalarConstantError(OcceloError, explained=True):
    """A variable is not known to have one value in all its elements."""


def get_underlying_scalar_constant_value(
    v: Any,
    *,
    elemwise: bool = True,
    only_process_constants: bool = False,
    max_recur: int = 10,
    raise_not_constant: bool = True,
) -> Any:
    """The value that all elements of ``v`` have, as an array without dimensions.

    It is found in constants, in what fills, moves, indexes and casts them, in lengths that are static, and, with
    ``elemwise``, in elementwise functions of such values. ``only_process_constants`` reads constants alone;
    ``max_recur`` limits the depth of the search.

    `NotScalarConstantError` if no value is found; with ``raise_not_constant=False``, ``v`` is returned instead.
    """
    try:
        return _value(v, elemwise, 0 if only_process_constants else max_recur)
    except NotScalarConstantError:
        if raise_not_constant:
            raise
        return v


def get_scalar_constant_value(v: Any, **options: Any) -> Any:
    """`get_underlying_scalar_constant_value` of a scalar, with its ``options``. `NotScalarConstantError` if ``v`` has dimensions."""
    ndim: Any = v.type.ndim if isinstance(v, Variable) else np.ndim(v)
    if ndim == 0:
        return get_underlying_scalar_constant_value(v, **options)
    if options.get("raise_not_constant", True):
        raise NotScalarConstantError(f"{v} has {ndim} dimensions")
    return v


def _value(v: Any, elemwise: bool, depth: int) -> Any:
    if isinstance(v, Constant) or not isinstance(v, Variable):
        return _common(v.data if isinstance(v, Constant) else v)
    node = v.owner
    if node is None or depth <= 0 or not isinstance(v.type, TensorType):
        raise NotScalarConstantError(f"{v} has no value that is known while the graph is built")
    whole = known_integer(v) if v.type.ndim == 0 and v.type.is_discrete else None
    if whole is not None:
        return np.array(whole, v.type.dtype)
    op = node.op
    if isinstance(op, _SAME_ELEMENTS):
        part = _part_read(node.inputs[0].owner, op.key) if isinstance(op, Subtensor) else None
        return _value(node.inputs[0] if part is None else part, elemwise, depth - 1)
    if isinstance(op, MakeVector) and node.inputs:
        return _common([_value(each, elemwise, depth - 1) for each in node.inputs])
    if isinstance(op, Elemwise) and elemwise:
        return _of_elementwise(op, node, v.index or 0, depth)
    raise NotScalarConstantError(f"{v} has no value that is known while the graph is built")


def _part_read(vector: Apply | None, key: Sequence[Any]) -> Variable | None:
    """What an index reads of a node that makes a vector of scalars."""
    if vector is None or not isinstance(vector.op, MakeVector) or not isinstance(key[0], int):
        return None
    scalars = vector.inputs
    return scalars[key[0]] if -len(scalars) <= key[0] < len(scalars) else None


def _of_elementwise(op: Elemwise, node: Apply, index: int, depth: int) -> Any:
    if op.scalar_op.name == "second":
        return _value(node.inputs[1], True, depth - 1)
    results = op.evaluate(*(_value(each, True, depth - 1) for each in node.inputs))
    return np.asarray(results[index] if len(node.outputs) > 1 else results)


def _common(data: Any) -> Any:
    array = np.asarray(data)
    if array.dtype.kind not in "biufc" or array.size == 0:
        raise NotScalarConstantError(f"{data!r} is no number")
    first: Any = array.reshape(-1)[0]
    if array.size > 1 and not np.all((array == first) | ((array != array) & (first != first))):
        raise NotScalarConstantError("The elements of a constant differ")
    return np.asarray(first)


def infer_static_shape(shape: Any) -> tuple[Sequence[Any], StaticShape]:
    """The lengths in ``shape`` as int64 scalars, and the static shape that they have, with None where one is not known.

    ``shape`` is an integer, a sequence of integers and integer scalars, or a vector of static length. TypeError for
    lengths that are no integers.
    """
    lengths = lengths_of(shape)
    return [as_tensor_variable(n) for n in lengths], tuple(known_integer(n) for n in lengths)
