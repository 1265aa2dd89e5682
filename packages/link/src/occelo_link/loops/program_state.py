"""`ProgramState`: the state that all regions of a graph share while it is lowered to one loop program.

`loops.build` makes it, and every `Context` holds it.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from occelo_graph import Apply
from occelo_link.loops.ir.builder import Builder

if TYPE_CHECKING:
    from occelo_link.loops.ir.program import Alloc, Buffer, Value
    from occelo_link.loops.registry import Lowering

__all__ = ["ProgramState"]


class ProgramState:
    """The builder of the program, the positions of its nodes, and what else all regions share.

    ``callback`` lowers the nodes for which no lowering is registered; ``blas_integer`` is the dtype of BLAS's integers.
    ``within`` are the nodes whose inner graphs are being lowered, the outermost first.
    """

    def __init__(
        self, name: str, callback: Lowering | None = None, blas_integer: str = "int64"
    ) -> None:
        self.builder = Builder(name)
        self.callback = callback
        self.blas_integer = blas_integer
        self.within: tuple[Apply, ...] = ()
        self.stays: dict[Buffer, tuple[Alloc, Sequence[Value]]] = {}
        """Memory that a loop in the body of the program keeps until the loop ends, with its allocation and its lengths.
        Such memory may still become an output.
        """
        self._node: Apply | None = None
        self._numbers: dict[Apply, int] = {}

    @contextmanager
    def inner_graph(self, node: Apply) -> Generator[None]:
        """Lower the inner graph of a node within the ``with`` block."""
        around = self.within
        self.within = (*around, node)
        yield
        self.within = around

    @property
    def node(self) -> Apply | None:
        """The node that is being lowered; new statements belong to it."""
        return self._node

    @node.setter
    def node(self, node: Apply | None) -> None:
        self._node = node
        if node is None:
            self.builder.node = -1
            return
        number = self._numbers.get(node)
        if number is None:
            nodes = self.builder.program.nodes
            number = self._numbers[node] = len(nodes)
            nodes.append(node)
        self.builder.node = number
