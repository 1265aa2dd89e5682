"""`in_one_dtype`: an expression whose intermediate results have several dtypes, computed in one dtype.

Stable forms are found for expressions of one dtype (`expressions.ExpressionReader`). The inputs of a node may be
converted by the node itself, as in exp(n) for an integer n, or by a cast, as in log(cast(exp(x), float64)) for an x of
dtype float32. The second expression is read as log(exp(cast(x, float64))): where exp(x) overflows in float32, the
result is that of exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import numpy as np

from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ops.cast import Cast, cast
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.reduce import CAReduce, Softmax
from occelo_graph.tensors.constant import constant
from occelo_graph.tensors.nodes import TensorApply, computed_by, tensors
from occelo_graph.tensors.type import is_float, name_of

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

_LARGEST_CONSTANT = 1 << 10

Convert = Callable[["TensorVariable", str], "TensorVariable"]


def converted(variable: TensorVariable, dtype: str) -> TensorVariable:
    """A variable in another dtype. Small constants are converted at once."""
    if isinstance(variable, Constant) and np.size(variable.data) <= _LARGEST_CONSTANT:
        return constant(np.asarray(variable.data, dtype))
    return cast(variable, dtype)


def widened_by(node: TensorApply[Elemwise]) -> bool:
    """Whether a node converts floats to a dtype that has all of their values."""
    if not isinstance(node.op.scalar_op, Cast) or node.op.inplace:
        return False
    small, large = node.inputs[0].type.dtype, node.outputs[0].type.dtype
    return is_float(small) and is_float(large) and np.can_cast(small, large, "safe")


def before_narrowing(
    node: TensorApply[Elemwise], keep: Collection[Variable] = ()
) -> TensorApply[Elemwise]:
    """The node, computed before floats are rounded: for f(cast(x, dtype)) with an x of a wider dtype, f(x).

    A node with no such inputs is returned itself. The variables in ``keep`` are roots, however they are computed.
    """
    dtype = node.outputs[0].type.dtype
    inputs = [v if v in keep else _before_rounding(v, dtype) for v in node.inputs]
    if all([v.type.dtype == dtype for v in inputs]):
        return node
    # with that of the node, which is float64 for a float32 tensor beside int64
    wide = name_of(np.result_type(dtype, *(v.type.dtype for v in inputs if is_float(v.type.dtype))))
    if wide == dtype:
        return node
    widened = node.op(*(converted(v, wide) for v in inputs))
    return computed_by(widened, Elemwise) or node


def _before_rounding(variable: TensorVariable, dtype: str) -> TensorVariable:
    node = computed_by(variable, Elemwise)
    if node is None or not isinstance(node.op.scalar_op, Cast) or variable.type.dtype != dtype:
        return variable
    wide = node.inputs[0].type.dtype
    rounds = is_float(wide) and is_float(dtype) and not np.can_cast(wide, dtype, "safe")
    return node.inputs[0] if rounds else variable


def in_one_dtype(
    variable: TensorVariable,
    keep: Collection[Variable] = (),
    convert: Convert = converted,
) -> TensorVariable:
    """An equal variable whose node has inputs of the variable's dtype only. The variable itself if there is none.

    The node applies the function that computes the variable, or, if a cast to a wider float dtype computes it, the
    function below the cast. The variables in ``keep`` are roots, however they are computed. ``convert`` makes the casts
    of the inputs.
    """
    dtype = variable.type.dtype
    if variable.owner is None or _computes_in(variable.owner, dtype):
        return variable
    source = variable
    while True:
        node = computed_by(source, Elemwise)
        if node is None or not widened_by(node) or node.inputs[0] in keep:
            break
        source = node.inputs[0]
    if node is not None and isinstance(node.op.scalar_op, Cast) and node.inputs[0] not in keep:
        moved = _moved_in(node.inputs[0].owner, dtype, convert)
        if moved is not None:  # cast(x[i]) is read as cast(x)[i]
            return moved
    if source.owner is None:
        return variable
    recomputed = _recomputed(source, dtype, convert)
    return variable if recomputed is None or recomputed.type != variable.type else recomputed


def _recomputed(variable: TensorVariable, dtype: str, convert: Convert) -> TensorVariable | None:
    """The function that computes a variable, computed in another dtype.

    None for functions that are not known, and for functions of constants only: other expressions use their rounded values, so
    exact ones beside these would not fit.
    """
    if variable.owner is not None and all(isinstance(v, Constant) for v in variable.owner.inputs):
        return None
    moved = _moved_in(variable.owner, dtype, convert)
    if moved is not None:
        return moved
    node = computed_by(variable, Elemwise)
    if node is not None:
        dtypes = [v.type.dtype for v in node.inputs]
        function = node.op.scalar_op
        if node.op.inplace or function.nout > 1:
            return None
        targets = [dtype] * len(dtypes)
        if function.computed_in(dtypes) is None or function.computed_in(targets) != dtype:
            return None
        return node.op(*(convert(v, dtype) for v in node.inputs))
    total = computed_by(variable, CAReduce)
    if total is not None:
        op, x = total.op, total.inputs[0]
        if not is_float(x.type.dtype) or op.acc_dtype not in (None, op.dtype, dtype):
            return None
        return CAReduce(op.scalar_op, op.axis)(convert(x, dtype))
    share = computed_by(variable, Softmax)
    return None if share is None else share.op(convert(share.inputs[0], dtype))


def _moved_in(node: Apply | None, dtype: str, convert: Convert) -> TensorVariable | None:
    """The result of an op that only moves elements, such as a slice, in another dtype. None for other nodes."""
    moves = None if node is None or len(node.outputs) > 1 or node.op.destroy_map else node.op.moves
    if node is None or moves is None:
        return None
    inputs: list[Variable] = list(node.inputs)
    inputs[moves] = [convert(v, dtype) for v in tensors(node.inputs[moves])]
    moved: TensorVariable = node.op.of_dtype(dtype)(*inputs)
    return moved


def _computes_in(node: Apply, dtype: str) -> bool:
    inputs = node.inputs if node.op.moves is None else node.inputs[node.op.moves]
    return all([v.type.dtype == dtype for v in tensors(inputs)])
