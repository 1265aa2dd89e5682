"""Finds the step of a loop at which compiled code begins to differ from the interpreter.

`debug_mode` calls `step_that_differs` for a loop whose results differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_compile.debugging.comparing import agree, mapped
from occelo_graph import Apply, FunctionGraph
from occelo_graph.ir.container import local
from occelo_link import Linker


def step_that_differs(node: Apply, arrays: Sequence[Any], linker: Linker) -> int | None:
    """Return the number of a step before which compiled code and the interpreter agree, and after which they differ.

    Steps are counted from 0. ``arrays`` are the inputs of the node. The result is None if the node is not a loop, or a
    loop without a number of steps. It is also None if the loop, compiled separately, has the same results as in the
    interpreter.
    """
    loop = node.op.loop(node) if node.op.loops else None
    if loop is None or loop.count is None:
        return None
    position = loop.count
    inputs = [v.type.make_variable() for v in node.inputs]
    outputs = node.op.make_node(*inputs).outputs
    call = linker.clone().accept(FunctionGraph(inputs, outputs, clone=False)).make_function()
    kernel = node.op.kernel(node)

    def differ(steps: int) -> bool:
        changed = list(arrays)
        changed[position] = np.asarray(steps, np.asarray(arrays[position]).dtype)
        copies = [
            [mapped(v.type, x, np.array) for v, x in zip(node.inputs, changed, strict=True)]
            for _ in range(2)
        ]
        with np.errstate(all="ignore"):
            one, other = kernel(*copies[0]), map(local, call(*copies[1]))
            return not all(
                agree(v.type, x, y) for v, x, y in zip(node.outputs, one, other, strict=True)
            )

    # results agree after `low` steps, and differ after `high` steps
    low, high = 0, int(arrays[position])
    if high < 1 or not differ(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if differ(middle) else (middle, high)
    return high - 1
