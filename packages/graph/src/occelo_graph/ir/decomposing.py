"""`decomposition`: a node as a graph of simpler ops, from `Op.decompose` of its op.

A decomposition replaces definitions that the op lacks:

- If the op has no lowering, linkers lower the decomposition.
- If the op has no NumPy code, `Op.kernel` runs the decomposition.
- If the op has no derivative, `gradient.decomposed` differentiates the decomposition.
- If the op has no batching rule, `blockwise` vectorizes the decomposition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.op_caches import cache_of
from occelo_graph.ir.traversal import toposort
from occelo_graph.ir.user_ops import owning_kernel

if TYPE_CHECKING:
    from occelo_graph.ir.op import Kernel


@frozen_dataclass(eq=False)
class Decomposition:
    """A graph that computes the same as a node, with its nodes in topological order (``order``)."""

    inputs: Sequence[Variable]
    order: Sequence[Apply]
    outputs: Sequence[Variable]


def decomposition(node: Apply) -> Decomposition | None:
    """The decomposition of a node. None if its op has no decomposition, or no decomposition for these types of inputs.

    TypeError if an output of the decomposition does not have the type of the node's output. TypeError also if the
    decomposition contains lazy ops, or ops that overwrite inputs or have effects.
    """
    op = node.op
    if not op.has_decompose:
        return None
    cache: dict[Any, Decomposition | None] = cache_of(op, "_decompositions_cache")
    key = tuple(v.type for v in (*node.inputs, *node.outputs))
    if key not in cache:
        inputs = [v.type() for v in node.inputs]
        said = op.decompose(*inputs)
        if said is None:
            cache[key] = None
            return None
        outputs = list(said)
        inner, outer = [v.type for v in outputs], [v.type for v in node.outputs]
        if len(inner) != len(outer) or not all(
            m.is_super(g) or g.is_super(m) for g, m in zip(inner, outer, strict=True)
        ):
            raise TypeError(f"decompose of {op} gave {inner} where the op gives {outer}")
        order = toposort(outputs, blockers=frozenset(inputs))
        if any(each.op.lazy or each.op.destroy_map or not each.op.pure for each in order):
            raise TypeError(
                f"decompose of {op} may use neither lazy ops, nor ops that overwrite inputs or have effects"
            )
        cache[key] = Decomposition(inputs, order, outputs)
    return cache[key]


def decomposed_kernel(node: Apply) -> Kernel | None:
    """A function that runs the decomposition of a node in Python. None if its op has no decomposition."""
    expanded = decomposition(node)
    if expanded is None:
        return None
    kernels = [(each, owning_kernel(each)) for each in expanded.order]

    def run(*arrays: Any) -> Sequence[Any]:
        values: dict[Variable, Any] = dict(zip(expanded.inputs, arrays, strict=True))

        def value(v: Variable) -> Any:
            return values[v] if v in values or not isinstance(v, Constant) else v.data

        for each, kernel in kernels:
            values.update(zip(each.outputs, kernel(*map(value, each.inputs)), strict=True))
        return [value(v) for v in expanded.outputs]

    return run
