"""From functions of Python to nodes of `Scan`: the body is traced, and what it reads from outside is captured.

`loop`, `scan` and their like make their nodes with it, and so do the derivatives of `Scan`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from occelo_graph.errors import describe
from occelo_graph.fgraph.frozen import freeze
from occelo_graph.ir.nodes import Constant, Variable
from occelo_graph.ir.regions import divide
from occelo_graph.ir.traversal import toposort
from occelo_graph.ir.types import Type
from occelo_graph.looping.scan_op import Scan
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import is_tensor
from occelo_graph.tensors.type import TensorType

__all__ = ["Step", "Stepping", "element_type", "number_of_steps", "scan_node"]


@dataclass(frozen=True)
class Step:
    """The results of one step: the new carried values, the elements of traces, and whether this step is the last one."""

    carried: Sequence[Any]
    traced: Sequence[Any] = ()
    stop: Any = None


Stepping = Callable[[list[Variable], list[Variable], list[Variable]], Step]
"""A function of the carried values, the elements of sequences and the constants."""


def element_type(kind: Type) -> TensorType:
    """The type of the elements of a sequence; TypeError if it has none."""
    if not isinstance(kind, TensorType) or not kind.ndim:
        raise TypeError(f"A sequence must be a tensor with a first axis, and not {kind}")
    return TensorType(kind.dtype, kind.shape[1:])


def number_of_steps(value: Any) -> Any:
    """The number of steps as an int64 scalar; TypeError for anything but an integer scalar."""
    steps = as_tensor_variable(value)
    if steps.type.ndim or steps.type.numpy_dtype.kind not in "iu":
        raise TypeError(
            f"The number of steps must be an integer scalar, and {describe(steps)} is {steps.type}"
        )
    return steps if steps.dtype == "int64" else steps.astype("int64")


def scan_node(
    step: Stepping,
    steps: Any,
    carried: Sequence[Variable],
    sequences: Sequence[Variable] = (),
    constants: Sequence[Variable] = (),
    *,
    reverse: bool = False,
    truncate: int | None = None,
    name: str | None = None,
    names: Sequence[str] = (),
    capture: bool = True,
) -> tuple[Scan, list[Variable]]:
    """The op and the outputs of a node of `Scan` whose body is traced from ``step``.

    ``names`` say what the carried values are, for errors. Static lengths of the initial values that a step does not keep become
    dynamic. Variables that ``step`` reads from outside become constants of the node; ValueError without ``capture``.

    TypeError where a carried value changes its dtype, its number of dimensions or a static length.
    """
    labels = names or [f"carried value {i}" for i in range(len(carried))]
    kinds = [v.type for v in carried]
    while True:
        # each repetition makes at least one static length dynamic
        inner = [k.make_variable(v.name) for k, v in zip(kinds, carried, strict=True)]
        elements: list[Variable] = [element_type(v.type).make_variable() for v in sequences]
        read = [v.type.make_variable(v.name) for v in constants]
        made = step(inner, elements, read)
        following = [as_variable(v, k) for k, v in zip(kinds, made.carried, strict=True)]
        wider = [
            _common(before, after.type, initial, label)
            for before, after, initial, label in zip(kinds, following, carried, labels, strict=True)
        ]
        if wider == kinds:
            break
        kinds = wider
    results: list[Any] = [*following, *map(_traced, made.traced)]
    if made.stop is not None:
        results.append(_condition(made.stop))
    arguments = [*inner, *elements, *read]
    outside = _outside(results, arguments)
    if outside and not capture:
        raise ValueError(
            f"With strict, a loop reads only what it is given: {describe(outside[0])} is not among non_sequences"
        )
    body = freeze([*arguments, *outside], results)
    op_ = Scan(body, len(carried), len(sequences), made.stop is not None, reverse, truncate, name)
    outputs: list[Variable] = op_(
        number_of_steps(steps), *carried, *sequences, *constants, *outside, return_list=True
    )
    return op_, outputs


def as_variable(value: Any, kind: Type) -> Variable:
    """A result of a step as a variable; numbers take the dtype of what is carried."""
    if isinstance(value, Variable):
        return value
    if isinstance(kind, TensorType):
        return as_tensor_variable(value, dtype=kind.dtype)
    return kind.filter_variable(value)


def _traced(value: Any) -> Variable:
    return value if isinstance(value, Variable) else as_tensor_variable(value)


def _condition(value: Any) -> Variable:
    condition = _traced(value)
    if not is_tensor(condition) or condition.type.ndim:
        raise TypeError(f"The condition of a loop must be a scalar, and not {condition.type}")
    return condition if condition.type.dtype == "bool" else condition.astype("bool")


def _common(before: Type, after: Type, initial: Variable, what: str) -> Type:
    """The type of a carried value that starts as ``before`` and becomes ``after``: one with the static lengths of both."""
    if before == after:
        return before
    if not isinstance(before, TensorType) or not isinstance(after, TensorType):
        raise TypeError(
            f"The {what} starts as {before} and becomes {after}: both must be of one type"
        )
    if before.dtype != after.dtype:
        raise TypeError(
            f"The {what} starts as {before}, {describe(initial)}, and becomes {after} after a step: start "
            f"with .astype({after.dtype!r}), or end the step with .astype({before.dtype!r})"
        )
    if before.ndim != after.ndim:
        raise TypeError(
            f"The {what} starts with {before.ndim} dimensions, {describe(initial)}, and has {after.ndim} after a step: "
            f"{before} becomes {after}"
        )
    for axis, (a, b) in enumerate(zip(before.shape, after.shape, strict=True)):
        if a is not None and b is not None and a != b:
            raise TypeError(
                f"The {what} starts with length {a} along axis {axis}, {describe(initial)}, and has length {b} after a "
                f"step: {before} becomes {after}"
            )
    # a static length that a step does not promise to keep is dynamic
    shape = [None if b is None else a for a, b in zip(before.shape, after.shape, strict=True)]
    return TensorType(before.dtype, shape)


def _outside(results: Sequence[Variable], arguments: Sequence[Variable]) -> list[Variable]:
    """What the body reads from outside: the largest parts of the graph that depend on no argument.

    A part that only a branch reads stays in the branch, so that it is computed only if the branch is taken.
    """
    order = toposort(results, blockers=frozenset(arguments))
    inside: set[Variable] = set(arguments)
    lazily = divide(order, results).outermost
    for node in order:
        if node in lazily or not node.op.pure or not inside.isdisjoint(node.inputs):
            inside.update(node.outputs)
    found: dict[Variable, None] = {}
    read = [v for node in order if not inside.isdisjoint(node.outputs) for v in node.inputs]
    for variable in (*read, *results):
        if variable not in inside and not isinstance(variable, Constant):
            found[variable] = None
    return list(found)
