"""Kernels: groups of tensors that are computed in the same nest of loops.

`Context` and `regions` make a root for each tensor that must be computed. `schedule` groups the roots into kernels, and
`loop_nests` writes the loops of a kernel. `in_place` reads the roots of a kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from occelo_link.loops.ir.program import Value
from occelo_link.loops.tensors import Index, Stored, Tensor

if TYPE_CHECKING:
    from occelo_link.loops.ir.builder import Builder

MAX_KERNEL_COST = 6000
"""The largest cost of a kernel. More costly kernels are split, since compile time grows faster than the size of a loop
body.
"""


class ElementRoot:
    """A root: ``tensor`` is stored element by element in ``target``."""

    def __init__(self, tensor: Tensor, target: Stored, node: int = -1) -> None:
        self.tensor = tensor
        self.target = target
        self.node = node


class ReduceRoot:
    """A root: ``tensor`` is reduced over ``axes``, and the result is stored in ``target``.

    ``combine`` is the operation that combines two elements, and ``acc_dtype`` is the dtype of accumulators. If there are
    ``columns``, they are vectors that read the same tensors: each is reduced to one element of ``target``, and ``tensor`` is the
    first.
    """

    def __init__(
        self,
        tensor: Tensor,
        target: Stored,
        axes: tuple[int, ...],
        combine: str,
        acc_dtype: str,
        node: int = -1,
        columns: Sequence[Tensor] = (),
    ) -> None:
        self.tensor = tensor
        self.columns = columns
        self.target = target
        self.axes = axes
        self.combine = combine
        self.acc_dtype = acc_dtype
        self.node = node

    @property
    def terms(self) -> Sequence[Tensor]:
        """The tensors that are reduced to one number each."""
        return self.columns or (self.tensor,)


Root = ElementRoot | ReduceRoot


class Passing:
    """A tensor of which a step computes each element once, in order, and stores it for ``roots``, too."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.roots: list[ElementRoot] = []

    def store(self, builder: Builder, index: Index) -> None:
        """Store the element at an index for all roots."""
        for root in self.roots:
            where = root.target.position(builder, index)
            builder.store(root.target.buffer, where, self.tensor.at(builder, index))


class LoopKernel:
    """Roots over the same lengths, computed in one nest of loops."""

    def __init__(self, space: tuple[int, ...], shape: Sequence[Value]) -> None:
        self.space = space
        self.shape = tuple(shape)
        self.axes: tuple[int, ...] | None = None
        self.roots: list[Root] = []
        self.elements: set[Stored] = set()
        """The targets of the roots that are stored element by element."""
        self.cost = 0

    def admits(self, root: Root) -> bool:
        """Whether a root can join the kernel: the kernel must not become too costly, and all reductions must be over
        the same axes.
        """
        if self.cost + root.tensor.cost > MAX_KERNEL_COST:
            return False
        return isinstance(root, ElementRoot) or self.axes in (None, root.axes)

    @property
    def node(self) -> int:
        """The position of the node of the first root."""
        return self.roots[0].node

    def add(self, root: Root) -> None:
        """Add a root to the kernel."""
        self.roots.append(root)
        self.cost += root.tensor.cost
        if isinstance(root, ReduceRoot):
            self.axes = root.axes
        else:
            self.elements.add(root.target)
