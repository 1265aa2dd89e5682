"""Choice between graphs, checks and copies."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import Kernel, Op, op
from occelo_graph.ops.elemwise.arithmetic import switch
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import TensorType

__all__ = [
    "ASSUMPTIONS",
    "Assert",
    "Assume",
    "CheckAndRaise",
    "DeepCopyOp",
    "IfElse",
    "ViewOp",
    "assert_op",
    "assume",
    "ifelse",
]


@op
class IfElse(Op):
    """The first ``n_outs`` of the values if the condition holds, else the other ones.

    It is lazy: linkers compute only what the condition asks for. Inputs are the condition, then
    all values of one branch, then all of the other.
    """

    n_outs: int
    lazy: ClassVar[bool] = True

    def infer(self, condition: TensorType, *values: Any) -> tuple[Any, ...]:
        if not isinstance(condition, TensorType) or condition.ndim:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"The condition of ifelse must be a scalar, got {condition}")
        merged: list[Any] = []
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

    @property
    def view_map(self) -> Mapping[int, Sequence[int]]:  # type: ignore[override] # pyright: ignore[reportIncompatibleVariableOverride]
        return {i: [1 + i, 1 + self.n_outs + i] for i in range(self.n_outs)}

    def taken(self, condition: Any) -> range:
        """Positions of the inputs that are the results for a value of the condition."""
        start = 1 if bool(condition) else 1 + self.n_outs
        return range(start, start + self.n_outs)

    def evaluate(self, *arrays: Any) -> Any:
        return tuple(arrays[i] for i in self.taken(arrays[0]))

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
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

    def pushforward(self, inputs: Any, outputs: Any, tangents: Any) -> Sequence[Any]:
        filled = [
            v.zeros_like() if t is None else t
            for v, t in zip(inputs[1:], tangents[1:], strict=True)
        ]
        return self(inputs[0], *filled, return_list=True)  # type: ignore[no-any-return]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        rows = [[False] * self.n_outs]
        for _ in range(2):
            rows += [[i == j for j in range(self.n_outs)] for i in range(self.n_outs)]
        return rows

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        shapes: list[Any] = []
        for then, other in zip(
            input_shapes[1 : 1 + self.n_outs], input_shapes[1 + self.n_outs :], strict=True
        ):
            shapes.append(
                tuple(
                    a if a is b or (isinstance(a, int) and a == b) else switch(node.inputs[0], a, b)
                    for a, b in zip(then, other, strict=True)
                )
            )
        return shapes

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        condition, values = inputs[0], inputs[1:]
        wanted = max(batch_ndims)
        results: list[Any] = []
        for i in range(self.n_outs):
            a, b = values[i], values[self.n_outs + i]
            core = node.outputs[i].type.ndim  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
            if batch_ndims[0] == 0 and batch_ndims[1 + i] == batch_ndims[1 + self.n_outs + i]:
                results.append(ifelse(condition, a, b))
            else:
                test = condition.dimshuffle([*range(batch_ndims[0]), *["x"] * core])  # pyright: ignore[reportUnknownArgumentType]
                results.append(switch(test, a, b))
        assert wanted
        return results


def ifelse(condition: Any, then_branch: Any, else_branch: Any, name: str | None = None) -> Any:
    """``then_branch`` if the scalar ``condition`` holds, else ``else_branch``, computed lazily.

    Branches are tensors or lists of as many; each pair has one dtype and number of dimensions
    (TypeError otherwise), while shapes may differ.
    """
    several = isinstance(then_branch, list | tuple)
    then: list[Any] = list(then_branch) if several else [then_branch]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    other: list[Any] = list(else_branch) if isinstance(else_branch, list | tuple) else [else_branch]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if len(then) != len(other):
        raise ValueError(f"The branches of ifelse have {len(then)} and {len(other)} values")
    condition = as_tensor_variable(condition)
    if condition.type.ndim:
        raise TypeError(f"The condition of ifelse must be a scalar, got {condition.type}")
    outputs = IfElse(len(then))(condition, *then, *other, return_list=True)
    if name is not None:
        for i, output in enumerate(outputs):
            output.name = name if len(outputs) == 1 else f"{name}{{{i}}}"
    return outputs if several else outputs[0]


class CheckAndRaise(Op):
    """The first input, after checking that all others hold; else ``exc_type(msg)`` is raised."""

    __props__: ClassVar[tuple[str, ...]] = ("msg", "exc_type")
    view_map: ClassVar[Mapping[int, Sequence[int]]] = {0: [0]}

    def __init__(self, exc_type: type[Exception], msg: str = "") -> None:
        if not (isinstance(exc_type, type) and issubclass(exc_type, Exception)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError("exc_type must be an exception class")
        self.exc_type = exc_type
        self.msg = msg

    def infer(self, value: Any, *conditions: TensorType) -> Any:
        for t in conditions:
            if t.ndim:
                raise TypeError(f"Conditions must be scalars, got {t}")
        return value

    def make_node(self, *inputs: Any) -> Apply:
        conditions = [c.all() if (c := as_tensor_variable(x)).type.ndim else c for x in inputs[1:]]
        return super().make_node(inputs[0], *conditions)

    def evaluate(self, *arrays: Any) -> Any:
        if not all(bool(np.all(c)) for c in arrays[1:]):
            raise self.exc_type(self.msg)
        return arrays[0]

    def kernel(self, node: Apply) -> Kernel:
        return lambda *arrays: (self.evaluate(*arrays),)

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        return [*cotangents, *[None] * (len(inputs) - 1)]

    def pushforward(self, inputs: Any, outputs: Any, tangents: Any) -> Sequence[Any]:
        return [tangents[0]]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], *[[False]] * (len(node.inputs) - 1)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [self(*inputs)]


class Assert(CheckAndRaise):
    """`CheckAndRaise` with AssertionError."""

    __props__: ClassVar[tuple[str, ...]] = ("msg",)

    def __init__(self, msg: str = "Assert failed") -> None:
        super().__init__(AssertionError, msg)


def assert_op(value: Any, *conditions: Any, msg: str = "Assert failed") -> Any:
    """``value``, after checking when the graph runs that the conditions hold."""
    return Assert(msg)(value, *conditions)


class _SameType(Op):
    def infer(self, x: Any) -> Any:
        return x

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        return [cotangents[0]]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [self(inputs[0])]


@op
class DeepCopyOp(_SameType):
    """A copy with storage of its own."""

    def evaluate(self, x: Any) -> Any:
        return np.array(x) if isinstance(x, np.ndarray) else copy.deepcopy(x)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]

    def do_constant_folding(self, fgraph: Any, node: Apply) -> bool:
        return False


@op
class ViewOp(_SameType):
    """The same storage under another variable."""

    view_map: ClassVar[Mapping[int, Sequence[int]]] = {0: [0]}

    def evaluate(self, x: Any) -> Any:
        return x


ASSUMPTIONS = (
    "diagonal",
    "lower_triangular",
    "upper_triangular",
    "symmetric",
    "positive_definite",
    "orthogonal",
    "selection",
    "permutation",
    "unique_indices",
    "nonnegative",
    "positive",
)
"""What may be said of a tensor. Those of matrices are about the last two dimensions."""


@op
class Assume(_SameType):
    """Its input, of which the user says something that rewriting may rely on; nothing is checked.

    ``facts`` are pairs of a name out of `ASSUMPTIONS` and whether it holds.
    """

    facts: tuple[tuple[str, bool], ...]

    view_map: ClassVar[Mapping[int, Sequence[int]]] = {0: [0]}

    def evaluate(self, x: Any) -> Any:
        return x

    def pushforward(self, inputs: Any, outputs: Any, tangents: Any) -> Sequence[Any]:
        return [tangents[0]]

    def __str__(self) -> str:
        said = ", ".join(name if holds else f"not {name}" for name, holds in self.facts)
        return f"Assume{{{said}}}"


def assume(
    x: Any,
    *,
    diagonal: bool | None = None,
    lower_triangular: bool | None = None,
    upper_triangular: bool | None = None,
    symmetric: bool | None = None,
    positive_definite: bool | None = None,
    orthogonal: bool | None = None,
    selection: bool | None = None,
    permutation: bool | None = None,
    unique_indices: bool | None = None,
    nonnegative: bool | None = None,
    positive: bool | None = None,
) -> Any:
    """``x``, with the promise that something holds (True) or does not (False); None says nothing.

    A selection matrix has one 1 in each row and zeros elsewhere, a permutation one in each column as well.
    ``unique_indices`` says that no position occurs twice in an array of indices. Rewriting relies on it
    without any check, and results are undefined where it is wrong. TypeError if nothing is said, or if
    something is said of a matrix and ``x`` is none.
    """
    given = {
        "diagonal": diagonal,
        "lower_triangular": lower_triangular,
        "upper_triangular": upper_triangular,
        "symmetric": symmetric,
        "positive_definite": positive_definite,
        "orthogonal": orthogonal,
        "selection": selection,
        "permutation": permutation,
        "unique_indices": unique_indices,
        "nonnegative": nonnegative,
        "positive": positive,
    }
    facts = tuple((name, bool(holds)) for name, holds in given.items() if holds is not None)
    if not facts:
        raise TypeError("assume needs something to assume, such as symmetric=True")
    variable = as_tensor_variable(x)
    of_matrices = set(ASSUMPTIONS) - {"unique_indices", "nonnegative", "positive"}
    for name, _ in facts:
        if name in of_matrices and variable.type.ndim < 2:
            raise TypeError(
                f"{name} is said of matrices, and {variable} is of type {variable.type}"
            )
    return Assume(facts)(variable)
