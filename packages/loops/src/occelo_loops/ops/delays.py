"""`DelayLine`: carries earlier values of an output of a scan, for scans that read values from many steps before.

If each earlier value were a carried value of its own, every step would have to pass all of them on. A delay line
consists of only two carried values: a tensor whose rows are the earlier values, and the position of the oldest row. A
step reads the rows at its taps, and then writes its result over the oldest row, as in a ring buffer. So a step takes no
longer for far taps than for near ones.

`looping.classic` makes a delay line for each output with a tap that reads far back. The gradient of a scan keeps only
the rows that each step reads (`looping.state_rows`). The rule `last_rows_of_delay_lines` in the package rewrite
recognizes a delay line by the expression `next_position`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph.errors import describe
from occelo_graph.ir.nodes import Variable
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.elemwise.arithmetic import add, eq, switch
from occelo_graph.ops.index.subtensor import set_fitting
from occelo_graph.ops.shape.asserting import specify_shape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_loops.ops.building.carried import CarriedValue


def next_position(position: Any, depth: int) -> Any:
    """The position of the oldest row after a step, in a delay line with ``depth`` rows."""
    return switch(eq(position, np.int64(depth - 1)), np.int64(0), add(position, np.int64(1)))


class DelayLine:
    """The delay line of one output.

    ``initial`` has the values before the first step, the oldest first: a tensor with a row for each value, or a list of
    Python numbers. ``taps`` are the negative offsets at which a step reads earlier values. ``label`` is the name of the
    output in error messages. The carried values are the position of the oldest row, and the tensor of rows.
    """

    def __init__(self, initial: Any, taps: Sequence[int], label: str) -> None:
        self.initial = initial
        self.taps = taps
        self.depth = -min(taps)
        self.label = label

    def carried(self) -> list[Any]:
        """The initial carried values."""
        start = as_tensor_variable(np.int64(0))
        if is_list_or_tuple(self.initial):
            return [start, self.initial]
        rest = [None] * (self.initial.type.ndim - 1)
        return [start, specify_shape(self.initial[: self.depth], [self.depth, *rest])]

    def read(self, position: Any, rows: Any) -> list[Any]:
        """The earlier values at the taps. The tap -k means the k-th row before row ``position``.

        The row before row 0 is the last row.
        """
        return [rows[add(position, np.int64(tap))] for tap in self.taps]

    def following(self, position: Any, rows: Any, result: Any) -> list[Any]:
        """The carried values after a step with this ``result``.

        TypeError if the dtype, the number of dimensions or a static length of ``result`` differs from that of the rows.
        But if the initial values are Python numbers, the rows take over the dtype of ``result``.
        """
        self._check(rows, result)
        if result.dtype != rows.dtype:
            # the initial values are Python numbers, which get the dtype of the result
            rows = rows.astype(result.dtype)
        # rows of a dynamic length must have the length 1 if the result has, since a write would broadcast it
        single = [1 if n == 1 else None for n in result.type.shape]
        rows = specify_shape(rows, [None, *single])
        return [next_position(position, self.depth), set_fitting(rows[position], result)]

    def _check(self, rows: Any, result: Variable) -> None:
        if not is_list_or_tuple(self.initial):
            CarriedValue(self.initial[0], self.label).adapt(result)
        elif result.type.ndim:
            raise TypeError(
                f"{self.label} must keep its number of dimensions, which is 0 and then {result.type.ndim}. It starts "
                f"as {self.initial[0]!r}, and becomes {describe(result)}"
            )
