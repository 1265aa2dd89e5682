"""The Python linkers ``py`` and ``vm``, which make one thunk for each node and run the thunks in order or on demand.

`registry` finds the linkers by name. `blocks.vm` makes a `NodeThunk` for each node that is not compiled. The linker
``c|py`` makes a `PythonVM`, and so do the other linkers for graphs that they run entirely in Python. Profiles and
`WatchingLinker` (`node_by_node`) run the nodes of compiled graphs with a `PythonVM`, too.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from occelo_graph import Apply, FunctionGraph, Variable
from occelo_graph.interpret import annotate_error, last_uses
from occelo_graph.ir.op import Kernel
from occelo_graph.ir.regions import awaited
from occelo_link import options
from occelo_link.linker import VM, Linker, Linking, Scheduler, Storage, StorageMap
from occelo_link.withheld_lowerings import running_kernel
from occelo_rewrite import RewriteDatabaseQuery

Callback = Callable[[Apply, "NodeThunk", StorageMap, dict[Variable, bool]], Any]


class NodeThunk:
    """The thunk of a node. A call computes the values of the node's output cells from those of its input cells. TypeError if the node or the cells are missing."""

    __slots__ = ("inputs", "kernel", "node", "outputs")

    def __init__(self, node: Apply, storage_map: StorageMap, kernel: Kernel | None = None) -> None:
        self.node = node
        self.kernel = running_kernel(node) if kernel is None else kernel
        self.inputs = [storage_map[v] for v in node.inputs]
        self.outputs = [storage_map[v] for v in node.outputs]

    def __call__(self) -> None:
        arrays = [cell[0] for cell in self.inputs]
        try:
            results = self.kernel(*arrays)
        except Exception as error:
            self.fail(error)
        for cell, value in zip(self.outputs, results, strict=True):
            cell[0] = value

    def fail(self, error: Exception) -> NoReturn:
        """Raise an error of this node. The node, the user's line and the inputs are added to the message."""
        annotated = annotate_error(error, self.node, [cell[0] for cell in self.inputs])
        if annotated is error:
            raise error
        raise annotated from None


