"""Vectorization: run a graph over batches of some of its inputs, by each op's batching rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from occelo_graph.ir.clone import Replacements, replacement_pairs
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.traversal import as_variables, toposort
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import TensorType

__all__ = ["vectorize", "vectorize_graph"]


def _ndim(variable: Variable) -> int | None:
    return variable.type.ndim if isinstance(variable.type, TensorType) else None


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
        made: Sequence[Variable] = node.op.batch(node, new_inputs, extras)
        outputs = list(made)
    else:
        outputs = node.clone_with_new_inputs(new_inputs, strict=False).outputs
    if len(outputs) != len(node.outputs):
        raise ValueError(f"The batching rule of {node.op} gave {len(outputs)} outputs")
    return outputs


def vectorize_graph(outputs: Any, replace: Replacements) -> Any:
    """The graph of ``outputs`` with variables replaced by ones with more leading dimensions.

    Each replacement may have batch dimensions in front of those of what it replaces; batches of
    several replacements broadcast against each other. NotImplementedError names an op that has no
    batching rule, or an input over which it cannot be vectorized.
    """
    memo: dict[Variable, Variable] = {}
    for old, new in replacement_pairs(replace):
        variable = new if isinstance(new, Variable) else as_tensor_variable(new)
        _extra(old, variable)
        memo[old] = variable
    wanted = as_variables(outputs)
    for node in toposort(wanted, blockers=frozenset(memo)):
        new_inputs = [memo.get(v, v) for v in node.inputs]
        if all(a is b for a, b in zip(new_inputs, node.inputs, strict=True)):
            continue
        for old, new in zip(node.outputs, _batch_node(node, new_inputs), strict=True):
            memo.setdefault(old, new)
    results = [memo.get(v, v) for v in wanted]
    if isinstance(outputs, Variable):
        return results[0]
    return tuple(results) if isinstance(outputs, tuple) else results


_SIGNATURE = re.compile(r"^\s*(.*?)\s*->\s*(.*?)\s*$")
_CORE = re.compile(r"\(([^()]*)\)")


def _parse_signature(signature: str) -> tuple[list[int], list[int]]:
    match = _SIGNATURE.match(signature)
    if match is None:
        raise ValueError(f"Not a signature: {signature!r}; write it as '(n),(m,n)->(m)'")

    def ndims(text: str) -> list[int]:
        return [len([d for d in core.split(",") if d.strip()]) for core in _CORE.findall(text)]

    return ndims(match.group(1)), ndims(match.group(2))


def vectorize(func: Callable[..., Any], signature: str | None = None) -> Callable[..., Any]:
    """A function over batches from a function of tensors, as `numpy.vectorize`.

    ``signature`` gives the dimensions that the function itself takes, such as ``"(n),(n)->()"``;
    without one it takes scalars. Leading dimensions of the arguments broadcast.
    """
    core = None if signature is None else _parse_signature(signature)

    def vectorized(*args: Any) -> Any:
        arguments = [as_tensor_variable(a) for a in args]
        ndims = [0] * len(arguments) if core is None else core[0]
        if len(ndims) != len(arguments):
            raise ValueError(
                f"The signature has {len(ndims)} inputs, got {len(arguments)} arguments"
            )
        inner: list[Any] = []
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
        outputs = func(*inner)
        if core is not None:
            listed = as_variables(outputs)
            found = [_ndim(v) for v in listed]
            if found != core[1]:
                raise ValueError(
                    f"The signature gives outputs of {core[1]} dimensions, got {found}"
                )
        return vectorize_graph(outputs, replace)

    vectorized.__doc__ = func.__doc__
    return vectorized
