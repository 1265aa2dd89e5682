"""Rules that move indexing, transposition and sizes from the result of a draw to its parameters.

So if only a part of a result is read, fewer numbers are drawn. `pipeline` registers the rules when random numbers are
imported. They are off unless a query includes their tag. The rules in `READS` (tag ``random_unsafe``) change the drawn
numbers, but not their distribution. The rule in `SIZES` (tag ``random_sizes``) is for programs that expect all lengths
in the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from occelo_graph import Apply, FunctionGraph, TensorApply, TensorVariable, apply_ancestors
from occelo_graph import tensor as ot
from occelo_graph.ir.types import NoneTypeT
from occelo_graph.ops.index.subtensor import Subtensor
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_random.ops.generator_distributions import ChoiceRV
from occelo_random.ops.random_variable import RandomVariable, normalize_size_param
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.rules.index.keys import FULL, is_full, kept_axes, parts_of, read
from occelo_rewrite.shapes import Length, shapes_of


def _independent(op: RandomVariable) -> bool:
    """Whether the draws of a batch are independent of each other, and the op may be applied to other parameters."""
    return not op.inplace and not (isinstance(op, ChoiceRV) and not op.replace)


def _drawn(fgraph: FunctionGraph, node: TensorApply) -> TensorApply[RandomVariable] | None:
    """The draw that computes the first input of ``node``.

    None if no draw computes this input, if the input has other readers, or if the draw must not be changed.
    """
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, RandomVariable) or not _independent(inner.op):
        return None
    if node.inputs[0] is not inner.outputs[1] or len(fgraph.clients[inner.outputs[1]]) > 1:
        return None
    draw = cast("TensorApply[RandomVariable]", inner)
    # other inputs of the node, such as positions, may depend on the state of the generator after
    # this draw
    if len(node.inputs) > 1 and inner in apply_ancestors(node.inputs[1:]):
        return None
    return draw if draw.op.dist_params(inner) else None


def _same(a: Length, b: Length) -> bool:
    return a is b or (isinstance(a, int) and a == b)


def _repeated(fgraph: FunctionGraph, inner: TensorApply[RandomVariable]) -> list[list[bool]] | None:
    """For each parameter, a flag for each of its batch axes: whether the axis has length 1 and is repeated.

    None if an axis neither has length 1 nor is known to have the length of the draw.
    """
    shapes = shapes_of(fgraph)
    lengths = shapes.shape_of(fgraph, inner.outputs[1])
    batch = inner.outputs[1].type.ndim - inner.op.ndim_supp
    repeated: list[list[bool]] = []
    for p, core in zip(inner.inputs[2:], inner.op.ndims_params, strict=True):
        own = p.type.ndim - core
        mine = shapes.shape_of(fgraph, p)[:own]
        flags = [n == 1 for n in p.type.shape[:own]]
        if not all(
            flag or _same(n, m)
            for flag, n, m in zip(flags, mine, lengths[batch - own : batch], strict=True)
        ):
            return None
        repeated.append(flags)
    return repeated


def _again(
    fgraph: FunctionGraph,
    node: TensorApply,
    inner: TensorApply[RandomVariable],
    repeated: Sequence[Sequence[bool]],
    moved: Callable[[TensorVariable, Sequence[bool]], TensorVariable],
) -> Replacements:
    """A draw with changed parameters. Its result replaces the result of ``node``.

    ``moved`` is a function that gets a parameter and its flags from ``repeated``, and returns the changed parameter.
    """
    generator, size, *parameters = inner.inputs
    own = [
        p if not flags else moved(p, flags) for p, flags in zip(parameters, repeated, strict=True)
    ]
    batch = inner.outputs[1].type.ndim - inner.op.ndim_supp
    # if one parameter has the shape of the draw, no size is needed
    whole = batch and any(len(flags) == batch and not any(flags) for flags in repeated)
    batch_shape = None
    if not (whole and isinstance(size.type, NoneTypeT)):
        lengths = shapes_of(fgraph).shape_of(fgraph, node.outputs[0])
        batch_shape = lengths[: len(lengths) - inner.op.ndim_supp]
    drawn = inner.op.make_node(generator, normalize_size_param(batch_shape), *own)
    following, draw = drawn.outputs
    return {inner.outputs[0]: following, node.outputs[0]: draw}


@node_rewriter([Subtensor], tags=("random_unsafe",))
def read_through_draw(fgraph: FunctionGraph, node: TensorApply[Subtensor]) -> Replacements:
    """distribution(p, q)[index] = distribution(p[index], q[index]), so that only the numbers to read are drawn."""
    inner = _drawn(fgraph, node)
    if inner is None:
        return None
    repeated = _repeated(fgraph, inner)
    shape = inner.outputs[1].type.shape
    batch = len(shape) - inner.op.ndim_supp
    parts = parts_of(node)
    parts += [FULL] * (len(shape) - len(parts))
    if repeated is None or not all(is_full(part) for part in parts[batch:]):
        return None
    for i, part in enumerate(parts[:batch]):
        n = shape[i]
        if isinstance(part, slice) or (n is not None and isinstance(part, int) and -n <= part < n):
            continue
        # a position may be out of bounds, which only a parameter with this axis would detect
        at = [flags[i - batch] for flags in repeated if len(flags) >= batch - i]
        if all(at):
            return None

    def moved(p: TensorVariable, flags: Sequence[bool]) -> TensorVariable:
        mine = parts[batch - len(flags) : batch]
        pairs = zip(mine, flags, strict=True)
        return read(p, [(FULL if isinstance(k, slice) else 0) if one else k for k, one in pairs])

    assert len(kept_axes(parts)) == node.outputs[0].type.ndim
    return _again(fgraph, node, inner, repeated, moved)


@node_rewriter([DimShuffle], tags=("random_unsafe",))
def dimshuffle_of_draw(fgraph: FunctionGraph, node: TensorApply[DimShuffle]) -> Replacements:
    """distribution(p, q).dimshuffle(order) = distribution(p.dimshuffle(order), q.dimshuffle(order)), if only batch axes are rearranged."""
    inner = _drawn(fgraph, node)
    if inner is None:
        return None
    repeated = _repeated(fgraph, inner)
    ndim = inner.outputs[1].type.ndim
    batch = ndim - inner.op.ndim_supp
    order = node.op.new_order
    first = len(order) - inner.op.ndim_supp
    if repeated is None or first < 0 or order[first:] != tuple(range(batch, ndim)):
        return None
    for a in node.op.dropped:
        # the static length of this axis is 1, but the length of a parameter's axis need not be
        # static
        if any(len(flags) >= batch - a and not flags[a - batch] for flags in repeated):
            return None

    def moved(p: TensorVariable, flags: Sequence[bool]) -> TensorVariable:
        before = batch - len(flags)
        mine = [a - before if isinstance(a, int) and a >= before else "x" for a in order[:first]]
        return p.dimshuffle(*mine, *range(len(flags), p.type.ndim))

    return _again(fgraph, node, inner, repeated, moved)


@node_rewriter([RandomVariable], tags=("random_sizes",))
def size_into_parameters(fgraph: FunctionGraph, node: TensorApply[RandomVariable]) -> Replacements:
    """distribution(p, q, size) = distribution(broadcast_to(p, size), q)."""
    size, parameters = node.inputs[1], node.inputs[2:]
    if isinstance(size.type, NoneTypeT) or not parameters or not _independent(node.op):
        return None
    if _repeated(fgraph, node) is None:
        return None
    batch = node.outputs[1].type.ndim - node.op.ndim_supp
    at = min(range(len(parameters)), key=lambda i: node.op.ndims_params[i])
    shapes = shapes_of(fgraph)
    core = shapes.shape_of(fgraph, parameters[at])[
        parameters[at].type.ndim - node.op.ndims_params[at] :
    ]
    shape = (*shapes.shape_of(fgraph, node.outputs[1])[:batch], *core)
    whole = list(parameters)
    whole[at] = ot.broadcast_to(parameters[at], shape)
    drawn: Apply = node.op.make_node(node.inputs[0], normalize_size_param(None), *whole)
    return drawn.outputs


READS = RuleSet((read_through_draw, dimshuffle_of_draw), "random reads")
SIZES = RuleSet((size_into_parameters,), "random sizes")
