"""Transformations of Python functions of tensors, named as in JAX: `value_and_grad`, `jvp`, `vjp` and `stop_gradient`.

A function gets trees of tensors and returns a tree of tensors. Its derivatives are those by its arguments alone: what it
reads besides is constant, also if it is the variable that is passed as an argument. So each argument gets an identity of
its own (`_own`), by which graphs are differentiated. Rules remove it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

from occelo_graph.errors import explained_by
from occelo_graph.gradient.barriers import grad_scale, zero_grad
from occelo_graph.gradient.forward import pushforward
from occelo_graph.gradient.reverse import grad, pullback
from occelo_graph.ir import trees
from occelo_graph.ir.nodes import Variable
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.tensors.constant import as_tensor_variable

T = TypeVar("T")


def stop_gradient(tree: T) -> T:
    """The values of a tree of tensors, with derivatives 0, as in JAX. `zero_grad` does the same for one tensor.

    `disconnected_grad` treats a tensor as a constant instead, which is an error where its derivative is asked for.
    """
    stopped: T = trees.map(zero_grad, tree)
    return stopped


@overload
def value_and_grad(fun: Variable, wrt: T, /, **options: Any) -> tuple[Variable, T]: ...
@overload
def value_and_grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, /, *, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]: ...
@overload
def value_and_grad(
    fun: Callable[..., Any], /, *, argnums: int | Sequence[int], has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]: ...
def value_and_grad(fun: Any, wrt: Any = 0, /, *, has_aux: bool = False, **options: Any) -> Any:
    """A cost and its gradient.

    With a scalar variable and a tree ``wrt``: the pair of the variable and ``grad(fun, wrt, **options)``.

    With a Python function, as in JAX: a function with the same arguments that returns the pair of its result, a scalar, and
    the gradient by the argument at position ``wrt``, or ``argnums`` by name; by several arguments, if it is a tuple of
    positions. The gradient is 0 where the result does not depend on an argument. With ``has_aux`` the function returns a
    pair of a scalar and anything else, which stays with the value: ``((value, more), gradient)``.

    Errors are those of `grad`.
    """
    if isinstance(fun, Variable):
        return fun, grad(fun, wrt, **options)
    if not callable(fun):
        raise TypeError(f"value_and_grad takes a variable or a function, got {fun!r}")
    wrt = options.pop("argnums", wrt)
    if options:
        raise TypeError(f"value_and_grad of a function has no argument {sorted(options)[0]}")
    function: Callable[..., Any] = fun
    several = is_list_or_tuple(wrt)
    positions: Sequence[int] = wrt if several else (wrt,)

    def with_gradient(*args: Any, **kwargs: Any) -> Any:
        inputs = list(args)
        for i in positions:
            inputs[i] = trees.map(_own, inputs[i])
        result = function(*inputs, **kwargs)
        value = result[0] if has_aux else result
        gradients = grad(value, tuple(inputs[i] for i in positions), disconnected_inputs="ignore")
        return result, gradients if several else gradients[0]

    return with_gradient


@explained_by("gradients")
def jvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> Any:
    """The result of ``fun(*primals)`` and its tangent along ``tangents``, as in JAX.

    ``primals`` and ``tangents`` are two lists or tuples of trees of equal structure (else ValueError). The tangent of a
    result that does not depend on the primals is 0. With ``has_aux`` the function returns a pair, and only its first part
    is differentiated: the result is ``(value, tangent, more)``. TypeError if an argument is no list or tuple.
    """
    if not is_list_or_tuple(primals) or not is_list_or_tuple(tangents):
        raise TypeError(
            "The primals and tangents of jvp are two lists or tuples, one entry for each argument"
        )
    _check_function(fun, "jvp")
    inner = [trees.map(_own, each) for each in primals]
    leaves, structure = trees.flatten(inner, "primals")
    along = structure.leaves_of(tangents, "tangents")
    for path, leaf, tangent in zip(structure.paths("primals"), leaves, along, strict=True):
        ndim = as_tensor_variable(tangent).type.ndim
        if ndim != leaf.type.ndim:
            raise ValueError(f"The tangent of {path} has {ndim} dimensions, not {leaf.type.ndim}")
    result = fun(*inner)
    value, *more = result if has_aux else (result,)
    outputs = trees.map(as_tensor_variable, value)
    tangent = pushforward(outputs, leaves, along, disconnected_outputs="ignore")
    return (outputs, tangent, *more)


@explained_by("gradients")
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The result of ``fun(*primals)``, and a function from its cotangent to those of the primals, as in JAX.

    The cotangent is a tree of the structure of the result (else ValueError); the cotangents are a tuple with a tree for
    each of ``primals``, 0 where the result does not depend on them. With ``has_aux`` the function returns a pair, and
    only its first part is differentiated: the result is ``(value, pull, more)``.
    """
    _check_function(fun, "vjp")
    inner = tuple(trees.map(_own, each) for each in primals)
    result = fun(*inner)
    value, *more = result if has_aux else (result,)
    outputs = trees.map(as_tensor_variable, value)

    def pull(cotangent: Any) -> Any:
        leaves, structure = trees.flatten(outputs)
        along = structure.leaves_of(cotangent, "cotangent")
        return pullback(leaves, inner, along, disconnected_inputs="ignore")

    return (outputs, pull, *more)


def _check_function(fun: Any, name: str) -> None:
    if not callable(fun):
        raise TypeError(
            f"fun of {name} is a Python function, and not {fun!r}; see pushforward and pullback"
        )


def _own(x: Any) -> Any:
    """A variable of its own with the value of ``x``."""
    return grad_scale(as_tensor_variable(x), 1.0)
