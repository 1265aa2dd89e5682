"""`ProgramState`: the state that all regions of a graph share while the graph is lowered to a loop program.

`loops.build` creates it, and every `Context` has a reference to it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from occelo_graph import Apply, Variable
from occelo_link.loops.ir.builder import Builder

if TYPE_CHECKING:
    from occelo_link.loops.ir.program import Alloc, Buffer, Value
    from occelo_link.loops.registry import Lowering
    from occelo_link.loops.tensors import Tensor


class ProgramState:
    """The builder of the program, the positions of the nodes, and other state that all regions share.

    ``callback`` is the lowering of nodes without a registered lowering. ``blas_integer`` is the dtype of BLAS's
    integers. ``within`` lists the nodes whose inner graphs are being lowered, from the outermost inwards.
    """

    def __init__(
        self, name: str, callback: Lowering | None = None, blas_integer: str = "int64"
    ) -> None:
        self.builder = Builder(name)
        self.callback = callback
        self.blas_integer = blas_integer
        self.own_code = False
        """Whether the program may call machine code of this package (`units.row_products`)."""
        self.within: tuple[Apply, ...] = ()
        self.stays: dict[Buffer, tuple[Alloc, Sequence[Value]]] = {}
        """Buffers that a loop in the body of the program keeps until it ends, each with its allocation and its lengths.
        Such a buffer may still become an output.
        """
        self.only_factors: Callable[..., set[Variable]] | None = None
        """Finds matrices of which only products read elements (`lowerings.blas.only_factors`)."""
        self.matrices: list[tuple[Tensor, Any]] = []
        """Constant matrices of which only products read elements, each with its bits as integers."""
        self.replaced_lengths: set[int] = set()
        """The numbers of the lengths that are represented by an equal length, in some region."""
        self._node: Apply | None = None
        self._numbers: dict[Apply, int] = {}

    @contextmanager
    def inner_graph(self, node: Apply) -> Generator[None]:
        """A context manager around the lowering of the inner graph of a node."""
        around = self.within
        self.within = (*around, node)
        yield
        self.within = around

    @property
    def node(self) -> Apply | None:
        """The node that is being lowered. New statements belong to this node."""
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
