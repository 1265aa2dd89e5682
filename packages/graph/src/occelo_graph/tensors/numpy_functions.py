"""Lets NumPy's functions build graphs: a call such as ``np.exp(x)`` for a symbolic tensor x calls Occelo's function.

NumPy's protocols ``__array_function__`` and ``__array_ufunc__`` call methods of `TensorVariable`. These methods call
`call_function` and `call_ufunc`. A function of NumPy that Occelo does not have raises TypeError.

`_FUNCTIONS` maps the name of NumPy's function to Occelo's function and the parameters of NumPy's function, in NumPy's
order. The parameters are written as follows:

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
from occelo_graph.ops.shape.axes import normalize_axis
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import is_discrete

__all__ = ["call_function", "call_ufunc"]

Row = tuple[Callable[..., Any], str]


def _clip(a: Any, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Any:
    return ar.clip(a, min if a_min is None else a_min, max if a_max is None else a_max)


def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    ary = as_tensor_variable(ary)
    where = normalize_axis(axis, ary)
    if not is_list_or_tuple(indices_or_sections) and np.ndim(indices_or_sections) == 0:
        length, count = ary.type.shape[where], int(indices_or_sections)
        if length is None:
            raise TypeError(
                "numpy.split into equal parts needs a length that is known when the graph is "
                "built; use occelo.tensor.split with the lengths of the parts"
            )
        if count <= 0 or length % count:
            raise ValueError(f"A length of {length} does not split into {count} equal parts")
        ends = (
            list(range(length // count, length, length // count)) if length else [0] * (count - 1)
        )
    else:
        ends = list(indices_or_sections)
    lead = [slice(None)] * where
    pairs = zip([None, *ends], [*ends, None], strict=True)
    return [ary[tuple([*lead, slice(start, stop)])] for start, stop in pairs]


def _atleast_3d(*arys: Any) -> Any:
    """NumPy's ``atleast_3d``: shape (n,) becomes (1, n, 1), and shape (m, n) becomes (m, n, 1)."""
    orders: dict[int, list[Any]] = {0: ["x"] * 3, 1: ["x", 0, "x"], 2: [0, 1, "x"]}
    made = [
        v.dimshuffle(orders[v.type.ndim]) if v.type.ndim < 3 else v
        for v in map(as_tensor_variable, arys)
    ]
    return made[0] if len(made) == 1 else tuple(made)


