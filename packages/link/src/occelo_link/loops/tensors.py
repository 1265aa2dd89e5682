"""Lowered tensors: the form of the variables of a graph in a loop program.

A `Stored` tensor lies in a buffer; a `Virtual` one is a formula for its elements, computed wherever they are read.
Both compute the element at an index. Every lowering takes and returns them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from occelo_link.loops.ir.program import Buffer, Value

if TYPE_CHECKING:
    from occelo_link.loops.ir.builder import Builder

__all__ = [
    "SMALL",
    "Index",
    "Stored",
    "Tensor",
    "TensorGroup",
    "Virtual",
    "are_units",
    "is_small",
    "is_unit",
]

Index = Sequence[Value]
"""One int64 value for each dimension."""
SMALL = 512
"""A product of matrices that takes at most so many multiplications is computed by loops. Matrices of at most so many
elements are copied for such products.
"""


def is_unit(length: Value) -> bool:
    """Whether a length is the constant 1."""
    return length.op == "const" and length.args[0] == 1


def are_units(lengths: Sequence[Value]) -> bool:
    """Whether all lengths are the constant 1.

    It is called often, and ``all`` of a generator would take several times as long.
    """
    for n in lengths:
        if n.op != "const" or n.args[0] != 1:
            return False
    return True


def is_small(lengths: Sequence[Value], most: int = SMALL) -> bool:
    """Whether lengths are static, and their product is at most ``most``."""
    return all(n.op == "const" for n in lengths) and prod(n.args[0] for n in lengths) <= most


class Tensor:
    """A lowered tensor; ``shape`` has an int64 value for each dimension.

    ``flat`` says that one loop can replace a nest. The index of this loop counts all elements in C order. It is passed
    as the index of the last dimension whose length is not 1, so it may exceed the length of this dimension; the indices
    of all other dimensions are 0. ``node`` is the position, among the nodes of the program, of the node that computes
    the tensor. ``reads`` has the stored tensors from which the elements are computed. For each it says whether the
    element at an index is computed from the element at the same index alone. ``bounds``, if known,
    are two values between which all elements lie.
    """

    __slots__ = ("bounds", "cost", "depth", "dtype", "flat", "node", "reads", "shape")

    def __init__(self, dtype: str, shape: Sequence[Value]) -> None:
        self.dtype = dtype
        self.shape = tuple(shape)
        self.flat = False
        self.reads: Mapping[Stored, bool] = {}
        self.cost = 0
        self.depth = 0
        self.node = -1
        self.bounds: tuple[Value, Value] | None = None

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def at(self, builder: Builder, index: Index) -> Value:
        """The element at ``index``."""
        raise NotImplementedError


class Stored(Tensor):
    """Elements in ``buffer`` from ``offset`` on, with signed ``strides`` in elements.

    ``forward`` says for each dimension whether its stride is known not to be negative. Only tensors in C order, their
    slices with positive steps and their transposes may say so. Operands of BLAS rely on this: if one of two forward
    dimensions has stride 1, the stride of the other one is at least the length of the first.
    """

    __slots__ = ("buffer", "forward", "offset", "producer", "readers", "strides")

    def __init__(
        self,
        buffer: Buffer,
        shape: Sequence[Value],
        offset: Value,
        strides: Sequence[Value],
        contiguous: bool,
        base: Stored | None = None,
        forward: Sequence[bool] = (),
    ) -> None:
        super().__init__(buffer.dtype, shape)
        self.buffer = buffer
        self.offset = offset
        self.strides = tuple(strides)
        self.flat = contiguous
        known = (contiguous,) * self.ndim
        self.forward = known if contiguous or not forward else tuple(forward)
        self.reads = {self: True} if base is None else dict.fromkeys(base.reads, False)
        self.producer: int = -1 if base is None else base.producer
        self.readers = 0

    def position(self, builder: Builder, index: Index) -> Value:
        """The offset of an element in the buffer."""
        total = self.offset
        for i, stride in zip(index, self.strides, strict=True):
            total = builder.add(total, builder.mul(i, stride))
        return total

    def at(self, builder: Builder, index: Index) -> Value:
        key = (self, self.buffer.version, *index)
        for block in reversed(builder.stack):
            forwarded = block.memo.get(key)
            if forwarded is not None:
                value: Value = forwarded
                builder.use(self.buffer, value)
                return value
        return builder.load(self.buffer, self.position(builder, index))

    def forward_store(self, builder: Builder, index: Index, value: Value) -> None:
        """Make ``value`` available as the element at ``index``, for the rest of the block or until the next write to the buffer."""
        key = (self, self.buffer.version, *index)
        builder.block.memo[key] = value


class Virtual(Tensor):
    """Elements computed by the formula ``element(builder, index)``."""

    __slots__ = ("element",)

    def __init__(
        self,
        dtype: str,
        shape: Sequence[Value],
        element: Callable[[Builder, Index], Value],
        *,
        reads: Mapping[Stored, bool] | None = None,
        flat: bool = False,
        cost: int = 0,
        depth: int = 1,
    ) -> None:
        super().__init__(dtype, shape)
        self.element = element
        self.reads = {} if reads is None else reads
        self.flat = flat
        self.cost = cost
        self.depth = depth

    def at(self, builder: Builder, index: Index) -> Value:
        # a value computed before a write to its memory is not reused after it
        key = (self, builder.epoch, *index)
        for block in reversed(builder.stack):
            known = block.memo.get(key)
            if known is not None:
                value: Value = known
                return value
            if block.fixed:
                break
        before = builder.node
        if self.node >= 0:
            builder.node = self.node
        made = self.element(builder, index)
        builder.node = before
        # the memo of the block that has the value, so that the value is reused wherever it is visible
        depth = max(made.block.depth, builder.block.floor) if made.op != "const" else 0
        if key[1] == builder.epoch:
            builder.stack[depth].memo[key] = made
        return made


class TensorGroup(Tensor):
    """A value that consists of several tensors, ``parts``.

    Its type defines them (`Type.parts`); it has no elements itself.
    """

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[Tensor]) -> None:
        super().__init__("", ())
        self.parts = tuple(parts)
