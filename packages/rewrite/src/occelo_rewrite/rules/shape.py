"""Rules of shapes: lengths worked out from what is known, and chains of reorderings made one."""

from __future__ import annotations

from typing import Any

from occelo_graph import Apply, FunctionGraph, Variable
from occelo_graph import tensor as ot
from occelo_graph.ops.shape import DimShuffle, Reshape, Shape, Shape_i, SpecifyShape
from occelo_rewrite.rule import RuleSet, node_rewriter

__all__ = ["CANONICALIZE"]


@node_rewriter([Shape_i])
def length_from_inputs(fgraph: FunctionGraph, node: Apply) -> Any:
    """The length of a result is what its op's infer_shape says, in terms of its inputs."""
    op: Any = node.op
    x: Any = node.inputs[0]
    static = x.type.shape[op.i]
    if static is not None:
        return [ot.constant(static, dtype="int64")]
    owner = x.owner
    if owner is None or not owner.op.has_infer_shape:
        return None
    shapes = owner.op.shapes(
        owner, [ot.shape_tuple(v) if _is_tensor(v) else () for v in owner.inputs]
    )
    length = shapes[x.index][op.i]
    found = length if isinstance(length, Variable) else ot.constant(length, dtype="int64")
    return None if found.owner is not None and found.owner is node else [ot.cast(found, "int64")]


def _is_tensor(variable: Variable) -> bool:
    return hasattr(variable.type, "ndim")


@node_rewriter([Shape])
def shape_of_lengths(fgraph: FunctionGraph, node: Apply) -> Any:
    """shape(x) is the vector of its lengths, if x is computed or one of them is known."""
    x: Any = node.inputs[0]
    if x.type.ndim == 0 or (x.owner is None and all(n is None for n in x.type.shape)):
        return None
    return [
        ot.make_vector(
            *(ot.constant(n, dtype="int64") if isinstance(n, int) else n for n in ot.shape_tuple(x))
        )
    ]


@node_rewriter([DimShuffle])
def dimshuffle_of_dimshuffle(fgraph: FunctionGraph, node: Apply) -> Any:
    """Two reorderings are one, and one that changes nothing is dropped."""
    op: Any = node.op
    x: Any = node.inputs[0]
    if op.new_order == tuple(range(op.input_ndim)):
        return [x]
    inner = x.owner
    if inner is None or not isinstance(inner.op, DimShuffle):
        return None
    # what the outer one drops must be new in the inner one, or its length goes unchecked
    if any(inner.op.new_order[i] != "x" for i in op.dropped):  # pyright: ignore[reportUnknownArgumentType]
        return None
    order = [a if a == "x" else inner.op.new_order[a] for a in op.new_order]  # pyright: ignore[reportUnknownVariableType]
    return [ot.dimshuffle(inner.inputs[0], order)]


@node_rewriter([Reshape])
def reshape_of_reshape(fgraph: FunctionGraph, node: Apply) -> Any:
    """reshape(reshape(x)) = reshape(x), and reshaping to a known own shape changes nothing.

    The inner lengths are then not checked (may hide a shape error).
    """
    op: Any = node.op
    x: Any = node.inputs[0]
    if None not in x.type.shape and x.type.shape == node.outputs[0].type.shape:  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        return [x]
    inner = x.owner
    if inner is None or not isinstance(inner.op, Reshape):
        return None
    return [op(inner.inputs[0], *node.inputs[1:])]


@node_rewriter([SpecifyShape])
def specify_what_is_known(fgraph: FunctionGraph, node: Apply) -> Any:
    """Asserting lengths that are known already is the tensor itself."""
    op: Any = node.op
    x: Any = node.inputs[0]
    if any(op.given):
        return None
    known = all(w is None or w == n for w, n in zip(op.static, x.type.shape, strict=True))
    return [x] if known else None


CANONICALIZE = RuleSet(
    (
        length_from_inputs,
        shape_of_lengths,
        dimshuffle_of_dimshuffle,
        reshape_of_reshape,
        specify_what_is_known,
    ),
    "shape canonicalize",
)
