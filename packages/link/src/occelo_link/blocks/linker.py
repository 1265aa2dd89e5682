"""`BlockLinker`: base class of the linkers that compile blocks of nodes to machine code.

The classes of the linkers ``native``, ``c``, ``c|py`` and ``numba`` derive from `BlockLinker`. So does the linker in
`timing`, which times loops. The linker ``c|py`` makes a block of each node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from occelo_graph import Apply, Op
from occelo_graph.narrowing import is_dict
from occelo_link.blocks.partition import Part, partition
from occelo_link.blocks.vm import BlockVM
from occelo_link.cache.packing import unpack
from occelo_link.linker import VM, Linker, Linking, Signature, Storage
from occelo_link.machine.symbol_addresses import blas_library
from occelo_link.options import CHECK_BOUNDS
from occelo_link.units.compiled_unit import CompiledUnit, unpack_unit
from occelo_rewrite import RewriteDatabaseQuery

if TYPE_CHECKING:
    from occelo_graph import FunctionGraph
    from occelo_link.loops.ir.program import Program


class BlockLinker(Linker):
    """Compiles all nodes that have a lowering to loops, in as few blocks as possible."""

    required_rewrites = RewriteDatabaseQuery(include=["minimum_compile"])
    incompatible_rewrites = RewriteDatabaseQuery(
        include=["fusion", "inplace", "BlasOpt", "py_only"]
    )

    compiles = True
    takes_states = False
    """Whether a unit may write the new value of a shared variable into the memory of the old value."""
    takes_either_order = True
    """Whether units accept some matrices in Fortran order (`lower_graph`)."""

    def compile(self, program: Program, part: Part) -> CompiledUnit:
        """Compile the loop program of a part."""
        raise NotImplementedError

    def threaded(self) -> int:
        """Which loops of compiled blocks may run in several threads (`machine.threads.divided_loops`)."""
        return 0

    def compilable(self, order: Sequence[Apply]) -> Callable[[Apply, bool], bool]:
        """Return a function that tells whether a node belongs to a compiled block.

        ``order`` is the list of all nodes of the graph. The returned function accepts a node and a flag, which is True
        if the node is in a region.

        A node without a lowering belongs to a block as a callback. But if no node of the graph has a lowering, no node
        belongs to a block. A node with effects runs between blocks. In a region it becomes a callback instead, since
        the region decides whether the node runs.
        """
        from occelo_link.loops.build import can_be_callback, find_lowering  # slow to import

        def lowered(node: Apply, inside: bool = False) -> bool:
            return find_lowering(node) is not None

        if not any(map(lowered, order)):
            return lowered
        return lambda node, inside: (
            lowered(node) or ((inside or node.op.pure) and can_be_callback(node))
        )

    def parts(self, fgraph: FunctionGraph, order: Sequence[Apply]) -> list[Part] | None:
        """Divide a graph's nodes into as few parts as possible. None if a region has nodes that cannot be compiled."""
        parts = partition(fgraph, order, self.compilable(order))
        if parts is not None and len(parts) == 1:
            (whole,) = parts
            # an output of the graph may itself be an input, such as another variable's new value; no part computes it
            computed = dict.fromkeys(v for v in fgraph.outputs if v.owner is not None)
            if set(whole.outputs) == set(computed):
                whole.outputs = list(computed)
                whole.states = _states(fgraph, whole)
                # a call may enter machine code only if that takes all arguments
                unread = dict.fromkeys(fgraph.inputs).keys() - {*whole.inputs, *fgraph.outputs}
                whole.inputs += [v for v in fgraph.inputs if v in unread and v.type.is_array]
        return parts

    def program(self, part: Part) -> Program:
        """The loop program of a part."""
        from occelo_link.loops.build import lower_graph  # slow to import

        return lower_graph(
            part.inputs,
            part.outputs,
            part.nodes,
            blas_integer=blas_library().integer,
            check_bounds=CHECK_BOUNDS.get(),
            callbacks=True,
            threads=self.threaded(),
            own_code=True,
            in_either_order=self.takes_either_order,
            states=part.states if self.takes_states else None,
        )

    def make_vm(self, linking: Linking) -> VM:
        parts = self.parts(linking.fgraph, linking.order)
        if parts is None:
            # a branch has nodes that cannot be compiled, so all nodes are evaluated on demand
            from occelo_link.vm import PythonVM  # seldom needed

            return PythonVM(linking, self.no_recycling, self.allow_gc)
        units = [self.compile(self.program(p), p) if p.compiled else None for p in parts]
        return BlockVM(
            linking.fgraph,
            parts,
            units,
            linking.storage_map,
            linking.inputs,
            linking.outputs,
            self.allow_gc,
        )

    def pack(self, vm: VM, given: Sequence[Op] = ()) -> bytes | None:
        if not isinstance(vm, BlockVM) or not vm.parts:
            return None
        from occelo_link.blocks.packing import pack_blocks  # not for functions from the cache

        return vm.pack() or pack_blocks(vm, given)

    def unpack(
        self,
        packed: bytes | memoryview,
        graph: Signature,
        inputs: Sequence[Storage],
        outputs: Sequence[Storage],
        rewritten: Callable[[], FunctionGraph],
        given: Sequence[Op] = (),
    ) -> VM | None:
        read, rest = unpack(packed)
        if is_dict(read):
            from occelo_link.blocks.packing import unpack_blocks  # seldom needed

            how = (rewritten, self.allow_gc, given)
            return unpack_blocks(read, rest, graph, inputs, outputs, *how)
        unit = unpack_unit(rest)
        if unit is None:
            return None

        def remake() -> Part:
            copy = rewritten()
            return Part(True, copy.toposort(), [copy.inputs[i] for i in read], list(copy.outputs))

        part = Part(True, [], [graph.inputs[i] for i in read], graph.outputs, remake)
        cells = dict(zip([*graph.inputs, *graph.outputs], [*inputs, *outputs], strict=True))
        return BlockVM(graph, [part], [unit], cells, inputs, outputs, self.allow_gc)


def _states(fgraph: FunctionGraph, part: Part) -> dict[int, int]:
    """Map outputs of a part to the inputs that they update. Outputs and inputs are given as positions.

    The unit may write such an output into the memory of the input that it updates. This is allowed only if nothing else
    refers to the memory. So the map omits inputs whose old value is also an output. The map also omits inputs that are
    not tensors, since a Python object refers to their arrays.
    """
    results = set(fgraph.outputs)
    inputs = {
        variable: i
        for i, variable in enumerate(part.inputs)
        if variable not in results and variable.type.is_array
    }
    outputs = {variable: i for i, variable in enumerate(part.outputs)}
    pairs = ((fgraph.outputs[o], fgraph.inputs[i]) for o, i in fgraph.update_mapping.items())
    return {
        outputs[new]: inputs[state] for new, state in pairs if state in inputs and new in outputs
    }
