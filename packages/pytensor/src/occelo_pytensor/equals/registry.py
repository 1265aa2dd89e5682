"""The registry of equals in PyTensor, and `converted`, which walks over a graph of Occelo once, in topological order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from pytensor.tensor.type import TensorType

from occelo_graph import Constant, SharedVariable, toposort
from occelo_graph.ir.decomposing import decomposition
from occelo_pytensor.library import tensor as pt
from occelo_pytensor.variables import is_sparse_type, their_shared, their_type

Equal = Callable[..., Any]
"""``equal(op, *inputs)``: PyTensor's outputs for an op of Occelo, or NotImplemented if PyTensor lacks them.

An output that PyTensor lacks alone is None, and refused where it is read.
"""

_EqualT = TypeVar("_EqualT", bound=Equal)
_equals: dict[type, Equal] = {}


class NoEqual(TypeError):
    """PyTensor has no equal of an op, which has no decomposition either. ``op`` is the op."""

    def __init__(self, node: Any) -> None:
        super().__init__(f"PyTensor has no equal of {node.op}, made at {node.outputs[0].source}")
        self.op = node.op


def register_equal(*op_classes: type) -> Callable[[_EqualT], _EqualT]:
    """Decorator that registers the equal in PyTensor of nodes whose op is an instance of one of ``op_classes``, for `to_pytensor`.

    The decorated function gets Occelo's op, and a variable of PyTensor for each input of the node. It returns a variable for
    each output, one variable or a list; None for an output that PyTensor lacks; or NotImplemented if PyTensor has no
    equal, so that the op is replaced by its decomposition. Subclasses of ``op_classes`` are converted in the same way, unless they
    are registered themselves. A later registration of a class replaces an earlier one. TypeError if something else than a class is given.
    """
    classes: tuple[Any, ...] = op_classes
    for each in classes:
        if not isinstance(each, type):
            raise TypeError(f"register_equal takes classes of ops, got {each!r}")

    def register(function: _EqualT) -> _EqualT:
        _equals.update(dict.fromkeys(op_classes, function))
        return function

    return register


def root(variable: Any) -> Any:
    """PyTensor's variable for one of Occelo's that no node computes."""
    if isinstance(variable, SharedVariable):
        return their_shared(variable)
    kind = their_type(variable.type)
    if isinstance(variable, Constant):
        if isinstance(kind, TensorType) and not is_sparse_type(kind):
            return pt.constant(np.asarray(variable.data))
        return kind.make_constant(variable.data)
    return kind(variable.name)


def _node(node: Any, inputs: Sequence[Any]) -> list[Any]:
    """PyTensor's variables for the outputs of a node of Occelo."""
    function = next((_equals[c] for c in type(node.op).__mro__ if c in _equals), None)
    results = NotImplemented if function is None else function(node.op, *inputs)
    if results is NotImplemented:
        simpler = decomposition(node)
        if simpler is None:
            raise NoEqual(node)
        return converted(list(simpler.outputs), dict(zip(simpler.inputs, inputs, strict=True)))
    several = list(results) if isinstance(results, list | tuple) else [results]
    return [
        v
        if v is None or getattr(v.type, "dtype", None) == getattr(o.type, "dtype", None)
        else pt.cast(v, o.type.dtype)
        for v, o in zip(several, node.outputs, strict=True)
    ]


def converted(outputs: Sequence[Any], memo: dict[Any, Any], *, missing: bool = False) -> list[Any]:
    """PyTensor's variables for ``outputs``. ``memo`` maps Occelo's variables to PyTensor's, and all others are added to it.

    With ``missing``, an output of a node of which PyTensor lacks only this one is None.
    """
    for node in toposort(list(outputs), blockers=list(memo)):
        for variable in node.inputs:
            if variable not in memo:
                memo[variable] = root(variable)
        results = _node(node, [_there(v, memo) for v in node.inputs])
        for variable, value in zip(node.outputs, results, strict=True):
            if variable.name and value is not None and value.name is None:
                value.name = variable.name
            memo[variable] = value
    for variable in outputs:
        if variable not in memo:
            memo[variable] = root(variable)
    return [memo[v] if missing else _there(v, memo) for v in outputs]


def _there(variable: Any, memo: dict[Any, Any]) -> Any:
    if memo[variable] is None:
        raise NoEqual(variable.owner)
    return memo[variable]
