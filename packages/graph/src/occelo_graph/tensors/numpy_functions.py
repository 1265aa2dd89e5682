"""Lets NumPy's functions build graphs: a call such as ``np.exp(x)`` for a symbolic tensor x calls Occelo's function.

NumPy's protocols ``__array_function__`` and ``__array_ufunc__`` call methods of `TensorVariable`. These methods call
`call_function` and `call_ufunc`. A function of NumPy that Occelo does not have raises TypeError.

Functions other than ufuncs are those of families, which register them by `ops.arguments.stands_for`: the family of arrays
most of them. Its second argument lists the parameters of NumPy's function, in NumPy's order. They are written as follows:

- ``axis``: passed on under the same name
- ``a:x``: passed on under the name ``x``
- ``-out``: not supported; an argument other than None raises TypeError
- ``-order=C``: supported only with the value "C", which is not passed on
- ``*``: any number of positional arguments
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from occelo_graph.errors import hint_about
from occelo_graph.ir.nodes import Variable
from occelo_graph.narrowing import is_dict, is_list_or_tuple
from occelo_graph.ops import cast, create, join, reduce, shape, statistics
from occelo_graph.ops.arguments import NUMPY, row_of_family
from occelo_graph.ops.blas import products as blas
from occelo_graph.ops.elemwise import arithmetic as ar
from occelo_graph.ops.elemwise import complex as cx
from occelo_graph.ops.elemwise import error_functions as ef
from occelo_graph.ops.elemwise import transcendental as tr
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index import search
from occelo_graph.ops.reductions import reductions
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import is_discrete

Row = tuple[Callable[..., Any], str]


def _logical(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given: function(*(ar.neq(v, 0) for v in given))


def _reciprocal(x: Any) -> Any:
    x = as_tensor_variable(x)
    if is_discrete(x.dtype):
        raise TypeError(
            "numpy.reciprocal of integers is an integer division; use 1 // x, or "
            "occelo.tensor.reciprocal, which gives floats"
        )
    return ar.reciprocal(x)


def _logical_not(x: Any) -> Any:
    return ar.eq(x, 0)


_UFUNCS: dict[str, Callable[..., Any]] = {
    "divide": cast.quotient,
    "divmod": ar.divmod,
    "logical_and": _logical(ar.and_),
    "logical_or": _logical(ar.or_),
    "logical_xor": _logical(ar.xor),
    "logical_not": _logical_not,
    "logaddexp": tr.logaddexp,
    "reciprocal": _reciprocal,
    "degrees": tr.rad2deg,
    "radians": tr.deg2rad,
    "matmul": blas.matmul,
    "matvec": blas.matvec,
    "vecmat": blas.vecmat,
    "vecdot": blas.vecdot,
}
_METHODS = {"reduce": "numpy", "accumulate": "numpy running"}
"""Maps a method of ufuncs to the key of `Reduction.names` under which the equivalent function is named.

