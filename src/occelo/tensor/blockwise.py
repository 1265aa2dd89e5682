"""The ops that apply an op to each element of a batch, at PyTensor's place.

`Blockwise` is what they have in common, so ``isinstance(node.op, Blockwise)`` holds for matrix products, for convolutions, for
ops of linear algebra and for loops of other ops over a batch. ``Blockwise(op, signature)`` makes such a loop.
"""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about

if TYPE_CHECKING:  # type checkers know what is here without the rest
    from occelo_graph.blockwise import Blockwise as Blockwise
else:
    from occelo_graph.ops.batching import BatchedOp as Blockwise

    __getattr__ = _hints_about(__name__)
