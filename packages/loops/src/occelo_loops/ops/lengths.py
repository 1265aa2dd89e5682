"""Shape inference for `Scan`.

`result_shapes` infers the shapes of the outputs of a node, for `Scan.infer_shape`. `element_shapes` infers the shapes
of the final carried values and of the elements of traces. `looping.expansion` calls it to allocate memory, and
`looping.state_rows` to find states whose lengths no step changes.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from occelo_graph.errors import MethodNotDefined
from occelo_graph.ir.clone import clone_replace
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.traversal import ancestors
from occelo_graph.ops.shape.reading import Shape_i, length_read
from occelo_graph.tensors.constant import as_tensor_variable

if TYPE_CHECKING:
    from occelo_graph.fgraph.frozen import FrozenFunctionGraph
    from occelo_loops.ops.scan_op import Scan

Shape = tuple[Any, ...]


def _own_lengths(variable: Variable) -> Shape:
    """The lengths of a variable: an integer for a static length, else a `Shape_i` of the variable."""
    shape = variable.type.shape or ()
    return tuple(Shape_i(i)(variable) if n is None else n for i, n in enumerate(shape))


def _body_shapes(body: FrozenFunctionGraph, input_shapes: Mapping[Variable, Shape]) -> list[Shape]:
    """The shapes of the outputs of a body, from the shapes of its inputs in ``input_shapes``.

    A length that cannot be inferred is a `Shape_i` of a variable in the body.
    """
    shapes: dict[Variable, Shape] = dict(input_shapes)

    def shape(variable: Variable) -> Shape:
        lengths = shapes.get(variable)
        if lengths is None:
            lengths = shapes[variable] = _own_lengths(variable)
        return lengths

    def inferred(length: Any) -> Any:
        read = length_read(length)
        shape = None if read is None else shapes.get(read[0])
        return length if read is None or shape is None else shape[read[1]]

    for node in body.nodes:
        try:
            said = node.op.shapes(node, [shape(v) for v in node.inputs])
        except MethodNotDefined:
            continue
        for variable, lengths in zip(node.outputs, said, strict=True):
            if lengths is None or not variable.type.is_array:
                continue
            own = _own_lengths(variable)
            shapes[variable] = tuple(
                o if n is None or isinstance(o, int) else inferred(n)
                for o, n in zip(own, lengths, strict=True)
            )
    return [shape(v) for v in body.outputs]


class _Lengths(NamedTuple):
    """The shapes of the carried values after the last step, and of the elements of traces.

    They depend on ``parameters``, which stand for the lengths of the scan's inputs, and on the constants of the body.
    Unknown lengths are None.
    """

    parameters: list[Variable]
    carried: list[Shape]
    traces: list[Shape]


_inferred: weakref.WeakKeyDictionary[FrozenFunctionGraph, dict[Any, _Lengths]] = (
    weakref.WeakKeyDictionary()
)
"""The lengths of scans, by their bodies, and by which lengths of the inputs are static, equal or unknown.

