"""`Composed`: several nodes of PyTensor for one op of Occelo, in an op that says for which. So the way back finds it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from pytensor.compile.builders import OpFromGraph

from occelo_pytensor.registry import register_conversion


class Composed(OpFromGraph):
    """A graph of PyTensor, which its rewriting inlines, for the op ``ours`` of Occelo."""

    def __init__(self, ours: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        super().__init__(list(inputs), list(outputs), inline=True, name=str(ours))
        self.ours = ours


def composed(equal: Callable[..., Any]) -> Callable[..., Any]:
    """The equal ``equal`` of an op of Occelo, with its one output in a `Composed`."""

    @functools.wraps(equal)
    def wrapped(op: Any, *inputs: Any) -> Any:
        arguments = [v.type() for v in inputs]
        output = equal(op, *arguments)
        return output if output is NotImplemented else Composed(op, arguments, [output])(*inputs)

    return wrapped


@register_conversion(Composed)
def _as_it_was(node: Any, *inputs: Any) -> Any:
    return list(node.op.ours.make_node(*inputs).outputs)
