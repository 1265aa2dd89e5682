"""Shape inference of `Scan`: the shapes of the outputs of a node, and of the elements of traces.

`Scan.infer_shape` calls `result_shapes`. `looping.expansion` calls `element_shapes` to allocate the memory for traces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph.errors import MethodNotDefined
from occelo_graph.ir.clone import clone_replace
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.traversal import ancestors
from occelo_graph.ops.shape.reading import Shape_i
from occelo_graph.tensors.constant import as_tensor_variable

if TYPE_CHECKING:
    from occelo_graph.fgraph.frozen import FrozenFunctionGraph
    from occelo_graph.looping.scan_op import Scan

__all__ = ["element_shapes", "result_shapes"]

Shape = tuple[Any, ...]


def _own_lengths(variable: Variable) -> Shape:
    """The lengths of a variable: integers where they are static, else `Shape_i` of the variable."""
    shape = variable.type.shape or ()
    return tuple(Shape_i(i)(variable) if n is None else n for i, n in enumerate(shape))


def _body_shapes(body: FrozenFunctionGraph, given: Mapping[Variable, Shape]) -> list[Shape]:
    """The shapes of the body's results; a length that cannot be inferred is read from the variable that has it."""
    shapes: dict[Variable, Shape] = dict(given)

    def shape(variable: Variable) -> Shape:
        found = shapes.get(variable)
        if found is None:
            found = shapes[variable] = _own_lengths(variable)
        return found

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
                o if n is None or isinstance(o, int) else n
                for o, n in zip(own, lengths, strict=True)
            )
    return [shape(v) for v in body.outputs]


class _Outside:
    """Converts lengths that the body computes to lengths in the graph around the scan.

    That is possible if they depend only on those arguments of the body that are the scan's constants.
    """

    def __init__(self, op_: Scan, inputs: Sequence[Variable]) -> None:
        arguments = op_.parts(op_.body.inputs)
        self._inner = {*arguments.carried, *arguments.sequences}
        constants = op_.parts(inputs[1:]).constants
        self._replaced = list(zip(arguments.constants, constants, strict=True))
        self._constants = set(arguments.constants)

    def length(self, length: Any) -> Any:
        """The length in the graph around the scan; None if it depends on carried values or elements of sequences."""
        if not isinstance(length, Variable):
            return length
        roots = set(ancestors([length]))
        if not roots.isdisjoint(self._inner):
            return None
        if roots.isdisjoint(self._constants):
            return length
        found: Variable = clone_replace(length, self._replaced)
        return found


def element_shapes(
    op_: Scan, inputs: Sequence[Variable], input_shapes: Sequence[Any]
) -> tuple[list[Shape], list[Shape]]:
    """The shapes of the carried values after a step, and of the elements of traces; unknown lengths are None.

    All elements of a trace have the shape of the first one. A length of a carried value is known if every step provably
    keeps the initial length.
    """
    arguments = op_.parts(op_.body.inputs)
    outside = _Outside(op_, inputs)
    at_first: dict[Variable, Shape] = {}
    read = set(arguments.sequences)
    for variable, shape in zip(op_.body.inputs, input_shapes[1:], strict=True):
        if shape is not None and variable.type.is_array:
            at_first[variable] = tuple(shape[1:] if variable in read else shape)
    first = [tuple(outside.length(n) for n in shape) for shape in _body_shapes(op_.body, at_first)]
    traces = first[op_.carried : op_.carried + op_.traces]
    return _kept(op_, arguments.carried, at_first, outside), traces


def _kept(
    op_: Scan, carried: Sequence[Variable], at_first: Mapping[Variable, Shape], outside: _Outside
) -> list[Shape]:
    """The lengths of the carried values; None for each length that a step may change."""
    shapes = dict(at_first)
    changed = True
    while changed:
        changed = False
        for variable, new in zip(carried, _body_shapes(op_.body, shapes), strict=False):
            lengths: list[Any] = []
            for axis, (a, b) in enumerate(zip(shapes.get(variable, ()), new, strict=False)):
                kept = _reads(a, variable) or _same(a, outside.length(b))
                lengths.append(a if kept else Shape_i(axis)(variable))
                # a length that is once unknown stays so, so this loop ends
                changed = changed or not kept
            if variable in shapes:
                shapes[variable] = tuple(lengths)
    return [tuple(None if _reads(n, v) else n for n in shapes.get(v, ())) for v in carried]


def _same(length: Any, other: Any) -> bool:
    return length is other or (
        isinstance(length, int) and isinstance(other, int) and length == other
    )


def _reads(length: Any, variable: Variable) -> bool:
    """Whether a length is read from ``variable`` itself."""
    owner = length.owner if isinstance(length, Variable) else None
    return owner is not None and owner.inputs[0] is variable


def result_shapes(op_: Scan, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
    """The shapes of the outputs of a node; lengths that depend on values are read from the outputs."""
    carried, elements = element_shapes(op_, node.inputs, input_shapes)
    steps: Any = node.outputs[-1] if op_.stops else as_tensor_variable(node.inputs[0])
    shapes = [*carried, *((steps, *shape) for shape in elements), ()]
    found: list[Any] = []
    for v, shape in zip(node.outputs, shapes, strict=False):
        lengths = [Shape_i(i)(v) if n is None else n for i, n in enumerate(shape)]
        found.append(tuple(lengths) if v.type.is_array else None)
    return found
