"""`MonitorMode`, a mode that calls functions of the user before and after each node.

Users pass it as the mode of a function, for instance to look at intermediate values when a function fails. `detect_nan`
is a ready-made function for this mode, which reports the first NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from occelo_compile.debugging.comparing import is_array
from occelo_compile.mode import Mode, Optimizer
from occelo_graph import Apply, FunctionGraph
from occelo_graph.errors import describe, explained_by
from occelo_link import Linker, make_linker
from occelo_link.node_by_node import WatchingLinker
from occelo_link.vm import NodeThunk

Monitor = Callable[[FunctionGraph, int, Apply, NodeThunk], Any]


class _Monitors:
    """Runs a node's thunk, with calls of the user's two functions before and after it."""

    def __init__(self, before: Monitor | None, after: Monitor | None) -> None:
        self.before = before
        self.after = after

    def __call__(self, fgraph: FunctionGraph, i: int, node: Apply, thunk: NodeThunk) -> None:
        if self.before is not None:
            self.before(fgraph, i, node, thunk)
        thunk()
        if self.after is not None:
            self.after(fgraph, i, node, thunk)


class MonitorMode(Mode):
    """A mode that calls ``pre_func`` before each node and ``post_func`` after each node.

    ValueError for a linker or optimizer that does not exist.

    Both get the arguments ``(fgraph, i, node, thunk)``. ``i`` is the position of the node in the schedule.
    ``thunk.inputs`` and ``thunk.outputs`` are lists of cells; a cell is a list of one element, which is the value. If
    the linker compiles blocks, the nodes also run in Python, in addition to the compiled code.
    """

    def __init__(
        self,
        pre_func: Monitor | None = None,
        post_func: Monitor | None = None,
        optimizer: Optimizer = "default",
        linker: str | Linker | None = None,
    ) -> None:
        inner = linker if isinstance(linker, Linker) else make_linker(linker)
        watching = WatchingLinker(inner, _Monitors(pre_func, post_func))
        super().__init__(watching, optimizer, name="MonitorMode")


@explained_by("calls")
def detect_nan(fgraph: FunctionGraph, i: int, node: Apply, fn: NodeThunk) -> None:
    """Report NaN in the outputs of a node; meant as the ``post_func`` of a `MonitorMode`.

    For the first output with NaN of ``node``, number ``i`` of ``fgraph``, it prints the graph of this output, and the
    values of all inputs and outputs of the thunk ``fn``.
    """
    for cell, variable in zip(fn.outputs, node.outputs, strict=True):
        value = cell[0]
        if is_array(value) and value.dtype.kind in "fc" and np.isnan(value).any():
            print(f"NaN in {describe(variable)}")
            variable.dprint()
            for position, input_cell in enumerate(fn.inputs):
                print(f"input {position}: {input_cell[0]}")
            for position, output_cell in enumerate(fn.outputs):
                print(f"output {position}: {output_cell[0]}")
            return
