"""Runs graphs in which results of loops decide lengths, for instance a trace whose length depends on a stop condition.

`occelo_link.traced.linker` makes a `StagedVM` for such a graph. The VM divides the graph into two parts. The first part runs these
loops, and the second part runs everything else. The results that decide lengths are static in the second part. So only
the second part is compiled again, and only if a length changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from occelo_graph import Apply, FunctionGraph, Variable
from occelo_graph.ir.regions import divide
from occelo_graph.ir.traversal import toposort
from occelo_graph.tensors.nodes import is_tensor
from occelo_link.linker import VM, Linking, Storage
from occelo_link.traced.traced_values import is_opaque

if TYPE_CHECKING:
    from occelo_link.traced.linker import TracedLinker


def loops_before(fgraph: FunctionGraph, shaping: Sequence[Variable]) -> list[Apply]:
    """Return the loops on whose results the variables ``shaping`` depend.

    Three kinds of loops are left out: loops that depend only on integer scalars, because these scalars may be static
    instead; loops in a branch, because they may not run; and loops with opaque results.
    """
    loops: dict[Apply, None] = {}
    pending, seen = list(shaping), set[Variable]()
    while pending:
        each = pending.pop()
        node = each.owner
        if each in seen or node is None:
            continue
        seen.add(each)
        if node.op.loops and node.op.loop(node).count is not None:
            loops[node] = None
        elif not node.op.of_shapes:
            pending.extend(node.inputs)
    if not loops:
        return []
    order = fgraph.toposort()
    lazily = divide(order, fgraph.outputs).outermost
    opaque = [n for n in loops for v in n.outputs if is_opaque(v.type)]
    return [n for n in loops if not (n in lazily or n in opaque or _is_static(n))]


def _is_static(node: Apply) -> bool:
    """Whether a node depends only on integer scalars, which may be static."""
    roots = [v for n in toposort(node.outputs) for v in n.inputs if v.owner is None]
    return all(is_tensor(v) and v.type.ndim == 0 and v.type.is_discrete for v in roots)


class StagedVM(VM):
    """A VM that first runs ``loops``, and then the rest of the graph, which reads the results of the loops."""

    takes_library_arrays = True

    def __init__(self, linker: TracedLinker, linking: Linking, loops: Sequence[Apply]) -> None:
        fgraph = linking.fgraph
        results = {v for n in loops for v in n.outputs}
        rest = toposort(fgraph.outputs, blockers=frozenset(results))
        read = dict.fromkeys(v for n in rest for v in n.inputs if v in results)
        read.update(dict.fromkeys(v for v in fgraph.outputs if v in results))
        between = list(read)
        first = FunctionGraph(list(fgraph.inputs), between)
        second = FunctionGraph([*fgraph.inputs, *between], list(fgraph.outputs))
        for old, new in zip(between, second.inputs[len(fgraph.inputs) :], strict=True):
            new.name = str(old)  # messages show this name
        cells: list[Storage] = [[None] for _ in between]
        self.linker = linker
        self.storage_map = linking.storage_map
        self.allow_gc = linker.allow_gc
        self.outputs = list(linking.outputs)
        self.stages: list[VM] = [
            linker.make_vm(Linking(first, first.toposort(), {}, linking.inputs, cells)),
            linker.make_vm(
                Linking(second, second.toposort(), {}, [*linking.inputs, *cells], linking.outputs)
            ),
        ]
        self._cells = cells

    def fetch(self, result: object) -> object:
        """Return a result for the user: an array of the library as a NumPy array, and any other value as it is."""
        return self.linker.fetch(result) if isinstance(result, self.linker.array_type) else result

    def clear_storage(self) -> None:
        """Drop the results of the first part."""
        for cell in self._cells:
            cell[0] = None

    def __call__(self, output_subset: Sequence[int] | None = None) -> None:
        try:
            self.stages[0]()
            self.stages[1](output_subset)
        finally:
            self.clear_storage()