def _tuple_of_several(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap ``function``, which returns a list for several arguments, so that it returns a tuple."""

    def calling(*arys: Any) -> Any:
        made = function(*arys)
        return made if len(arys) == 1 else tuple(made)

    return calling


def _angle(z: Any, deg: bool = False) -> Any:
    return tr.rad2deg(cx.angle(z)) if deg else cx.angle(z)


_FUNCTIONS: dict[str, Row] = {
    # reductions
    "sum": (reduce.sum, "a:input axis dtype -out keepdims initial where"),
    "prod": (reduce.prod, "a:input axis dtype -out keepdims initial where"),
    "mean": (statistics.mean, "a:input axis dtype -out keepdims where"),
    "var": (
        statistics.var,
        "a:input axis dtype -out ddof keepdims where mean correction",
    ),
    "std": (
        statistics.std,
        "a:input axis dtype -out ddof keepdims where mean correction",
    ),
    "max": (reduce.max, "a:x axis -out keepdims initial where"),
    "amax": (reduce.max, "a:x axis -out keepdims initial where"),
    "min": (reduce.min, "a:x axis -out keepdims initial where"),
    "amin": (reduce.min, "a:x axis -out keepdims initial where"),
    "ptp": (statistics.ptp, "a axis -out keepdims"),
    "argmax": (reduce.argmax, "a:x axis -out keepdims"),
    "argmin": (reduce.argmin, "a:x axis -out keepdims"),
    "all": (reduce.all, "a:x axis -out keepdims where"),
    "any": (reduce.any, "a:x axis -out keepdims where"),
    "cumsum": (reduce.cumsum, "a:x axis dtype -out"),
    "cumprod": (reduce.cumprod, "a:x axis dtype -out"),
    # products
    "dot": (blas.dot, "a:l b:r -out"),
    "outer": (blas.outer, "a:x b:y -out"),
    "tensordot": (blas.tensordot, "a b axes"),
    "trace": (blas.trace, "a offset axis1 axis2 -dtype -out"),
    # shapes
    "shape": (shape.shape, "a:x"),
    "reshape": (shape.reshape, "a:x shape:newshape -order=C -copy=True"),
    "ravel": (shape.ravel, "a:x -order=C"),
    "transpose": (shape.transpose, "a:x axes"),
    "matrix_transpose": (shape.matrix_transpose, "x"),
    "swapaxes": (shape.swapaxes, "a:x axis1 axis2"),
    "moveaxis": (shape.moveaxis, "a:x source destination"),
    "expand_dims": (shape.expand_dims, "a axis"),
    "squeeze": (shape.squeeze, "a:x axis"),
    "atleast_1d": (_tuple_of_several(shape.atleast_1d), "*"),
    "atleast_2d": (_tuple_of_several(shape.atleast_2d), "*"),
    "atleast_3d": (_atleast_3d, "*"),
    "broadcast_to": (create.broadcast_to, "array:x shape -subok=False"),
    "broadcast_arrays": (create.broadcast_arrays, "*"),
    # joining and splitting
    "concatenate": (join.concatenate, "arrays:tensor_list axis -out -dtype -casting=same_kind"),
    "stack": (join.stack, "arrays:tensors axis -out -dtype -casting=same_kind"),
    "split": (_split, "ary indices_or_sections axis"),
    "repeat": (join.repeat, "a repeats axis"),
    "tile": (join.tile, "A reps"),
    "roll": (join.roll, "a:x shift axis"),
    "flip": (join.flip, "m:arr axis"),
    "diff": (join.diff, "a n axis prepend append"),
    # making
    "zeros_like": (create.zeros_like, "a:model dtype -order=K -subok=True -shape -device"),
    "ones_like": (create.ones_like, "a:model dtype -order=K -subok=True -shape -device"),
    "empty_like": (
        create.empty_like,
        "prototype:model dtype -order=K -subok=True -shape -device",
    ),
    "full_like": (
        create.full_like,
        "a fill_value dtype -order=K -subok=True -shape -device",
    ),
    "tril": (create.tril, "m k"),
    "triu": (create.triu, "m k"),
    "tril_indices_from": (create.tril_indices_from, "arr:a k"),
    "triu_indices_from": (create.triu_indices_from, "arr:a k"),
    # elements
    "clip": (_clip, "a a_min a_max -out min max"),
    "round": (ar.round, "a decimals -out"),
    "isclose": (ar.isclose, "a b rtol atol equal_nan"),
    "allclose": (ar.allclose, "a b rtol atol equal_nan"),
    "isposinf": (ar.isposinf, "x -out"),
    "isneginf": (ar.isneginf, "x -out"),
    "nan_to_num": (ar.nan_to_num, "x -copy=True nan posinf neginf"),
    "real": (cx.real, "*"),
    "imag": (cx.imag, "*"),
    "angle": (_angle, "z deg"),
    "where": (ar.where, "condition:cond x:ift y:iff"),
    # positions
    "nonzero": (search.nonzero, "a"),
    "flatnonzero": (search.flatnonzero, "a"),
    "take": (search.take, "a indices axis -out mode"),
    "take_along_axis": (search.take_along_axis, "arr indices axis"),
    "diag": (search.diag, "v k"),
    "diagonal": (search.diagonal, "a offset axis1 axis2"),
    # linear algebra
    "linalg.matrix_transpose": (shape.matrix_transpose, "x"),
    "linalg.matmul": (blas.matmul, "x1 x2"),
    "linalg.tensordot": (blas.tensordot, "x1:a x2:b axes"),
    "linalg.vecdot": (blas.vecdot, "x1 x2 axis"),
}
if tuple(map(int, np.__version__.split(".")[:2])) < (2, 1):
    _FUNCTIONS["reshape"] = (shape.reshape, "a:x newshape -order=C")


def _logical(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given: function(*(ar.neq(v, 0) for v in given))


def _logical_not(x: Any) -> Any:
    return ar.eq(x, 0)


def _reciprocal(x: Any) -> Any:
    x = as_tensor_variable(x)
    if is_discrete(x.dtype):
        raise TypeError(
            "numpy.reciprocal of integers is an integer division; use 1 // x, or "
            "occelo.tensor.reciprocal, which gives floats"
        )
    return ar.reciprocal(x)


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


def _refusal(name: str, given: Any, why: str, ours: str | None) -> TypeError:
    use = (
        f"use occelo.tensor.{ours}"
        if ours is not None
        else "use the functions of occelo.tensor, which has none of that name, or eval() first"
    )
    return TypeError(f"{name} cannot be applied to the symbolic tensor {given}{why}; {use}")


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
        positional, listed, given = list(args), listed[1:], dict(options)
    else:
        positional, given = [], dict(options)
        for position, value in enumerate(args):
            if position >= len(listed):
                return [], {}, f"argument {position + 1}"
            given[listed[position][0].partition("=")[0].lstrip("-")] = value
    for name, _, ours in listed:
        plain, _, harmless = name.lstrip("-").partition("=")
        if plain not in given:
            continue
        value = given.pop(plain)
        if value is np._NoValue:  # pyright: ignore[reportPrivateUsage]  # NumPy passes it for an argument that was not given
            continue
        if not name.startswith("-"):
            keywords[ours or plain] = value
        elif value is not None and (isinstance(value, Variable) or str(value) != harmless):
            return [], {}, plain
    return positional, keywords, next(iter(given), None)


def _row(name: str) -> Row | None:
    """Occelo's function and the parameters for a function of NumPy. None if Occelo has no such function.

    If the function may be in a family, the families are imported.
    """
    in_linalg = name.startswith("linalg.")
    ours = name if in_linalg else name.rpartition(".")[2]
    row = _FUNCTIONS.get(name) or NUMPY.get(ours)
    return row_of_family(ours) if row is None else row


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

    TypeError if Occelo has no such function, or for a keyword argument.

    ``method`` is the method of the ufunc that was called. For all methods but "__call__", such as "reduce", TypeError
    is raised; the message names Occelo's function if there is one.
    """
    name: str = ufunc.__name__
    full = f"numpy.{name}" if getattr(np, name, None) is ufunc else name
    given = _first_variable((inputs, options))
    if "out" in options:
        raise TypeError(
            f"An array cannot take the values of the symbolic tensor {given}, which are not known "
            "before the graph runs; write array + x, not array += x, and leave out=... out"
        )
    function = _UFUNCS.get(name)
    if function is None:
        row = row_of_family(name if full != name else f"scipy.special.{name}")
        function = None if row is None else row[0]
    if method != "__call__":
        ours = _reduction_named(ufunc, _METHODS.get(method, ""))
        raise _refusal(f"{full}.{method}", given, "", ours)
    ours = getattr(function, "__name__", None) if function is not None else _named(name)
    if function is None or options:
        why = f" with {next(iter(options))}=" if options else ""
        raise _refusal(full, given, why, None if ours is None or "<" in ours else ours)
    return function(*inputs)
