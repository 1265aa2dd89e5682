"""Data structures of loop programs: blocks of statements over buffers and scalar values.

Lowerings build programs with `Builder`. Printers, the interpreter, the verifier and analyses read them.

A `Program` is a list of statements over buffers. Scalars are `Value`s in single-assignment form. Each value belongs to
the `Block` that computes it; loops and branches own the blocks of their bodies. An address is a buffer and an offset in
elements, so strides of any sign, broadcasting and empty tensors need no special case.

The results of a program are defined exactly, so every printer must produce the same numbers:

- Integer arithmetic wraps. Integer division and remainder round down, and give 0 for a divisor of 0.
- A shift by the width of the dtype or more gives 0 (-1 for a negative number that is shifted right).
- A float that is out of the range of an integer type is converted to the integer that NumPy gives on x86-64.
- ``min`` and ``max`` propagate NaN. No float operation is contracted or reassociated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import numpy.typing as npt

    from occelo_graph import Apply

_SIZES = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "float32": 4,
    "int64": 8,
    "uint64": 8,
    "float64": 8,
}


def itemsize(dtype: str) -> int:
    """The size of an element in bytes."""
    return _SIZES[dtype]


class Value:
    """A scalar: the result of the operation ``op`` on ``args``, which ``block`` computes once.

    ``op`` is one of the names in `occelo_link.loops.ir.operations`, or one of these:

    - ``const``: a constant; ``args`` is the Python number.
    - ``param``: a loop index, a carried scalar, or a result of a statement.
    - ``load``: an element; ``args`` are a buffer and an offset.
    - ``length``, ``stride``: the length or stride of a dimension of an input; ``args`` are a buffer and an axis.
    - ``call``: a call of a function of the table; ``args`` are its name, then values.
    - ``apply``: a call of a `Function` of the program; ``args`` are its name, then values.
    - ``unlikely``: ``args`` are a condition, a value, the name of a `Function`, then its arguments. If the condition
      holds, which is rare, the function is called in a cold branch and returns the result. Otherwise the result is the
      value.
    """

    __slots__ = ("args", "block", "dtype", "node", "number", "op")
    blocks: ClassVar[tuple[Block, ...]] = ()

    def __init__(
        self, number: int, dtype: str, op: str, args: tuple[Any, ...], block: Block, node: int = -1
    ) -> None:
        self.number = number
        self.dtype = dtype
        self.op = op
        self.args = args
        self.block = block
        self.node = node

    def __repr__(self) -> str:
        return f"%{self.number}"


class Buffer:
    """Memory for elements of one dtype.

    ``space`` is one of these:

    - ``input``: read only; ``position`` is the number of the input.
    - ``output``: allocated by an `Alloc`; ``position`` is the number of the output.
    - ``work``: allocated by an `Alloc`, and freed at the end. If it is ``scratch``, that is its number of elements, and no
      iteration of a parallel loop reads what another one has written to it.
    - ``carried``: like ``work``, for elements that an iteration passes to the next one (see `Swap`).
    - ``constant``: read only; ``entry`` is the name of its table entry.

    Allocated memory overlaps no other live buffer. The only exception is a buffer that takes over the memory of another
    one, whose elements may still be read (``keeps`` of `Alloc`).

    ``holds`` is the dtype of the caller's array, and ``dtype`` is the dtype of the elements in the program. They differ
    for float16 (uint16 in the program) and for complex numbers (two floats). ``version`` counts the writes to the
    buffer while a program is built. ``read`` is the version at which a value of the buffer was last loaded or reused
    (see `Block.uses`). If ``in_either_order`` is True, the buffer is an input of two dimensions, whose rows or columns are
    contiguous.
    """

    __slots__ = (
        *("dtype", "entry", "holds", "in_either_order", "name", "ndim", "position", "read"),
        *("scratch", "space", "version"),
    )

    def __init__(
        self,
        name: str,
        dtype: str,
        space: str,
        position: int = -1,
        ndim: int = 0,
        entry: str = "",
        holds: str | None = None,
    ) -> None:
        self.name = name
        self.dtype = dtype
        self.holds = dtype if holds is None else holds
        self.space = space
        self.position = position
        self.ndim = ndim
        self.entry = entry
        self.in_either_order = False
        self.scratch: Value | None = None
        self.version = 0
        self.read = -1

    def __repr__(self) -> str:
        return self.name


class Block:
    """Statements in order. Nothing is hoisted out of a block that is ``fixed``.

    ``uses`` lists the places where an available value replaces a load. Each item has the statement before this place
    (None at the beginning), the buffer and the value. A value is available if it was loaded from the buffer, or stored
    to it, since the last write. ``writes`` are the buffers that statements in this block or in nested blocks write.
    """

    __slots__ = (
        *("depth", "fixed", "floor", "known", "memo"),
        *("parent", "statements", "uses", "writes"),
    )

    def __init__(self, parent: Block | None, fixed: bool = False) -> None:
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.fixed = fixed
        self.floor: int = self.depth if fixed or parent is None else parent.floor
        self.statements: list[Statement] = []
        self.known: dict[Any, Value] = {}
        self.memo: dict[Any, Any] = {}
        self.uses: list[tuple[Statement | None, Buffer, Value]] = []
        self.writes: set[Buffer] = set()

    def __iter__(self) -> Iterator[Statement]:
        return iter(self.statements)

    @property
    def is_step(self) -> bool:
        """Whether the block runs in steps of loops, but in no nest of loops over elements."""
        return self.parent is None or (self.fixed and self.parent.is_step)


class _Record:
    """Base class of statements and their parts.

    These classes are not dataclasses. Creating the methods of dataclasses would take most of the time to import this
    module, and each first compilation waits for this import.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({inside})"


