"""Rules for reads and diagonals: for instance, reads of reads are combined, and ranges as indices become slices.

`pipeline` puts them into the stage canonicalize.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph import (
    Apply,
    Constant,
    FunctionGraph,
    TensorApply,
    TensorVariable,
    Variable,
    computed_by,
)
from occelo_graph import tensor as ot
from occelo_graph.ir.slices import slice_parts
from occelo_graph.narrowing import is_slice
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.create import Alloc, ARange
from occelo_graph.ops.index.key import ARRAY, LARGEST, KeyEntry
from occelo_graph.ops.index.search import AllocDiag, ExtractDiag
from occelo_graph.ops.index.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
)
from occelo_graph.ops.join import Join, MakeVector
from occelo_graph.ops.length_inputs import fill_static
from occelo_graph.ops.shape.asserting import SpecifyShape
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_rewrite.constants import number_of
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.rules.index.keys import FULL, is_full, kept_axes, parts_of, read, static_bounds
from occelo_rewrite.shapes import Length, shapes_of


@node_rewriter([Subtensor])
def read_of_everything(fgraph: FunctionGraph, node: TensorApply[Subtensor]) -> Replacements:
    """x[:] = x."""
    op = node.op
    return [node.inputs[0]] if all(is_full(entry) for entry in op.key) else None


@node_rewriter([Subtensor])
def canonical_key(fgraph: FunctionGraph, node: TensorApply[Subtensor]) -> Replacements:
    """x[-1] = x[n-1], x[0:n] = x[:], and x[-2:] = x[n-2:], for a static length n.

    Constants among the inputs of the node become integers in the op's key.
    """
    x = node.inputs[0]
    parts = [_plain(part) for part in parts_of(node)]
    for i, part in enumerate(parts):
        length = x.type.shape[i]
        if isinstance(part, int):
            if part < 0 and length is not None and part + length >= 0:
                parts[i] = part + length
        elif is_slice(part):
            parts[i] = _canonical_slice(part, length)
    canonical = read(x, parts)
    return None if canonical.owner is not None and canonical.owner.op == node.op else [canonical]


def _plain(part: KeyEntry) -> KeyEntry:
    if is_slice(part):
        return slice(*(_plain(p) for p in (part.start, part.stop, part.step)))
    value = number_of(part) if isinstance(part, Constant) else None
    return part if value is None else int(value)


def _canonical_slice(part: slice, length: int | None) -> slice:
    if length is None:
        start, stop, step = part.start, part.stop, part.step
        if isinstance(step, int) and step == 1:
            step = None
        if (
            (step is None or (isinstance(step, int) and step > 0))
            and isinstance(start, int)
            and start == 0
        ):
            start = None
        return slice(start, stop, step)
    bounds = static_bounds(part, length)
    if bounds is None:
        return part
    first, last, step = bounds
    if step < 0:
        return part
    last = max(first, last or 0)
    return slice(first or None, None if last >= length else last, None if step == 1 else step)


@node_rewriter([Subtensor])
def read_of_read(fgraph: FunctionGraph, node: TensorApply[Subtensor]) -> Replacements:
    """x[a:b][c:d] = x[a+c:...] and x[a:b][i] = x[a+i], for static keys and lengths."""
    inner = computed_by(node.inputs[0], Subtensor)
    if inner is None:
        return None
    x = inner.inputs[0]
    merged = list(parts_of(inner))
    for axis, part in zip(kept_axes(merged), parts_of(node), strict=True):
        if is_full(part):
            continue
        if is_full(merged[axis]):
            merged[axis] = part
            continue
        composed = _composed(merged[axis], part, x.type.shape[axis])
        if composed is None:
            return None
        merged[axis] = composed
    return [read(x, merged)]


def _composed(first: slice, then: KeyEntry, length: int | None) -> KeyEntry:
    """The entry e with ``x[e] = x[first][then]``, for an x of the given length; None if e depends on dynamic values."""
    outer = static_bounds(first, length)
    if outer is None:
        return None
    start, stop, step = outer
    count = None if stop is None or length is None else len(range(start, stop, step))
    if isinstance(then, int):
        if count is None:
            # x[a:][i] is out of bounds if and only if x[a + i] is, also where int64 does not hold a + i
            return min(start + step * then, LARGEST) if stop is None and then >= 0 else None
        if not -count <= then < count:
            return None
        return start + step * (then % count)
    if not is_slice(then) or any(isinstance(p, Variable) for p in slice_parts(then)):
        return None
    if count is not None:
        chosen = range(start, stop or 0, step)[then] if then.step != 0 else None
        if chosen is None or chosen.step < 0 or step < 0:
            return None
        return slice(chosen.start, chosen.stop, chosen.step) if len(chosen) else slice(0, 0)
    second = static_bounds(then, None)
    if second is None or step < 1:
        return None
    low, high, by = second
    ends = [e for e in (stop, None if high is None else start + step * high) if e is not None]
    return slice(start + step * low, min(ends) if ends else None, step * by)


@node_rewriter([Subtensor])
def read_of_shape_made(fgraph: FunctionGraph, node: TensorApply[Subtensor]) -> Replacements:
    """alloc(x)[key] = alloc(x[key]), and dimshuffle(x)[key] = dimshuffle(x[key])."""
    moved = computed_by(node.inputs[0], DimShuffle)
    if moved is not None:
        return _through_dimshuffle(moved, parts_of(node))
    allocated = computed_by(node.inputs[0], Alloc)
    return None if allocated is None else _through_alloc(fgraph, node, allocated, parts_of(node))


def _through_dimshuffle(inner: TensorApply[DimShuffle], parts: list[KeyEntry]) -> Replacements:
    op = inner.op
    x = inner.inputs[0]
    new_parts: list[KeyEntry] = [FULL] * x.type.ndim
    order: list[int | str] = []
    for axis, part in zip(op.new_order, parts, strict=True):
        if isinstance(axis, str):
            if isinstance(part, slice):
                if not is_full(part):
                    return None
                order.append("x")
            elif not (isinstance(part, int) and part in (0, -1)):
                return None
            continue
        new_parts[axis] = part
        if isinstance(part, slice):
            order.append(axis)
    if op.dropped and any(not is_full(new_parts[a]) for a in op.dropped):
        return None
    axes = kept_axes(new_parts)
    taken = read(x, new_parts)
    new_order = ["x" if isinstance(a, str) else axes.index(a) for a in order]
    return [ot.dimshuffle(taken, new_order)]


def _through_alloc(
    fgraph: FunctionGraph, node: Apply, inner: TensorApply[Alloc], parts: list[KeyEntry]
) -> Replacements:
    value = inner.inputs[0]
    lengths = fill_static(inner.op.shape, inner.inputs[1:])
    lead = len(lengths) - value.type.ndim
    new_parts: list[KeyEntry] = []
    for axis, part in enumerate(parts):
        broadcast = axis < lead or value.type.shape[axis - lead] == 1
        if isinstance(part, slice):
            if axis >= lead:
                new_parts.append(FULL if broadcast else part)
            continue
        if broadcast and not _within(part, lengths[axis]):
            return None
        if axis >= lead:
            new_parts.append(0 if broadcast else part)
    taken = read(value, new_parts) if new_parts else value
    shape = shapes_of(fgraph).shape_of(fgraph, node.outputs[0])
    return [ot.alloc(taken, *shape) if shape else taken]


def _within(index: KeyEntry, length: Length) -> bool:
    return isinstance(index, int) and isinstance(length, int) and -length <= index < length


@node_rewriter([Subtensor])
def read_of_specified(fgraph: FunctionGraph, node: TensorApply[Subtensor]) -> Replacements:
    """specify_shape(x)[key] = specify_shape(x[key]), if the key selects all of each axis with an asserted length."""
    inner = computed_by(node.inputs[0], SpecifyShape)
    if inner is None or any(inner.op.given):
        return None
    parts = parts_of(node)
    static = inner.op.static
    if any(not is_full(part) and n is not None for part, n in zip(parts, static, strict=True)):
        return None
    axes = kept_axes(parts)
    return [ot.specify_shape(read(inner.inputs[0], parts), [static[i] for i in axes])]


@node_rewriter([Subtensor])
def read_of_vector(fgraph: FunctionGraph, node: TensorApply[Subtensor]) -> Replacements:
    """make_vector(a, b, c)[1] = b, and make_vector(a, b, c)[1:] = make_vector(b, c)."""
    inner = computed_by(node.inputs[0], MakeVector)
    if inner is None:
        return None
    (part,) = parts_of(node)
    count = len(inner.inputs)
    if isinstance(part, int):
        return [inner.inputs[part]] if -count <= part < count else None
    if not is_slice(part) or static_bounds(part, count) is None:
        return None
    chosen = inner.inputs[part]
    return [inner.op(*chosen)] if chosen else None


@node_rewriter([Subtensor])
def read_of_join(fgraph: FunctionGraph, node: TensorApply[Subtensor]) -> Replacements:
    """join(x, y)[key] = x[key] or y[shifted key], if lengths are static and the key reads from only one of them."""
    inner = computed_by(node.inputs[0], Join)
    if inner is None:
        return None
    axis = inner.op.axis
    parts = parts_of(node)
    part = parts[axis]
    static = [v.type.shape[axis] for v in inner.inputs]
    lengths = [n for n in static if n is not None]
    if any(
        any(n is None for n in (*v.type.shape[:axis], *v.type.shape[axis + 1 :]))
        for v in inner.inputs
    ):
        return None  # otherwise nothing would check that the other lengths agree
    if len(lengths) < len(static):
        return None
    total = sum(lengths)
    if isinstance(part, int):
        if not -total <= part < total:
            return None
        first = last = part % total
    elif is_slice(part) and static_bounds(part, total) is not None:
        chosen = range(total)[part]
        if chosen.step != 1 or not len(chosen):
            return None
        first, last = chosen[0], chosen[-1]
    else:
        return None
    start = 0
    for v, n in zip(inner.inputs, lengths, strict=True):
        if start <= first and last < start + n:
            parts[axis] = (
                first - start if isinstance(part, int) else slice(first - start, last - start + 1)
            )
            taken = read(v, parts)
            return [taken] if taken.type.dtype == node.outputs[0].type.dtype else None
        start += n
    return None


@node_rewriter([Subtensor, AdvancedSubtensor], tags=("shape_unsafe", "unsafe"))
def read_of_write(
    fgraph: FunctionGraph, node: TensorApply[Subtensor | AdvancedSubtensor]
) -> Replacements:
    """x[key].set(y)[key] = y broadcast to the part, and x[key].inc(y)[key] = x[key] + y.

    The key consists of integers and slices. For a key with index arrays, which may select a position twice, only the
    first law holds, and only for a single number y. (shape_unsafe: nothing checks that y broadcasts to the part.
    unsafe: nothing checks the integers or index arrays of a part that is all written.)
    """
    kinds = IncSubtensor if isinstance(node.op, Subtensor) else AdvancedIncSubtensor
    inner = computed_by(node.inputs[0], kinds)
    op = node.op
    if inner is None or inner.op.key != op.key:
        return None
    if any(a is not b for a, b in zip(inner.inputs[2:], node.inputs[1:], strict=True)):
        return None
    value = inner.inputs[1]
    out = node.outputs[0]
    if kinds is AdvancedIncSubtensor and not (inner.op.set_instead_of_inc and value.type.ndim == 0):
        return None
    if not inner.op.set_instead_of_inc:
        return [ot.add(node.op(inner.inputs[0], *node.inputs[1:]), ot.cast(value, out.type.dtype))]
    value = ot.cast(value, out.type.dtype)
    if value.type.ndim == out.type.ndim and shapes_of(fgraph).same_shape(fgraph, value, out):
        return [value]
    if value.type.ndim and any(n != 1 for n in value.type.shape):
        return None  # otherwise nothing would check that the value broadcasts to the part
    return [
        ot.alloc(value, *shapes_of(fgraph).shape_of(fgraph, out))
        if out.type.ndim
        else ot.dimshuffle(value, [])
    ]


def _counted(variable: TensorVariable) -> tuple[int, int | None, int] | None:
    """The start, stop and step of a variable that is an increasing range of known integers; None for others."""
    if (
        isinstance(variable, Constant)
        and np.ndim(variable.data) == 1
        and 1 < np.size(variable.data) <= 4096
    ):
        data = np.asarray(variable.data)
        if data.dtype.kind not in "iu":
            return None
        step = int(data[1]) - int(data[0])
        if step > 0 and data[0] >= 0 and bool(np.all(np.diff(data.astype("int64")) == step)):
            return int(data[0]), int(data[-1]) + 1, step
        return None
    owner = computed_by(variable, ARange)
    if owner is None:
        return None
    bounds = [number_of(v) for v in owner.inputs]
    start, stop, step = bounds
    if any(b is None or b != int(b) for b in bounds) or start < 0 or step < 1 or stop <= start:
        return None
    return int(start), int(stop), int(step)


@node_rewriter([AdvancedSubtensor])
def arange_is_slice(fgraph: FunctionGraph, node: TensorApply[AdvancedSubtensor]) -> Replacements:
    """x[arange(a, b, s)] = x[a:b:s], if all positions are known to be in bounds."""
    op = node.op
    x = node.inputs[0]
    if len(node.inputs) != 2 or ARRAY not in [e for e in op.key if isinstance(e, str)]:
        return None
    axis = next(i for i, e in enumerate(op.key) if isinstance(e, str))
    if any(not is_full(e) for i, e in enumerate(op.key) if i != axis) or len(op.key) != x.type.ndim:
        return None
    counted = _counted(node.inputs[1])
    length = x.type.shape[axis]
    if counted is None or length is None:
        return None
    start, stop, step = counted
    last = range(start, stop or 0, step)[-1]
    if last >= length:
        return None
    parts: list[KeyEntry] = [FULL] * x.type.ndim
    parts[axis] = slice(start, last + 1, step)
    return [read(x, parts)]


@node_rewriter([AdvancedSubtensor])
def paired_aranges_are_diagonal(
    fgraph: FunctionGraph, node: TensorApply[AdvancedSubtensor]
) -> Replacements:
    """x[arange(n), arange(n)] = diagonal(x), for a square matrix x of n rows."""
    op = node.op
    x = node.inputs[0]
    if len(node.inputs) != 3 or x.type.ndim != 2 or not all(isinstance(e, str) for e in op.key):
        return None
    if node.inputs[1] is not node.inputs[2]:
        return None
    rows, columns = x.type.shape
    counted = _counted(node.inputs[1])
    if counted is not None:
        return [ot.diagonal(x)] if rows == columns and counted == (0, rows, 1) else None
    owner = computed_by(node.inputs[1], ARange)
    if owner is None:
        return None
    start, stop, step = owner.inputs
    if number_of(start) != 0 or number_of(step) != 1:
        return None
    shapes = shapes_of(fgraph)
    if shapes.is_length(fgraph, stop, x, 0) and shapes.is_length(fgraph, stop, x, 1):
        return [ot.diagonal(x)]
    return None


@node_rewriter([ExtractDiag])
def diagonal_of_diagonal(fgraph: FunctionGraph, node: TensorApply[ExtractDiag]) -> Replacements:
    """diagonal(diag(v)) = v."""
    op = node.op
    inner = computed_by(node.inputs[0], AllocDiag)
    if inner is None or inner.inputs[0].type.ndim != 1:
        return None
    return [inner.inputs[0]] if op.offset == inner.op.offset == 0 else None


@node_rewriter([ExtractDiag], tags=("comparison", "overflow", "shape_unsafe"))
def diagonal_of_product(fgraph: FunctionGraph, node: TensorApply[ExtractDiag]) -> Replacements:
    """diagonal(x @ y) = sum_j x_ij y_ji, so that the product is not computed."""
    op = node.op
    inner = computed_by(node.inputs[0], Dot, MatMul)
    if inner is None or len(fgraph.clients[node.inputs[0]]) > 1:
        return None
    x, y = inner.inputs
    ndim = node.inputs[0].type.ndim
    if (op.offset, op.axis1, op.axis2) != (0, ndim - 2, ndim - 1):
        return None
    if x.type.ndim < 2 or y.type.ndim < 2:
        return None
    shapes = shapes_of(fgraph)
    rows, columns = shapes.shape_of(fgraph, x)[-2], shapes.shape_of(fgraph, y)[-1]
    if rows is not columns and rows != columns:
        both = isinstance(rows, int) and isinstance(columns, int)
        least: Any = min(rows, columns) if both else ot.minimum(rows, columns)
        x, y = x[..., :least, :], y[..., :least]
    dtype: str = node.outputs[0].type.dtype
    if dtype == "bool":
        return None  # an element of a product of boolean matrices is not a sum
    return [ot.sum(ot.mul(x, ot.matrix_transpose(y)), axis=-1, dtype=dtype)]


CANONICALIZE = RuleSet(
    (
        read_of_everything,
        canonical_key,
        read_of_read,
        read_of_shape_made,
        read_of_specified,
        read_of_vector,
        read_of_join,
        read_of_write,
        arange_is_slice,
        paired_aranges_are_diagonal,
        diagonal_of_diagonal,
        diagonal_of_product,
    ),
    "reads canonicalize",
)
