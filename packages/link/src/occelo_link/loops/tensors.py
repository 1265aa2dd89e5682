"""Lowered tensors, which represent the variables of a graph in a loop program.

Every lowering accepts and returns them. A `Stored` tensor lies in a buffer. A `Virtual` tensor is a formula for its
elements, which are computed where they are read. Both compute the element at an index with `Tensor.at`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from occelo_link.loops.ir.program import Buffer, Value

if TYPE_CHECKING:
    from occelo_link.loops.ir.builder import Builder

Index = Sequence[Value]
"""An int64 value for each dimension."""
SMALL = 512
"""The largest number of multiplications for which a product of matrices is computed by loops. A matrix is copied for
such a product only if it has at most this number of elements.
"""


def is_unit(length: Value) -> bool:
    """Whether a length is the constant 1."""
    return length.op == "const" and length.args[0] == 1


def are_units(lengths: Sequence[Value]) -> bool:
    """Whether all lengths are the constant 1.

    This function is called often, and ``all`` of a generator would take several times as long.
    """
    for n in lengths:
        if n.op != "const" or n.args[0] != 1:
            return False
    return True


def is_small(lengths: Sequence[Value], most: int = SMALL) -> bool:
    """Whether all lengths are static, and their product is at most ``most``."""
    return all(n.op == "const" for n in lengths) and prod(n.args[0] for n in lengths) <= most


class Tensor:
    """A lowered tensor. ``shape`` has an int64 value for each dimension.

    If ``flat`` is True, a single loop over all elements in C order can replace a nest of loops. The index of this loop
    is passed as the index of the last dimension whose length is not 1, so it may exceed the length of this dimension.
    The indices of all other dimensions are 0.

    ``node`` is the position of the node that computes the tensor, among the nodes of the program. ``reads`` maps each
    stored tensor that the elements are computed from to a flag. The flag is True if the element at an index only needs
    the element of the stored tensor at the same index. ``bounds`` are two values between which all elements lie, or
    None.
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
        """The number of dimensions."""
        return len(self.shape)

    def at(self, builder: Builder, index: Index) -> Value:
        """The element at ``index``."""
        raise NotImplementedError


class Stored(Tensor):
    """A tensor in memory: elements in ``buffer`` from ``offset`` on. ``strides`` count elements, and may be negative.

    ``forward`` says for each dimension whether its stride is known not to be negative. It may be True only for tensors
    in C order, and for their transposes and their slices with positive steps. Operands of BLAS rely on this: if one of
    two such dimensions has the stride 1, the stride of the other one is at least the length of the first.
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
        flags = (contiguous,) * self.ndim
        self.forward = flags if contiguous or not forward else tuple(forward)
        self.reads = {self: True} if base is None else dict.fromkeys(base.reads, False)
        self.producer: int = -1 if base is None else base.producer
        self.readers = 0

    def position(self, builder: Builder, index: Index) -> Value:
        """The offset of the element at ``index`` in the buffer."""
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
        """Record that ``value`` is the element at ``index``, so that it need not be loaded.

        The record is valid for the rest of the block, or until the next write to the buffer.
        """
        key = (self, self.buffer.version, *index)
        builder.block.memo[key] = value


def transposed(matrix: Tensor) -> Stored:
    """The transpose of a stored matrix."""
    assert isinstance(matrix, Stored)
    shape, strides = matrix.shape[::-1], matrix.strides[::-1]
    turned = matrix.forward[::-1]
    return Stored(matrix.buffer, shape, matrix.offset, strides, False, matrix, turned)


class Virtual(Tensor):
    """A tensor whose elements are computed by the formula ``element(builder, index)``."""

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
        # the epoch in the key ensures that no value is reused after a write to memory that it was computed from
        key = (self, builder.epoch, *index)
        for block in reversed(builder.stack):
            reused = block.memo.get(key)
            if reused is not None:
                value: Value = reused
                return value
            if block.fixed:
                break
        before = builder.node
        if self.node >= 0:
            builder.node = self.node
        computed = self.element(builder, index)
        builder.node = before
        # use the memo of the block that computes the value, so that the value is reused wherever it is visible
        depth = max(computed.block.depth, builder.block.floor) if computed.op != "const" else 0
        if key[1] == builder.epoch:
            builder.stack[depth].memo[key] = computed
        return computed


class TensorGroup(Tensor):
    """A value that consists of several tensors, ``parts``. The type of the value defines them (`Type.parts`).

    The group itself has no elements. TypeError if ``parts`` is no sequence.
    """

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[Tensor]) -> None:
        super().__init__("", ())
        self.parts = tuple(parts)