For instance, the equivalent of ``np.add.accumulate`` is ``cumsum``: the reduction by ``add`` has this name under the
key "numpy running".
"""

_MODULES = (ar, cx, tr, ef, reduce, statistics, blas, shape, join, create, search, cast)
for _module in (ar, cx, tr, ef):
    for _name in _module.__all__:
        _found = getattr(_module, _name)
        if isinstance(_found, Elemwise):
            # both Occelo's name of the function and the name of NumPy's ufunc are keys
            _ufunc = getattr(_found.scalar_op, "function", None)
            for _each in (_name, _ufunc.__name__ if isinstance(_ufunc, np.ufunc) else _name):
                _UFUNCS.setdefault(_each, _found)


def _refusal(name: str, tensor: Any, why: str, ours: str | None) -> TypeError:
    use = (
        f"use occelo.tensor.{ours}"
        if ours is not None
        else "a part of x is changed by x.at[key].add(y) and its like"
        if name.endswith(".at")
        else "use the functions of occelo.tensor, which has none of that name, or eval() first"
    )
    return TypeError(f"{name} cannot be applied to the symbolic tensor {tensor}{why}; {use}")


def _named(name: str) -> str | None:
    return (
        name
        if name in NUMPY
        or f"scipy.special.{name}" in NUMPY
        or any(name in m.__all__ for m in _MODULES)
        else None
    )


def _reduction_named(ufunc: Any, key: str) -> str | None:
    """``names[key]`` of the `Reduction` that combines elements by ``ufunc``. None if there is no such name."""
    rows = (row for row in reductions().values() if row.function.function is ufunc)
    return next((row.names[key] for row in rows if key in row.names), None)


def _first_variable(values: Any) -> Any:
    pending: list[Any] = [values]
    while pending:
        value = pending.pop()
        if isinstance(value, Variable):
            return value
        if is_list_or_tuple(value):
            pending.extend(reversed(value))
        elif is_dict(value):
            pending.extend(value.values())
    return "that it was given"


def _pass_on(
    parameters: str, args: Sequence[Any], options: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any], str | None]:
    """The positional and keyword arguments for Occelo's function, from those of NumPy's function.

    ``parameters`` is the text in `_FUNCTIONS`. The third result is the name of an argument that is not supported, or
    None.
    """
    listed = [p.partition(":") for p in parameters.split()]
    keywords: dict[str, Any] = {}
    if listed and listed[0][0] == "*":
        positional, listed, named = list(args), listed[1:], dict(options)
    else:
        positional, named = [], dict(options)
        for position, value in enumerate(args):
            if position >= len(listed):
                return [], {}, f"argument {position + 1}"
            named[listed[position][0].partition("=")[0].lstrip("-")] = value
    for name, _, ours in listed:
        plain, _, harmless = name.lstrip("-").partition("=")
        if plain not in named:
            continue
        value = named.pop(plain)
        if value is np._NoValue:  # pyright: ignore[reportPrivateUsage]  # NumPy passes it for an argument that was not given
            continue
        if not name.startswith("-"):
            keywords[ours or plain] = value
        elif value is not None and (isinstance(value, Variable) or str(value) != harmless):
            return [], {}, plain
    return positional, keywords, next(iter(named), None)


def _row(name: str) -> Row | None:
    """Occelo's function and the parameters for a function of NumPy. None if Occelo has no such function.

    Families are imported until one has it.
    """
    in_linalg = name.startswith("linalg.")
    ours = name if in_linalg else name.rpartition(".")[2]
    return NUMPY.get(ours) or row_of_family(ours)


def call_function(function: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Call Occelo's function in place of ``function``, a function of NumPy.

    TypeError if Occelo has no such function, or if Occelo's function does not support one of the arguments.
    """
    name = f"{function.__module__}.{function.__name__}"
    row = _row(name.removeprefix("numpy."))
    ours = _named(function.__name__)
    if row is None:
        raise _refusal(name, _first_variable((args, options)), "", ours)
    positional, keywords, lacking = _pass_on(row[1], args, options)
    if lacking is not None:
        why = f" with {lacking}" if lacking.startswith("argument") else f" with {lacking}="
        raise _refusal(name, _first_variable((args, options)), why, ours)
    return row[0](*positional, **keywords)


def call_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Call Occelo's function in place of a ufunc of NumPy or SciPy.

    TypeError if Occelo has no such function, or for a keyword argument but the ``dtype`` and ``casting`` of `Elemwise`.

    ``method`` is the method of the ufunc that was called. For all methods but "__call__" and "outer", such as "reduce",
    TypeError is raised; the message names Occelo's function if there is one.
    """
    name: str = ufunc.__name__
    full = f"numpy.{name}" if getattr(np, name, None) is ufunc else name
    tensor = _first_variable((inputs, options))
    if "out" in options:
        raise TypeError(
            f"An array cannot take the values of the symbolic tensor {tensor}, which are not known "
            "before the graph runs; write array + x, not array += x, and leave out=... out"
        )
    function = _UFUNCS.get(name)
    if function is None:
        row = row_of_family(name if full != name else f"scipy.special.{name}")
        function = None if row is None else row[0]
    if method == "outer" and function is not None and len(inputs) == 2:
        x, y = map(as_tensor_variable, inputs)
        return function(x.dimshuffle(*range(x.type.ndim), *"x" * y.type.ndim), y, **options)
    if method != "__call__":
        ours = _reduction_named(ufunc, _METHODS.get(method, ""))
        raise _refusal(f"{full}.{method}", tensor, "", ours)
    ours = getattr(function, "__name__", None) if function is not None else _named(name)
    if function is None:
        raise _refusal(full, tensor, "", None if ours is None or "<" in ours else ours)
    if options and not isinstance(function, Elemwise):
        lacking = next(iter(options))
        why = f" with {lacking}={hint_about('parameters', ufunc, lacking)}"
        raise TypeError(f"{full} cannot be applied to the symbolic tensor {tensor}{why}")
    return function(*inputs, **options)
