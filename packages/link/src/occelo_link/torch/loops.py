"""Loops of graphs that run on PyTorch. The linker ``native`` compiles them, and the compiled code of the graph calls
them.

PyTorch's own loop (``torch.while_loop``) copies each carried tensor in each iteration, so that a loop which keeps a
value of every step would take quadratic time. `torch.arrays` gives the function `compiled_loop` to the tracer.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from occelo_graph import Apply, FunctionGraph
from occelo_graph.ir.op import Kernel
from occelo_link.native.linker import NativeLinker

__all__ = ["compiled_loop"]


def compiled_loop(node: Apply) -> Kernel:
    """The function that runs a loop in machine code: it takes the values of the node's inputs, and returns its results."""
    inputs = [v.type.make_variable() for v in node.inputs]
    fgraph = FunctionGraph(inputs, node.op.make_node(*inputs).outputs, clone=False)
    function = NativeLinker().accept(fgraph).make_function()
    lock = threading.Lock()  # the cells of the arguments are shared

    def run(*values: Any) -> Sequence[Any]:
        with lock:
            return function(*values)

    return run
