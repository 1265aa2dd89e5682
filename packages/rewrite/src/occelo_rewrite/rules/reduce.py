"""Rules for reductions: reductions of reductions are combined, constant factors are moved out, logs become stable.

`pipeline` puts them into the stages canonicalize, stabilize and specialize.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from occelo_graph import FunctionGraph, TensorApply, TensorConstant, TensorVariable
from occelo_graph import tensor as ot
from occelo_graph.ops.control.checks import raise_unless
from occelo_graph.ops.create import Alloc
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_graph.ops.length_inputs import fill_static
from occelo_graph.ops.reduce import CAReduce, LogSoftmax, Softmax
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.ops.shape.length_bounds import never_negative
from occelo_graph.tensors.nodes import computed_by
from occelo_graph.tensors.type import is_complex, is_discrete, is_float
from occelo_rewrite.assumptions import assumptions_of
from occelo_rewrite.constants import number_of
from occelo_rewrite.patterns.node_rule import OpPattern, Replacements, RuleSet, node_rewriter
from occelo_rewrite.patterns.pattern import call, p, wild
from occelo_rewrite.rules.matching import applied
from occelo_rewrite.rules.matching import rule_of_floats as rule
from occelo_rewrite.shaped_like import shaped_like
from occelo_rewrite.shapes import Length, shapes_of

x, y = wild("x y")
_ADD, _MUL, _MAXIMUM, _MINIMUM = (
    ScalarFunction(name) for name in ("add", "mul", "maximum", "minimum")
)
_SUM = OpPattern(CAReduce, (("scalar_op", _ADD),))
_PROD = OpPattern(CAReduce, (("scalar_op", _MUL),))
_MAX = OpPattern(CAReduce, (("scalar_op", _MAXIMUM),))
_MIN = OpPattern(CAReduce, (("scalar_op", _MINIMUM),))


def _is_plain(node: TensorApply[CAReduce]) -> bool:
    """Whether the input, the accumulator and the result of a reduction have the same dtype."""
    dtype = node.inputs[0].type.dtype
    return node.op.acc_dtype in (None, dtype) and dtype == node.outputs[0].type.dtype


_nested = call(CAReduce, call(CAReduce, x, name="inner"), name="outer")


@rule(_nested, on="any", same_dtype=False)
def reduce_of_reduce(
    x: TensorVariable, inner: TensorApply[CAReduce], outer: TensorApply[CAReduce]
) -> TensorVariable | None:
    """max(max(x, a), b) = max(x, all axes), and likewise for min, all, any and sums of integers."""
    return _reduced_at_once(x, inner, outer) if _is_exact(outer) else None


@rule(_nested, on="any", same_dtype=False, tags=("comparison", "overflow"))
def sum_of_sums(
    x: TensorVariable, inner: TensorApply[CAReduce], outer: TensorApply[CAReduce]
) -> TensorVariable | None:
    """sum(sum(x, a), b) = sum(x, all axes); likewise prod (comparison, overflow: the order changes)."""
    return None if _is_exact(outer) else _reduced_at_once(x, inner, outer)


def _is_exact(node: TensorApply[CAReduce]) -> bool:
    """Whether the result of a reduction does not depend on the order of the elements."""
    return node.op.reduction.is_exact(node.outputs[0].type.dtype)


def _reduced_at_once(
    x: TensorVariable, inner: TensorApply[CAReduce], outer: TensorApply[CAReduce]
) -> TensorVariable | None:
    if inner.op.scalar_op != outer.op.scalar_op or not (_is_plain(inner) and _is_plain(outer)):
        return None
    others = [i for i in range(x.type.ndim) if i not in inner.op.axis]
    axis = tuple(sorted((*inner.op.axis, *(others[i] for i in outer.op.axis))))
    return CAReduce(outer.op.scalar_op, axis, outer.op.dtype, outer.op.acc_dtype)(x)


@node_rewriter([OpPattern(CAReduce)], tags=("rounding",))
def reduce_over_nothing(fgraph: FunctionGraph, node: TensorApply[CAReduce]) -> Replacements:
    """sum(x, axis) = x without the axis, for an axis of length 1; likewise for other reductions.

    sum(x, ()) = x. (rounding: the sign of a zero.)
    """
    op = node.op
    variable = node.inputs[0]
    if variable.type.dtype != node.outputs[0].type.dtype:
        return None
    if op.acc_dtype is not None and not np.can_cast(variable.type.dtype, op.acc_dtype, "safe"):
        return None  # the reduction rounds the elements to the dtype of its accumulator
    single = [i for i in op.axis if variable.type.shape[i] == 1]
    if len(single) < len(op.axis) and not single:
        return None
    left = [i for i in range(variable.type.ndim) if i not in single]
    squeezed = ot.dimshuffle(variable, left) if single else variable
    axis = tuple(left.index(i) for i in op.axis if i not in single)
    if not axis:
        return [squeezed]
    return [CAReduce(op.scalar_op, axis, op.dtype, op.acc_dtype)(squeezed)]


@rule(call(_SUM, p.neg(x), name="s"), on="any", tags=("rounding",))
def sum_of_neg(x: TensorVariable, s: TensorApply[CAReduce]) -> TensorVariable | None:
    """sum(-x) = -sum(x) (rounding: the sign of a zero)."""
    return ot.neg(s.op(x)) if _is_plain(s) else None


@node_rewriter([_SUM], tags=("comparison", "overflow"))
def sum_of_scaled(fgraph: FunctionGraph, node: TensorApply[CAReduce]) -> Replacements:
    """sum(c x) = c sum(x) for a constant c with abs(c) >= 1, and sum(x / c) = sum(x) / c for abs(c) <= 1.

    For other c, sum(x) could overflow although sum(c x) does not. For integers, c may be any operand that is constant
    along the summed axes. (comparison: c x is rounded before the terms cancel. overflow: sum(x) may be finite although
    c x is not.)
    """
    multiplied = applied(node.inputs[0], ot.mul)
    scaled = multiplied or applied(node.inputs[0], ot.true_div)
    if scaled is None or not _is_plain(node) or len(fgraph.clients[scaled.outputs[0]]) > 1:
        return None
    op = node.op
    whole = scaled.outputs[0].type
    inputs = list(scaled.inputs)
    if not op.axis or any(v.type.dtype != whole.dtype for v in inputs):
        return None
    factors = [
        v
        for v in inputs
        if _is_constant_along(v, op.axis, whole.ndim)
        and (is_discrete(whole.dtype) or _makes_larger(v, multiplied is None))
    ]
    rest = [v for v in inputs if v not in factors]
    if not factors or not rest or (multiplied is None and inputs[1] not in factors):
        return None
    product = rest[0] if len(rest) == 1 else ot.mul(*rest)
    if product.type.ndim != whole.ndim or any(
        product.type.shape[i] == 1 and whole.shape[i] != 1 for i in op.axis
    ):
        return None
    total = node.op(product)
    taken = [_without_axes(v, op.axis, whole.ndim) for v in factors]
    return [ot.true_div(total, taken[0]) if multiplied is None else ot.mul(*taken, total)]


def _makes_larger(factor: TensorVariable, divides: bool) -> bool:
    """Whether multiplying by a factor (with ``divides``: dividing by it) makes no absolute value smaller."""
    value = number_of(factor)
    if value is None or not np.isfinite(value):
        return False
    return bool(0 < abs(value) <= 1 if divides else abs(value) >= 1)


def _is_constant_along(variable: TensorVariable, axis: tuple[int, ...], ndim: int) -> bool:
    """Whether an operand of an elementwise result with ``ndim`` axes is broadcast along all of the given axes."""
    lead = ndim - variable.type.ndim
    return all(i < lead or variable.type.shape[i - lead] == 1 for i in axis)


def _without_axes(variable: TensorVariable, axis: tuple[int, ...], ndim: int) -> TensorVariable:
    """The operand ``variable`` without the axes that it is constant along."""
    value = number_of(variable)
    if value is not None:
        return ot.constant(np.asarray(value, variable.type.dtype))
    lead = ndim - variable.type.ndim
    order: list[int | str] = ["x" if i < lead else i - lead for i in range(ndim) if i not in axis]
    while order and order[0] == "x":
        order.pop(0)
    return variable if order == list(range(variable.type.ndim)) else ot.dimshuffle(variable, order)


@node_rewriter([OpPattern(CAReduce)], tags=("stabler", "overflow", "shape_unsafe"))
def reduce_of_alloc(fgraph: FunctionGraph, node: TensorApply[CAReduce]) -> Replacements:
    """sum(alloc(v, n)) = n v, prod(alloc(v, n)) = v^n, and max(alloc(v, n)) = v, over axes that v lacks.

    For a maximum, n must be static, since the maximum of no elements is an error. The rule does not apply to sums and
    products of float16, which cannot hold a large n. A negative n is still an error. For n = 0, the sum is 0 also if v is
    infinite or NaN. (overflow: of intermediate sums and products.)
    """
    op = node.op
    out = node.outputs[0]
    allocated = computed_by(node.inputs[0], Alloc)
    spread = applied(node.inputs[0], ot.second)
    if not _is_plain(node):
        return None
    if out.type.dtype == "float16" and not _is_exact(node):
        return None
    lengths: Sequence[Length]
    if allocated is not None:
        value = allocated.inputs[0]
        lengths = fill_static(allocated.op.shape, allocated.inputs[1:])
    elif spread is not None:
        value = spread.inputs[1]
        lengths = shapes_of(fgraph).shape_of(fgraph, node.inputs[0])
    else:
        return None
    lead = len(lengths) - value.type.ndim
    repeated = [i for i in op.axis if i < lead or value.type.shape[i - lead] == 1]
    if not repeated:
        return None
    row = op.reduction
    if not row.idempotent and row.repeated is None:
        return None
    counted = [lengths[i] for i in repeated]
    if row.idempotent and not all(isinstance(n, int) and n > 0 for n in counted):
        return None
    left = [i for i in range(lead, len(lengths)) if i not in repeated]
    base = ot.dimshuffle(value, [i - lead for i in left])
    axis = tuple(left.index(i) for i in op.axis if i not in repeated)
    rest = CAReduce(op.scalar_op, axis, op.dtype, op.acc_dtype)(base) if axis else base
    if not row.idempotent:
        count = math.prod(map(_not_negative, counted))
        if not row.linear and not is_float(out.type.dtype):
            return None
        many = row.of_many(rest, ot.cast(count, out.type.dtype))
        checks = row.linear and _may_be_infinite(rest, count)
        rest = ot.switch(ot.gt(count, 0), many, 0) if checks else many
    dims = [n for i, n in enumerate(lengths) if i not in op.axis]
    return [
        rest if rest.type.ndim == len(dims) and not _stretched(rest, dims) else ot.alloc(rest, dims)
    ]


def _may_be_infinite(value: TensorVariable, count: Length) -> bool:
    """Whether ``count * value`` may be NaN for a count of 0."""
    if is_discrete(value.type.dtype) or (isinstance(count, int) and count > 0):
        return False
    return not isinstance(value, TensorConstant) or not np.isfinite(value.data).all()


def _not_negative(length: Length) -> Length:
    """``length``, with a run-time check that it is not negative, unless this is proved."""
    if isinstance(length, int) or never_negative(length):
        return length
    message = "negative dimensions are not allowed"
    checked: TensorVariable = raise_unless(length, length >= 0, error=ValueError, message=message)
    return checked


def _stretched(value: TensorVariable, lengths: Sequence[Length]) -> bool:
    return any(own == 1 and n != 1 for own, n in zip(value.type.shape, lengths, strict=True))


@rule(p.neg(call(_MAX, p.neg(x), name="m")), tags=("rounding",))
def neg_of_max(x: TensorVariable, m: TensorApply[CAReduce]) -> TensorVariable | None:
    """-max(-x) = min(x)."""
    return CAReduce(_MINIMUM, m.op.axis)(x)


@rule(p.neg(call(_MIN, p.neg(x), name="m")), tags=("rounding",))
def neg_of_min(x: TensorVariable, m: TensorApply[CAReduce]) -> TensorVariable | None:
    """-min(-x) = max(x)."""
    return CAReduce(_MAXIMUM, m.op.axis)(x)


@node_rewriter([_MAX, _MIN], tags=("rounding",))
def extreme_of_monotone(fgraph: FunctionGraph, node: TensorApply[CAReduce]) -> Replacements:
    """max(f(x)) = f(max(x)) for an increasing f, and f(min(x)) for a decreasing f; likewise for min.

    So f is computed once for each result instead of once for each element. f(x) must have no other user. For instance,
    the gradient of the maximum compares f(x) with its maximum, and must find equal elements. But f of a single number
    may differ in the last digit from f of many numbers. (rounding: this digit, and the sign of a zero.)
    """
    variable = node.inputs[0]
    inner = computed_by(variable, Elemwise)
    monotone = None if inner is None else inner.op.scalar_op.monotone
    if inner is None or monotone is None or len(inner.inputs) != 1 or not node.op.axis:
        return None
    (x,) = inner.inputs
    # functions of integers may wrap around
    if is_complex(x.type.dtype) or x.type.dtype == "bool" or not is_float(variable.type.dtype):
        return None
    if not _is_plain(node) or len(fgraph.clients[variable]) > 1:
        return None
    is_max = (node.op.scalar_op is _MAXIMUM) == (monotone == "increasing")
    extreme = CAReduce(_MAXIMUM if is_max else _MINIMUM, node.op.axis)(x)
    return [Elemwise(inner.op.scalar_op)(extreme)]


CANONICALIZE = RuleSet(
    (
        reduce_of_reduce,
        sum_of_sums,
        reduce_over_nothing,
        sum_of_neg,
        sum_of_scaled,
        reduce_of_alloc,
        neg_of_max,
        neg_of_min,
        extreme_of_monotone,
    ),
    "reduce canonicalize",
)


@rule(p.log(call(_SUM, p.exp(x), name="s")), tags=("stabler",))
def log_sum_exp(x: TensorVariable, s: TensorApply[CAReduce]) -> TensorVariable | None:
    """log(sum(exp(x))) = logsumexp(x)."""
    return ot.logsumexp(x, axis=s.op.axis) if s.op.axis and _is_plain(s) else None


@rule(p.log(call(Softmax, x, name="s")), tags=("stabler",))
def log_of_softmax(x: TensorVariable, s: TensorApply[Softmax]) -> TensorVariable | None:
    """log(softmax(x)) = log_softmax(x)."""
    return LogSoftmax(s.op.axis)(x)


@rule(p.exp(call(LogSoftmax, x, name="s")), tags=("stabler",))
def exp_of_log_softmax(x: TensorVariable, s: TensorApply[LogSoftmax]) -> TensorVariable | None:
    """exp(log_softmax(x)) = softmax(x)."""
    return Softmax(s.op.axis)(x)


@rule(p.log(call(_PROD, x, name="s")), tags=("stabler", "comparison"))
def log_of_prod(
    x: TensorVariable, s: TensorApply[CAReduce], fgraph: FunctionGraph
) -> TensorVariable | None:
    """log(prod(x)) = sum(log(x)), for an x that is known not to be negative, such as exp(y)."""
    if not _is_plain(s) or not assumptions_of(fgraph).holds(fgraph, x, "nonnegative"):
        return None
    return CAReduce(_ADD, s.op.axis)(ot.log(x))


@rule(p.log(call(DimShuffle, call(_SUM, p.exp(x), name="s"), name="d")), tags=("stabler",))
def log_of_spread_sum_exp(
    x: TensorVariable, s: TensorApply[CAReduce], d: TensorApply[DimShuffle]
) -> TensorVariable | None:
    """log(sum(exp(x), keepdims=True)) = logsumexp(x, keepdims=True)."""
    if not s.op.axis or not _is_plain(s):
        return None
    return d.op(ot.logsumexp(x, axis=s.op.axis))


STABILIZE = RuleSet(
    (log_sum_exp, log_of_spread_sum_exp, log_of_softmax, exp_of_log_softmax, log_of_prod),
    "reduce stabilize",
)


@node_rewriter([_SUM], tags=("rounding", "overflow", "finite"))
def sum_of_squared_outer(fgraph: FunctionGraph, node: TensorApply[CAReduce]) -> Replacements:
    """sum_jk (W_jk G_ik)^2 = sum_k (G_ik)^2 (sum_j (W_jk)^2), a product of a matrix and a vector.

    W and G must not be broadcast. (overflow, finite: the factors are squared before they are multiplied.)
    """
    op = node.op
    square = applied(node.inputs[0], ot.sqr)
    product = None if square is None else applied(square.inputs[0], ot.mul)
    if product is None or op.axis != (1, 2) or len(product.inputs) != 2 or not _is_plain(node):
        return None
    parts: dict[tuple[int | str, ...], TensorVariable] = {}
    for v in product.inputs:
        spread = computed_by(v, DimShuffle)
        if spread is not None:
            parts[spread.op.new_order] = spread.inputs[0]
    left, right = parts.get((0, "x", 1)), parts.get(("x", 0, 1))
    if left is None or right is None or left.type.dtype != right.type.dtype:
        return None
    if (left.type.shape[1] == 1) != (right.type.shape[1] == 1):
        return None
    if left.type.dtype != node.outputs[0].type.dtype:
        return None
    return [shaped_like(ot.dot(ot.sqr(left), ot.sum(ot.sqr(right), axis=0)), node.outputs[0])]


SPECIALIZE = RuleSet((sum_of_squared_outer,), "reduce specialize")
