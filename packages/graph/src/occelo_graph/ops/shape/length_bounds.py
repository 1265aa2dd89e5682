"""Proofs that an integer computed from lengths of tensors is not negative, or is at most the length of a tensor.

If there is a proof, loops omit run-time checks, `Reshape` omits a choice of lengths, and `Alloc.may_fail` is False.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph.ir.nodes import Constant, Variable
from occelo_graph.ir.op import Op
from occelo_graph.ops.shape.reading import length_read


def never_negative(length: Any) -> bool:
    """Whether it is proved that an integer is not negative.

    Lengths, nonnegative constants, and their sums, products, maxima and minima are not negative.
    """
    pending, seen = [length], set[Any]()
    while pending:
        each = pending.pop()
        data = (
            each.data
            if isinstance(each, Constant)
            else None
            if isinstance(each, Variable)
            else each
        )
        if data is not None:
            # the constant may be an array, even an array without elements
            if np.any(np.less(data, 0)):
                return False
            continue
        owner = each.owner
        if owner is None:
            return False
        if length_read(each) is None:
            if not _keeps_nonnegative(owner.op):
                return False
            pending += [v for v in owner.inputs if v not in seen]
            seen.update(owner.inputs)
    return True


def _keeps_nonnegative(op: Op) -> bool:
    """Whether the results of an op are not negative if its inputs are not negative."""
    scalar_op: Any = getattr(op, "scalar_op", None)
    if scalar_op is None or "nonnegative" not in scalar_op.keeps_sign:
        return False
    # a reduction of no elements is an error or the identity element
    reduction: Any = None if op.elementwise else getattr(op, "reduction", None)
    return op.elementwise or (
        reduction is not None and (not reduction.may_be_empty or int(reduction.start("int64")) >= 0)
    )


def at_most_length(value: Variable, x: Variable) -> bool:
    """Whether it is proved that ``value`` is at most the length of ``x`` along axis 0.

    There is a proof if ``value`` is this length, or a minimum of this length and other values.
    """
    pending, seen = [value], {value}
    while pending:
        each = pending.pop()
        read = length_read(each)
        if read is not None and read[0] is x and read[1] == 0:
            return True
        owner = each.owner
        if getattr(getattr(owner and owner.op, "scalar_op", None), "name", None) == "minimum":
            assert owner is not None
            pending += [v for v in owner.inputs if v not in seen]
            seen.update(owner.inputs)
    return False
