"""Shape inference for `Scan`.

`result_shapes` infers the shapes of the outputs of a node, for `Scan.infer_shape`. `element_shapes` infers the shapes
of the final carried values and of the elements of traces. `looping.expansion` calls it to allocate memory, and
`looping.state_rows` to find states whose lengths no step changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph.errors import MethodNotDefined
from occelo_graph.ir.clone import clone_replace
from occelo_graph.ir.nodes import Apply, Variable
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


def _body_shapes(body: FrozenFunctionGraph, given: Mapping[Variable, Shape]) -> list[Shape]:
    """The shapes of the outputs of a body, from the shapes of its inputs in ``given``.

    A length that cannot be inferred is a `Shape_i` of a variable in the body.
    """
    shapes: dict[Variable, Shape] = dict(given)

    def shape(variable: Variable) -> Shape:
        found = shapes.get(variable)
        if found is None:
            found = shapes[variable] = _own_lengths(variable)
        return found

    def inferred(length: Any) -> Any:
        read = length_read(length)
        known = None if read is None else shapes.get(read[0])
        return length if read is None or known is None else known[read[1]]

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


class _Outside:
    """Converts a length that is a variable of the body to a variable of the graph that contains the scan.

    This is possible if the length depends only on constants of the scan. ``lengths`` are lengths of the graph that
    contains the scan. What they depend on is not searched, since it may be the whole graph.
    """

    def __init__(self, op_: Scan, inputs: Sequence[Variable], lengths: Iterable[Any]) -> None:
        arguments = op_.parts(op_.body.inputs)
        self._inner = {*arguments.carried, *arguments.sequences}
        constants = op_.parts(inputs[1:]).constants
        self._replaced = list(zip(arguments.constants, constants, strict=True))
        self._constants = set(arguments.constants)
        self._outer = {n for n in lengths if isinstance(n, Variable) and n.owner is not None}

    def length(self, length: Any) -> Any:
        """Convert a length. None if it depends on carried values or elements of sequences."""
        if not isinstance(length, Variable):
            return length
        roots = set(ancestors([length], self._outer))
        if not roots.isdisjoint(self._inner):
            return None
        if roots.isdisjoint(self._constants):
            return length
        kept = [(n, n) for n in self._outer]
        found: Variable = clone_replace(length, [*self._replaced, *kept])
        return found


def element_shapes(
    op_: Scan, inputs: Sequence[Variable], input_shapes: Sequence[Any]
) -> tuple[list[Shape], list[Shape]]:
    """The shapes of the carried values after the last step, and of the elements of traces. Unknown lengths are None.

    All elements of a trace have the shape of the first one, which is inferred from the initial carried values. A length
    of a carried value is known if no step can change the initial length.
    """
    arguments = op_.parts(op_.body.inputs)
    outside = _Outside(op_, inputs, [n for shape in input_shapes for n in shape or ()])
    at_first: dict[Variable, Shape] = {}
    read = set(arguments.sequences)
    for variable, shape in zip(op_.body.inputs, input_shapes[1:], strict=True):
        if shape is not None and variable.type.is_array:
            at_first[variable] = tuple(shape[1:] if variable in read else shape)
    first = _body_shapes(op_.body, at_first)
    traces = [
        tuple(outside.length(n) for n in shape)
        for shape in first[op_.carried : op_.carried + op_.traces]
    ]
    return _kept(op_, arguments.carried, at_first, first, outside), traces


def _kept(
    op_: Scan,
    carried: Sequence[Variable],
    at_first: Mapping[Variable, Shape],
    results: list[Shape],
    outside: _Outside,
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
                kept = _reads(a, variable) or _same(a, outside.length(b))
                lengths.append(a if kept else Shape_i(axis)(variable))
                # the loop ends, since a length that became unknown is never known again
                changed = changed or not kept
            if variable in shapes:
                shapes[variable] = tuple(lengths)
        if changed:
            results = _body_shapes(op_.body, shapes)
    return [tuple(None if _reads(n, v) else n for n in shapes.get(v, ())) for v in carried]


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
    found: list[Any] = []
    for v, shape in zip(node.outputs, shapes, strict=False):
        lengths = [Shape_i(i)(v) if n is None else n for i, n in enumerate(shape)]
        found.append(tuple(lengths) if v.type.is_array else None)
    return found