class _Leaf(_Record):
    """Base class of statements without blocks."""

    __slots__ = ()
    blocks: ClassVar[tuple[Block, ...]] = ()


class Store(_Leaf):
    """Write ``value`` to the element of a buffer at ``offset``. The offset is a number of elements."""

    __slots__ = ("buffer", "node", "offset", "value")

    def __init__(self, buffer: Buffer, offset: Value, value: Value, node: int = -1) -> None:
        self.buffer = buffer
        self.offset = offset
        self.value = value
        self.node = node


class Carried(_Record):
    """A scalar that a loop carries from one iteration to the next.

    ``param`` is the scalar as the body of the loop reads it. ``initial`` is its value before the first iteration,
    ``following`` its value after an iteration, and ``result`` its value after the loop.

    If ``combine`` is the name of a binary operation, the loop may keep ``lanes`` accumulators. All of them start at
    ``initial``, which must be the identity element of the operation. Iteration ``k`` updates accumulator ``k % lanes``.
    At the end, the upper half of the accumulators is combined into the lower half, repeatedly, until one accumulator is
    left.
    """

    __slots__ = ("combine", "following", "initial", "param", "result")

    def __init__(
        self,
        param: Value,
        initial: Value,
        following: Value,
        result: Value,
        combine: str | None = None,
    ) -> None:
        self.param = param
        self.initial = initial
        self.following = following
        self.result = result
        self.combine = combine


class For(_Record):
    """``for index in range(start, stop)``, in order.

    If ``lanes`` is above 1, this number of iterations forms a vector iteration. Then the body has no nested blocks, and
    iterations depend on each other only by `Carried` scalars with ``combine``. If ``parallel`` is True, iterations are
    independent and write disjoint elements, other than of ``scratch``. A ``non_interruptible`` loop does not poll for interrupts.
    A loop ``in_step`` is a part of a step of another loop, and may nevertheless run in several threads.
    """

    __slots__ = (
        *("body", "carried", "in_step", "index", "lanes", "node"),
        *("non_interruptible", "parallel", "start", "stop"),
    )

    def __init__(
        self,
        index: Value,
        start: Value,
        stop: Value,
        body: Block,
        lanes: int = 1,
        parallel: bool = False,
        node: int = -1,
    ) -> None:
        self.in_step = False
        self.index = index
        self.start = start
        self.stop = stop
        self.body = body
        self.lanes = lanes
        self.parallel = parallel
        self.carried: list[Carried] = []
        self.non_interruptible = False
        self.node = node

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (self.body,)


class While(_Record):
    """A while loop: the block ``test`` computes ``condition``, and ``body`` runs as long as the condition holds.

    Both blocks can read the params of the carried scalars.
    """

    __slots__ = ("body", "carried", "condition", "node", "test")

    def __init__(
        self, test: Block, condition: Value, body: Block, carried: list[Carried], node: int = -1
    ) -> None:
        self.test = test
        self.condition = condition
        self.body = body
        self.carried = carried
        self.node = node

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (self.test, self.body)


class If(_Record):
    """Run one of two blocks. ``results`` is a list of tuples ``(result, value in then, value in orelse)``."""

    __slots__ = ("condition", "node", "orelse", "results", "then")

    def __init__(self, condition: Value, then: Block, orelse: Block, node: int = -1) -> None:
        self.condition = condition
        self.then = then
        self.orelse = orelse
        self.results: list[tuple[Value, Value, Value]] = []
        self.node = node

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (self.then, self.orelse)


class Check(_Leaf):
    """Stop with the error of ``site`` if ``condition`` does not hold."""

    __slots__ = ("condition", "node", "site")

    def __init__(self, condition: Value, site: int, node: int = -1) -> None:
        self.condition = condition
        self.site = site
        self.node = node


