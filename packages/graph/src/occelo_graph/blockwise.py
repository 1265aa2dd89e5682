"""`Blockwise`: an op that applies another op to each element of a batch, in a loop.

`vectorize_graph` and `jacobian` need it for ops without a batching rule. For such an op, `Op.batch` calls
`batch_by_loop` (`upward`). `batch_by_loop` vectorizes the op's decomposition. If the op has no decomposition,
`batch_by_loop` makes a `Blockwise` node. Users can also make an `occelo_graph.Blockwise` themselves.

A node is a loop over the flattened batch (`Op.loop`), which every linker runs like any other loop. The loop carries the
index of the element and the arrays of results. Each iteration writes one element of each result.

This module is not in the folder `ops.control` with the other ops of control flow, since it imports vectorization and
gradients, which are in higher modules.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from occelo_graph.errors import MethodNotDefined, describe
from occelo_graph.fgraph.frozen import FrozenFunctionGraph, freeze
from occelo_graph.gradient.forward import pushforward
from occelo_graph.gradient.reverse import pullback
from occelo_graph.interpret import run_node
from occelo_graph.ir.clone import Replacements
from occelo_graph.ir.decomposing import decomposition
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import ZERO, Kernel, Op, op
from occelo_graph.ir.regions import Loop
from occelo_graph.ir.traversal import ancestors
from occelo_graph.ir.types import NullType
from occelo_graph.ops.batching import (
    BatchedOp,
    batch_shape,
    materialize,
    parse_signature,
    signature_of,
)
from occelo_graph.ops.control.branches import ifelse
from occelo_graph.ops.create import alloc, broadcast_to
from occelo_graph.ops.shape.asserting import specify_shape
from occelo_graph.ops.shape.dimensions import expand_dims, squeeze
from occelo_graph.ops.shape.reading import length_product, shape_tuple
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import TensorApply, tensors
from occelo_graph.tensors.type import TensorType
from occelo_graph.vectorize import vectorize_graph

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

_INDEX = TensorType("int64", ())


@op
class Blockwise(BatchedOp):
    """``core_op`` applied to each element of a batch, like `numpy.vectorize` with a signature.

    ``Blockwise(core_op, "(m,n),(n)->(m)")(a, v)`` takes matrices and vectors with leading batch dimensions, and returns
    vectors with these batch dimensions. The default signature is `Op.gufunc_signature` of ``core_op``. Batch dimensions
    broadcast against each other. A batch dimension of dynamic length is assumed not to have length 1.

    The arguments and results of ``core_op`` must be tensors. TypeError if ``core_op`` has effects, or if no signature
    is known. ValueError for a wrong number of arguments, or for an argument with fewer dimensions than in the
    signature.

    The results for all elements of the batch must have the same shape. `Op.infer_shape` of ``core_op`` infers this
    shape. If `Op.infer_shape` fails, the shape follows from the signature. If the signature does not determine the
    shape either, ``core_op`` runs once more to find it: on the first element, or on zeros if the batch is empty.

    If there are no batch dimensions, or all of them have the static length 1, or if ``core_op`` takes batches itself (a
    `BatchedOp`), it is applied without a loop.

    The inputs of a node are, in this order: the number of elements, the first index (0), memory for the results, and
    the arguments. Each argument has one batch dimension, or no batch dimension.
    """

    core_op: Op
    signature: str = ""
    loops: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.core_op.pure:
            raise TypeError(f"{self.core_op} has effects, so Blockwise cannot repeat it")
        if self.signature:
            return
        core = self.core_op
        declared = signature_of(core) if isinstance(core, BatchedOp) else core.gufunc_signature
        if declared is None:
            raise TypeError(f"{self.core_op} declares no gufunc_signature, so Blockwise needs one")
        object.__setattr__(self, "signature", declared)

    def batch_ndim(self, node: TensorApply[Blockwise]) -> int:
        """The number of batch dimensions of the results of ``node``: 1, since its batch is flattened."""
        return node.outputs[1].type.ndim - len(self.outputs_sig[0])

    def __call__(self, *args: Any, return_list: bool = False, **options: Any) -> Any:
        arguments = [as_tensor_variable(a) for a in args]
        ndims, _ = parse_signature(self.signature)
        if len(arguments) != len(ndims):
            raise ValueError(f"{self} takes {len(ndims)} arguments, got {len(arguments)}")
        extras: list[int] = []
        for variable, names in zip(arguments, ndims, strict=True):
            extras.append(variable.type.ndim - len(names))
            if extras[-1] < 0:
                raise ValueError(
                    f"{describe(variable)} has fewer than the {len(names)} dimensions that {self} takes"
                )
        results = self._applied(arguments, extras)
        return results if return_list or len(results) != 1 else results[0]

    def _applied(
        self, arguments: Sequence[TensorVariable], extras: Sequence[int]
    ) -> list[TensorVariable]:
        """The results for ``arguments``; ``extras`` has the number of batch dimensions of each argument."""
        if not any(extras) or isinstance(self.core_op, BatchedOp):  # which takes batches itself
            alone: list[TensorVariable] = self.core_op(*arguments, return_list=True)
            return alone
        arguments = self._of_equal_lengths(arguments)
        lengths = batch_shape(arguments, extras)
        # a length from `batch_shape` is a variable or the integer 1, so here the batch has one element
        if all(isinstance(n, int) for n in lengths):
            only = [squeeze(v, tuple(range(n))) for v, n in zip(arguments, extras, strict=True)]
            single: list[TensorVariable] = self.core_op(*only, return_list=True)
            return [expand_dims(v, tuple(range(len(lengths)))) for v in single]
        chosen = [i for i, extra in enumerate(extras) if extra]
        whole = materialize([arguments[i] for i in chosen], [extras[i] for i in chosen])
        count = length_product(lengths)
        flat = list(arguments)
        for i, variable in zip(chosen, whole, strict=True):
            core = shape_tuple(variable)[len(lengths) :]
            flat[i] = variable if len(lengths) == 1 else reshape(variable, (count, *core))
        shapes = self._core_shapes(count, flat, [extra > 0 for extra in extras])
        node = self._core(*(v.type for v in flat))
        memory = [
            alloc(np.zeros((), out.type.dtype), count, *shape)
            for out, shape in zip(node.outputs, shapes, strict=True)
        ]
        start = as_tensor_variable(np.int64(0))
        number = as_tensor_variable(np.int64(count) if isinstance(count, int) else count)
        results = tensors(self.make_node(number, start, *memory, *flat).outputs[1:])
        if len(lengths) == 1:
            return list(results)
        return [reshape(v, (*lengths, *shape_tuple(v)[1:])) for v in results]

    def _of_equal_lengths(self, flat: Sequence[TensorVariable]) -> list[TensorVariable]:
        """The arguments, with checks that the dimensions of one name have one length. ValueError if they cannot have."""
        length_of: dict[str, Any] = {}
        checked: list[TensorVariable] = []
        for v, names in zip(flat, parse_signature(self.signature)[0], strict=True):
            lead = v.type.ndim - len(names)
            lengths = shape_tuple(v)[lead:]
            equal = [length_of.setdefault(name, n) for name, n in zip(names, lengths, strict=True)]
            asserted = [None if n is m else n for n, m in zip(equal, lengths, strict=True)]
            checked.append(specify_shape(v, [*[None] * lead, *asserted]))
        return checked

    def _core(self, *types: TensorType) -> TensorApply:
        """A node of ``core_op``, with new variables as inputs, for arguments of these types."""
        names, _ = parse_signature(self.signature)
        core = [
            TensorType(t.dtype, t.shape[t.ndim - len(own) :]).make_variable()
            for t, own in zip(types, names, strict=True)
        ]
        return cast("TensorApply", self.core_op.make_node(*core))

    def _core_shapes(
        self, count: Any, flat: Sequence[TensorVariable], batched: Sequence[bool]
    ) -> list[tuple[Any, ...]]:
        """The shapes of the results of ``core_op`` for one element of the batch.

        ``count`` is the number of elements. ``flat`` are the arguments, each with one batch dimension if ``batched``
        is true for it.
        """
        names, results = parse_signature(self.signature)
        node = self._core(*(v.type for v in flat))
        core_shapes = [
            shape_tuple(v)[v.type.ndim - len(own) :] for v, own in zip(flat, names, strict=True)
        ]
        length_of = {
            name: n
            for own, shape in zip(names, core_shapes, strict=True)
            for name, n in zip(own, shape, strict=True)
        }
        try:
            said = [tuple(s) for s in self.core_op.shapes(node, core_shapes)]
        except MethodNotDefined:
            said = [tuple(length_of.get(d) for d in own) for own in results]
        inner = set(node.inputs)
        shapes: list[tuple[Any, ...]] = []
        first: list[TensorVariable] = []
        for k, (out, shape) in enumerate(zip(node.outputs, said, strict=True)):
            lengths: list[Any] = []
            for axis, (n, length) in enumerate(zip(out.type.shape, shape, strict=True)):
                if n is not None:
                    length = n
                elif isinstance(length, Variable) and not inner.isdisjoint(ancestors([length])):
                    length = None
                if length is None:
                    first = first or self._first(count, flat, core_shapes, batched)
                    length = first[k].shape[axis]
                lengths.append(length)
            shapes.append(tuple(lengths))
        return shapes

    def _first(
        self,
        count: Any,
        flat: Sequence[TensorVariable],
        shapes: Sequence[Sequence[Any]],
        batched: Sequence[bool],
    ) -> list[TensorVariable]:
        """The results of ``core_op`` for the first element of the batch, or for zeros if the batch is empty.

        ``shapes`` are the shapes of the arguments without batch dimensions.
        """
        some = as_tensor_variable(count) > 0

        def first(v: TensorVariable, shape: Sequence[Any]) -> TensorVariable:
            none = alloc(np.zeros((), v.type.dtype), *shape)
            return none if v.type.shape[0] == 0 else ifelse(some, v[0], none)

        at = [
            first(v, shape) if b else v for v, shape, b in zip(flat, shapes, batched, strict=True)
        ]
        results: list[TensorVariable] = self.core_op(*at, return_list=True)
        return results

    # the loop

    def infer(self, *types: TensorType) -> tuple[TensorType, ...]:
        count = len(types) - 2 - len(parse_signature(self.signature)[0])
        return (_INDEX, *types[2 : 2 + count])

    def _parts(
        self, inputs: Sequence[TensorVariable]
    ) -> tuple[list[TensorVariable], list[TensorVariable], list[bool]]:
        """Divide a node's inputs: memory for the results, the arguments, and whether each argument is batched."""
        names, _ = parse_signature(self.signature)
        first = len(inputs) - len(names)
        arguments = list(inputs[first:])
        batched = [v.type.ndim > len(own) for v, own in zip(arguments, names, strict=True)]
        return list(inputs[2:first]), arguments, batched

    def loop(self, node: TensorApply[Blockwise]) -> Loop:
        first = len(node.inputs) - len(parse_signature(self.signature)[0])
        body = _body(self, tuple(v.type for v in node.inputs[1:]))
        return Loop(body, 0, tuple(range(1, first)), tuple(range(first, len(node.inputs))))

    def kernel(self, node: TensorApply[Blockwise]) -> Kernel:
        memory, arguments, batched = self._parts(node.inputs)
        core = self._core(*(v.type for v in arguments))
        where = 2 + len(memory)

        def run(count: Any, start: Any, *arrays: Any) -> Sequence[Any]:
            results = [np.array(a) for a in arrays[: where - 2]]
            operands = arrays[where - 2 :]
            for i in range(int(count)):
                at = [a[i, ...] if b else a for a, b in zip(operands, batched, strict=True)]
                try:
                    for result, element in zip(results, run_node(core, at), strict=True):
                        if element.shape != result.shape[1:]:
                            raise ValueError(
                                f"{self.core_op} gave a result of shape {element.shape}, and "
                                f"{result.shape[1:]} for the batch"
                            )
                        result[i] = element
                except Exception as error:
                    error.add_note(f"This was iteration {i} of {self}.")
                    raise
            return [np.asarray(max(int(count), 0)), *results]

        return run

    def infer_shape(
        self, node: TensorApply[Blockwise], input_shapes: Sequence[Any]
    ) -> Sequence[Any]:
        memory, _, _ = self._parts(node.inputs)
        return [(), *input_shapes[2 : 2 + len(memory)]]

    def batch(
        self,
        node: TensorApply[Blockwise],
        inputs: Sequence[TensorVariable],
        batch_ndims: Sequence[int],
    ) -> Sequence[TensorVariable]:
        _, arguments, batched = self._parts(node.inputs)
        first = len(inputs) - len(arguments)
        aligned: list[TensorVariable] = []
        for variable, extra, own in zip(inputs[first:], batch_ndims[first:], batched, strict=True):
            if extra and not own:
                order: list[Any] = [*range(extra), "x", *range(extra, variable.type.ndim)]
                variable = variable.dimshuffle(order)
            aligned.append(variable)
        results = self(*aligned, return_list=True)
        return [inputs[0], *results]

    # derivatives: the derivative of the core op, vectorized

    def pullback(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        cotangents: Sequence[Any],
    ) -> Sequence[Any]:
        memory, arguments, batched = self._parts(inputs)
        core = self._core(*(v.type for v in arguments))
        live = [
            (inner, outer.zeros_like() if ct is ZERO else ct)
            for inner, outer, ct in zip(core.outputs, outputs[1:], cotangents[1:], strict=True)
            if ct is not None
        ]
        rest: list[Any] = [None, None, *(ZERO for _ in memory)]
        if not live:
            return [*rest, *(None for _ in arguments)]
        seeds = [inner.type.make_variable() for inner, _ in live]
        core_grads = pullback(
            [inner for inner, _ in live],
            core.inputs,
            seeds,
            disconnected_inputs="ignore",
            return_disconnected="none",
            null_gradients="return",
        )
        replace = dict(zip(core.inputs, arguments, strict=True))
        replace |= dict(zip(seeds, (ct for _, ct in live), strict=True))
        pulled = _over_batch(core_grads, replace)
        for i, g in enumerate(pulled):
            if not isinstance(g, Variable) or isinstance(g.type, NullType):
                continue
            gradient = as_tensor_variable(g)
            names = parse_signature(self.signature)[0][i]
            if gradient.type.ndim == len(names):
                gradient = broadcast_to(gradient, (inputs[0], *shape_tuple(gradient)))
            pulled[i] = gradient if batched[i] else gradient.sum(axis=0)
        return [*rest, *pulled]

    def pushforward(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        tangents: Sequence[Any],
    ) -> Sequence[Any]:
        memory, arguments, _ = self._parts(inputs)
        core = self._core(*(v.type for v in arguments))
        arg_tangents = tangents[2 + len(memory) :]
        live = [
            (inner, outer.zeros_like() if t is ZERO else t)
            for inner, outer, t in zip(core.inputs, arguments, arg_tangents, strict=True)
            if t is not None
        ]
        if not live:
            return [None] * len(outputs)
        seeds = [inner.type.make_variable() for inner, _ in live]
        core_tangents = pushforward(
            core.outputs,
            [inner for inner, _ in live],
            seeds,
            disconnected_outputs="ignore",
            return_disconnected="none",
        )
        replace = dict(zip(core.inputs, arguments, strict=True))
        replace |= dict(zip(seeds, (t for _, t in live), strict=True))
        pushed = [
            broadcast_to(v, shape_tuple(out))
            if isinstance(v, Variable) and v.type.ndim != out.type.ndim
            else v
            for v, out in zip(_over_batch(core_tangents, replace), outputs[1:], strict=True)
        ]
        return [None, *pushed]

    def __str__(self) -> str:
        return f"Blockwise{{{self.core_op}, {self.signature}}}"


