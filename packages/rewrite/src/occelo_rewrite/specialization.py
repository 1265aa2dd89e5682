"""Specializes single nodes before they run: lengths with known values become constants or fields of ops.

In a graph that a user builds, even a static length is read from its tensor, as in ``x.shape[0]``. So the graph can be
rebuilt for another shape of ``x``. In the copy that is compiled, such lengths are numbers.

`occelo_compile.specialization` calls these functions when it copies a graph to compile it. `occelo_compile.collect`
calls `inputs_needed` to find inputs that need no value, because only their static lengths are used, and
`without_checks_of` for roots that are only needed to check the shape of a derivative. During rewriting, the rule
`lengths_that_are_known` calls `specialized_lengths` again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.traversal import toposort
from occelo_graph.ops.length_inputs import ONCE_KNOWN
from occelo_graph.ops.shape.asserting import SpecifyShape
from occelo_graph.ops.shape.reading import Shape, Shape_i, length_read
from occelo_graph.ops.specialization import fill_of_known_shape, known_lengths
from occelo_graph.tensors.nodes import computed_by, tensors


def inputs_needed(node: Apply) -> Sequence[Variable]:
    """The inputs of ``node`` that must be computed. The node only uses the static shapes of its other inputs."""
    fill = fill_of_known_shape(node)
    if fill is not None:
        return (fill[1],)
    needed: Sequence[Variable] = () if known_lengths(node) is not None else node.inputs
    return needed


def without_checks_of(
    missing: Iterable[Variable], outputs: Sequence[Variable], blockers: Collection[Variable]
) -> dict[Variable, Variable]:
    """Copies of the variables of a graph that do not compare the shape of a tensor with lengths of ``missing`` roots.

    Only checks that derivatives and rules added are left out, since their results do not depend on them: the product of
    a vector and a Jacobian by ``W`` may be computed without a ``W``. What a user specified with `specify_shape` stays.
    """
    lacking = set(missing)
    copies: dict[Variable, Variable] = {}
    for node in toposort(outputs, blockers=blockers):
        inputs = [copies.get(v, v) for v in node.inputs]
        check: Any = node.op
        named = node.op.types_follow_values and getattr(check, "of", "")  # a check of a shape
        if named and not lacking.isdisjoint(node.inputs):
            copies[node.outputs[0]] = _with_lengths(check, node.inputs, inputs, lacking)
            if node.inputs[0] in lacking:
                lacking.update(node.outputs)
            continue
        if not lacking.isdisjoint(inputs_needed(node)):
            lacking.update(node.outputs)
        if any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
            copied = node.clone_with_new_inputs(inputs).outputs
            copies.update(zip(node.outputs, copied, strict=True))
    return copies


def _with_lengths(
    op: Any,
    before: Sequence[Variable],
    inputs: Sequence[Variable],
    lacking: Collection[Variable],
) -> Variable:
    """The check ``op`` over ``inputs``, the copies of ``before``, without the lengths that ``lacking`` contains."""
    stays = [v not in lacking for v in before[1:]]
    rest = iter(stays)
    dynamic = tuple(is_given and next(rest) for is_given in op.given)
    if not any(dynamic) and all(n is None for n in op.static):
        return inputs[0]
    lengths = [n for n, here in zip(inputs[1:], stays, strict=True) if here]
    fewer: Variable = SpecifyShape(op.static, dynamic, op.of)(inputs[0], *lengths)
    return fewer


def length_of_copy(node: Apply, inputs: Sequence[Variable]) -> Variable | None:
    """If ``node`` is ``shape(x)[i]``, the same length of the copy of ``x``, as a node ``Shape_i(i)``. Else None.

    ``inputs`` are the inputs of the copy of ``node``.
    """
    owner = computed_by(inputs[0], Shape) if inputs else None
    if owner is None:
        return None
    read = length_read(node.outputs[0])
    if read is None:
        return None
    length: Variable = Shape_i(read[1])(owner.inputs[0])
    return length


def specialized_lengths(node: Apply, inputs: Sequence[Variable]) -> Variable | None:
    """Apply the op of ``node`` to ``inputs``, with known lengths as fields of the op. Returns the output.

    None if no length is known.

    The new output may have a less precise type than the output of ``node``. This happens if an input had a known value
    when ``node`` was made, and was later replaced by an input without a known value. Then the result is
    the output of a `SpecifyShape` that asserts the more precise type.
    """
    if not node.op.types_follow_values or len(inputs) == 1:
        return None
    op, rest = node.op.specialized(inputs)
    types = op.types_for(rest)
    target = tensors(node.outputs)[0].type
    fits = target.is_super(types[0])
    if fits and op is node.op:
        return None
    made_node = Apply.of_types(op, rest, types)
    made_node.mark = node.mark
    if fits:
        return made_node.outputs[0]
    asserting = SpecifyShape(target.shape, (False,) * target.ndim, ONCE_KNOWN)
    asserted = asserting.make_node(*made_node.outputs)
    asserted.mark = node.mark
    return asserted.outputs[0]
