"""The rule that replaces running sums and products in a scan by cumulative sums and products outside of the loop.

`pipeline` puts it into the stage canonicalize.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from weakref import WeakKeyDictionary

from occelo_graph import (
    Apply,
    FrozenFunctionGraph,
    FunctionGraph,
    TensorVariable,
    Variable,
    freeze,
    vectorize_graph,
)
from occelo_graph import tensor as ot
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir.clone import clone_replace
from occelo_graph.ir.traversal import ancestors
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.tensors.nodes import is_tensor, tensors
from occelo_loops.ops.expansion import checked_steps
from occelo_loops.ops.scan_op import Scan
from occelo_rewrite.constants import number_of
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.rewriter import MergeOptimizer
from occelo_rewrite.shapes import shapes_of


@frozen_dataclass
class _Running:
    """A running sum or product: ``name`` is "add" or "mul", and ``term`` is what each step adds or multiplies by."""

    name: str
    term: TensorVariable


@node_rewriter([Scan], tags=("rounding", "comparison", "overflow", "shape_unsafe"))
def running_sums_and_products(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """For s_t = s_{t-1} + a_t: final value s_n = s_0 + sum(a), trace (s_1, ..., s_n) = s_0 + cumsum(a).

    Likewise for products.

    The terms a_t must be elementwise functions of elements of sequences and constants, with the type of the state.
    Traces may contain the new state s_t, but not the old one. The rule does not apply to scans that a condition may
    end. (rounding, comparison: a sum adds in another order. overflow: the initial value is added last. shape_unsafe:
    shapes that do not fit raise an error even if the scan has no step.)
    """
    op_ = node.op
    if op_.stops or not op_.sequences or not any(_term(op_, j) for j in range(op_.carried)):
        return None
    op_ = replace(op_, body=_merged(op_.body))
    readers = _readers(op_.body)
    running = {j: r for j in range(op_.carried) if (r := _running(op_, j, readers)) is not None}
    return _computed(fgraph, node, op_, running) if running else None


_known: WeakKeyDictionary[FrozenFunctionGraph, FrozenFunctionGraph] = WeakKeyDictionary()
"""For each body, this body after equal nodes were merged."""


def _merged(body: FrozenFunctionGraph) -> FrozenFunctionGraph:
    merged = _known.get(body)
    if merged is None:
        graph = body.unfreeze()
        MergeOptimizer("body").rewrite(graph)
        merged = _known[body] = freeze(graph.inputs, graph.outputs)
    return merged


def _readers(body: FrozenFunctionGraph) -> dict[Variable, list[Apply]]:
    """For each variable of a body, the nodes that read it."""
    readers: dict[Variable, list[Apply]] = {}
    for each in body.nodes:
        for v in dict.fromkeys(each.inputs):
            readers.setdefault(v, []).append(each)
    return readers


def _term(op_: Scan, j: int) -> _Running | None:
    """What each step adds to the carried value ``j``, or multiplies it by; None if this is no function of sequences."""
    before, after = op_.body.inputs[j], op_.body.outputs[j]
    owner = after.owner
    if owner is None or not isinstance(owner.op, Elemwise) or len(owner.inputs) != 2:
        return None
    name = owner.op.scalar_op.name
    terms = [v for v in owner.inputs if v is not before]
    if name not in ("add", "mul") or len(terms) != 1 or not is_tensor(after):
        return None
    (term,) = terms
    if after.type.dtype == "bool" or not is_tensor(term):
        return None
    if after.type != before.type or term.type != before.type:
        return None
    return _Running(name, term) if _of_sequences(op_, term) else None


def _of_sequences(op_: Scan, term: Variable) -> bool:
    """Whether a variable of a body is an elementwise function of elements of sequences and constants."""
    parts = op_.parts(op_.body.inputs)
    carried, sequences = set(parts.carried), set(parts.sequences)
    reads = False
    # one variable after the other, since most long graphs soon show that they are no such functions
    for v in ancestors([term]):
        if v in carried or not (v.owner is None or isinstance(v.owner.op, Elemwise | DimShuffle)):
            return False
        reads = reads or v in sequences
    return reads


def _running(op_: Scan, j: int, readers: Mapping[Variable, list[Apply]]) -> _Running | None:
    """The running sum or product of the carried value ``j``; None if steps use the value in any other way."""
    body = op_.body
    before, after = body.inputs[j], body.outputs[j]
    running = _term(op_, j)
    if running is None:
        return None
    states = body.outputs[: op_.carried]
    # a trace of the old values would need a copy
    if before in body.outputs or states.count(after) != 1:
        return None
    others = [*readers.get(before, ()), *readers.get(after, ())]
    return running if others == [after.owner] else None


def _computed(
    fgraph: FunctionGraph, node: Apply[Scan], op_: Scan, running: dict[int, _Running]
) -> dict[Variable, Variable] | None:
    body = op_.body
    inner, outer = op_.parts(body.inputs), op_.parts(node.inputs[1:])
    (steps,) = tensors(node.inputs[:1])
    still = [j for j in range(op_.carried) if j not in running]
    moved = {body.outputs[j]: j for j in running}
    traces = [k for k in range(op_.traces) if body.outputs[op_.carried + k] not in moved]
    replaced: dict[Variable, Variable] = {}
    if still or traces:
        smaller = replace(
            op_,
            body=freeze(
                [*(body.inputs[j] for j in still), *body.inputs[op_.carried :]],
                [
                    *(body.outputs[j] for j in still),
                    *(body.outputs[op_.carried + k] for k in traces),
                ],
            ),
            carried=len(still),
        )
        starts = [outer.carried[j] for j in still]
        outputs = smaller(steps, *starts, *node.inputs[1 + op_.carried :], return_list=True)
        replaced.update(zip((node.outputs[j] for j in still), outputs, strict=False))
        old = (node.outputs[op_.carried + k] for k in traces)
        replaced.update(zip(old, outputs[len(still) :], strict=True))
    sequences = tensors(outer.sequences)
    count = checked_steps(op_, steps, sequences)
    lengths = shapes_of(fgraph)
    elements = [
        s if count is steps and lengths.is_length(fgraph, steps, s, 0) else s[:count]
        for s in sequences
    ]
    for j, each in running.items():
        (start,) = tensors([outer.carried[j]])
        bound = clone_replace(
            each.term,
            dict(zip(inner.constants, outer.constants, strict=True)),
            rebuild_strict=False,
        )
        (terms,) = tensors(
            vectorize_graph([bound], dict(zip(inner.sequences, elements, strict=True)))
        )
        in_order = terms[::-1] if op_.reverse else terms
        adds = each.name == "add"
        neutral = number_of(start) == (0 if adds else 1)

        def whole(
            part: TensorVariable, first: TensorVariable = start, sums: bool = adds
        ) -> TensorVariable:
            return ot.add(first, part) if sums else ot.mul(first, part)

        dtype = start.dtype
        total = terms.sum(axis=0, dtype=dtype) if adds else terms.prod(axis=0, dtype=dtype)
        replaced[node.outputs[j]] = total if neutral else whole(total)
        for k in range(op_.traces):
            result = body.outputs[op_.carried + k]
            if moved.get(result) != j:
                continue
            values = (ot.cumsum if adds else ot.cumprod)(in_order, axis=0).astype(dtype)
            values = values if neutral else whole(values)
            replaced[node.outputs[op_.carried + k]] = values[::-1] if op_.reverse else values
    fits = all(v.type.is_super(new.type) for v, new in replaced.items())
    return replaced if fits else None


CANONICALIZE = RuleSet((running_sums_and_products,), "looping cumulative")