def _over_batch(terms: Sequence[Any], replace: Replacements) -> list[Any]:
    """The variables in ``terms``, vectorized with ``replace``. None and undefined gradients stay as they are.

    ``terms`` are derivatives of a node of the core op.
    """
    valid = [isinstance(v, Variable) and not isinstance(v.type, NullType) for v in terms]
    batched = iter(vectorize_graph([v for v, ok in zip(terms, valid, strict=True) if ok], replace))
    return [next(batched) if ok else v for v, ok in zip(terms, valid, strict=True)]


@lru_cache(maxsize=1024)
def _body(op: Blockwise, types: tuple[TensorType, ...]) -> FrozenFunctionGraph:
    """The body of the loop. ``types`` are the types of its inputs: the index, the results and the arguments.

    Its outputs are the next index, and the results with the element at the index written.
    """
    names, _ = parse_signature(op.signature)
    variables = [t.make_variable() for t in types]
    first = len(types) - len(names)
    index, results, arguments = variables[0], variables[1:first], variables[first:]
    at = [
        v[index] if v.type.ndim > len(own) else v for v, own in zip(arguments, names, strict=True)
    ]
    elements: list[TensorVariable] = op.core_op(*at, return_list=True)
    written = [r[index].set(e) for r, e in zip(results, elements, strict=True)]
    return freeze(variables, [index + 1, *written])


