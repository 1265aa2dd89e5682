"""Runs the nodes of a compiled graph one by one in Python, in addition to the compiled code.

So observers and profiles see the values of each node. `profiling` uses `ShadowVM`. MonitorMode and NanGuardMode
(`occelo_compile.debugging`) use `WatchingLinker`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from occelo_graph import Apply, FunctionGraph, Variable
from occelo_graph.ir.container import local
from occelo_link.linker import VM, Linker, Linking, Storage, StorageMap, WrappingVM
from occelo_link.vm import NodeThunk, PythonVM

NodeHook = Callable[[FunctionGraph, int, Apply, NodeThunk], Any]
"""A function that is called for each node, in place of the node's thunk. It must call the thunk."""


class ShadowVM:
    """A Python VM that runs the graph of another VM, on the same inputs but in its own cells."""

    def __init__(self, fgraph: FunctionGraph, order: Sequence[Apply]) -> None:
        cells: StorageMap = {}

        def cell(variable: Variable) -> Storage:
            return cells.setdefault(variable, [getattr(variable, "data", None)])

        for node in order:
            for variable in (*node.inputs, *node.outputs):
                cell(variable)
        inputs, outputs = map(cell, fgraph.inputs), map(cell, fgraph.outputs)
        self.fgraph = fgraph
        self.vm = PythonVM(Linking(fgraph, order, cells, list(inputs), list(outputs)))
        self._overwrites = any(node.op.destroy_map for node in order)

    def load(self, cells: Sequence[Storage]) -> PythonVM:
        """Store the values of the other VM's input cells as inputs of the Python VM, and return the Python VM."""
        for mine, its in zip(self.vm.inputs, cells, strict=True):
            value = local(its[0])
            mine[0] = value.copy() if self._overwrites and hasattr(value, "copy") else value
        return self.vm


class _ShadowedVM(WrappingVM):
    """Runs the shadow VM and then the compiled VM. So an observer can raise an error before any state is updated."""

    def __init__(self, vm: VM, shadow: ShadowVM, inputs: Sequence[Storage]) -> None:
        super().__init__(vm)
        self.shadow = shadow
        self.inputs = list(inputs)

    def __call__(self, output_subset: Sequence[int] | None = None) -> None:
        self.shadow.load(self.inputs)(output_subset)
        self.vm(output_subset)


class WatchingLinker(Linker):
    """A linker that calls ``around`` for each node in each call.

    ``linker`` computes the results. If it compiles whole blocks, the nodes also run in Python, where ``around`` is
    called. ``on_input(variable, value)`` is called for each input before the first node. Nodes are not fused.
    """

    name = "watching"

    def __init__(
        self,
        linker: Linker,
        around: NodeHook,
        on_input: Callable[[Variable, Any], Any] | None = None,
    ) -> None:
        super().__init__(allow_gc=linker.allow_gc)
        self.linker = linker
        self.around = around
        self.on_input = on_input
        self.required_rewrites = linker.required_rewrites
        # fused nodes would hide their intermediate values
        self.incompatible_rewrites = linker.incompatible_rewrites.including("fusion")
        self.name = f"watching {linker}"

    def clone(self, allow_gc: bool | None = None) -> WatchingLinker:
        return WatchingLinker(self.linker.clone(allow_gc), self.around, self.on_input)

    def make_vm(self, linking: Linking) -> VM:
        self.linker.accept(linking.fgraph, self.no_recycling)
        vm = self.linker.make_vm(linking)
        shadow = None if isinstance(vm, PythonVM) else ShadowVM(linking.fgraph, linking.order)
        watched = shadow.vm if shadow is not None else vm
        assert isinstance(watched, PythonVM)
        watched.around = self.around
        watched.callback_input = self.on_input
        return vm if shadow is None else _ShadowedVM(vm, shadow, linking.inputs)
