"""Runs graphs that keep values of all steps of loops, if the numbers of steps are known only when the graph runs.

The base class of the linkers for JAX and PyTorch makes a `PaddedVM` for such a graph. The graph is compiled for padded tensors, which have more rows
than are needed (`occelo_loops.rules.padding.padded_graph`). The numbers of rows are powers of two. So the graph is
compiled again only if a number of steps needs another power of two.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import FunctionGraph, ancestors
from occelo_graph.fgraph.frozen import freeze
from occelo_graph.interpret import body_runner, evaluate
from occelo_graph.ir.container import local
from occelo_link.linker import VM, Linking, Storage
from occelo_link.traced.linker import value_dependent, value_roots, without_values
from occelo_loops.rules.padding.padded_graph import PaddedGraph, padded

if TYPE_CHECKING:
    from occelo_link.traced.linker import TracedLinker, TracedVM

FEWEST_ROWS = 16
"""The smallest number of rows of padded tensors. It is greater than 1, since an axis of length 1 would be broadcast."""


class PaddedVM(VM):
    """A VM that runs a graph with padded tensors, and cuts its results to their lengths."""

    takes_library_arrays = True

    def __init__(
        self, linker: TracedLinker, linking: Linking, graph: PaddedGraph, static: Collection[int]
    ) -> None:
        self.linker = linker
        self.fgraph = linking.fgraph
        self.storage_map = linking.storage_map
        self.allow_gc = linker.allow_gc
        self.inputs = list(linking.inputs)
        self.outputs = list(linking.outputs)
        self._cuts = graph.cuts
        self._capacities: list[Storage] = [[None] for _ in graph.capacities]
        self._found: list[Storage] = [[None] for _ in graph.outputs]
        inner = FunctionGraph(graph.inputs, graph.outputs)
        first = len(linking.inputs)
        capacities = range(first, first + len(graph.capacities))
        cells = [*linking.inputs, *self._capacities]
        self.vm: TracedVM = linker.make_traced(
            Linking(inner, inner.toposort(), {}, cells, self._found), {*static, *capacities}
        )
        inputs = list(self.fgraph.inputs)
        self._lengths: Callable[[list[Any]], Sequence[Any]] = list
        if set(graph.lengths) <= set(inputs):
            self._read = [inputs.index(v) for v in graph.lengths]
        else:
            needed = set(ancestors(graph.lengths))
            self._read = [i for i, v in enumerate(inputs) if v in needed]
            self._lengths = body_runner(freeze([inputs[i] for i in self._read], graph.lengths))

    def fetch(self, result: object) -> object:
        """Return a result for the user: an array of the library as a NumPy array, and any other value as it is."""
        return self.linker.fetch(result) if isinstance(result, self.linker.array_type) else result

    def clear_storage(self) -> None:
        """Drop the padded results of the last call."""
        for cell in self._found:
            cell[0] = None

    def __call__(self, output_subset: Sequence[int] | None = None) -> None:
        subset = range(len(self.outputs)) if output_subset is None else output_subset
        lengths = self._lengths([local(self.inputs[i][0]) for i in self._read])
        if any(length < 0 for length in lengths):
            self._interpret(subset)
            return
        for cell, length in zip(self._capacities, lengths, strict=True):
            cell[0] = np.asarray(_capacity(int(length)))
        try:
            self.vm([*subset, *(self._cuts[i] for i in subset if i in self._cuts)])
            for i in subset:
                self.outputs[i][0] = self._result(i)
        except ValueError:
            self._interpret(subset)
        finally:
            self.clear_storage()

    def _interpret(self, wanted: Sequence[int]) -> None:
        """Compute the results with the interpreter: a loop has a negative number of steps, or a check has failed.

        The interpreter raises the error, unless the loop is in a branch that is not taken, or a single row that is
        written is repeated, for which there is no padded form.
        """
        # arrays may be arrays of the library; other values, such as generators, are never copied
        values = {
            v: np.array(local(cell[0])) if v.type.is_array else local(cell[0])
            for v, cell in zip(self.fgraph.inputs, self.inputs, strict=True)
        }
        for i, value in zip(
            wanted, evaluate([self.fgraph.outputs[i] for i in wanted], values), strict=True
        ):
            self.outputs[i][0] = value

    def _result(self, position: int) -> object:
        result = self._found[position][0]
        if position not in self._cuts:
            return result
        count = int(self._found[self._cuts[position]][0])
        return np.array(np.asarray(self.fetch(result))[:count])


def _capacity(length: int) -> int:
    """Return the number of rows for a length: the smallest power of two that is large enough."""
    return max(FEWEST_ROWS, 1 << max(length - 1, 0).bit_length())


def _padded(fgraph: FunctionGraph, static: Collection[int]) -> PaddedGraph | None:
    """Return the graph with padded tensors, or None if another VM has to run the graph.

    The result is None in these cases:

    - There are no loops.
    - The graph needs no padded tensors, or cannot be padded.
    - The inputs at the positions ``static`` decide all lengths that would be padded.
    - Another input would still have to be static.
    """
    if not any(node.op.loops for node in fgraph.apply_nodes):
        return None
    graph = padded(fgraph)
    if graph is None:
        return None
    chosen = {fgraph.inputs[i] for i in static}
    if graph.lengths and all(chosen.issuperset(value_roots(v)) for v in graph.lengths):
        return None
    fixed = {*graph.capacities, *(graph.inputs[i] for i in static)}
    depending = value_dependent(FunctionGraph(graph.inputs, graph.outputs, clone=False))
    return graph if all(fixed.issuperset(value_roots(v)) for _, v in depending) else None


@without_values
def padded_vm(linker: TracedLinker, linking: Linking, static: Collection[int]) -> PaddedVM | None:
    """The VM for a graph whose tensors can be padded; None for other graphs."""
    graph = _padded(linking.fgraph, static)
    return None if graph is None else PaddedVM(linker, linking, graph, static)