Without it, the lengths of a loop inside of other loops would be inferred again for each of the outer ones.
"""


def element_shapes(
    op_: Scan, inputs: Sequence[Variable], input_shapes: Sequence[Any]
) -> tuple[list[Shape], list[Shape]]:
    """The shapes of the carried values after the last step, and of the elements of traces. Unknown lengths are None.

    All elements of a trace have the shape of the first one, which is inferred from the initial carried values. A length
    of a carried value is known if no step can change the initial length.
    """
    lengths: dict[Variable, int] = {}
    kinds = tuple(
        [None if s is None else tuple([_kind(n, lengths) for n in s]) for s in input_shapes[1:]]
    )
    cache = _inferred.setdefault(op_.body, {})
    key = op_.carried, op_.sequences, op_.stops, kinds, tuple([n.type for n in lengths])
    inferred = cache.get(key)
    if inferred is None:
        inferred = cache[key] = _infer(op_, kinds, [n.type() for n in lengths])
    outer = op_.parts(inputs[1:]).constants
    values = dict(zip(inferred.parameters, lengths, strict=True))
    values.update(zip(op_.parts(op_.body.inputs).constants, outer, strict=True))
    return _with_values(inferred.carried, values), _with_values(inferred.traces, values)


def _kind(length: Any, numbers: dict[Variable, int]) -> Any:
    """A static length as an integer, or the number of another length in a tuple. The same length has the same number."""
    if isinstance(length, Constant):
        return int(length.data)
    if isinstance(length, Variable):
        return (numbers.setdefault(length, len(numbers)),)
    return length


def _with_values(shapes: Sequence[Shape], values: Mapping[Variable, Variable]) -> list[Shape]:
    """The shapes with variables replaced by their values."""
    return [tuple([_with_value(n, values) for n in shape]) for shape in shapes]


def _with_value(length: Any, values: Mapping[Variable, Variable]) -> Any:
    if not isinstance(length, Variable):
        return length
    value = values.get(length)
    if value is not None:
        return value
    roots = set(ancestors([length]))
    pairs = [(old, new) for old, new in values.items() if old in roots]
    return clone_replace(length, pairs) if pairs else length


def _infer(op_: Scan, kinds: Sequence[Any], parameters: list[Variable]) -> _Lengths:
    """What `element_shapes` returns, for inputs whose shapes are of these kinds (see `_kind`)."""
    arguments = op_.parts(op_.body.inputs)
    inner = {*arguments.carried, *arguments.sequences}
    at_first: dict[Variable, Shape] = {}
    read = set(arguments.sequences)
    for variable, kind in zip(op_.body.inputs, kinds, strict=True):
        if kind is not None and variable.type.is_array:
            shape: Shape = tuple([parameters[n[0]] if isinstance(n, tuple) else n for n in kind])
            at_first[variable] = shape[1:] if variable in read else shape
    first = _body_shapes(op_.body, at_first)
    traces = [
        tuple([_outside(n, inner) for n in shape])
        for shape in first[op_.carried : op_.carried + op_.traces]
    ]
    return _Lengths(parameters, _kept(op_, arguments.carried, at_first, first, inner), traces)


def _kept(
    op_: Scan,
    carried: Sequence[Variable],
    at_first: Mapping[Variable, Shape],
    results: list[Shape],
    inner: set[Variable],
) -> list[Shape]:
    """The shapes of the carried values, with None for each length that a step may change.

    ``at_first`` has the shapes of the body's inputs in the first step, and ``results`` those of its outputs. They are
    inferred again only if a length changes, since the work would double with each loop inside of another one.
    """
    shapes = dict(at_first)
    changed = True
    while changed:
        changed = False
        for variable, new in zip(carried, results, strict=False):
            lengths: list[Any] = []
            for axis, (a, b) in enumerate(zip(shapes.get(variable, ()), new, strict=False)):
                same = _reads(a, variable) or _same(a, _outside(b, inner))
                lengths.append(a if same else Shape_i(axis)(variable))
                # the loop ends, since a length that became unknown is never known again
                changed = changed or not same
            if variable in shapes:
                shapes[variable] = tuple(lengths)
        if changed:
            results = _body_shapes(op_.body, shapes)
    return [tuple(None if _reads(n, v) else n for n in shapes.get(v, ())) for v in carried]


def _outside(length: Any, inner: set[Variable]) -> Any:
    """The length, or None if it depends on ``inner``, the carried values and elements of sequences."""
    if isinstance(length, Variable) and not inner.isdisjoint(ancestors([length])):
        return None
    return length


def _same(length: Any, other: Any) -> bool:
    return length is other or (
        isinstance(length, int) and isinstance(other, int) and length == other
    )


def _reads(length: Any, variable: Variable) -> bool:
    """Whether a length is a `Shape_i` of ``variable``, that is, not inferred."""
    owner = length.owner if isinstance(length, Variable) else None
    return owner is not None and owner.inputs[0] is variable


def result_shapes(op_: Scan, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
    """The shapes of the outputs of a node. Lengths that cannot be inferred are read from the outputs themselves."""
    carried, elements = element_shapes(op_, node.inputs, input_shapes)
    steps: Any = node.outputs[-1] if op_.stops else as_tensor_variable(node.inputs[0])
    shapes = [*carried, *((steps, *shape) for shape in elements), ()]
    results: list[Any] = []
    for v, shape in zip(node.outputs, shapes, strict=False):
        lengths = [Shape_i(i)(v) if n is None else n for i, n in enumerate(shape)]
        results.append(tuple(lengths) if v.type.is_array else None)
    return results
