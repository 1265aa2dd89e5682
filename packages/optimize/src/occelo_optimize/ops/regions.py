"""`Region`: the part of a user's expression that depends on the variable that is solved for.

The region is a frozen graph with its own inputs: the variable, and the parameters. A parameter is a value that does not
depend on the variable, so it is computed once, outside of the loop that evaluates the region again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from occelo_arrays.ops.raveling import ravel
from occelo_graph.applicable import check_arguments
from occelo_graph.errors import describe
from occelo_graph.fgraph.frozen import FrozenFunctionGraph, freeze
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir import trees
from occelo_graph.ir.clone import rebuilt
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.traversal import toposort, variable_depends_on
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import is_tensor
from occelo_graph.tensors.variable import TensorVariable


@frozen_dataclass
class Region:
    """A graph from a variable and ``parameters`` to values. The inputs of ``graph`` are the variable and the parameters."""

    graph: FrozenFunctionGraph
    parameters: tuple[Variable, ...]

    def function(self, parameters: Sequence[Variable]) -> Callable[[Any], Any]:
        """The first value as a function of the variable, for these parameters."""

        def value(x: Any) -> Any:
            return self.graph.bind([x, *parameters])[0]

        return value


def region_of(outputs: Sequence[Variable], x: Variable, what: str) -> Region:
    """The part of ``outputs`` that depends on ``x``. ValueError if the first output does not; ``what`` names it."""
    if not variable_depends_on(outputs[0], x):
        raise ValueError(f"The {what} does not depend on {describe(x)}: {describe(outputs[0])}")
    return region_between(outputs, (x,))


def region_between(outputs: Sequence[Variable], variables: Sequence[Variable]) -> Region:
    """The part of ``outputs`` that depends on ``variables``, which become the first inputs of its graph."""
    depends = set(variables)
    nodes: list[Apply] = []
    for node in toposort(outputs):
        if not depends.isdisjoint(node.inputs):
            nodes.append(node)
            depends.update(node.outputs)
    read = dict.fromkeys(v for node in nodes for v in node.inputs if v not in depends)
    read.update(dict.fromkeys(v for v in outputs if v not in depends))
    parameters = tuple(v for v in read if not isinstance(v, Constant))
    own = [v.type.make_variable(v.name) for v in (*variables, *parameters)]
    copies = rebuilt(list(outputs), list(zip((*variables, *parameters), own, strict=True)))
    return Region(freeze(own, copies), parameters)


@frozen_dataclass
class Problem:
    """An expression of a vector or scalar ``x``, which starts as ``start``. ``tree`` makes the user's tree of a solution."""

    expression: TensorVariable
    x: TensorVariable
    start: TensorVariable
    tree: Callable[[Any], Any]


def problem_of(
    function: Any, start: Any, args: Sequence[Any], who: str, *, vector: bool = False
) -> Problem:
    """The problem of a user's arguments.

    ``function`` is an expression, and ``start`` a variable in it or a tree of variables, which are also the values at
    which the search starts. Or ``function`` is a Python function of a tree like ``start`` and of ``args``. A tree of
    several leaves becomes one vector, and with ``vector`` so does any start.
    """
    called: Any = None if isinstance(function, Variable) or not callable(function) else function
    leaves, structure = trees.flatten(start, "the start")
    if not leaves:
        raise ValueError(f"{who} needs a start, and it has no leaves")
    values = [
        _start(v, path, who) for v, path in zip(leaves, structure.paths("the start"), strict=True)
    ]
    if called is not None:
        check_arguments(
            f"The function of {who}", called, "the variable", *("one of args" for _ in args)
        )
        inner = [v.type.make_variable(v.name) for v in values]
        expression: Any = called(structure.unflatten(inner), *args)
    else:
        for leaf, path in zip(leaves, structure.paths("the start"), strict=True):
            if not isinstance(leaf, Variable) or isinstance(leaf, Constant):
                raise TypeError(
                    f"{who} solves an expression for a variable in it, and {path} is {leaf!r}. (A Python function may "
                    "take the place of the expression)"
                )
        if len(args):
            raise TypeError(f"{who} takes args for a Python function only, and got an expression")
        inner, expression = values, function
    expression = _as_expression(expression, who)
    for v, path in zip(inner, structure.paths("the start"), strict=True):
        if not variable_depends_on(expression, v):
            raise ValueError(
                f"The expression of {who} does not depend on {describe(v)}, which is {path}: {describe(expression)}"
            )
    if len(values) == 1 and (not vector or values[0].type.ndim == 1):
        return Problem(expression, inner[0], values[0], lambda x: structure.unflatten([x]))
    start, unravel = ravel(values)
    packed = start.type.make_variable("packed")
    pieces = unravel(packed)
    replaced: list[Any] = rebuilt([expression], list(zip(inner, pieces, strict=True)))
    return Problem(replaced[0], packed, start, lambda x: structure.unflatten(unravel(x)))


def _start(value: Any, path: str, who: str) -> TensorVariable:
    try:
        start = as_tensor_variable(float(value) if type(value) is int else value)
    except (TypeError, ValueError):
        raise TypeError(f"{who} needs a tensor of floats, and {path} is {value!r}") from None
    if start.type.numpy_dtype.kind != "f":
        raise TypeError(f"{who} needs a tensor of floats, and {path} is {describe(start)}")
    return start


def _as_expression(value: Any, who: str) -> TensorVariable:
    try:
        tensor = as_tensor_variable(value)
    except (TypeError, ValueError):
        raise TypeError(f"{who} needs a tensor as its expression, got {value!r}") from None
    if not is_tensor(tensor) or tensor.type.numpy_dtype.kind != "f":
        raise TypeError(f"{who} needs a real expression of floats, got {describe(tensor)}")
    return tensor
