"""Structured functions: functions of the stored values of a matrix, whose other elements stay 0."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from occelo_graph import tensor as ot
from occelo_graph.errors import describe, explained_by
from occelo_sparse.ops.assembling import as_sparse_variable, properties, with_values

if TYPE_CHECKING:
    from occelo_sparse.ops.variable import SparseVariable

__all__ = [
    "abs",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "ceil",
    "conj",
    "conjugate",
    "deg2rad",
    "expm1",
    "floor",
    "log1p",
    "neg",
    "rad2deg",
    "rint",
    "sign",
    "sin",
    "sinh",
    "sqr",
    "sqrt",
    "structured_add",
    "structured_conjugate",
    "structured_elemwise",
    "structured_exp",
    "structured_log",
    "structured_maximum",
    "structured_minimum",
    "structured_pow",
    "structured_sigmoid",
    "tan",
    "tanh",
    "trunc",
]


def structured_elemwise(
    tensor_op: Callable[..., Any],
) -> Callable[[Callable[..., Any]], Callable[..., SparseVariable]]:
    """A decorator of functions of a sparse matrix and scalars, whose bodies are ignored: ``tensor_op`` of the stored values.

    The new function raises TypeError for dense matrices, and for further arguments that are no scalars.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., SparseVariable]:
        @functools.wraps(function)
        def applied(x: Any, *scalars: Any) -> SparseVariable:
            x = as_sparse_variable(x)
            numbers = [ot.as_tensor_variable(each) for each in scalars]
            for each in numbers:
                if each.type.ndim:
                    raise TypeError(
                        f"{function.__name__} takes a matrix and scalars, got {describe(each)}"
                    )
            weak = [
                s if isinstance(s, int | float) else n
                for s, n in zip(scalars, numbers, strict=True)
            ]
            return with_values(x, tensor_op(properties(x)[0], *weak))

        return explained_by("arguments")(applied)

    return decorate


def _structured(name: str, tensor_op: Callable[[Any], Any]) -> Callable[[Any], SparseVariable]:
    """The structured function of one argument, with its name and docstring."""

    def function(x: Any) -> SparseVariable:
        return with_values(as_sparse_variable(x), tensor_op(properties(as_sparse_variable(x))[0]))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{tensor_op.__name__}`` of the stored values of the sparse matrix ``x``."
    return function


abs = _structured("abs", ot.abs)
arcsin = _structured("arcsin", ot.arcsin)
arcsinh = _structured("arcsinh", ot.arcsinh)
arctan = _structured("arctan", ot.arctan)
arctanh = _structured("arctanh", ot.arctanh)
ceil = _structured("ceil", ot.ceil)
conjugate = conj = structured_conjugate = _structured("conjugate", ot.conj)
deg2rad = _structured("deg2rad", ot.deg2rad)
expm1 = _structured("expm1", ot.expm1)
floor = _structured("floor", ot.floor)
log1p = _structured("log1p", ot.log1p)
neg = _structured("neg", ot.neg)
rad2deg = _structured("rad2deg", ot.rad2deg)
rint = _structured("rint", ot.round)
sign = _structured("sign", ot.sign)
sin = _structured("sin", ot.sin)
sinh = _structured("sinh", ot.sinh)
sqr = _structured("sqr", ot.square)
sqrt = _structured("sqrt", ot.sqrt)
structured_exp = _structured("structured_exp", ot.exp)
structured_log = _structured("structured_log", ot.log)
structured_sigmoid = _structured("structured_sigmoid", ot.sigmoid)
tan = _structured("tan", ot.tan)
tanh = _structured("tanh", ot.tanh)
trunc = _structured("trunc", ot.trunc)


@structured_elemwise(ot.pow)
def structured_pow(x: Any, y: Any) -> Any:
    """The stored values of ``x`` to the power of the scalar ``y``."""


@structured_elemwise(ot.minimum)
def structured_minimum(x: Any, y: Any) -> Any:
    """The smaller one of each stored value of ``x`` and the scalar ``y``."""


@structured_elemwise(ot.maximum)
def structured_maximum(x: Any, y: Any) -> Any:
    """The larger one of each stored value of ``x`` and the scalar ``y``."""


@structured_elemwise(ot.add)
def structured_add(x: Any, y: Any) -> Any:
    """The sum of each stored value of ``x`` and the scalar ``y``."""
