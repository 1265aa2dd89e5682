"""`checkpointed`: divides a scan into blocks of steps, so that its gradient needs less memory.

`loop` and `scan` call it for their argument ``checkpoint``, and so does `scan_checkpoints`.

Reverse mode keeps the carried values (the state) of each step of a scan. If the scan is divided into blocks, it keeps
only the states between blocks, and computes the steps of each block again, one block after the other. With n steps in
blocks of k steps, this needs memory for n / k + k states instead of n states, and one more forward pass. The memory is
least for k = sqrt(n) (Griewank and Walther, Evaluating Derivatives, 2nd edition, chapter 12).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.fgraph.frozen import freeze
from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.shared import SharedVariable
from occelo_graph.ops.create import alloc
from occelo_graph.ops.elemwise.arithmetic import add, ceil, floor, maximum, minimum, sqrt, switch
from occelo_graph.ops.join import concatenate
from occelo_graph.ops.shape.reading import length_product, shape_tuple
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import is_tensor, tensors
from occelo_graph.tensors.type import TensorType
from occelo_loops.ops.building.bodies import Step, number_of_steps, scan_node
from occelo_loops.ops.expansion import checked_steps

if TYPE_CHECKING:
    from occelo_loops.ops.scan_op import Scan

_UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_BUDGET = rf"(\d+(?:\.\d+)?) ?({'|'.join(_UNITS)})"


def checkpointed(
    op_: Scan, outputs: Sequence[Variable], every: Any, ends: bool = False
) -> list[Variable]:
    """Compute ``outputs``, the outputs of a node of `Scan`, by a scan over blocks of steps. Returns the new outputs.

    - ``every``: the number of steps in a block, "sqrt" for the square root of the number of steps, or a limit for the
      memory of the states that are kept, such as "64 MB".
    - ``ends``: whether traces have only the elements of the last step of each block.

    If a condition may end the scan, the size of blocks follows from the largest possible number of steps. No block
    starts after the step in which the condition holds.

    ValueError if ``every`` is not valid, or if the gradient of the scan is truncated.
    """
    if op_.truncate is not None:
        raise ValueError("A truncated gradient keeps few steps, and takes no checkpoint")
    if not outputs:
        return []
    node = outputs[0].owner
    assert node is not None
    results = _Blocks(op_, node.inputs, every, ends).run()
    for state, before, after in zip(node.inputs[1:], outputs[: op_.carried], results, strict=False):
        # moves a default update that a step made, as draws with a `RandomStream` do
        if isinstance(state, SharedVariable) and state.default_update is before:
            state.default_update = after
    return results


class _Blocks:
    """Makes the scan over blocks for a node of `Scan`: each step of the new scan is a scan over one block.

    Steps that do not fill a block are computed by another scan, after the blocks.
    """

    def __init__(self, op_: Scan, inputs: Sequence[Variable], every: Any, ends: bool) -> None:
        parts = op_.parts(inputs[1:])
        steps = checked_steps(op_, tensors(inputs)[0], tensors(parts.sequences))
        self.op = _with_flag(op_.forward()) if op_.stops else op_.forward()
        self.reverse = op_.reverse
        self.ends = ends
        self.steps = steps
        self.carried = parts.carried
        if op_.stops:
            self.carried = [*parts.carried, as_tensor_variable(np.False_)]
        self.constants = parts.constants
        # a loop that goes backward becomes a loop that goes forward over reversed sequences
        self.sequences = [s[:steps][::-1] if op_.reverse else s for s in tensors(parts.sequences)]
        self.size = maximum(_block_size(every, steps, parts.carried), 1)
        self.blocks = steps // self.size

    def run(self) -> list[Variable]:
        op_ = self.op
        whole = self.blocks * self.size
        divided = [
            s[:whole].reshape((self.blocks, self.size, *shape_tuple(s)[1:])) for s in self.sequences
        ]
        counts = [as_tensor_variable(np.int64(0))] if op_.stops else []
        _, results = scan_node(
            self._block,
            self.blocks,
            [*self.carried, *counts],
            divided,
            [*self.constants, self.size],
            name=f"blocks of {op_.name}" if op_.name else None,
        )
        first = op_.carried
        before, traces = results[:first], tensors(results[first + len(counts) :])
        remaining: Any = self.steps - whole
        if op_.stops:
            (stopped,) = tensors(before[-1:])
            remaining = switch(stopped, np.int64(0), remaining)
        rest = self._scan_of_steps(
            remaining, before, [s[whole : self.steps] for s in self.sequences], self.constants
        )
        done = tensors(results[first : first + 1])[0] if op_.stops else whole
        of_rest = tensors(rest[first : first + op_.traces])
        joined = [self._joined(*pair, done) for pair in zip(traces, of_rest, strict=False)]
        if not op_.stops:
            return [*rest[:first], *joined]
        return [*rest[: first - 1], *joined, add(done, rest[-1])]

    def _scan_of_steps(
        self,
        steps: Any,
        carried: Sequence[Variable],
        sequences: Sequence[Any],
        constants: Sequence[Variable],
    ) -> list[Variable]:
        """The outputs of a scan with the same body that takes ``steps`` steps from the values ``carried``."""
        results: list[Variable] = self.op(steps, *carried, *sequences, *constants, return_list=True)
        return results

    def _block(
        self, carried: list[Variable], elements: list[Variable], constants: list[Variable]
    ) -> Step:
        *others, size = constants
        first = self.op.carried
        results = self._scan_of_steps(size, carried[:first], elements, others)
        traces: list[Any] = list(tensors(results[first : first + self.op.traces]))
        if self.ends:
            traces = [t[-1] for t in traces]
        if not self.op.stops:
            return Step(results[:first], traces)
        (done,) = tensors(results[-1:])
        if not self.ends:
            # the traces of blocks are stacked, so all must have the same length
            traces = [
                alloc(np.zeros((), t.dtype), size, *shape_tuple(t)[1:])[:done].set(t)
                for t in traces
            ]
        return Step([*results[:first], add(carried[first], done)], traces, results[first - 1])

    def _joined(self, blocks: Any, rest: Any, done: Any) -> Variable:
        """The whole trace: the first ``done`` elements from the blocks, then the elements from the other steps."""
        if self.ends:
            blocks = concatenate([blocks, rest[-1:]])
        else:
            lengths = shape_tuple(rest)[1:]
            whole = shape_tuple(blocks)[0] * self.size if self.op.stops else self.blocks * self.size
            flat = blocks.reshape((whole, *lengths))
            blocks = concatenate([flat[:done] if self.op.stops else flat, rest])
        joined: Variable = blocks[::-1] if self.reverse else blocks
        return joined


def _with_flag(op_: Scan) -> Scan:
    """A copy of an op with a further carried value: whether the condition that ends the loop has been true."""
    body, first = op_.body, op_.carried
    flag = TensorType("bool", ()).make_variable()
    results = [*body.outputs[:first], body.outputs[-1], *body.outputs[first:]]
    arguments = [*body.inputs[:first], flag, *body.inputs[first:]]
    return replace(op_, body=freeze(arguments, results), carried=first + 1)


def _block_size(every: Any, steps: Any, carried: Sequence[Variable]) -> Any:
    """The number of steps in a block, as an int64 scalar. ``every`` is the argument of `checkpointed`."""
    if not isinstance(every, str):
        if isinstance(every, int) and every < 1:
            raise ValueError(f"A block of checkpoint has at least one step, and not {every}")
        return number_of_steps(every, "checkpoint")
    root = ceil(sqrt(steps.astype("float64")))
    if every == "sqrt":
        return root.astype("int64")
    budget = re.fullmatch(_BUDGET, every)
    if budget is None:
        raise ValueError(
            f"checkpoint is the number of steps of a block, 'sqrt', or a budget such as '64 MB', and not {every!r}"
        )
    size: Any = sum(
        v.type.numpy_dtype.itemsize * length_product(shape_tuple(v))
        for v in carried
        if is_tensor(v)
    )
    # the largest k with n / k + k <= r, for n steps and a budget of r states: the root of k^2 - r k + n = 0
    states = float(budget[1]) * _UNITS[budget[2]] / maximum(size, 1)
    inner = states * states - 4.0 * steps
    largest = floor((states + sqrt(maximum(inner, 0.0))) / 2.0)
    return minimum(switch(inner < 0, root, largest), maximum(steps, 1)).astype("int64")
