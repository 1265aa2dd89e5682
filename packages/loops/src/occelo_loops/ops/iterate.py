"""`Iterate`: the op of loops that linkers run. It has only carried values, and values that all iterations read.

`looping.expansion` makes a node of this op from a node of `Scan`: the memory of a trace becomes a carried value, and a
sequence becomes a value that all iterations read. `occelo_loops.rules.bodies` rewrites the
body. Linkers run the node like every op with a loop (`Op.loop`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from occelo_graph.fgraph.frozen import FrozenFunctionGraph
from occelo_graph.interpret import loop_kernel
from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import Kernel, Op, op
from occelo_graph.ir.regions import Loop
from occelo_graph.ir.terms import Term
from occelo_graph.ir.traits import trait
from occelo_loops.ops.printing import written_loop


@op
class Iterate(Op):
    """A loop that repeats ``body``. The outputs of a node are the carried values after the last iteration.

    A node has these inputs: the number of iterations (an int64 scalar), the initial carried values, and values that all
    iterations read.

    - ``body``: the graph of one iteration. Its inputs are the carried values and the values that all iterations read.
      Its outputs are the new carried values, and with ``stops`` whether this iteration is the last one.
    - ``carried``: the number of carried values.
    - ``stops``: whether a condition, the last output of ``body``, can end the loop early.
    - ``traces``: the number of carried values that are memory for traces. They are the last carried values. Each has at
      least as many rows as there are iterations. Each iteration writes one row of it, a different row in each
      iteration, and no iteration reads a row.
    """

    body: FrozenFunctionGraph
    carried: int
    stops: bool = False
    traces: int = 0
    loops: ClassVar[bool] = True

    @trait
    def pure(self) -> bool:
        """Whether all nodes of the body are pure."""
        return self.body.pure

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        *inputs, function = operands
        texts = [term.text for term in inputs[1:]]
        initial, read = texts[: self.carried], texts[self.carried :]
        return written_loop(function.text, inputs[0].short, initial, [], read, 0, stops=self.stops)

    def infer(self, *types: Any) -> tuple[Any, ...]:
        arguments = self.body.inputs
        if len(types) != 1 + len(arguments):
            raise ValueError(f"{self} takes {1 + len(arguments)} inputs, got {len(types)}")
        for i in range(self.carried):
            before, after = arguments[i].type, self.body.outputs[i].type
            if not before.is_super(after):
                raise TypeError(f"What is carried becomes {after}, and was {before}")
        for variable, kind in zip(arguments, types[1:], strict=True):
            if not variable.type.is_super(kind):
                raise TypeError(f"An argument of the body is {variable.type}, got {kind}")
        return tuple(v.type for v in arguments[: self.carried])

    def loop(self, node: Apply) -> Loop:
        first = 1 + self.carried
        read = tuple(range(first, len(node.inputs)))
        # a loop that ends early does not write all rows of its traces
        fills = () if self.stops else tuple(range(self.carried - self.traces, self.carried))
        return Loop(self.body, 0, tuple(range(1, first)), read, self.stops, fills)

    def kernel(self, node: Apply) -> Kernel:
        return loop_kernel(self.loop(node), self)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.carried} carried, {len(self.body.nodes)} nodes}}"
