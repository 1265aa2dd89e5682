"""Rules for shapes, reshapes, transpositions and asserted lengths.

`pipeline` puts them into the stage canonicalize.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import (
    FunctionGraph,
    TensorApply,
    TensorType,
    TensorVariable,
    Variable,
    computed_by,
)
from occelo_graph import tensor as ot
from occelo_graph.ops.create import Alloc, ARange, Eye
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index.subtensor import Subtensor
from occelo_graph.ops.length_inputs import fill_static
from occelo_graph.ops.lengths import KnownLengths, is_proved_equal, surely_has_length
from occelo_graph.ops.shape.asserting import SpecifyShape
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.ops.shape.reading import Shape, Shape_i, length_read
from occelo_graph.ops.shape.reshaping import Reshape
from occelo_graph.ops.shape.stretching import Stretch, SumStretched
from occelo_rewrite.assumptions import assumptions_of
from occelo_rewrite.assumptions.shape import is_transposition
from occelo_rewrite.patterns.node_rule import OpPattern, Replacements, RuleSet, node_rewriter
from occelo_rewrite.shapes import as_variable, shapes_of
from occelo_rewrite.specialization import specialized_lengths


@node_rewriter([Shape_i], tags=("shape_unsafe",))
def length_from_inputs(fgraph: FunctionGraph, node: TensorApply[Shape_i]) -> Replacements:
    """length(f(x)) = an expression of the lengths of the graph's inputs, by the ``infer_shape`` of the ops.

    (shape_unsafe: if only the length of f(x) is used, f(x) is no longer computed, so the shapes of its operands are not
    checked.)
    """
    op = node.op
    length = shapes_of(fgraph).shape_of(fgraph, node.inputs[0])[op.i]
    read = None if isinstance(length, int) else computed_by(length, Shape_i)
    if read is not None and read.op == op and read.inputs[0] is node.inputs[0]:
        return None
    return [as_variable(length)]


@node_rewriter([Shape])
def shape_of_lengths(fgraph: FunctionGraph, node: TensorApply[Shape]) -> Replacements:
    """shape(x) = make_vector(the lengths of x). If x is an input of the graph, at least one length must be static."""
    x = node.inputs[0]
    if x.type.ndim == 0 or (x.owner is None and all(n is None for n in x.type.shape)):
        return None
    return [ot.make_vector(*(as_variable(n) for n in ot.shape_tuple(x)))]


@node_rewriter([DimShuffle])
def dimshuffle_of_dimshuffle(fgraph: FunctionGraph, node: TensorApply[DimShuffle]) -> Replacements:
    """dimshuffle(dimshuffle(x)) = dimshuffle(x), and dimshuffle(x) = x if the order changes nothing."""
    op = node.op
    x = node.inputs[0]
    if len(op.new_order) == op.input_ndim and all(
        a == i or (a == "x" and x.type.shape[i] == 1) for i, a in enumerate(op.new_order)
    ):
        return [x]
    inner = computed_by(x, DimShuffle)
    if inner is None:
        return None
    # The outer dimshuffle may only drop axes that the inner one adds. Otherwise nothing would check
    # their lengths.
    if any(inner.op.new_order[i] != "x" for i in op.dropped):
        return None
    order = [a if isinstance(a, str) else inner.op.new_order[a] for a in op.new_order]
    return [ot.dimshuffle(inner.inputs[0], order)]


@node_rewriter([DimShuffle], tags=("rounding", "finite"))
def transposed_symmetric(fgraph: FunctionGraph, node: TensorApply[DimShuffle]) -> Replacements:
    """x.T = x, for a symmetric matrix or a batch of them.

    (rounding, finite: elements that should be equal may differ by rounding.)
    """
    op = node.op
    x = node.inputs[0]
    if not is_transposition(op) or x.type != node.outputs[0].type:
        return None
    return [x] if assumptions_of(fgraph).holds(fgraph, x, "symmetric") else None


@node_rewriter([DimShuffle], below=[Elemwise])
def dimshuffle_lift(fgraph: FunctionGraph, node: TensorApply[DimShuffle]) -> Replacements:
    """dimshuffle(f(x, y)) = f(dimshuffle(x), dimshuffle(y)), so that elementwise functions become adjacent.

    f(x, y) must have no other user. If the dimshuffle does more than add axes, x and y must be dimshuffles, too.
    """
    op = node.op
    inner = computed_by(node.inputs[0], Elemwise)
    if inner is None or inner.op.inplace or op.dropped:
        return None
    if len(inner.outputs) > 1 or len(fgraph.clients[node.inputs[0]]) > 1:
        return None
    axes = [a for a in op.new_order if a != "x"]
    full = [v for v in inner.inputs if v.type.ndim]
    if axes != sorted(axes) and not all(
        v.owner is not None and isinstance(v.owner.op, DimShuffle) for v in full
    ):
        return None
    return [inner.op(*(_reordered(v, op.new_order, op.input_ndim) for v in inner.inputs))]


def _reordered(variable: TensorVariable, order: Sequence[int | str], ndim: int) -> TensorVariable:
    """An operand of a result with ``ndim`` axes, rearranged so that the result has its axes in ``order``."""
    missing = ndim - variable.type.ndim
    if missing == ndim and ndim:
        return variable
    places = ["x" if isinstance(a, str) or a < missing else a - missing for a in order]
    return ot.dimshuffle(variable, places)


@node_rewriter([DimShuffle])
def dimshuffle_of_alloc(fgraph: FunctionGraph, node: TensorApply[DimShuffle]) -> Replacements:
    """dimshuffle(alloc(v, n)) = alloc(dimshuffle(v), reordered n)."""
    op = node.op
    inner = computed_by(node.inputs[0], Alloc)
    if inner is None or op.dropped:
        return None
    lengths = fill_static(inner.op.shape, inner.inputs[1:])
    value = inner.inputs[0]
    if value.type.ndim:
        missing = ["x"] * (op.input_ndim - value.type.ndim)
        value = op(ot.dimshuffle(value, [*missing, *range(value.type.ndim)]))
    return [ot.alloc(value, *(1 if isinstance(a, str) else lengths[a] for a in op.new_order))]


@node_rewriter([Reshape], tags=("shape_unsafe",))
def reshape_of_reshape(fgraph: FunctionGraph, node: TensorApply[Reshape]) -> Replacements:
    """reshape(reshape(x)) = reshape(x) (shape_unsafe: nothing checks the lengths of the inner reshape)."""
    op = node.op
    inner = computed_by(node.inputs[0], Reshape)
    if inner is None:
        return None
    try:
        return [op(inner.inputs[0], *node.inputs[1:])]
    except ValueError:
        return None  # the lengths do not fit x; the call of the compiled function raises the error


@node_rewriter([Reshape], tags=("shape_unsafe",))
def reshape_to_own_shape(fgraph: FunctionGraph, node: TensorApply[Reshape]) -> Replacements:
    """reshape(x, shape(x)) = x.

    All lengths must be known to equal those of x. One length may be unknown if the other lengths of x are static and
    positive: then the unknown length follows from the number of elements. (shape_unsafe: nothing checks the shapes of
    the tensors that the lengths are computed from.)
    """
    op = node.op
    x = node.inputs[0]
    if x.type.ndim != len(op.shape):
        return None
    if None not in x.type.shape and x.type.shape == node.outputs[0].type.shape:
        return [x]
    lengths = fill_static(op.shape, node.inputs[1:])
    shapes = shapes_of(fgraph)
    differing = [i for i, n in enumerate(lengths) if not shapes.is_length(fgraph, n, x, i)]
    if len(differing) == 1 and x.type.ndim > 1:
        # The reshape requires the same number of elements. This decides one unknown length, if no
        # other length is 0.
        rest = [n for i, n in enumerate(x.type.shape) if i not in differing]
        return [x] if all(n is not None and n > 0 for n in rest) else None
    return [x] if len(differing) <= (x.type.ndim == 1) else None


@node_rewriter([Reshape])
def reshape_of_dimshuffle(fgraph: FunctionGraph, node: TensorApply[Reshape]) -> Replacements:
    """reshape(dimshuffle(x)) = reshape(x), if the dimshuffle only adds, drops or moves axes of length 1."""
    op = node.op
    inner = computed_by(node.inputs[0], DimShuffle)
    if inner is None or inner.op.dropped:
        return None
    x = inner.inputs[0]
    axes = [a for a in inner.op.new_order if isinstance(a, int) and x.type.shape[a] != 1]
    return [op(x, *node.inputs[1:])] if axes == sorted(axes) else None


@node_rewriter([SpecifyShape])
def specify_what_is_known(fgraph: FunctionGraph, node: TensorApply[SpecifyShape]) -> Replacements:
    """specify_shape(x, n) = x, if x surely has the lengths n.

    The proof must not depend on assertions that another rule may remove (`surely_has_length`).
    """
    op = node.op
    x = node.inputs[0]
    rest = iter(node.inputs[1:])
    for axis, (static, is_given) in enumerate(zip(op.static, op.given, strict=True)):
        length = next(rest) if is_given else static
        if length is not None and not surely_has_length(x, axis, length):
            return None
    # the replacement must not have a less specific type, since this type would be asserted again
    return [x] if node.outputs[0].type.is_super(x.type) else None


_Lengths = list[list[int | TensorVariable]]
"""For each axis of a tensor, all lengths that are asserted for it. None is listed twice."""


def _unasserted(
    x: TensorVariable, result: TensorType | None = None
) -> tuple[TensorVariable, _Lengths, str]:
    """The tensor below nested assertions, what they assert, and the name of the tensor in their messages.

    If ``result`` is given, it ends at an assertion about an axis that is broadcast to the type ``result``.
    """
    lengths: _Lengths = [[] for _ in x.type.shape]
    of = ""
    while (inner := computed_by(x, SpecifyShape)) is not None:
        below, rest = inner.inputs[0], iter(inner.inputs[1:])
        asserted = [
            next(rest) if is_given else n
            for n, is_given in zip(inner.op.static, inner.op.given, strict=True)
        ]
        axes = [axis for axis, n in enumerate(asserted) if n is not None]
        if result is not None and (
            x.type.ndim != result.ndim
            or any(1 in (x.type.shape[axis], below.type.shape[axis]) for axis in axes)
        ):
            break
        for axis in axes:
            _add_length(lengths[axis], asserted[axis])
        x, of = below, of or inner.op.of
    return x, lengths, of


def _add_length(lengths: list[int | TensorVariable], length: int | TensorVariable | None) -> None:
    present = any(
        length is n or (isinstance(n, int) and isinstance(length, int) and n == length)
        for n in lengths
    )
    if length is not None and not present:
        lengths.append(length)


def _assertions(lengths: _Lengths, of: str) -> list[tuple[SpecifyShape, list[TensorVariable]]]:
    """As few assertions as possible that together assert all lengths, each as an op and its further inputs."""
    assertions: list[tuple[SpecifyShape, list[TensorVariable]]] = []
    for k in range(max(map(len, lengths), default=0)):
        row = [each[k] if k < len(each) else None for each in lengths]
        dynamic = [n for n in row if isinstance(n, Variable)]
        static = tuple(n if isinstance(n, int) else None for n in row)
        op = SpecifyShape(static, tuple(isinstance(n, Variable) for n in row), of)
        assertions.append((op, dynamic))
    return assertions


@node_rewriter([SpecifyShape], below=[SpecifyShape])
def specify_of_specify(fgraph: FunctionGraph, node: TensorApply[SpecifyShape]) -> Replacements:
    """specify_shape(specify_shape(x, m), n) = specify_shape(x, both), if m and n assert nothing different about an axis."""
    x, lengths, of = _unasserted(node.outputs[0])
    assertions, depth = _assertions(lengths, of), 0
    inner: TensorApply[SpecifyShape] | None = node
    while inner is not None:
        inner, depth = computed_by(inner.inputs[0], SpecifyShape), depth + 1
    if len(assertions) >= depth:
        return None
    for op, dynamic in assertions:
        x = op(x, *dynamic)
    return [x]


@node_rewriter([Stretch, SumStretched])
def stretch_to_own_lengths(
    fgraph: FunctionGraph, node: TensorApply[Stretch | SumStretched]
) -> Replacements:
    """stretch(x, n) = x, if x is known to have the length n, and likewise for the sum that is its gradient.

    A dimension of static length 1 broadcasts without a check: stretch(x, n) = alloc(x, n). Other lengths of the same
    tensor are still checked.
    """
    op = node.op
    x, *dynamic = node.inputs
    shapes = shapes_of(fgraph)
    targets = op.wanted((None,) * x.type.ndim, dynamic)
    left = [
        i for i, n in enumerate(targets) if n is not None and not shapes.is_length(fgraph, n, x, i)
    ]
    if not left:
        return [x] if node.outputs[0].type.is_super(x.type) else None
    if isinstance(op, Stretch) and all(x.type.shape[i] == 1 for i in left):
        lengths = [ot.shape_i(x, i) if n is None else n for i, n in enumerate(targets)]
        return [ot.alloc(x, *lengths)]
    return None


@node_rewriter([Stretch])
def stretch_lift(fgraph: FunctionGraph, node: TensorApply[Stretch]) -> Replacements:
    """stretch(f(x, y)) = f(stretch(x), stretch(y)), so that f is fused with the write that needs it.

    Lengths of x and y that are not known to be equal are asserted.
    """
    op, (value, *lengths) = node.op, node.inputs
    inner = computed_by(value, Elemwise)
    if inner is None or len(inner.outputs) > 1 or inner.op.destroy_map:
        return None
    if len(fgraph.clients[value]) > 1:
        return None
    repeated = [v for v in inner.inputs if any(_is_one(v, i - value.type.ndim) for i in op.axes)]
    if any(not _is_one(v, i - value.type.ndim) for v in repeated for i in op.axes):
        return None  # an operand that is repeated along one axis only would need another op
    wide = [v for v in inner.inputs if v not in repeated]
    if not wide:
        return None
    first, cache = wide[0], KnownLengths()
    stretched = {first: op.with_ndim(first.type.ndim)(first, *lengths)}
    for v in wide[1:]:
        ndim, shift = v.type.ndim, first.type.ndim - v.type.ndim
        stated = [i - value.type.ndim + ndim for i in op.axes]
        open_axes = [i for i in stated if not is_proved_equal(v, i, first, i + shift, cache)]
        dynamic = tuple(i in open_axes for i in range(ndim))
        of_first = [ot.shape_i(first, i + shift) for i in open_axes]
        checked = (
            SpecifyShape((None,) * ndim, dynamic, "an operand")(v, *of_first) if open_axes else v
        )
        stretched[v] = op.with_ndim(ndim)(checked, *lengths)
    return [inner.op(*(stretched.get(v, v) for v in inner.inputs))]


def _is_one(x: TensorVariable, axis: int) -> bool:
    """Whether ``x`` has no axis of this number, which counts from the end, or the static length 1 there."""
    return x.type.ndim < -axis or x.type.shape[axis] == 1


@node_rewriter([OpPattern(Elemwise)], below=[SpecifyShape])
def specify_lift(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """f(specify_shape(x), y) = specify_shape(f(x, y)), if x is not broadcast along axes with asserted lengths.

    If y is an input of the graph that has exactly the asserted lengths, f itself checks that x has them, and the
    assertion is dropped. All assertions about all operands move at once, and equal ones become one: else they would
    multiply, since most operands of the nodes above have all of them.
    """
    if node.op.destroy_map or len(node.outputs) > 1:
        return None
    full = node.outputs[0].type
    inputs: list[TensorVariable] = []
    lengths: _Lengths = [[] for _ in full.shape]
    name = ""
    for operand in node.inputs:
        x, asserted, of = _unasserted(operand, full)
        inputs.append(x)
        name = name or of
        for merged, more in zip(lengths, asserted, strict=False):
            for n in more:
                _add_length(merged, n)
    if all(x is operand for x, operand in zip(inputs, node.inputs, strict=True)):
        return None
    beside = [v for v in inputs if v.owner is None and v.type.ndim == full.ndim]
    unchecked = [
        [n for n in asserted if not any(_has_length(v, axis, n) for v in beside)]
        for axis, asserted in enumerate(lengths)
    ]
    result: TensorVariable = node.op(*inputs)
    for op, dynamic in _assertions(unchecked, name):
        result = op(result, *dynamic)
    return [result]


def _has_length(root: TensorVariable, axis: int, length: int | TensorVariable) -> bool:
    """Whether an input of the graph surely has this length, and is not broadcast."""
    return root.type.shape[axis] != 1 and surely_has_length(root, axis, length)


@node_rewriter([Subtensor])
def read_of_shape(fgraph: FunctionGraph, node: TensorApply[Subtensor]) -> Replacements:
    """shape(x)[i] = the length of x along axis i."""
    read = length_read(node.outputs[0])
    return None if read is None else [ot.shape_i(*read)]


@node_rewriter([Alloc, ARange, Eye, Reshape, SpecifyShape, Stretch, Subtensor, SumStretched])
def lengths_that_are_known(
    fgraph: FunctionGraph,
    node: TensorApply[
        Alloc | ARange | Eye | Reshape | SpecifyShape | Stretch | Subtensor | SumStretched
    ],
) -> Replacements:
    """op(x, 3) = op[3](x): lengths and indices that are constant inputs become fields of the op.

    If a length was static when the node was made and is now an input of unknown value, the static length is asserted.
    """
    try:
        sharper = specialized_lengths(node, node.inputs)
    except (IndexError, TypeError, ValueError):
        return None  # the lengths do not fit; the call of the compiled function raises the error
    return None if sharper is None else [sharper]


CANONICALIZE = RuleSet(
    (
        read_of_shape,
        lengths_that_are_known,
        length_from_inputs,
        shape_of_lengths,
        dimshuffle_of_dimshuffle,
        transposed_symmetric,
        dimshuffle_lift,
        dimshuffle_of_alloc,
        reshape_of_reshape,
        reshape_to_own_shape,
        reshape_of_dimshuffle,
        specify_what_is_known,
        specify_of_specify,
        specify_lift,
        stretch_to_own_lengths,
        stretch_lift,
    ),
    "shape canonicalize",
)