def batch_by_loop(node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]) -> Sequence[Any]:
    """`Op.batch` for an op without a batching rule: vectorizes the op's decomposition, or makes a loop.

    NotImplementedError if the op has effects. An op without a decomposition must also not be lazy, and must be a
    function of tensors.
    """
    core = node.op
    simpler = decomposition(node) if core.pure else None
    if simpler is not None:
        replace = dict(zip(simpler.inputs, inputs, strict=True))
        vectorized: list[Any] = vectorize_graph(list(simpler.outputs), replace)
        return vectorized
    return repeated(node, inputs)


def repeated(node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
    """The results of a loop that applies the op of a node to each element of a batch of ``inputs``.

    All elements must have results of the same shapes; ValueError at run time otherwise. NotImplementedError if the op
    has effects, is lazy, or is no function of tensors.
    """
    core = node.op
    tensors = all(isinstance(v.type, TensorType) for v in (*node.inputs, *node.outputs))
    if not core.pure or core.lazy or not tensors:
        why = "has effects" if not core.pure else "is no function of tensors"
        raise NotImplementedError(f"{core} has no batching rule, and cannot be repeated: it {why}")
    results: Sequence[Any] = Blockwise(core, _signature(node))(*inputs, return_list=True)
    return results


def _signature(node: Apply) -> str:
    """The signature that the op of a node declares, or a signature in which all lengths have different names.

    ValueError if the declared signature and the node's inputs and outputs have different numbers of dimensions.
    """
    declared = node.op.gufunc_signature
    arguments, results = tensors(node.inputs), tensors(node.outputs)
    if declared is None:
        letters = iter(f"d{k}" for k in range(1000))

        def dims(variables: Sequence[TensorVariable]) -> str:
            return ",".join(f"({','.join(next(letters) for _ in v.type.shape)})" for v in variables)

        return f"{dims(arguments)}->{dims(results)}"
    for names, variables in zip(parse_signature(declared), (arguments, results), strict=True):
        if [len(own) for own in names] != [len(v.type.shape) for v in variables]:
            kinds = ", ".join(str(v.type) for v in variables)
            raise ValueError(
                f"{node.op} declares the gufunc_signature {declared!r}, and has {kinds}"
            )
    return declared
