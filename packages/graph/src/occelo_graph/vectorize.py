"""Vectorization: applies a graph, or a function of tensors, to batches of inputs, by the batching rule of each op.

Users call `vectorize` for a function and `vectorize_graph` for a graph. Jacobians, and the batching rules of
`OpFromGraph`, `Blockwise` and `Scan`, call `vectorize_graph`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.errors import at_node, explained, explained_by
from occelo_graph.ir import trees
from occelo_graph.ir.clone import Replacements, replacement_pairs
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.taken_constants import check_taken_constants
from occelo_graph.ir.traversal import toposort
from occelo_graph.narrowing import is_list
from occelo_graph.ops.batching import align, batch_shape, parse_signature
from occelo_graph.ops.create import broadcast_to
from occelo_graph.ops.shape.asserting import specify_shape
from occelo_graph.ops.shape.axes import normalize_axis
from occelo_graph.ops.shape.dimensions import moveaxis
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import is_tensor, tensors
from occelo_graph.tensors.type import TensorType

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

BatchingRule = Callable[[Sequence[Any], Sequence[int]], Sequence[Variable]]
"""A function of the vectorized inputs of a node and their numbers of batch dimensions, like `Op.batch`."""

_RULES: list[Callable[[Apply, Sequence[Variable]], BatchingRule | None]] = []
_CHECKS: list[Callable[[Variable], None]] = []


def add_batching(
    rule_of: Callable[[Apply, Sequence[Variable]], BatchingRule | None],
    check_result: Callable[[Variable], None],
) -> None:
    """Let a family vectorize nodes of other ops, which read batches that only it makes.

    ``rule_of`` returns the rule for a node and its vectorized inputs, in place of `Op.batch`, or None. ``check_result``
    raises an error if its argument cannot be a result of the vectorized graph.
    """
    _RULES.append(rule_of)
    _CHECKS.append(check_result)


def _rule_of(node: Apply, inputs: Sequence[Variable]) -> BatchingRule:
    for rule_of in _RULES:
        rule = rule_of(node, inputs)
        if rule is not None:
            return rule
    return partial(node.op.batch, node)


def _ndim(variable: Variable) -> int | None:
    return variable.type.ndim if variable.type.is_array else None


def _extra(old: Variable, new: Variable) -> int:
    before, after = _ndim(old), _ndim(new)
    if before is None or after is None:
        if old.type != new.type:
            raise TypeError(
                f"{old} of type {old.type} cannot be replaced by {new} of type {new.type}"
            )
        return 0
    if after < before:
        raise TypeError(
            f"The replacement of {old} has {after} dimensions, fewer than the {before} it replaces"
        )
    return after - before


def _batch_node(node: Apply, new_inputs: Sequence[Variable]) -> Sequence[Variable]:
    extras = [_extra(old, new) for old, new in zip(node.inputs, new_inputs, strict=True)]
    if any(extras):
        try:
            batched = _rule_of(node, new_inputs)(new_inputs, extras)
        except Exception as error:
            raise at_node(error, "vectorizing", node) from error
        outputs = list(batched)
    else:
        outputs = node.clone_with_new_inputs(new_inputs, strict=False).outputs
    if len(outputs) != len(node.outputs):
        raise ValueError(f"The batching rule of {node.op} gave {len(outputs)} outputs")
    return outputs


def _replacement(old: Variable, new: Any) -> Variable:
    """The replacement ``new`` of ``old``, as a variable that is cast to the dtype of ``old``.

    If a static length of ``old`` is dynamic in ``new``, a check of the length at run time is added.
    """
    new_variable = new if isinstance(new, Variable) else as_tensor_variable(new)
    extra = _extra(old, new_variable)
    kind = old.type
    if not isinstance(kind, TensorType) or not is_tensor(new_variable):
        return new_variable
    variable = new_variable
    if variable.type.dtype != kind.dtype:
        if np.result_type(variable.type.numpy_dtype, kind.numpy_dtype) != kind.numpy_dtype:
            raise TypeError(
                f"{old} of type {kind} cannot be replaced by {variable} of type {variable.type} without "
                "losing precision; cast it explicitly"
            )
        variable = variable.astype(kind.dtype)
    core = variable.type.shape[extra:]
    for n, length in zip(core, kind.shape, strict=True):
        if n is not None and length is not None and n != length:
            raise ValueError(
                f"{old} of type {kind} cannot be replaced by {variable} of type {variable.type}: "
                f"a length of {length} would become {n}"
            )
    if any(n is None and wanted is not None for n, wanted in zip(core, kind.shape, strict=True)):
        variable = specify_shape(variable, (None,) * extra + kind.shape)
    return variable


class _Batches:
    """Records on which batches each variable depends. A replacement with batch dimensions is a batch.

    A set of batches is an integer with a bit for each batch.
    """

    def __init__(self) -> None:
        self._stacked: list[tuple[Variable, int]] = []
        self._depends: dict[Variable, int] = {}
        self._has: dict[Variable, int] = {}

    def add(self, old: Variable, new: Variable) -> None:
        """Record that ``new`` replaces ``old``. If ``new`` has more dimensions than ``old``, it is a batch."""
        extra = _extra(old, new)
        if extra:
            self._depends[old] = self._has[old] = 1 << len(self._stacked)
            self._stacked.append((new, extra))

    def follow(self, node: Apply, outputs: Sequence[Variable]) -> None:
        """Record on which batches the outputs of a node depend, and which batch dimensions they have.

        ``outputs`` are the outputs that the batching rule of the node returned.
        """
        depends = has = 0
        for variable in node.inputs:
            depends |= self._depends.get(variable, 0)
            has |= self._has.get(variable, 0)
        for old, new in zip(node.outputs, outputs, strict=True):
            self._depends.setdefault(old, depends)
            self._has.setdefault(old, has if _extra(old, new) else 0)

    @property
    def all(self) -> int:
        """The set of all batches."""
        return (1 << len(self._stacked)) - 1

    def of(self, variable: Variable) -> int:
        """The set of batches on which a variable depends."""
        return self._depends.get(variable, 0)

    def spread(self, old: Variable, new: Variable, over: int) -> Variable:
        """Broadcast ``new``, the copy of ``old``, so that it has the dimensions of all batches in the set ``over``.

        A batching rule may omit batch dimensions from a value that is the same for the whole batch, such as a length.
        Final results must have these dimensions.
        """
        if not over & ~self._has.get(old, 0) or not is_tensor(new):
            return new
        chosen = [pair for i, pair in enumerate(self._stacked) if over >> i & 1]
        own = _extra(old, new)
        lengths = batch_shape(tensors([v for v, _ in chosen]), [extra for _, extra in chosen])
        aligned = align(new, own, len(lengths))
        core = lengths_by_variables(aligned)[len(lengths) :]
        return broadcast_to(aligned, (*lengths, *core))


@explained_by("arguments")
def vectorize_graph(outputs: Any, replace: Replacements) -> Any:
    """Copy the graph of ``outputs`` with some variables replaced by batches, and return the new outputs.

    ``outputs`` is a variable or a tree of variables, such as a list or a dict; the result has the same form.

    ``replace`` maps variables to replacements. A replacement may have batch dimensions in front of the dimensions of
    the variable. Batch dimensions of several replacements broadcast against each other. A new output has the batch
    dimensions of all replacements on which the output depends, even if it depends only on their shapes.

    If an op has no batching rule, its decomposition is vectorized. If it has no decomposition either, the op is applied
    to one element of the batch after the other (`Blockwise`). NotImplementedError if such an op has effects, or has
    inputs or outputs that are not tensors.

    If a batched variable decides lengths, as in ``arange(n)``, ``x[i:j]`` or a mask, these must be equal for all elements
    of the batch. If they are not, running the graph raises a ValueError that names the op. In an `OpFromGraph` lengths
    may differ, as long as its outputs have the same shape for each element: it is then applied to one element after the
    other.

    NotImplementedError also if an op cannot be vectorized over one of its inputs. TypeError for a replacement with fewer
    dimensions than the variable, or with a dtype that loses precision when it is cast. ValueError for contradicting
    static lengths. Constants that ops keep in fields are checked as in `clone_replace`.
    """
    pairs, (variables, structure) = replacement_pairs(replace), _outputs_of(outputs)
    for old, _ in pairs:
        if not isinstance(old, Variable):
            raise TypeError(f"Only variables can be replaced, got {old!r}")
    check_taken_constants((old for old, _ in pairs), variables)
    results, batches = _vectorized(variables, pairs)
    return structure.unflatten(batches.spread(old, new, batches.of(old)) for old, new in results)


def _outputs_of(outputs: Any) -> tuple[list[Variable], trees.Structure]:
    """The variables that a user or a function gives, and their structure."""
    if not isinstance(outputs, Variable) and not trees.is_tree(outputs):
        outputs = list(outputs)
    return trees.flatten(outputs, "outputs")


def _vectorized(
    variables: Sequence[Variable], pairs: Sequence[tuple[Variable, Any]]
) -> tuple[list[tuple[Variable, Variable]], _Batches]:
    """Pairs of each wanted variable and its vectorized copy, and the record of batches.

    Each copy has only the batch dimensions that the batching rules returned.
    """
    memo: dict[Variable, Variable] = {}
    batches = _Batches()
    for old, new in pairs:
        memo[old] = _replacement(old, new)
        batches.add(old, memo[old])
    for node in toposort(variables, blockers=frozenset(memo)):
        new_inputs = [memo.get(v, v) for v in node.inputs]
        if all(a is b for a, b in zip(new_inputs, node.inputs, strict=True)):
            continue
        outputs = _batch_node(node, new_inputs)
        batches.follow(node, outputs)
        _mark_as(node, outputs, new_inputs)
        for old, new in zip(node.outputs, outputs, strict=True):
            memo.setdefault(old, new)
    results = [(v, memo.get(v, v)) for v in variables]
    for old, new in results:
        if new is not old:
            for check_result in _CHECKS:
                check_result(new)
    return results, batches


def _mark_as(node: Apply, outputs: Sequence[Variable], inputs: Sequence[Variable]) -> None:
    """Give the new nodes that compute ``outputs`` the provenance of ``node``, the user's line.

    ``inputs`` are the inputs of the new nodes. Nodes that compute these inputs are not changed.
    """
    earlier = {v.owner for v in inputs}
    for each in outputs:
        if each.owner is not None and each.owner not in earlier:
            each.owner.mark = node.mark


@explained_by("arguments")
def vectorize(func: Callable[..., Any], signature: str | None = None) -> Callable[..., Any]:
    """Make a function that applies ``func`` to batches of tensors, like `numpy.vectorize`.

    ``signature`` describes the dimensions of the arguments and results of ``func``, such as ``"(n),(n)->()"``. By
    default all arguments and results are scalars. Further leading dimensions of the arguments are batch dimensions,
    which broadcast against each other. As in NumPy, every result has all batch dimensions, even if it is the same for
    the whole batch. ``func`` may return a tree of tensors; ``signature`` then has its leaves in order.
    """
    core = None
    if signature is not None:
        core = tuple([len(names) for names in side] for side in parse_signature(signature))

    def vectorized(*args: Any) -> Any:
        arguments = [as_tensor_variable(a) for a in args]
        ndims = [0] * len(arguments) if core is None else core[0]
        if len(ndims) != len(arguments):
            raise ValueError(
                f"The signature has {len(ndims)} inputs, got {len(arguments)} arguments"
            )
        inner: list[TensorVariable] = []
        replace: dict[Variable, Variable] = {}
        for argument, ndim in zip(arguments, ndims, strict=True):
            if argument.type.ndim < ndim:
                raise ValueError(
                    f"{argument} has fewer than the {ndim} dimensions of the signature"
                )
            static = argument.type.shape[argument.type.ndim - ndim :]
            variable = TensorType(argument.type.dtype, static).make_variable(argument.name)
            inner.append(variable)
            replace[variable] = argument
        listed, structure = _outputs_of(func(*inner))
        if core is not None:
            out_ndims = [_ndim(v) for v in listed]
            if out_ndims != core[1]:
                raise ValueError(
                    f"The signature gives outputs of {core[1]} dimensions, got {out_ndims}"
                )
        results, batches = _vectorized(listed, list(replace.items()))
        return structure.unflatten(batches.spread(old, new, batches.all) for old, new in results)

    vectorized.__doc__ = func.__doc__
    return vectorized


@explained_by("arguments")
def vmap(
    fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0, *, axis_size: int | None = None
) -> Callable[..., Any]:
    """Make a function that applies ``fun`` to each element of a batch, as in JAX.

    ``fun`` gets trees of tensors without the batch, once, and returns a tree of tensors.

    - ``in_axes``: the axis of the batch in each argument, or None for an argument that all elements share: one entry for
      all arguments, or a tuple with one for each. The entry for a tree is one for all its leaves, or a tree whose leaves
      stand for whole parts of it. Keyword arguments have the batch in axis 0.
    - ``out_axes``: the axis of the batch in the results, in the same way. None asks for a result without a batch.

    - ``axis_size``: the length of the batch, needed where no argument has one.

    ValueError if no argument has a batch, if static lengths of batches differ, if axes do not fit, or for None in
    ``out_axes`` where the result depends on the batch. Other errors are those of `vectorize_graph`.
    """

    if not callable(fun):
        raise TypeError(f"fun of vmap is a Python function, and not {fun!r}; see vectorize_graph")

    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = trees.flatten((args, kwargs))
        own = trees.flatten(args)[1]
        axes = own.spread(tuple(in_axes) if is_list(in_axes) else in_axes, _is_axis, "in_axes")
        axes += [0] * (len(leaves) - len(axes))
        batched = [as_tensor_variable(leaf) for leaf in leaves]
        # a batch of nothing has the length
        length = [] if axis_size is None else [broadcast_to(0, (axis_size,))]
        inner, replace = _unbatched([*batched, *length], [*axes, *[0] * len(length)])
        positional, keywords = structure.unflatten(inner[: len(batched)])
        outputs, form = _outputs_of(trees.map(as_tensor_variable, fun(*positional, **keywords)))
        results, batches = _vectorized(outputs, list(replace.items()))
        places = form.spread(out_axes, _is_axis, "out_axes")
        return form.unflatten(
            _at_axis(old, new, batches, axis)
            for (old, new), axis in zip(results, places, strict=True)
        )

    mapped.__doc__ = fun.__doc__
    return mapped


def _is_axis(value: Any) -> bool:
    return value is None or isinstance(value, int)


def _unbatched(
    tensors: Sequence[TensorVariable], axes: Sequence[int | None]
) -> tuple[list[Variable], dict[Variable, Variable]]:
    """Variables for one element of each batch, and their batches, in axis 0. Tensors without a batch stay."""
    moved = [
        None if axis is None else moveaxis(x, normalize_axis(axis, x), 0)
        for x, axis in zip(tensors, axes, strict=True)
    ]
    batch_lengths = [x.type.shape[0] for x in moved if x is not None]
    lengths = sorted({n for n in batch_lengths if n is not None})
    if not batch_lengths:
        raise explained(
            ValueError("vmap needs an argument with a batch, or axis_size, and in_axes has none"),
            "arguments",
        )
    if len(lengths) > 1:
        raise explained(ValueError(f"The batches of vmap have the lengths {lengths}"), "lengths")
    inner: list[Variable] = []
    replace: dict[Variable, Variable] = {}
    for tensor, batch in zip(tensors, moved, strict=True):
        if batch is None:
            inner.append(tensor)
            continue
        core = batch.type.shape[1:]
        if lengths and batch.type.shape[0] is None:
            batch = specify_shape(batch, (*lengths, *[None] * len(core)))
        variable = TensorType(tensor.type.dtype, core).make_variable(tensor.name)
        inner.append(variable)
        replace[variable] = batch
    return inner, replace


def _at_axis(old: Variable, new: Variable, batches: _Batches, axis: int | None) -> Variable:
    """A result with the batch in an axis, or without a batch if the axis is None."""
    if axis is None:
        if batches.of(old):
            raise ValueError(f"out_axes is None for a result that depends on the batch: {old}")
        return new
    spread: Any = batches.spread(old, new, batches.all)
    return moveaxis(spread, 0, normalize_axis(axis, spread))
