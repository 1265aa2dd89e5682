"""The rule that lets a scan read results of another scan as traces, instead of computing them again.

`pipeline` puts it into the stage canonicalize. The gradient of a loop is a scan that reads the states of all steps of
the loop, and computes parts of each step again. With this rule, the gradient reads factors of matrices, solutions and
long products from the loop. The rule for products in `occelo_loops.rules.sequences` calls `kept_by_other_scans` for the same
purpose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from occelo_graph import Apply, Constant, FunctionGraph, Op, Variable, ancestors, freeze
from occelo_graph.families import is_registered
from occelo_graph.ir.clone import clone_replace
from occelo_graph.ir.regions import divide
from occelo_graph.ops.blas.products import Dot
from occelo_graph.tensors.nodes import is_tensor, tensors
from occelo_loops.ops.scan_op import Scan
from occelo_rewrite.demands import run_together
from occelo_rewrite.merge import constant_key
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.shapes import shapes_of

_LONG = 16
"""A product is kept as a trace only if each of its elements is a sum of at least this many terms."""


@node_rewriter([Scan])
def shared_factorizations(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """Results of linear algebra and long products in a scan = traces of another scan that computes the same.

    The scan must read the states of the other scan. The results must have static lengths, and together no more elements
    than the states, so that the memory at most doubles. If there is not room for all products, only the smallest
    products become traces.
    """
    if node.op.stops:
        return None
    results, products = _results_of_matrices(node.op), _long_products(node.op)
    if not results and not products:
        return None
    for other in other_scans(fgraph, node):
        same = same_values(node, other)
        most = elements(other.op.body.inputs[: other.op.carried])
        if most is None:
            continue
        shared = {v for v in (*results, *products) if v in same and same[v].type == v.type}
        chosen = needed_of(node.op, shared.intersection(results))
        size = elements(chosen)
        if size is None or size > most:
            continue
        before = elements(_read_besides_states(node, other))
        for v in _smallest_first(shared.intersection(products) if before is not None else set()):
            more = needed_of(node.op, {*chosen, v})
            size = elements(more)
            if v in more and size is not None and size + (before or 0) <= most:
                chosen = more
        if chosen:
            return reading(node, chosen, traced(other, [same[v] for v in chosen]))
    return None


def _read_besides_states(node: Apply[Scan], other: Apply[Scan]) -> list[Variable]:
    """The elements of sequences that ``node`` reads but ``other`` does not. Traces of states are left out."""
    elements: list[Variable] = []
    arguments, outer = node.op.parts(node.op.body.inputs), node.op.parts(node.inputs[1:])
    for argument, v in zip(arguments.sequences, outer.sequences, strict=True):
        s = v.owner
        is_state = (
            s is not None and isinstance(s.op, Scan) and _is_argument(s.op, s.outputs.index(v))
        )
        if not is_state and v not in other.inputs:
            elements.append(argument)
    return elements


def _is_argument(op_: Scan, output: int) -> bool:
    """Whether an output of a scan is a trace of an unchanged argument of the body, such as a state."""
    return op_.body.outputs[output] in op_.body.inputs


def needed_of(op_: Scan, variables: set[Variable]) -> list[Variable]:
    """Those of ``variables`` that a body still reads when all of ``variables`` are made inputs of the body.

    A variable that serves only to compute others of ``variables`` is left out.
    """
    return [v for v in ancestors(op_.body.outputs, variables) if v in variables]


def _smallest_first(variables: set[Variable]) -> list[Variable]:
    sized = [(n, v) for v in variables if (n := elements([v])) is not None]
    return [v for _, v in sorted(sized, key=lambda pair: pair[0])]


def computed_always(op_: Scan) -> list[Apply]:
    """The nodes of a body that run in every step: those that are in no branch."""
    lazily = divide(op_.body.nodes, op_.body.outputs).outermost
    return [each for each in op_.body.nodes if each not in lazily]


def _results_of_matrices(op_: Scan) -> list[Variable]:
    """The results of ops of linear algebra that a body computes in every step."""
    if not is_registered("linalg"):
        return []
    # imported here, since the family may not be loaded yet
    from occelo_linalg.ops.matrix_op import MatrixOp

    if not any(isinstance(each.op, MatrixOp) for each in op_.body.nodes):
        return []
    nodes = [each for each in computed_always(op_) if isinstance(each.op, MatrixOp)]
    return [v for each in nodes for v in each.outputs]


def _long_products(op_: Scan) -> list[Variable]:
    """The products that a body computes in every step and that take longer to compute than to store and read."""
    if not any(isinstance(each.op, Dot) for each in op_.body.nodes):
        return []
    products: list[Variable] = []
    for each in computed_always(op_):
        if isinstance(each.op, Dot):
            (x, _), (product,) = tensors(each.inputs), tensors(each.outputs)
            if product.type.ndim and (x.type.shape[-1] or 0) >= _LONG:
                products.append(product)
    return products


def elements(variables: Sequence[Variable]) -> int | None:
    """The total number of elements of ``variables``; None if it is not static."""
    total = 0
    for v in variables:
        if not is_tensor(v) or None in v.type.shape:
            return None
        total += math.prod(cast("tuple[int, ...]", v.type.shape))
    return total


def reading(
    node: Apply[Scan], variables: Sequence[Variable], traces: Sequence[Variable]
) -> list[Variable]:
    """The outputs of a new scan that reads ``variables`` of its body as sequences instead of computing them.

    ``traces`` are these sequences.
    """
    op_ = node.op
    inner, outer = op_.parts(op_.body.inputs), op_.parts(node.inputs[1:])
    fresh = [v.type.make_variable() for v in variables]
    results: list[Variable] = clone_replace(
        list(op_.body.outputs), dict(zip(variables, fresh, strict=True))
    )
    arguments = [*inner.carried, *inner.sequences, *fresh, *inner.constants]
    smaller = replace(op_, body=freeze(arguments, results), sequences=op_.sequences + len(fresh))
    operands = [*outer.carried, *outer.sequences, *traces, *outer.constants]
    outputs: list[Variable] = smaller(node.inputs[0], *operands, return_list=True)
    return outputs


def kept_by_other_scans(
    fgraph: FunctionGraph, node: Apply[Scan], products: Sequence[Variable]
) -> dict[Variable, Variable]:
    """A dict with traces of those ``products`` of a scan that another scan computes, too. Its keys are the products.

    ``node`` must read traces of the other scan, as the gradient of a loop does. The caller computes the products
    that are not in the dict for all steps at once, before the scan, and stores them. The trace of a product takes no
    more memory than that, so the number of elements is not limited here. The new traces are results of new scans,
    which `merged_scans` merges with the old scans.
    """
    traces = dict[Variable, Variable]()
    for other in other_scans(fgraph, node):
        same = same_values(node, other)
        shared = [v for v in products if v not in traces and v in same and same[v].type == v.type]
        if shared:
            traces.update(zip(shared, traced(other, [same[v] for v in shared]), strict=True))
    return traces


def other_scans(fgraph: FunctionGraph, node: Apply[Scan]) -> Iterator[Apply[Scan]]:
    """The scans whose traces ``node`` reads, if they have as many steps as ``node`` and run whenever it runs."""
    (steps,) = tensors(node.inputs[:1])
    for s in dict.fromkeys(v.owner for v in node.op.parts(node.inputs[1:]).sequences):
        if s is None or not isinstance(s.op, Scan) or s.op.stops or not s.op.traces:
            continue
        other = cast("Apply[Scan]", s)
        (trace,) = tensors(other.outputs[-1:])
        same_steps = shapes_of(fgraph).is_length(fgraph, steps, trace, 0)
        if same_steps and run_together(fgraph, node, other):
            yield other


def same_values(node: Apply[Scan], other: Apply[Scan]) -> dict[Variable, Variable]:
    """A dict from variables in the body of ``node`` to variables in the body of ``other`` with equal values.

    The values are equal in each step. Both scans must have the same steps, perhaps in opposite directions.
    """
    op_ = node.op
    inner, outer = op_.parts(op_.body.inputs), op_.parts(node.inputs[1:])
    its_inner, its_outer = other.op.parts(other.op.body.inputs), other.op.parts(other.inputs[1:])
    first = other.op.carried
    computed = _Computed(other.op)
    rows = dict(zip(its_outer.sequences, its_inner.sequences, strict=True))
    rows.update(zip(other.outputs[first:], other.op.body.outputs[first:], strict=True))
    constants = dict(zip(its_outer.constants, its_inner.constants, strict=True))
    same: dict[Variable, Variable] = {}
    for arguments, operands, inner_of in (
        (inner.sequences, outer.sequences, rows),
        (inner.constants, outer.constants, constants),
    ):
        same.update(
            (a, computed.first(inner_of[v]))
            for a, v in zip(arguments, operands, strict=True)
            if v in inner_of
        )
    for each in op_.body.nodes:
        read = [v if isinstance(v, Constant) else same.get(v) for v in each.inputs]
        twin = computed.find(each.op, [v for v in read if v is not None])
        if twin is not None and None not in read:
            same.update(zip(each.outputs, twin.outputs, strict=True))
    return same


class _Computed:
    """An index of the nodes that each step of a scan runs, by op and operands.

    If several nodes compute the same, the index has only the first one. Constants are compared by value.
    """

    def __init__(self, op_: Scan) -> None:
        self._nodes: dict[tuple[object, ...], Apply] = {}
        self._first: dict[Variable, Variable] = {}
        self._constants: dict[Any, Variable] = {}
        lazily = divide(op_.body.nodes, op_.body.outputs).outermost
        for each in op_.body.nodes:
            if each not in lazily:
                twin = self._nodes.setdefault(self._key(each.op, each.inputs), each)
                self._first.update(zip(each.outputs, twin.outputs, strict=True))

    def _key(self, op: Op, operands: Sequence[Variable]) -> tuple[object, ...]:
        numbers = [id(self.first(v)) for v in operands]
        return (op, *(sorted(numbers) if op.commutative else numbers))

    def find(self, op: Op, operands: Sequence[Variable]) -> Apply | None:
        """The node that applies an op to these variables of the body, in any order if the op is commutative."""
        return self._nodes.get(self._key(op, operands))

    def first(self, variable: Variable) -> Variable:
        """The first variable in the body that is computed in the same way as ``variable``."""
        first = self._first.get(variable)
        if first is None:
            key = constant_key(variable)
            first = variable if key is None else self._constants.setdefault(key, variable)
            self._first[variable] = first
        return first


def traced(node: Apply[Scan], variables: Sequence[Variable]) -> list[Variable]:
    """Traces of ``variables`` in the body of a scan. A new scan without other traces computes them."""
    op_ = node.op
    body = freeze(op_.body.inputs, [*op_.body.outputs[: op_.carried], *variables])
    outputs: list[Variable] = replace(op_, body=body)(*node.inputs, return_list=True)
    return outputs[op_.carried :]


CANONICALIZE = RuleSet((shared_factorizations,), "looping sharing")