class PythonVM(VM):
    """A VM that runs one thunk for each node. TypeError if the linking is missing.

    The thunks run on demand if a node is lazy or if only some outputs are wanted, and otherwise in order.
    """

    def __init__(
        self,
        linking: Linking,
        no_recycling: Sequence[Variable] = (),
        allow_gc: bool = True,
        lazy: bool | None = None,
        callback: Callback | None = None,
        callback_input: Callable[[Variable, Any], Any] | None = None,
        kernels: Mapping[Apply, Kernel] | None = None,
    ) -> None:
        order, storage_map = linking.order, linking.storage_map
        self.fgraph = linking.fgraph
        self.storage_map = storage_map
        self.inputs = list(linking.inputs)
        self.outputs = list(linking.outputs)
        self.allow_gc = allow_gc
        self.callback = callback
        self.callback_input = callback_input
        self.around: Callable[[FunctionGraph, int, Apply, NodeThunk], Any] | None = None
        own: Mapping[Apply, Kernel] = {} if kernels is None else kernels
        self.thunks = [NodeThunk(node, storage_map, own.get(node)) for node in order]
        self.lazy = any(node.op.lazy for node in order) if lazy is None else lazy
        self._found_orderings: dict[Apply, list[Apply]] | None = None
        self._of_node = dict(zip(order, self.thunks, strict=True))
        self._number = {node: i for i, node in enumerate(order)}
        self._clear = [
            storage_map[v] for v in no_recycling if v.owner is not None and v in storage_map
        ]
        self._computed = [storage_map[v] for node in order for v in node.outputs]
        ends = {id(cell) for cell in (*self.inputs, *self.outputs)}
        self._intermediate = [cell for cell in self._computed if id(cell) not in ends]
        self._program = self._with_frees(order)
        self._steps = [
            (thunk.kernel, thunk.inputs, thunk.outputs, frees, thunk)
            for thunk, frees in self._program
        ]

    def _with_frees(self, order: Sequence[Apply]) -> list[tuple[NodeThunk, list[Storage]]]:
        """Return each thunk with the cells whose values are dead after the thunk has run."""
        if not self.allow_gc:
            return [(thunk, []) for thunk in self.thunks]
        frees = last_uses(order, self.fgraph.outputs)
        return [
            (thunk, [self.storage_map[v] for v in free])
            for thunk, free in zip(self.thunks, frees, strict=True)
        ]

    def steps(self) -> Sequence[NodeThunk]:
        """Return the thunks in execution order."""
        return self.thunks

    def clear_storage(self) -> None:
        """Clear the cells of all intermediate values."""
        for cell in self._intermediate:
            cell[0] = None

    def __call__(self, output_subset: Sequence[int] | None = None) -> None:
        for cell in self._clear:
            cell[0] = None
        if self.callback_input is not None:
            for variable, cell in zip(self.fgraph.inputs, self.inputs, strict=True):
                self.callback_input(variable, cell[0])
        try:
            with np.errstate(all="ignore"):
                if self.lazy or output_subset is not None:
                    self._run_on_demand(output_subset)
                elif self.callback is None and self.around is None:
                    self._run_in_order()
                else:
                    self._run_observed()
        except BaseException:
            self.clear_storage()
            raise

    def _run_in_order(self) -> None:
        # `NodeThunk.__call__`, inlined
        for kernel, inputs, outputs, frees, thunk in self._steps:
            try:
                results = kernel(*[cell[0] for cell in inputs])
            except Exception as error:
                thunk.fail(error)
            for cell, value in zip(outputs, results, strict=True):
                cell[0] = value
            for cell in frees:
                cell[0] = None

    def _run(self, thunk: NodeThunk, computed: dict[Variable, bool]) -> None:
        """Run a thunk and then call the callback.

        If the attribute ``around`` is not None, it is called in place of the thunk, and must itself call the thunk.
        """
        node = thunk.node
        if self.around is None:
            thunk()
        else:
            self.around(self.fgraph, self._number[node], node, thunk)
        computed.update(dict.fromkeys(node.outputs, True))
        if self.callback is not None:
            self.callback(node, thunk, self.storage_map, computed)

    def _run_observed(self) -> None:
        computed = dict.fromkeys(self.storage_map, False)
        for thunk, frees in self._program:
            self._run(thunk, computed)
            for cell in frees:
                cell[0] = None

    def _run_on_demand(self, output_subset: Sequence[int] | None) -> None:
        fgraph = self.fgraph
        chosen = range(len(fgraph.outputs)) if output_subset is None else output_subset
        computed: dict[Variable, bool] = {v: v.owner is None for v in self.storage_map}
        stack = [fgraph.outputs[i] for i in reversed(chosen)]
        while stack:
            variable = stack[-1]
            if computed[variable]:
                stack.pop()
                continue
            node = variable.owner
            assert node is not None
            missing = awaited(
                node, node.inputs, computed.__getitem__, lambda v: self.storage_map[v][0]
            )
            if missing:
                stack.extend(missing)
                continue
            self._run_copying(self._of_node[node], computed)
            stack.pop()
        if self.allow_gc:
            self.clear_storage()

    def _run_copying(self, thunk: NodeThunk, computed: dict[Variable, bool]) -> None:
        """Run a thunk. If nodes that have not run yet read an input that the thunk overwrites, the input is copied
        first.

        Those nodes cannot simply run first, since a branch may decide whether they run at all.
        """
        node = thunk.node
        readers = self._orderings().get(node, ()) if node.op.destroy_map else ()
        if all(computed[v] for reader in readers for v in reader.outputs):
            self._run(thunk, computed)
            return
        overwritten = {i for positions in node.op.destroy_map.values() for i in positions}
        cells = [thunk.inputs[i] for i in overwritten]
        values = [cell[0] for cell in cells]
        for cell in cells:
            cell[0] = copy.copy(cell[0])
        try:
            self._run(thunk, computed)
        finally:
            for cell, value in zip(cells, values, strict=True):
                cell[0] = value

    def _orderings(self) -> dict[Apply, list[Apply]]:
        if self._found_orderings is None:
            self._found_orderings = self.fgraph.orderings()
        return self._found_orderings


class _PythonLinker(Linker):
    required_rewrites = RewriteDatabaseQuery(include=["minimum_compile", "py_only"])
    incompatible_rewrites = RewriteDatabaseQuery(include=["cxx_only", "accumulate_products"])

    def _options(self) -> dict[str, Any]:
        return {}

    def make_vm(self, linking: Linking) -> VM:
        return PythonVM(linking, self.no_recycling, self.allow_gc, **self._options())


class PerformLinker(_PythonLinker):
    """The linker ``py``: runs the NumPy code of each node, in topological order. TypeError for unknown options."""

    name = "py"


class VMLinker(_PythonLinker):
    """The linker ``vm``: like ``py``, but tools can observe each node, and nodes can run on demand.

    ``callback(node, thunk, storage_map, compute_map)`` is called after each node, and ``callback_input(variable,
    value)`` for each input before the first node. If ``lazy`` is true, nodes run on demand, and if it is false, in
    order. The default is the option ``vm__lazy``. If the option is None, nodes run on demand in graphs that have lazy
    ops. TypeError for unknown options.
    """

    name = "vm"

    def __init__(
        self,
        *,
        allow_gc: bool | None = None,
        scheduler: Scheduler | None = None,
        lazy: bool | None = None,
        callback: Callback | None = None,
        callback_input: Callable[[Variable, Any], Any] | None = None,
    ) -> None:
        super().__init__(allow_gc=allow_gc, scheduler=scheduler)
        self.lazy = options.LAZY.get() if lazy is None else lazy
        self.callback = callback
        self.callback_input = callback_input

    def _options(self) -> dict[str, Any]:
        return {"lazy": self.lazy, "callback": self.callback, "callback_input": self.callback_input}
