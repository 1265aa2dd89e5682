"""Rules that compute functions of the sequences of a scan for all steps at once, before the scan.

`pipeline` puts them into the stage canonicalize.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from occelo_graph import (
    Apply,
    FunctionGraph,
    NominalVariable,
    TensorVariable,
    Variable,
    ancestors,
    freeze,
    vectorize_graph,
)
from occelo_graph import tensor as ot
from occelo_graph.ir.clone import clone_replace
from occelo_graph.ir.regions import divide
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.reduce import CAReduce
from occelo_graph.tensors.nodes import tensors
from occelo_loops.ops.expansion import checked_steps
from occelo_loops.ops.scan_op import Scan
from occelo_loops.rules.sharing import kept_by_other_scans
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.shapes import shapes_of


@node_rewriter([Scan], tags=("rounding",))
def products_of_sequences(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """Products of an element of a sequence and a constant matrix = one product for all steps, before the scan.

    The nodes that compute the factors move with the product. The rule does not apply to scans that a condition may end,
    since the product would include steps that never run.

    Sequences may be traces of another scan, as in the gradient of a loop. If more than `_MOST_PRODUCTS` products per
    trace are computed from traces, these products stay in the loop. So the memory for a gradient does not grow with the
    number of products in a step. (rounding: one large product may add in another order.)
    """
    op_ = node.op
    if op_.stops or not op_.sequences:
        return None
    arguments = op_.parts(op_.body.inputs)
    elements, constants = set(arguments.sequences), set(arguments.constants)
    outer = op_.parts(node.inputs[1:]).sequences
    of_scan = [v.owner is not None and isinstance(v.owner.op, Scan) for v in outer]
    traces = {e for e, traced in zip(arguments.sequences, of_scan, strict=True) if traced}
    of_traces: set[Variable] = set(traces)
    lazily = divide(op_.body.nodes, op_.body.outputs).outermost
    movable: set[Variable] = {*elements, *constants}
    of_elements: set[Variable] = set(elements)
    products: list[Variable] = []
    for each in op_.body.nodes:
        free = each.op.pure and not each.op.lazy and not each.op.loops and each not in lazily
        if not free or not all(v in movable or _is_constant(v) for v in each.inputs):
            continue
        movable.update(each.outputs)
        if of_elements.isdisjoint(each.inputs):
            continue
        apart = of_elements.isdisjoint
        # if both factors change from step to step, moving them would not reduce the number of
        # products
        if isinstance(each.op, Dot | MatMul) and any(apart([v]) for v in each.inputs):
            products.append(each.outputs[0])
        of_elements.update(each.outputs)
        if not of_traces.isdisjoint(each.inputs):
            of_traces.update(each.outputs)
    needed = _needed(op_, products)
    if sum(p in of_traces for p in needed) > _MOST_PRODUCTS * len(traces):
        needed = _needed(op_, [p for p in products if p not in of_traces])
    return _moved(fgraph, node, needed) if needed else None


_MOST_PRODUCTS = 4
"""The largest number of products to store for each trace of another scan, enough for the gates of an LSTM."""


def _needed(op_: Scan, products: Collection[Variable]) -> list[Variable]:
    """The ``products`` that a body must get as inputs if it computes none of them itself.

    A product that is needed only to compute other products is left out, since it moves together with them.
    """
    among = frozenset(products)
    return [v for v in ancestors(op_.body.outputs, among) if v in among]


@node_rewriter([Scan], tags=("shape_unsafe",))
def functions_of_sequences(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """Elementwise functions of elements of sequences = functions of the whole sequences, computed before the scan.

    So vector instructions compute several steps at once. But the results of all steps need memory. Therefore a function
    moves only if computing it takes longer than storing its result, or if its result is a trace. If more than `_MOST`
    results per sequence would be stored in addition to traces, nothing moves. A function does not move if its result is
    larger than an element of a sequence. The rule does not apply to scans that a condition may end, since it would
    compute functions for steps that never run. (shape_unsafe: shapes that do not fit raise an error even if the scan
    has no step.)
    """
    return _before(fgraph, node, reductions=False)


@node_rewriter([Scan], tags=("shape_unsafe", "rounding"))
def reductions_of_sequences(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """Reductions of elements of sequences, and their functions = those of the whole sequences, computed before the scan.

    A scan without carried values, such as ``map(lambda row: exp(row).sum(), X)``, becomes loops over rows, which run in several
    threads. Functions move as by `functions_of_sequences`. A reduction that may be over no elements, and then fails, stays.
    (shape_unsafe: as there; rounding: a sum may add in another order)
    """
    return _before(fgraph, node, reductions=True)


def _before(fgraph: FunctionGraph, node: Apply[Scan], reductions: bool) -> Replacements:
    """Move functions of sequences before a scan. With ``reductions``, something is moved only if a reduction is."""
    op_ = node.op
    if op_.stops or not op_.sequences:
        return None
    arguments = op_.parts(op_.body.inputs)
    lazily = divide(op_.body.nodes, op_.body.outputs).outermost
    # variables that may be computed before the scan, and whether computing them takes long
    movable: dict[Variable, bool] = dict.fromkeys(
        (*arguments.sequences, *arguments.constants), False
    )
    of_elements: dict[Variable, TensorVariable] = {v: v for v in tensors(arguments.sequences)}
    candidates, reduced = list[Variable](), set[Variable]()
    for each in op_.body.nodes:
        op = each.op
        reduces = reductions and isinstance(op, CAReduce) and not op.may_fail(each)
        of_kind = reduces or isinstance(op, Elemwise)
        free = of_kind and each not in lazily and len(each.outputs) == 1
        if not free or not all(v in movable or _is_constant(v) for v in each.inputs):
            continue
        (result,) = tensors(each.outputs)
        largest = [e for v in each.inputs if (e := of_elements.get(v)) is not None]
        like = next((e for e in largest if reduces or _no_larger(result, e)), None)
        if like is None:
            continue
        name = op.scalar_op.name if isinstance(op, Elemwise) else ""
        long = name not in _SHORT and not name.startswith("cast")
        movable[result] = long or any(movable.get(v, False) for v in each.inputs)
        of_elements[result] = result if reduces else like
        reduced |= {result} if reduces or not reduced.isdisjoint(each.inputs) else set()
        candidates.append(result)
    results = {*op_.body.outputs[op_.carried :]}
    read = {v for n in op_.body.nodes if n.outputs[0] not in of_elements for v in n.inputs}
    read.update(op_.body.outputs)
    moved = [v for v in candidates if v in read and (movable[v] or v in results)]
    own = sum(v not in results for v in moved)
    if reductions and reduced.isdisjoint(moved):
        return None
    return _moved(fgraph, node, moved) if moved and own <= _MOST * op_.sequences else None


_MOST = 2
"""The largest number of results to store for each sequence, which bounds the memory for them."""
_SHORT = frozenset(
    (
        "add sub mul true_div neg abs sqr sqrt reciprocal maximum minimum switch identity sign floor ceil round trunc "
        "eq neq lt le gt ge and_ or_ xor invert second real imag conj clip"
    ).split()
)
"""Functions of few processor instructions: storing their results would take longer than computing them."""


def _no_larger(result: TensorVariable, element: TensorVariable) -> bool:
    """Whether ``result``, a function of ``element``, is known to have no more elements than ``element``."""
    a, b = result.type.shape, element.type.shape
    return len(a) == len(b) and all(m != 1 or n == 1 for m, n in zip(b, a, strict=True))


@node_rewriter([Scan])
def elements_kept(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """A trace of unchanged elements of a sequence = the part of the sequence that the steps read."""
    op_ = node.op
    if op_.stops:
        return None
    first = op_.carried
    position = {v: i for i, v in enumerate(op_.body.inputs) if first <= i < first + op_.sequences}
    plain = [k for k in range(op_.traces) if op_.body.outputs[first + k] in position]
    (steps,) = tensors(node.inputs[:1])
    parts: dict[int, Variable] = {}
    for k in plain:
        (s,) = tensors([node.inputs[1 + position[op_.body.outputs[first + k]]]])
        part = _first(fgraph, s, steps, op_)
        (trace,) = tensors([node.outputs[first + k]])
        # a static number of steps is a static length of the trace, but not of the part
        same = trace.type.is_super(part.type)
        parts[k] = part if same else ot.specify_shape(part, trace.type.shape)
    if not parts:
        return None
    rest = [i for i in range(len(op_.body.outputs)) if i - first not in parts]
    smaller = replace(op_, body=freeze(op_.body.inputs, [op_.body.outputs[i] for i in rest]))
    outputs: list[Variable] = smaller(*node.inputs, return_list=True) if rest else []
    replaced = dict(zip((node.outputs[i] for i in rest), outputs, strict=True))
    replaced.update((node.outputs[first + k], v) for k, v in parts.items())
    return replaced


def _is_constant(variable: Variable) -> bool:
    """Whether a variable of a body is a constant of the graph. All other roots are inputs of the body."""
    return variable.owner is None and not isinstance(variable, NominalVariable)


def _moved(fgraph: FunctionGraph, node: Apply[Scan], products: list[Variable]) -> list[Variable]:
    """The outputs of a new scan that reads ``products`` as sequences instead of computing them."""
    op_ = node.op
    body = op_.body
    inputs = op_.parts(node.inputs[1:])
    arguments = op_.parts(body.inputs)
    fresh = [v.type.make_variable() for v in products]
    results: list[Variable] = clone_replace(
        list(body.outputs), dict(zip(products, fresh, strict=True))
    )
    # only the elements that the steps read are needed
    (steps,) = tensors(node.inputs[:1])
    read = [_first(fgraph, s, steps) for s in tensors(inputs.sequences)]
    precomputed = kept_by_other_scans(fgraph, node, products)
    rest = [v for v in products if v not in precomputed]
    bound: list[Variable] = clone_replace(
        rest,
        dict(zip(arguments.constants, inputs.constants, strict=True)),
        rebuild_strict=False,
    )
    made_now = vectorize_graph(bound, dict(zip(arguments.sequences, read, strict=True)))
    precomputed.update(zip(rest, made_now, strict=True))
    whole = [precomputed[v] for v in products]
    smaller = replace(
        op_,
        body=freeze(
            [*arguments.carried, *arguments.sequences, *fresh, *arguments.constants], results
        ),
        sequences=op_.sequences + len(fresh),
    )
    outputs: list[Variable] = smaller(
        node.inputs[0],
        *inputs.carried,
        *inputs.sequences,
        *whole,
        *inputs.constants,
        return_list=True,
    )
    return outputs


def _first(
    fgraph: FunctionGraph,
    sequence: TensorVariable,
    steps: TensorVariable,
    check: Scan | None = None,
) -> TensorVariable:
    """The first ``steps`` elements of a sequence. With ``check``, fewer elements raise an error at run time."""
    if shapes_of(fgraph).is_length(fgraph, steps, sequence, 0):
        return sequence
    return sequence[: steps if check is None else checked_steps(check, steps, [sequence])]


CANONICALIZE = RuleSet(
    (products_of_sequences, functions_of_sequences, reductions_of_sequences, elements_kept),
    "looping sequences",
)