class Alloc(_Leaf):
    """Allocate ``size`` elements for ``buffer``. ``lengths`` is the shape if the buffer is an output.

    If ``reuse`` is a buffer, ``buffer`` takes over its memory; both have the same size. If ``keeps`` is False,
    ``reuse`` is dead afterwards. If ``keeps`` is True, the elements of ``reuse`` stay in the memory, and may be read
    until they are overwritten.

    The ``reuse`` of an output may be an input that the output updates. If no other object refers to the input, the
    output takes over its memory, otherwise it gets a copy. No later statement may fail, since the old value is lost.

    Working memory with ``keeps`` may also be a further name for an input or a constant, or for a buffer with more
    elements. Then nothing is written to it.

    Working memory that is allocated in a loop is kept for the next iteration. It is reallocated only if an iteration
    needs more memory than all earlier ones.
    """

    __slots__ = ("buffer", "keeps", "lengths", "node", "reuse", "size")

    def __init__(
        self,
        buffer: Buffer,
        size: Value,
        lengths: Sequence[Value] = (),
        reuse: Buffer | None = None,
        keeps: bool = False,
        node: int = -1,
    ) -> None:
        self.buffer = buffer
        self.size = size
        self.lengths = lengths
        self.reuse = reuse
        self.keeps = keeps
        self.node = node

    @property
    def updates_input(self) -> bool:
        """Whether ``buffer`` is an output that updates the input ``reuse``."""
        return (
            self.reuse is not None and self.reuse.space == "input" and self.buffer.space == "output"
        )


class Swap(_Leaf):
    """Exchange the memory of two buffers, together with the elements in it.

    Both buffers have the same dtype and the space ``carried``.
    """

    __slots__ = ("first", "node", "second")

    def __init__(self, first: Buffer, second: Buffer, node: int = -1) -> None:
        self.first = first
        self.second = second
        self.node = node


class Pointer(_Record):
    """An argument of `Invoke`: the address of an element."""

    __slots__ = ("buffer", "offset")

    def __init__(self, buffer: Buffer, offset: Value) -> None:
        self.buffer = buffer
        self.offset = offset


class Reference(_Record):
    """An argument of `Invoke`: the address of a temporary that contains ``value``."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


class Invoke(_Leaf):
    """Call a function of the table with C's calling convention.

    The arguments are values, addresses of elements, and addresses of temporaries. ``result`` is the value that the
    function returns, if any. ``writes`` are the buffers that the function may write.
    """

    __slots__ = ("args", "entry", "node", "result", "writes")

    def __init__(
        self,
        entry: str,
        args: Sequence[Value | Pointer | Reference],
        result: Value | None = None,
        writes: Sequence[Buffer] = (),
        node: int = -1,
    ) -> None:
        self.entry = entry
        self.args = args
        self.result = result
        self.writes = writes
        self.node = node


class Function(_Record):
    """A pure function of scalars. Its body is one block of operations and loads of constants."""

    __slots__ = ("body", "name", "params", "result")

    def __init__(self, name: str, params: Sequence[Value], body: Block, result: Value) -> None:
        self.name = name
        self.params = params
        self.body = body
        self.result = result


Statement = Value | Store | For | While | If | Check | Alloc | Swap | Invoke
"""A statement of a block. ``node`` is the position of the node that it belongs to, and ``blocks`` are the blocks that
it owns.
"""


class Program:
    """A loop program: ``body`` is its outermost block.

    ``nodes`` are the nodes of the graph. The ``node`` of a statement is a position in this list, or -1. ``sites``
    lists, for each error site, the node that the error is reported for. ``table`` maps the names of constant arrays and
    of functions outside of the program to their slots. ``constants`` are the constant arrays; they are passed by
    address. ``functions`` maps names to the functions that belong to the program, which the operations ``apply`` and
    ``unlikely`` call. ``callbacks`` has a tuple for each node that the program runs by calling Python: the nodes whose
    inner graphs contain it, from the outermost inwards, and then the node itself.
    """

    def __init__(self, name: str, body: Block) -> None:
        self.name = name
        self.body = body
        self.inputs: list[Buffer] = []
        self.outputs: list[Buffer] = []
        self.table: dict[str, int] = {}
        self.sites: list[Apply | None] = []
        self.nodes: list[Apply] = []
        self.callbacks: list[tuple[Apply, ...]] = []
        self.constants: list[npt.NDArray[Any]] = []
        self.functions: dict[str, Function] = {}

    def entry(self, name: str) -> str:
        """Add an external name to the table if it is not there. Returns the name."""
        self.table.setdefault(name, len(self.table))
        return name

    def blocks(self) -> Iterator[Block]:
        """All blocks of the program. A block comes before the blocks nested in it."""
        pending = [self.body]
        while pending:
            block = pending.pop()
            yield block
            for statement in block:
                pending += statement.blocks
