"""`ifelse` and its op `IfElse`: a lazy choice between two branches. Only the chosen branch is computed.

Users call `ifelse` from `occelo`. `Blockwise`, loops and norms call it, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from occelo_graph.errors import explained_by
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import Cotangents, Op, op
from occelo_graph.ir.regions import Region
from occelo_graph.ir.terms import Term, called
from occelo_graph.ir.traits import trait
from occelo_graph.ir.types import Type
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.batching import materialize
from occelo_graph.ops.cast import cast
from occelo_graph.ops.elemwise.arithmetic import second, switch
from occelo_graph.ops.shape.reading import length_op, length_read
from occelo_graph.tensors.constant import as_tensor_variable, is_python_number, promote_arguments
from occelo_graph.tensors.nodes import OptionalTensors, Tensors, is_tensor, tensors
from occelo_graph.tensors.type import TensorType


@op
class IfElse(Op):
    """Returns the values of the first branch if the condition holds, else the values of the second branch.

    Each branch has ``n_outs`` values. The inputs are the condition, the values of the first branch, and the values of
    the second branch. The op is lazy: linkers compute only the chosen branch.
    """

    moves = slice(1, None)

    n_outs: int
    lazy: ClassVar[bool] = True
    outputs_are_results: ClassVar[bool] = True

    def may_fail(self, node: Apply) -> bool:
        return False

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        return called("ifelse", *(t.text for t in operands)) if self.n_outs == 1 else None

    def infer(self, condition: Type, *values: Type) -> tuple[Type, ...]:
        if not isinstance(condition, TensorType) or condition.ndim:
            raise TypeError(f"The condition of ifelse must be a scalar, got {condition}")
        merged: list[Type] = []
        for then, other in zip(values[: self.n_outs], values[self.n_outs :], strict=True):
            if then == other:
                merged.append(then)
            elif (
                not (isinstance(then, TensorType) and isinstance(other, TensorType))
                or then.dtype != other.dtype
                or then.ndim != other.ndim
            ):
                raise TypeError(f"The branches of ifelse differ in type: {then} and {other}")
            else:
                shape = [
                    a if a == b else None for a, b in zip(then.shape, other.shape, strict=True)
                ]
                merged.append(TensorType(then.dtype, shape))
        return tuple(merged)

    @trait
    def view_map(self) -> Mapping[int, Sequence[int]]:
        return {i: [1 + i, 1 + self.n_outs + i] for i in range(self.n_outs)}

    def regions(self, node: Apply) -> Sequence[Region]:
        middle = 1 + self.n_outs
        return Region(tuple(range(1, middle))), Region(tuple(range(middle, middle + self.n_outs)))

    def chosen(self, node: Apply, values: Sequence[Any]) -> Sequence[Region]:
        then, other = self.regions(node)
        return [then if bool(values[0]) else other]

    def chosen_of(self, node: Apply, values: Sequence[Sequence[Any]]) -> Sequence[Any]:
        then, other = values
        chosen: Sequence[Any] = ifelse(node.inputs[0], list(then), list(other))
        return chosen

    def evaluate(self, *arrays: Any) -> Any:
        start = 1 if bool(arrays[0]) else 1 + self.n_outs
        return tuple(arrays[start : start + self.n_outs])

    def pullback(
        self, inputs: Tensors, outputs: Tensors, cotangents: OptionalTensors
    ) -> Cotangents:
        condition = inputs[0]
        then = inputs[1 : 1 + self.n_outs]
        other = inputs[1 + self.n_outs :]
        of_then: list[Any] = []
        of_other: list[Any] = []
        for ct, a, b in zip(cotangents, then, other, strict=True):
            if ct is None:
                of_then.append(None)
                of_other.append(None)
            else:
                of_then.append(ifelse(condition, ct, a.zeros_like(ct.dtype)))
                of_other.append(ifelse(condition, b.zeros_like(ct.dtype), ct))
        return [None, *of_then, *of_other]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        rows = [[False] * self.n_outs]
        for _ in range(2):
            rows += [[i == j for j in range(self.n_outs)] for i in range(self.n_outs)]
        return rows

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        shapes: list[Any] = []
        branches = zip(
            node.inputs[1 : 1 + self.n_outs], node.inputs[1 + self.n_outs :], strict=True
        )
        lengths = zip(
            input_shapes[1 : 1 + self.n_outs], input_shapes[1 + self.n_outs :], strict=True
        )
        for out, values, (then, other) in zip(node.outputs, branches, lengths, strict=True):
            shapes.append(
                tuple(
                    length_op(axis)(out)
                    if any(map(_is_read_of, (a, b), values))
                    else _chosen_length(node.inputs[0], a, b)
                    for axis, (a, b) in enumerate(zip(then, other, strict=True))
                )
            )
        return shapes

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        condition, values = inputs[0], inputs[1:]
        results: list[Any] = []
        for i in range(self.n_outs):
            a, b = values[i], values[self.n_outs + i]
            extras = [batch_ndims[1 + i], batch_ndims[1 + self.n_outs + i]]
            if batch_ndims[0] == 0 and extras[0] == extras[1]:
                # results of one `ifelse` must have the same batch shape in both branches
                a, b = materialize([a, b], extras) if extras[0] else (a, b)
                results.append(ifelse(condition, a, b))
            else:
                ndim = tensors(node.outputs)[i].type.ndim
                test = condition.dimshuffle([*range(batch_ndims[0]), *["x"] * ndim])
                results.append(switch(test, a, b))
        return results


_LARGEST = 50


def _is_read_of(length: Any, value: Variable) -> bool:
    """Whether a length is read of ``value``, which must be computed for it.

    Then the length of an `ifelse` is read of its result. A second `ifelse` for the length would also need ``value``; and
    a node that two regions need runs before both, even if neither runs.
    """
    read = length_read(length)
    return read is not None and read[0] is value and value.owner is not None


def _chosen_length(condition: Any, then: Any, other: Any) -> Any:
    """A length of the result of an `ifelse`: ``then`` or ``other``, which are the lengths in the two branches.

    If both are cheap to compute and cannot fail, `switch` chooses between them. Else `ifelse` does, so that the length
    of the other branch is not computed.
    """
    if then is other or (isinstance(then, int) and then == other):
        return then
    if _is_of_roots(then) and _is_of_roots(other):
        return switch(condition, then, other)
    return ifelse(condition, cast(then, "int64"), cast(other, "int64"))


def _is_of_roots(length: Any) -> bool:
    """Whether a length is cheap to compute and cannot fail.

    It must be computed by few arithmetic operations from lengths of roots of the graph.
    """
    pending = [length]
    for _ in range(_LARGEST):
        if not pending:
            return True
        each = pending.pop()
        if not isinstance(each, Variable) or each.owner is None:
            continue
        read = length_read(each)
        if read is not None:
            if read[0].owner is not None:
                return False
        elif each.owner.op.elementwise and each.type.shape == ():
            pending.extend(each.owner.inputs)
        else:
            return False
    return False


def _paired(a: Any, b: Any) -> tuple[Any, Any]:
    """Two values of `ifelse`. If one of them is a Python number, it gets the dtype and the shape of the other one."""
    if is_python_number(a) is is_python_number(b):
        return a, b
    if is_python_number(a):
        return _paired(b, a)[::-1]
    tensor = a if isinstance(a, Variable) else as_tensor_variable(a)
    if not is_tensor(tensor):
        return a, b
    tensor, number = promote_arguments([tensor, b])
    return tensor, second(tensor, number) if tensor.type.ndim else number


@explained_by("loops")
def ifelse(condition: Any, then_branch: Any, else_branch: Any, name: str | None = None) -> Any:
    """``then_branch`` if the scalar ``condition`` holds, else ``else_branch``. Only the chosen branch is computed.

    The branches are two tensors, or two lists of tensors. The two tensors, or each pair of tensors in the lists, must
    have the same dtype and number of dimensions. Their shapes may differ. A Python number takes the dtype and the shape
    of the tensor that it is paired with. ValueError if the lists have different
    lengths. TypeError if dtypes or numbers of dimensions differ, or if ``condition`` is not a scalar. ``name`` becomes
    the name of the results.
    """
    several = is_list_or_tuple(then_branch)
    then = list(then_branch) if is_list_or_tuple(then_branch) else [then_branch]
    other = list(else_branch) if is_list_or_tuple(else_branch) else [else_branch]
    if len(then) != len(other):
        raise ValueError(f"The branches of ifelse have {len(then)} and {len(other)} values")
    condition = as_tensor_variable(condition)
    if condition.type.ndim:
        raise TypeError(f"The condition of ifelse must be a scalar, got {condition.type}")
    for i, pair in enumerate(zip(then, other, strict=True)):
        then[i], other[i] = _paired(*pair)
    outputs = IfElse(len(then))(condition, *then, *other, return_list=True)
    if name is not None:
        for i, output in enumerate(outputs):
            output.name = name if len(outputs) == 1 else f"{name}{{{i}}}"
    return outputs if several else outputs[0]
