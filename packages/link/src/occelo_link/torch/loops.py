"""Runs loops in graphs on PyTorch. The linker ``native`` compiles each loop to machine code, which PyTorch's code
calls.

PyTorch's own loop (``torch.while_loop``) copies all carried tensors in each iteration. So a loop that keeps a value of
every step would take quadratic time. The tracer calls `compiled_loop` through the method ``loop_kernel`` in
`torch.arrays`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from occelo_graph import Apply, FunctionGraph
from occelo_graph.ir.op import Kernel
from occelo_link.native.linker import NativeLinker


def compiled_loop(node: Apply) -> Kernel:
    """Compile the loop of a node. Returns a function from the values of the node's inputs to its results."""
    inputs = [v.type.make_variable() for v in node.inputs]
    fgraph = FunctionGraph(inputs, node.op.make_node(*inputs).outputs, clone=False)
    function = NativeLinker().accept(fgraph).make_function()
    lock = threading.Lock()  # held during a call, since all calls use the same cells

    def run(*values: Any) -> Sequence[Any]:
        with lock:
            return function(*values)

    return run
