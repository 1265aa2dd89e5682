"""Rules for casts between dtypes.

`pipeline` puts them into the stage canonicalize.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph import FunctionGraph, TensorApply, TensorVariable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.ops.cast import Cast
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.tensors.type import is_float
from occelo_rewrite.patterns.node_rule import OpPattern, RuleSet, node_rewriter


@node_rewriter([OpPattern(Elemwise, (("scalar_op", Cast),))])
def cast_of_cast(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> list[TensorVariable] | None:
    """cast(x, dtype of x) = x, and cast(cast(x, d), e) = cast(x, e) if every value of x's dtype is a value of d."""
    x, dtype = node.inputs[0], node.outputs[0].type.dtype
    if x.type.dtype == dtype:
        return [x]
    inner = computed_by(x, Elemwise)
    if inner is None or not isinstance(inner.op.scalar_op, Cast):
        return None
    original = inner.inputs[0]
    widened = original.type.numpy_dtype, x.type.numpy_dtype
    if not _holds_exactly(*widened):
        return None
    return [ot.cast(original, dtype)]


@node_rewriter([Elemwise])
def explicit_conversions(
    fgraph: FunctionGraph, node: TensorApply[Elemwise]
) -> list[TensorVariable] | None:
    """f(n) = f(cast(n, dtype of the result)), for a function f that converts its inputs to this dtype, a float dtype.

    So rules for floats of one dtype apply to expressions of integers and of several dtypes, and constants are converted
    once.
    """
    dtype = node.outputs[0].type.dtype
    for v in node.inputs:
        if v.type.dtype != dtype:
            break
    else:
        return None
    function = node.op.scalar_op
    dtypes = [v.type.dtype for v in node.inputs]
    if not is_float(dtype) or node.op.inplace or function.computed_in(dtypes) != dtype:
        return None
    return [node.op(*(ot.cast(v, dtype) for v in node.inputs))]


def _holds_exactly(small: np.dtype[Any], large: np.dtype[Any]) -> bool:
    """Whether every value of the dtype ``small`` is a value of the dtype ``large``.

    (NumPy's rule "safe" does not ensure this: it allows a cast from int64 to float64.)
    """
    if small.kind in "iu" and large.kind in "fc":
        digits = {2: 11, 4: 24, 8: 53}.get(large.itemsize // (2 if large.kind == "c" else 1), 0)
        return bool(small.itemsize * 8 <= digits)
    return bool(np.can_cast(small, large, "safe"))


CANONICALIZE = RuleSet((cast_of_cast, explicit_conversions), "casts canonicalize")
