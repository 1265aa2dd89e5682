"""Lowering of regions: the branches of conditionals, and the bodies of loops.

`lowerings.control` calls `choose` for conditionals. The lowering of loops is registered in this module. Each region has a
context of its own, with its own schedule, liveness and working memory.

Both branches of a conditional store their results in the same buffers; scalar results are values. An iteration of a
loop passes scalars to the next iteration as carried values. It passes tensors in two buffers that are swapped, or in
one buffer if the new elements can overwrite the old elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from occelo_graph import Apply, Variable
from occelo_link.loops.complexes import always, parts_of
from occelo_link.loops.ir.program import Alloc, Buffer, Value
from occelo_link.loops.kernel import ElementRoot
from occelo_link.loops.loop_nests import copy_elements
from occelo_link.loops.lowering import CHEAP, Context, repeats
from occelo_link.loops.registry import can_be_callback, find_lowering, lowers_iterations
from occelo_link.loops.tensor_groups import Leaf, from_leaves, leaves_of, map_leaves
from occelo_link.loops.tensors import SMALL, Stored, Tensor, Virtual, is_small, is_unit

_MOST_TRANSPOSED = 1 << 15
"""A transposed matrix with at most this number of elements is copied before a loop if each iteration reads its elements
more than once. Otherwise it is copied only if it has at most `SMALL` elements.
"""
_FEW_ITERATIONS = 8


def _leaves(variables: Sequence[Variable]) -> list[Leaf]:
    return [leaf for v in variables for leaf in leaves_of(v.type)]


def _from_leaves(variables: Sequence[Variable], parts: Sequence[Tensor]) -> list[Tensor]:
    """The lowered values of variables, made from their leaves (`tensor_groups`)."""
    rest = iter(parts)
    return [from_leaves(v.type, rest) for v in variables]


def _parts(context: Context, variables: Sequence[Variable]) -> list[Tensor]:
    return [part for v in variables for part in parts_of(context.tensor(v))]


def _from_values(
    context: Context, leaves: Sequence[Leaf], buffers: Sequence[Buffer], values: Sequence[Value]
) -> list[Tensor]:
    """Make the tensors of ``leaves`` from buffers and values; the inverse of `_to_values`.

    A tensor with dimensions lies in its buffer. ``values`` has the dynamic lengths of such tensors, and the scalars, in
    order.
    """
    rest = iter(values)
    tensors: list[Tensor] = []
    for leaf, buffer in zip(leaves, buffers, strict=True):
        if leaf.shape:
            shape = [next(rest) if n is None else context.i64(n) for n in leaf.shape]
            tensors.append(context.over(buffer, shape))
        else:
            tensors.append(Virtual(leaf.dtype, (), always(next(rest)), flat=True))
    return tensors


def _to_values(
    context: Context,
    leaves: Sequence[Leaf],
    parts: Sequence[Tensor],
    targets: Callable[[int, Sequence[Value]], Stored | None],
    more: Sequence[Tensor] = (),
) -> list[Value]:
    """The dynamic lengths and the scalars of ``parts``, in order, and then the scalars ``more``.

    ``targets(k, lengths)`` returns the target in which part ``k`` is stored, or None if it is not stored. Nothing else is read of
    the region, if the context is that of a region.
    """
    values: list[Value | Tensor] = []
    for k, (leaf, part) in enumerate(zip(leaves, parts, strict=True)):
        if not leaf.shape:
            values.append(part)
            continue
        lengths: list[Value] = []
        for static, length in zip(leaf.shape, part.shape, strict=True):
            if static is None:
                values.append(context.canonical(length))
                lengths.append(length)
            else:
                lengths.append(context.unify(context.i64(static), length))
        target = targets(k, lengths)
        if target is not None:
            target.readers += 1
            context.schedule.add_root(ElementRoot(part, target, context.builder.node))
    values += more
    # when scalars are computed, all that the pending steps compute has its readers
    context.schedule.read_last([v for v in values if isinstance(v, Tensor)])
    return [context.scalar(v) if isinstance(v, Tensor) else v for v in values]


# branches


def choose(context: Context, condition: Value, node: Apply) -> list[Tensor]:
    """Run the first region of a node if the condition holds, otherwise the second region. Returns the results."""
    leaves = _leaves(node.outputs)
    buffers = [context.builder.buffer(f.dtype, "work", ndim=len(f.shape)) for f in leaves]
    regions = node.op.regions(node)
    context.schedule.flush()

    def branch(which: int) -> list[Value]:
        results = [node.inputs[i] for i in regions[which].results]
        with context.region() as inner:
            inner.lower_nodes(context.division.inside[node][which])
            parts = _parts(inner, results)
            return _to_values(inner, leaves, parts, lambda k, n: inner.over(buffers[k], n))

    values = context.builder.branch(condition, lambda: branch(0), lambda: branch(1))
    return _from_leaves(node.outputs, _from_values(context, leaves, buffers, values))


# loops


def _has_lowering(node: Apply) -> bool:
    """Whether a loop can be lowered. All its inputs and outputs must consist of arrays.

    Each node of the inner graph must have a lowering, or be able to run as a callback.
    """
    values = (*node.inputs, *node.outputs)
    return all(v.type.parts() is not None for v in values) and all(
        find_lowering(n) is not None or can_be_callback(n) for n in node.op.loop(node).body.nodes
    )


@lowers_iterations(_has_lowering)
def lower_loop(context: Context, node: Apply, inputs: list[Tensor]) -> Sequence[Tensor]:
    if node.op.loop(node).count is None:
        return _once(context, node, inputs)
    return _LoopLowering(context, node, inputs).run()


def _once(context: Context, node: Apply, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
    """Lower an inner graph that runs once, within the enclosing region. Returns its results."""
    body = node.op.loop(node).body
    around = context.tensors, context.uses, context.division
    # frozen graphs share variables, so the enclosing graph may have other tensors for the same variables
    context.tensors = dict(zip(body.inputs, inputs, strict=True))
    with context.state.inner_graph(node):
        context.lower_graph(body.nodes, body.outputs)
    results = [context.tensor(v) for v in body.outputs]
    context.tensors, context.uses, context.division = around
    context.state.node = node
    return results


class _LoopLowering:
    """Lowers a node that runs an inner graph repeatedly."""

    def __init__(self, context: Context, node: Apply, inputs: Sequence[Tensor]) -> None:
        self.context = context
        self.node = node
        self.loop = node.op.loop(node)
        self.inputs = inputs
        arguments = self.loop.body.inputs
        self.carried = arguments[: len(self.loop.carried)]
        self.read = arguments[len(self.loop.carried) :]
        self.leaves = _leaves(self.carried)
        builder = context.builder
        self.allocated: dict[Buffer, tuple[Alloc, Sequence[Value]]] = {}
        self.states, self.others = (
            [builder.buffer(f.dtype, "carried", ndim=len(f.shape)) for f in self.leaves]
            for _ in range(2)
        )

    def run(self) -> list[Tensor]:
        context, builder, loop = self.context, self.context.builder, self.loop
        assert loop.count is not None
        count = builder.cast(context.scalar(self.inputs[loop.count]), "int64")
        repeated = self._repeated(count)
        read = [
            self._available(self.inputs[i], v in repeated)
            for i, v in zip(loop.read, self.read, strict=True)
        ]
        context.schedule.flush()
        initial = self._initial(count)
        if loop.stops:
            values = self._until(count, initial, read)
        else:
            with builder.loop(count, fixed=True) as statement:
                carried = [statement.carry(value) for value in initial]
                following, _ = self._iteration([each.param for each in carried], read)
                for each, value in zip(carried, following, strict=True):
                    each.following = value
            values = [each.result for each in carried]
        if builder.at_top:
            context.state.stays.update(self.allocated)
        parts = _from_values(context, self.leaves, self.states, values)
        return _from_leaves(self.node.outputs, parts)

    def _repeated(self, count: Value) -> set[Variable]:
        """The inputs of the body whose elements are read more than once in an iteration.

        The set is empty if there are very few iterations.
        """
        if count.op == "const" and count.args[0] < _FEW_ITERATIONS:
            return set()
        repeated: set[Variable] = set()
        for node in self.loop.body.nodes:
            if not node.op.view_map:
                repeated.update(v for v in node.inputs if v not in repeated and repeats(v, node))
        return repeated

    def _available(self, tensor: Tensor, repeated: bool) -> Tensor:
        """Prepare a tensor that all iterations read: store it, unless it is cheap to recompute.

        A small transposed matrix is copied once, since products in each iteration would gather its elements. A larger
        transposed matrix is copied if each iteration reads its elements more than once (``repeated``), since BLAS takes
        up to twice as long for products with a transposed matrix.
        """
        largest = _MOST_TRANSPOSED if repeated else SMALL

        def kept(part: Tensor) -> Tensor:
            if part.ndim > 1 and not part.flat and is_small(part.shape, largest):
                return self.context.contiguous_copy(part)
            # the formula of a scalar is computed once in each iteration, not once for each element
            most = 0 if all(map(is_unit, part.shape)) else CHEAP
            cheap = isinstance(part, Virtual) and part.cost <= most
            return part if cheap else self.context.store(part)

        return map_leaves(tensor, kept)

    def _initial(self, count: Value) -> list[Value]:
        """The carried values before the first iteration. Tensors are copied to their buffers.

        If the length of a tensor shows that the iterations write all its elements, it is allocated but not filled.
        """
        context, builder = self.context, self.context.builder
        parts = [part for i in self.loop.carried for part in parts_of(self.inputs[i])]
        filled = [k in self.loop.fills for k, v in enumerate(self.carried) for _ in _leaves([v])]

        def target(k: int, lengths: Sequence[Value]) -> None:
            alloc = builder.alloc(self.states[k], builder.product(lengths))
            self.allocated[self.states[k]] = alloc, lengths
            if not filled[k] or context.canonical(lengths[0]) is not context.canonical(count):
                copy_elements(context, parts[k], context.over(self.states[k], lengths))

        return _to_values(context, self.leaves, parts, target)

    def _until(self, count: Value, initial: Sequence[Value], read: Sequence[Tensor]) -> list[Value]:
        """Write a loop that may end before ``count`` iterations, when a condition holds."""
        builder = self.context.builder
        one, more = builder.i64(1), builder.const(True, "bool")

        def holds(params: Sequence[Value]) -> Value:
            return builder.op("and", params[1], builder.lt(params[0], count))

        def body(params: Sequence[Value]) -> list[Value]:
            following, stops = self._iteration(params[2:], read)
            assert stops is not None
            return [builder.add(params[0], one), builder.op("not", stops), *following]

        return builder.repeat_while([builder.i64(0), more, *initial], holds, body)[2:]

    def _iteration(
        self, params: Sequence[Value], read: Sequence[Tensor]
    ) -> tuple[list[Value], Value | None]:
        """Write one iteration. Returns the values for the next iteration, and whether this iteration is the last one."""
        body, stops = self.loop.body, None
        with self.context.region() as inner:
            before = _from_values(inner, self.leaves, self.states, params)
            inner.tensors.update(zip(self.carried, _from_leaves(self.carried, before), strict=True))
            inner.tensors.update(zip(self.read, read, strict=True))
            with inner.state.inner_graph(self.node):
                inner.lower_graph(body.nodes, body.outputs)
            after = _parts(inner, body.outputs[: len(self.carried)])

            def target(k: int, lengths: Sequence[Value]) -> Stored | None:
                if after[k] is before[k]:
                    return None
                inner.schedule.carried[self.others[k]] = self.states[k]
                return inner.over(self.others[k], lengths)

            more = [inner.tensor(body.outputs[-1])] if self.loop.stops else []
            following = _to_values(inner, self.leaves, after, target, more)
            if more:
                stops = following.pop()
        for other, state in inner.schedule.carried.items():
            self.context.builder.swap(state, other)
            del self.allocated[state]
        return following, stops
