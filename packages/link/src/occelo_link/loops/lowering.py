"""`Context`: lowers the nodes of a region, and schedules the computation of tensors.

Every lowering receives a `Context` as its first argument. `loops.build` creates the context of a graph, and
`loops.regions` creates the contexts of branches and loops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import Apply, Constant, TensorType, Variable
from occelo_graph.errors import at_node
from occelo_graph.extensions import is_external
from occelo_graph.ir.decomposing import Decomposition
from occelo_graph.ir.regions import Division, divide, operands_of
from occelo_graph.ops.length_inputs import lengths_to_check
from occelo_graph.tensors.type import dtype_names
from occelo_link.loops.complexes import (
    PARTS,
    ComplexTensor,
    complex_constant,
    interleaved,
    interleaved_parts,
    parts_of,
)
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Buffer, Program, Value
from occelo_link.loops.kernel import ElementRoot, Passing, ReduceRoot
from occelo_link.loops.loop_nests import copy_elements, copy_together
from occelo_link.loops.program_state import ProgramState
from occelo_link.loops.registry import Lowering, check_lowered, find_lowering
from occelo_link.loops.schedule import Schedule
from occelo_link.loops.steps import Step
from occelo_link.loops.tensor_groups import map_leaves, members_of, parts_of_type
from occelo_link.loops.tensors import (
    Index,
    Stored,
    Tensor,
    TensorGroup,
    Virtual,
    are_units,
    transposed,
)

if TYPE_CHECKING:
    import numpy.typing as npt

MEMORY_DTYPES = {"float16": "uint16", **PARTS}
"""Maps each dtype that loop programs lack to the dtype of its buffers for inputs and outputs."""
MAX_DEPTH = 48
"""The largest depth of a nested formula. Deeper formulas are stored, which limits the depth of recursion."""
MAX_COST = 3000
_MOST = 2.0**59
"""The limit for the number of elements of a tensor; a tensor must have fewer."""
_FEW_TIMES = 2**12
"""A tensor with fewer times the elements of an input is not too large: addresses have 47 bits."""
LONGER = 4
"""A constant matrix is stored by its longer dimension if this is so many times as long as the other one."""
CHEAP = 8
"""The largest cost of a formula that is recomputed for each reader."""
_CHEAPEST = 3
"""The largest cost of a formula that is recomputed for each row of a reader; a division costs more."""
_OF_PARTS = (TensorGroup, ComplexTensor)


class NotLowered(Exception):
    """A node has no lowering. The message says which node."""


class Context:
    """State that the lowerings of one region share: the schedule, the lowered tensors, and which lengths are equal.

    The whole program is also a region. For any other region, ``outer`` is the context of the enclosing region;
    lowerings can read its tensors, too.
    """

    def __init__(self, state: ProgramState, outer: Context | None = None) -> None:
        self.state = state
        self.outer = outer
        self.builder = state.builder
        self.i64: Callable[[int], Value] = state.builder.i64
        """Returns an int64 constant. It is kept as an attribute, since lowerings need hundreds of constants."""
        first: int = 0 if outer is None else outer.schedule.done
        self.schedule: Schedule = Schedule(self, first)
        self.tensors: dict[Variable, Tensor] = {}
        self.uses: Mapping[Variable, Sequence[Apply]] = {} if outer is None else outer.uses
        self.division: Division = Division() if outer is None else outer.division
        self._same: dict[int, Value] = {}
        self._stored: dict[Tensor, Stored] = {}
        """Maps each formula that was stored to its stored tensor, which several products may read."""
        self._formulas: dict[Tensor, Tensor] = {}
        """The inverse of ``_stored``."""
        self._numbers: dict[tuple[Value, int], Tensor] = {}
        """Maps each constant number, and a number of dimensions, to its tensor. So equal constants are one tensor."""
        self._parts: dict[tuple[Any, ...], Sequence[Tensor]] = {}
        """The results of the nodes of decompositions, by op, inputs and types. So equal nodes of several decompositions
        are lowered once. A formula that was stored counts as the same input as its stored tensor.
        """

    @property
    def program(self) -> Program:
        """The program under construction."""
        return self.builder.program

    @property
    def node(self) -> Apply | None:
        """The node that is being lowered."""
        return self.state.node

    @property
    def blas_integer(self) -> str:
        """The dtype of integer arguments of BLAS."""
        return self.state.blas_integer

    @contextmanager
    def region(self) -> Generator[Context]:
        """A context manager that creates the context of a nested region. At its end, the pending steps of the region
        are written.
        """
        self.schedule.flush()
        inner, node = Context(self.state, self), self.state.node
        yield inner
        inner.schedule.finish({})
        self.schedule.continue_after(inner.schedule)
        self.state.node = node

    # lengths

    def canonical(self, length: Value) -> Value:
        """The representative of all lengths that are known to be equal to this length."""
        root, replaced = length, self.state.replaced_lengths
        while root.number in replaced:
            context: Context | None = self
            while context is not None and root.number not in context._same:
                context = context.outer
            if context is None:
                break
            root = context._same[root.number]
        if root is not length:
            self._same[length.number] = root  # the next search is short
        return root

    def unify(self, a: Value, b: Value) -> Value:
        """Write a check that two lengths are equal, unless this is known. Returns their representative."""
        first, second = self.canonical(a), self.canonical(b)
        if first is second:
            return first
        if second.op == "const":
            first, second = second, first
        self.check(self.builder.eq(first, second))
        self._same[second.number] = first
        self.state.replaced_lengths.add(second.number)
        return first

    def space(self, shape: Sequence[Value]) -> tuple[int, ...]:
        """A key for a shape. Shapes that are known to be equal have the same key."""
        return tuple(self.canonical(n).number for n in shape)

    def check_size(self, lengths: Sequence[Value], node: Apply | None = None) -> None:
        """Write a check that fails if a tensor of these lengths is so large that no memory could hold it.

        The product of the lengths is computed in float64, since in int64 it could wrap to a small number. A negative
        length counts as 1. Nothing is checked if the tensor is known to be small (`_is_small`).
        """
        builder = self.builder
        if _is_small(lengths):
            return
        total = builder.const(1.0, "float64")
        for n in lengths:
            least = builder.op("max", n, self.i64(1))
            total = builder.op("mul", total, builder.cast(least, "float64"))
        self.check(builder.lt(total, builder.const(_MOST, "float64")), node)

    def check(self, condition: Value, node: Apply | None = None) -> None:
        """Write a check. If the condition does not hold, the program stops with the error of ``node``.

        By default ``node`` is the node that is being lowered.
        """
        self.builder.check(condition, self.site(node))

    def site(self, node: Apply | None = None) -> int:
        """The number of a new error site, which belongs to ``node``.

        By default ``node`` is the node that is being lowered.
        """
        sites = self.program.sites
        sites.append(self.node if node is None else node)
        return len(sites) - 1

    # tensors

    def virtual(
        self,
        dtype: str,
        shape: Sequence[Value],
        element: Callable[[Builder, Index], Value],
        sources: Sequence[Tensor] = (),
        *,
        cost: int = 1,
        flat: bool = False,
        identity: bool = False,
    ) -> Tensor:
        """A tensor with a formula, which computes each element from elements of ``sources``.

        ``identity`` may be True if the formula for the element at an index reads its sources only at the same index.
        """
        reads: dict[Stored, bool] = {}
        depth = 0
        for source in sources:
            # scalars are computed once, before the loops, so their cost is not added; for a vector it is added all the
            # same, so that the vector is stored early and the loops that share it stay small
            if len(shape) < 2 or not are_units(source.shape):
                cost += source.cost
            depth = max(depth, source.depth)
            if not source.reads:
                continue
            same = identity and self.aligned(source, shape)
            for stored, in_order in source.reads.items():
                reads[stored] = reads.get(stored, True) and in_order and same
        tensor = Virtual(dtype, shape, element, reads=reads, flat=flat, cost=cost, depth=depth + 1)
        tensor.node = self.builder.node
        return tensor

    def mapped(
        self,
        dtype: str,
        function: Callable[[Builder, Sequence[Value]], Value],
        *tensors: Tensor,
        cost: int = 1,
    ) -> Tensor:
        """A tensor of a function of elements at the same index. All tensors have the shape of the first, or no dimensions."""
        shape = tensors[0].shape

        def element(builder: Builder, index: Index) -> Value:
            return function(builder, [t.at(builder, index if t.ndim else ()) for t in tensors])

        flat = self.flat_over(tensors, shape)
        return self.virtual(dtype, shape, element, tensors, cost=cost, flat=flat, identity=True)

    def cast(self, tensor: Tensor, dtype: str) -> Tensor:
        """A tensor whose elements are converted to another dtype."""
        if tensor.dtype == dtype:
            return tensor
        return self.mapped(dtype, lambda builder, values: builder.cast(values[0], dtype), tensor)

    def aligned(self, tensor: Tensor, shape: Sequence[Value]) -> bool:
        """Whether a tensor has exactly this shape."""
        own = tensor.shape
        if len(shape) != len(own):
            return False
        for a, b in zip(own, shape, strict=True):
            if a is not b and self.canonical(a) is not self.canonical(b):
                return False
        return True

    def flat_over(self, sources: Sequence[Tensor], shape: Sequence[Value]) -> bool:
        """Whether one flat loop can compute an elementwise formula over ``sources`` (see `Tensor`)."""
        for t in sources:
            if not are_units(t.shape) and not (t.flat and self.aligned(t, shape)):
                return False
        return True

    def scalar(self, tensor: Tensor) -> Value:
        """The only element of a tensor with one element. First writes all steps that the element depends on."""
        if any(s.producer >= self.schedule.done for s in tensor.reads):
            self.schedule.flush_for(tensor)
        return tensor.at(self.builder, [self.i64(0)] * tensor.ndim)

    def new_stored(self, dtype: str, shape: Sequence[Value], space: str = "work") -> Stored:
        """A contiguous tensor in a new buffer, which the schedule allocates."""
        buffer = self.builder.buffer(dtype, space, ndim=len(shape))
        return self.over(buffer, shape)

    def over(self, buffer: Buffer, shape: Sequence[Value]) -> Stored:
        """The tensor with this shape that lies in a buffer in C order."""
        return Stored(buffer, shape, self.i64(0), self.contiguous(shape), True)

    def contiguous(self, shape: Sequence[Value]) -> list[Value]:
        """The strides of a tensor with this shape in C order, in elements."""
        strides: list[Value] = []
        step = self.i64(1)
        for length in reversed(shape):
            strides.append(step)
            step = self.builder.mul(step, length)
        return strides[::-1]

    def store(self, tensor: Tensor, target: Stored | None = None) -> Stored:
        """The tensor in memory: the tensor itself if it is stored, otherwise the target of a new root of the schedule."""
        if target is None:
            stored = tensor if isinstance(tensor, Stored) else self._stored.get(tensor)
            if stored is not None:
                return stored
        result = self.new_stored(tensor.dtype, tensor.shape) if target is None else target
        self.schedule.add_root(ElementRoot(tensor, result, self.builder.node))
        if target is None:
            self._stored[tensor], self._formulas[result] = result, tensor
        return result

    def reduce(
        self, tensor: Tensor, axes: Sequence[int], combine: str, acc_dtype: str, dtype: str
    ) -> Stored:
        """Reduce a tensor over axes with the associative operation ``combine``. Accumulators have the dtype
        ``acc_dtype``.
        """
        lengths = [n for i, n in enumerate(tensor.shape) if i not in axes]
        result = self.new_stored(dtype, lengths)
        node = self.builder.node
        self.schedule.add_root(ReduceRoot(tensor, result, tuple(axes), combine, acc_dtype, node))
        return result

    def step(
        self, reads: Sequence[Tensor], writes: Sequence[Stored], emit: Callable[[], None]
    ) -> None:
        """Add a step to the schedule. When the schedule reaches the step, ``emit`` writes its statements."""
        self.schedule.add_step(Step(reads, list(writes), emit, self.builder.node))

    def change(
        self,
        tensor: Tensor,
        others: Sequence[Tensor],
        write: Callable[[Stored], None],
        prepare: Callable[[], None] | None = None,
        can_fail: bool = False,
        copied: Callable[[Stored], None] | None = None,
        passing: Passing | None = None,
    ) -> Stored:
        """A copy of a tensor in which ``write`` changes some elements. If nothing else reads the tensor, the tensor is
        changed in place instead.

        ``others`` are the tensors that ``write`` reads. ``prepare`` is called first, and writes statements that may
        fail. If ``can_fail`` is True, statements of ``write`` may fail, too; then a state is not changed in place,
        since its old value would be lost. If a copy is needed and ``copied`` is passed, it is called instead of
        ``write``: it copies and changes the elements in one pass. ``passing`` is as in `Step`.
        """
        result = self.new_stored(tensor.dtype, tensor.shape)

        def emit() -> None:
            if not step.in_place and copied is not None:
                copied(result)
                return
            if not step.in_place:
                copy_elements(self, tensor, result)
            write(result)

        node = self.builder.node
        step = Step([tensor, *others], [result], emit, node, tensor, prepare, can_fail, passing)
        self.schedule.add_step(step)
        return result

    def apart_from(self, changed: Tensor, tensor: Tensor) -> Tensor:
        """Return ``tensor``, or a stored copy of it if its elements are computed from elements of ``changed``.

        A step that reads the returned tensor can then change elements of ``changed`` in place, without a copy of
        ``changed``. There is one exception: if ``changed`` is an input of the program with as many dimensions as
        ``tensor``, then ``tensor`` itself is returned. It may be as large as ``changed``, and storing it would be
        a waste for most inputs, since all inputs but states are copied before they are changed.
        """
        if not isinstance(changed, Stored):
            return tensor
        if not self.schedule.may_change(changed, tensor):
            return tensor
        if changed.buffer.space == "input" and tensor.ndim == changed.ndim:
            return tensor
        result = self.new_stored(tensor.dtype, tensor.shape)
        self.schedule.add_root(ElementRoot(tensor, result, self.builder.node))
        return result

    def transfer_output(self, buffer: Buffer, other: Buffer) -> None:
        """Make the buffer ``other`` an output instead of ``buffer``: this is computed in the memory of ``other``."""
        other.space, other.position, other.holds = "output", buffer.position, buffer.holds
        other.name = f"out{other.name[3:]}"
        buffer.space, buffer.position, buffer.holds = "work", -1, buffer.dtype
        outputs = self.program.outputs
        outputs[outputs.index(buffer)] = other

    def contiguous_copy(self, tensor: Tensor) -> Stored:
        """The tensor in memory in C order: the tensor itself if it is stored this way, otherwise a copy."""
        if isinstance(tensor, Stored) and tensor.flat:
            return tensor
        result = self.new_stored(tensor.dtype, tensor.shape)
        self.schedule.add_root(ElementRoot(tensor, result, self.builder.node))
        return result

    # graphs

    def add_input(
        self, variable: Variable, contiguous: bool = True, in_either_order: bool = False
    ) -> None:
        """Lower an input of the graph. Each array of its value becomes an input of the program."""
        kind = variable.type
        parts = [self._input(part, contiguous, in_either_order) for part in parts_of_type(kind)]
        self.tensors[variable] = parts[0] if kind.is_array else TensorGroup(parts)

    def _input(self, kind: TensorType, contiguous: bool, in_either_order: bool) -> Tensor:
        builder = self.builder
        position = len(self.program.inputs)
        dtype = kind.dtype
        seen = MEMORY_DTYPES.get(dtype, dtype)
        buffer = builder.buffer(seen, "input", position=position, ndim=kind.ndim, holds=dtype)
        buffer.in_either_order = in_either_order
        self.program.inputs.append(buffer)
        shape = [
            builder.input_length(buffer, axis) if n is None else builder.i64(n)
            for axis, n in enumerate(kind.shape)
        ]
        if dtype in PARTS:
            return interleaved(self, buffer, shape)
        strides = (
            self.contiguous(shape)
            if contiguous
            else [builder.input_stride(buffer, i) for i in range(len(shape))]
        )
        forward = (in_either_order,) * kind.ndim
        stored = Stored(buffer, shape, builder.i64(0), strides, contiguous, forward=forward)
        if dtype != "float16":
            return stored
        from occelo_link.loops.float16 import from_float16_bits  # seldom needed

        return from_float16_bits(self, stored)

    def tensor(self, variable: Variable) -> Tensor:
        """The lowered form of a variable.

        The variable must be a constant, or must have been lowered in this region or in an enclosing region.
        """
        context: Context | None = self
        while context is not None:
            lowered = context.tensors.get(variable)
            if lowered is not None:
                return lowered
            context = context.outer
        assert isinstance(variable, Constant)
        kind = variable.type
        parts = [self._matrix(variable) or self._constant(p) for p in kind.to_parts(variable.data)]
        tensor = self.tensors[variable] = parts[0] if kind.is_array else TensorGroup(parts)
        return tensor

    def _matrix(self, constant: Constant) -> Tensor | None:
        """A long or wide matrix of which only products with vectors read elements, in the order in which its longer
        dimension is contiguous: BLAS takes down to a third of the time, and loops read whole vectors of narrow ones. So a matrix and its transpose are one array. None
        for other constants.
        """
        data: npt.NDArray[Any] = np.asarray(constant.data)
        if data.ndim != 2:  # a sparse matrix is no array
            return None
        shorter, longer = sorted(data.shape)
        find = self.state.only_factors
        if longer < LONGER * shorter or not (find and find([constant], self.uses, (), 1)):
            return None
        wide = data if data.shape[1] == longer else data.T
        # folding has copied the transpose of a constant
        matrices, bits = self.state.matrices, wide.view(f"u{wide.itemsize}")
        equal = (t for t, b in matrices if b.dtype == bits.dtype and np.array_equal(b, bits))
        stored = next(equal, None) or self._constant(wide)
        matrices.append((stored, bits))
        return stored if wide is data else transposed(stored)

    def _constant(self, array: npt.NDArray[Any]) -> Tensor:
        builder = self.builder
        # a folded constant may be a view that is not in C order
        data: npt.NDArray[Any] = np.asarray(array)
        if not (data.flags.c_contiguous and data.flags.aligned):
            data = np.require(data, requirements=["C", "A"])
        if data.dtype.kind == "c":
            return complex_constant(self, data)
        if data.dtype == np.float16:
            data = data.astype(np.float32)
        # np.dtype.name is slow
        dtype = dtype_names.get(data.dtype) or data.dtype.name
        shape = [builder.i64(n) for n in data.shape]
        if data.size == 1:
            value = builder.const(data.item(), dtype)
            tensor = self._numbers.get((value, data.ndim))
            if tensor is None:
                tensor = Virtual(dtype, shape, lambda b, index: value, flat=True, depth=0)
                self._numbers[value, data.ndim] = tensor
            return tensor
        entry = self.program.entry(f"constant{len(self.program.constants)}")
        self.program.constants.append(data)
        buffer = builder.buffer(dtype, "constant", ndim=len(shape), entry=entry)
        return self.over(buffer, shape)

    def lower_graph(self, order: Sequence[Apply], outputs: Sequence[Variable]) -> None:
        """Lower a graph with the nodes ``order``. Its inputs must be lowered already."""
        self.uses = readers_of(order)
        self.division = divide(order, outputs)
        self.lower_nodes(self.division.outside)

    def lower_nodes(self, order: Sequence[Apply]) -> None:
        """Lower nodes in order. Raises `NotLowered` if a node has no lowering and callbacks are not allowed."""
        for node in order:
            lowering = find_lowering(node) or self.state.callback
            if lowering is None:
                listed = ", ".join(str(v.type) for v in node.inputs)
                raise NotLowered(f"{node.op} has no lowering for {listed}")
            self.state.node = node
            self._lower_node(node, lowering)

    def _lower_node(self, node: Apply, lowering: Lowering) -> None:
        inputs = [self.tensors.get(v) or self.tensor(v) for v in operands_of(node)]
        self._keep(node, self._lowered(node, lowering, inputs))

    def _lowered(self, node: Apply, lowering: Lowering, inputs: list[Tensor]) -> Sequence[Tensor]:
        """The results of a lowering, which are checked to fit the node."""
        if is_external(lowering):
            self.builder.foreign[str(node.op)] = None
            try:
                outputs = lowering(self, node, inputs)
            except NotLowered:
                raise
            except Exception as error:
                raise at_node(error, "lowering", node) from error
        else:
            outputs = lowering(self, node, inputs)
        check_lowered(node, outputs)
        if node.op.types_follow_values:
            for i, n in enumerate(lengths_to_check(node) or ()):
                if n is not None:
                    self.unify(self.i64(n), outputs[0].shape[i])
        return outputs

    def _keep(self, node: Apply, outputs: Sequence[Tensor]) -> None:
        """Record the lowered outputs of a node, for the nodes that read them."""
        for variable, tensor in zip(node.outputs, outputs, strict=True):
            self.tensors[variable] = self._stored_if_costly(
                variable, tensor, self.uses.get(variable, ())
            )

    def lower_decomposed(
        self,
        node: Apply,
        parts: Decomposition,
        lowerings: Sequence[Lowering],
        inputs: Sequence[Tensor],
    ) -> Sequence[Tensor]:
        """Lower the decomposition of a node's op with one lowering for each of its nodes. Returns the outputs.

        If an earlier decomposition had the same op with the same inputs, its results are used again. Error messages
        attribute the statements to ``node``, and shared statements to the first node that needed them.
        """
        uses, whole = self.uses, self.state.node
        self.uses = readers_of(parts.order)
        self.tensors.update(zip(parts.inputs, inputs, strict=True))
        for each, lowering in zip(parts.order, lowerings, strict=True):
            operands = [self.tensors.get(v) or self.tensor(v) for v in each.inputs]
            formulas = [self._formulas.get(tensor, tensor) for tensor in operands]
            key = (each.op, *formulas, *[v.type for v in each.outputs])
            lowered = self._parts.get(key)
            if lowered is None:
                self.state.node = whole or node
                lowered = self._parts[key] = self._lowered(each, lowering, operands)
            self._keep(each, lowered)
        self.uses, self.state.node = uses, whole
        # another node may have the same decomposition, with other tensors for its variables
        results = [self.tensor(v) for v in parts.outputs]
        for variable in (*parts.inputs, *(v for each in parts.order for v in each.outputs)):
            self.tensors.pop(variable, None)
        return results

    def _stored_if_costly(
        self, variable: Variable, tensor: Tensor, readers: Sequence[Apply]
    ) -> Tensor:
        """The lowered value of a variable, with costly formulas stored.

        A formula is stored if it is very long. It is also stored if it is not cheap, and readers would compute an
        element several times.
        """
        if isinstance(tensor, _OF_PARTS):
            return map_leaves(
                tensor, lambda part: self._part_stored_if_costly(variable, part, readers)
            )
        return self._part_stored_if_costly(variable, tensor, readers)

    def _part_stored_if_costly(
        self, variable: Variable, tensor: Tensor, readers: Sequence[Apply]
    ) -> Tensor:
        if isinstance(tensor, Stored):
            return tensor
        if tensor.depth > MAX_DEPTH or tensor.cost > MAX_COST:
            return self.store(tensor)
        if tensor.cost <= _CHEAPEST or are_units(tensor.shape):
            return tensor
        cheap = tensor.cost <= CHEAP
        repeated = any(repeats(variable, n) for n in readers if n.op.elementwise or not cheap)
        return self.store(tensor) if repeated or (not cheap and len(readers) > 1) else tensor

    def finish(
        self, outputs: Sequence[Variable], states: Mapping[int, int] | None = None
    ) -> Program:
        """Write all pending steps and the outputs. Returns the program.

        ``states`` maps the position of an output of the program to the position of the input that it updates.
        """
        targets: list[Buffer] = []
        for variable in outputs:
            self.state.node = variable.owner
            tensor = self.tensor(variable)
            for kind, piece in zip(parts_of_type(variable.type), members_of(tensor), strict=True):
                targets.append(self._output_of(kind, piece, len(targets)))
        self.program.outputs = targets
        inputs = self.program.inputs
        self.schedule.finish({targets[k]: inputs[j] for k, j in (states or {}).items()})
        return self.program

    def _output_of(self, kind: TensorType, tensor: Tensor, position: int) -> Buffer:
        """The buffer of an output. A pending step will fill it."""
        if isinstance(tensor, ComplexTensor):
            return self._complex_output(tensor, position)
        if kind.dtype == "float16":
            from occelo_link.loops.float16 import to_float16_bits  # seldom needed

            tensor = to_float16_bits(self, tensor)
        buffer = self._output(tensor, position).buffer
        buffer.holds = kind.dtype
        return buffer

    def _can_become_output(self, tensor: Stored) -> bool:
        """Whether the buffer of a tensor can become the buffer of an output.

        It can if the step that computes the tensor is still pending. It also can if a loop has kept the tensor in one
        buffer; in this case the allocation of the buffer gets the lengths of the output.
        """
        buffer = tensor.buffer
        if tensor.flat and buffer.space == "work" and self.schedule.is_pending(tensor):
            return self.schedule.owns(tensor)
        entry = self.state.stays.pop(buffer, None) if tensor in tensor.reads else None
        if entry is None:
            return False
        statement, statement.lengths = entry[0], entry[1]
        return True

    def _complex_output(self, tensor: ComplexTensor, position: int) -> Buffer:
        """The buffer of a complex output. Its real and imaginary parts are stored by the same loops."""
        builder, shape = self.builder, tensor.shape
        buffer = builder.buffer(
            tensor.re.dtype, "output", position=position, ndim=len(shape), holds=tensor.dtype
        )

        def emit() -> None:
            lengths = [self.canonical(n) for n in shape]
            builder.alloc(buffer, builder.product([*lengths, self.i64(2)]), lengths)
            whole = interleaved_parts(self, buffer, lengths)
            copy_together(self, list(zip(parts_of(tensor), whole, strict=True)))

        self.step(parts_of(tensor), [], emit)
        return buffer

    def _output(self, tensor: Tensor, position: int) -> Stored:
        """The tensor of an output. If possible, the tensor's own buffer becomes the output; otherwise the tensor is
        copied.
        """
        if isinstance(tensor, Stored) and self._can_become_output(tensor):
            tensor.buffer.space = "output"
            number = tensor.buffer.name.removeprefix("tmp").removeprefix("kept")
            tensor.buffer.name = f"out{number}"
            tensor.buffer.position = position
            tensor.readers += 1
            return tensor
        target = self.new_stored(tensor.dtype, tensor.shape, "output")
        target.buffer.position = position
        target.readers += 1
        self.schedule.add_root(ElementRoot(tensor, target, self.builder.node))
        return target


def readers_of(order: Sequence[Apply]) -> dict[Variable, list[Apply]]:
    """Maps each variable to the nodes that read it."""
    uses: dict[Variable, list[Apply]] = {}
    for node in order:
        for variable in dict.fromkeys(node.inputs):
            uses.setdefault(variable, []).append(node)
    return uses


def repeats(variable: Variable, node: Apply) -> bool:
    """Whether ``node`` reads elements of a variable more than once or in random order."""
    if not node.op.elementwise:
        return not node.op.reads_once
    mine, out = variable.type, node.outputs[0].type
    assert isinstance(mine, TensorType)  # the variables of an elementwise op are tensors
    assert isinstance(out, TensorType)
    if all(n == 1 for n in mine.shape):
        return False
    lead = out.ndim - mine.ndim
    full = (*[1] * lead, *mine.shape)
    first = next(i for i, n in enumerate(full) if n != 1)
    # for each index of a broadcast dimension, the loops over all later dimensions read their elements again
    return any(n == 1 and out.shape[i] != 1 for i, n in enumerate(full[:first])) or any(
        full[i] == 1 and out.shape[i] != 1 and any(n != 1 for n in full[i + 1 :])
        for i in range(len(full))
    )


def _is_small(lengths: Sequence[Value]) -> bool:
    """Whether a tensor of these lengths has few times as many elements as one input at most.

    That is so if each length is the length of another axis of this input, or a constant, and the constants are small.
    If all lengths are constants, it says whether memory could hold the tensor.
    """
    read = [n for n in lengths if n.op != "const"]
    constants = math.prod(max(n.args[0], 1) for n in lengths if n.op == "const")
    return (
        all(n.op == "length" for n in read)
        and len({n.args[0] for n in read}) <= 1
        and len({n.args for n in read}) == len(read)
        and constants < (_FEW_TIMES if read else _MOST)
    )
