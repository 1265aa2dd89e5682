"""NumPy's functions that choose between tensors or put values into them: `select`, `piecewise`, `extract`, `put` and others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_arrays.ops.positions import compress
from occelo_graph import Variable
from occelo_graph import tensor as ot
from occelo_graph.errors import describe
from occelo_graph.ir.taken_constants import taken
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.arguments import plain_number, stands_for
from occelo_graph.ops.cast import converted
from occelo_graph.ops.shape.axes import normalize_axis
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import promote_arguments
from occelo_graph.tensors.type import is_complex, is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "array_equal",
    "array_equiv",
    "extract",
    "nan_to_num",
    "piecewise",
    "place",
    "put",
    "put_along_axis",
    "select",
]


def _truths(value: Any, name: str) -> TensorVariable:
    condition = ot.as_tensor_variable(value)
    if condition.dtype != "bool":
        raise TypeError(f"The conditions of {name} must be bool, got {describe(condition)}")
    return condition


@stands_for("select", "condlist choicelist default")
def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> TensorVariable:
    """For each element, the choice whose condition is the first true one, and ``default`` where none is true.

    The conditions ``condlist``, the choices ``choicelist`` and ``default`` broadcast. The dtype is the common one of the choices and ``default``. ValueError
    if there are no conditions, or not as many as choices. TypeError unless conditions are bool.
    """
    for name, listed in (("condlist", condlist), ("choicelist", choicelist)):
        if isinstance(listed, ot.TensorVariable):
            raise TypeError(f"{name} of select is a list of tensors, got {describe(listed)}")
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError(
            f"select takes as many conditions as choices, and at least one, got {len(condlist)} and {len(choicelist)}"
        )
    *choices, result = promote_arguments([*choicelist, default])
    pairs = list(zip([_truths(c, "select") for c in condlist], choices, strict=True))
    for condition, choice in reversed(pairs):
        result = ot.switch(condition, choice, result)
    return result


@stands_for("piecewise", "x condlist funclist *")
def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    """For each element of ``x``, the function in ``funclist`` whose condition in ``condlist`` is the last true one, applied to it.

    A number in place of a function stands for itself. A function more than there are conditions applies where none is true,
    else elements are 0 there. The functions get all of ``x``, and ``args`` and ``kw``; what they compute where they do not
    apply is left out. The result has the dtype of ``x``. ValueError if numbers of conditions and functions do not fit.
    TypeError unless conditions are bool.
    """
    v = ot.as_tensor_variable(x)
    one = not is_list_or_tuple(condlist) or not len(condlist)
    if not one and v.type.ndim and not _is_tensor_like(condlist[0]):
        one = True
    conditions = [_truths(c, "piecewise") for c in ([condlist] if one else condlist)]
    count = len(conditions)
    result: Any = ot.zeros_like(v)
    if not is_list_or_tuple(funclist):
        raise TypeError(
            f"funclist of piecewise is a list of functions and numbers, got {funclist!r}"
        )
    functions = list(funclist)
    if len(functions) == count + 1:
        result = _applied(functions.pop(), v, args, kw)
    if len(functions) != count:
        raise ValueError(
            f"With {count} conditions, piecewise takes {count} or {count + 1} functions, got {len(functions)}"
        )
    for condition, function in zip(conditions, functions, strict=True):
        result = ot.switch(condition, _applied(function, v, args, kw), result)
    return ot.broadcast_to(result, lengths_by_variables(v)) if result.ndim < v.ndim else result


def _is_tensor_like(condition: Any) -> bool:
    return isinstance(condition, list | tuple | np.ndarray | ot.TensorVariable)


def _applied(choice: Any, x: Any, args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
    constant = isinstance(choice, ot.TensorVariable) or not callable(choice)
    function: Any = choice
    return converted(choice if constant else function(x, *args, **kw), x.dtype)


@stands_for("extract", "condition arr")
def extract(condition: Any, arr: Any, *, size: Any = None, fill_value: Any = 0) -> TensorVariable:
    """The elements of ``arr`` at which ``condition`` is not 0, in C order, as a vector. Both are flattened first.

    ``size`` is the length of the result, and ``fill_value`` is what missing elements are, as in `compress`.
    """
    if size is not None:
        mask = ot.flatten(ot.as_tensor_variable(condition))
        return compress(mask, arr, size=size, fill_value=fill_value)
    flat: TensorVariable = ot.flatten(ot.as_tensor_variable(arr))
    mask = taken(ot.as_tensor_variable(condition))
    # the positions of a constant are known, and so is their number
    return flat[ot.flatnonzero(mask) if isinstance(mask, Variable) else np.flatnonzero(mask)]


def _copied(inplace: bool, name: str) -> None:
    if inplace:
        raise ValueError(
            f"{name} cannot write into a symbolic tensor; with inplace=False, it returns a copy with the values"
        )


def _repeated(values: Any, dtype: str, places: Any, name: str) -> Any:
    """The elements of ``values`` at ``places``, as if they were repeated without end."""
    flat = ot.flatten(converted(values, dtype))
    if flat.type.shape == (0,):
        raise ValueError(f"{name} takes at least one value")
    (length,) = lengths_by_variables(flat)
    return flat[places % length]


def put(a: Any, ind: Any, v: Any, mode: str = "raise", *, inplace: bool = True) -> TensorVariable:
    """A copy of ``a`` with the values ``v``, repeated as needed, at the positions ``ind`` of the flattened tensor.

    As in JAX, ``inplace=False`` says that a copy is wanted; without it, ValueError. Positions out of bounds raise
    IndexError when the graph runs; with the ``mode`` "wrap" they count modulo the size, and with "clip" they are the first
    or the last one.
    """
    _copied(inplace, "put")
    x, places = ot.as_tensor_variable(a), ot.flatten(ot.as_tensor_variable(ind))
    if not is_discrete(places.dtype):
        raise TypeError(f"ind of put must be integers, got {describe(places)}")
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"mode of put is 'raise', 'wrap' or 'clip', not {mode!r}")
    flat = ot.flatten(x)
    (size,) = lengths_by_variables(flat)
    if mode != "raise":
        places = places % size if mode == "wrap" else ot.clip(places, 0, size - 1)
    values = _repeated(v, x.dtype, ot.arange(places.shape[0]), "put")
    return ot.reshape(flat[places].set(values), lengths_by_variables(x), ndim=x.type.ndim)


def place(arr: Any, mask: Any, vals: Any, *, inplace: bool = True) -> TensorVariable:
    """A copy of ``arr`` in which the elements where ``mask`` is true are those of ``vals`` in order, repeated as needed.

    ``mask`` has as many elements as ``arr``. As in JAX, ``inplace=False`` says that a copy is wanted; without it, ValueError.
    """
    _copied(inplace, "place")
    x, where = ot.as_tensor_variable(arr), ot.neq(ot.as_tensor_variable(mask), 0)
    flat, chosen = ot.flatten(x), ot.flatten(where)
    values = _repeated(vals, x.dtype, ot.maximum(ot.cumsum(chosen) - 1, 0), "place")
    written = ot.switch(chosen, values, flat)
    return ot.reshape(written, lengths_by_variables(x), ndim=x.type.ndim)


def put_along_axis(
    arr: Any, indices: Any, values: Any, axis: int | None, *, inplace: bool = True
) -> TensorVariable:
    """A copy of ``arr`` with ``values`` at the places that `take_along_axis` reads with ``indices`` and ``axis``.

    As in JAX, ``inplace=False`` says that a copy is wanted; without it, ValueError. Of values at equal places the last one
    is kept.
    """
    _copied(inplace, "put_along_axis")
    x = ot.as_tensor_variable(arr)
    if axis is None:
        flat = put_along_axis(ot.flatten(x), ot.flatten(indices), values, 0, inplace=False)
        return ot.reshape(flat, lengths_by_variables(x), ndim=x.type.ndim)
    part = ot.take_along_axis(x, indices, normalize_axis(axis, x))
    return ot.set_subtensor(part, values)


@stands_for("array_equal", "a1 a2 equal_nan")
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> TensorVariable:
    """Whether ``a1`` and ``a2`` have the same shape and equal elements: a bool scalar, False for different shapes.

    With ``equal_nan``, NaN equals NaN.
    """
    a, b = promote_arguments([a1, a2])
    if a.type.ndim != b.type.ndim:
        return ot.constant(np.False_)
    same: Any = ot.constant(np.True_)
    for i, (n, m) in enumerate(zip(a.type.shape, b.type.shape, strict=True)):
        if n is not None and n == m:
            continue
        if None not in (n, m):
            return ot.constant(np.False_)
        own, other = a.shape[i], b.shape[i]
        same = ot.and_(same, ot.eq(own, other))
        # what both have is compared, so that lengths which differ are no error
        common = slice(None, ot.minimum(own, other))
        lead = (slice(None),) * i
        a, b = a[(*lead, common)], b[(*lead, common)]
    equal = ot.eq(a, b)
    if equal_nan:
        equal = ot.or_(equal, ot.and_(ot.isnan(a), ot.isnan(b)))
    return ot.and_(same, ot.all(equal))


@stands_for("array_equiv", "a1 a2")
def array_equiv(a1: Any, a2: Any) -> TensorVariable:
    """Whether ``a1`` and ``a2`` broadcast and have equal elements then: a bool scalar. Also lengths that turn out to be 1 broadcast."""
    a, b = promote_arguments([a1, a2])
    ndim = max(a.type.ndim, b.type.ndim)
    a, b = (ot.atleast_Nd(v, n=ndim) for v in (a, b))
    same: Any = ot.constant(np.True_)
    for i, (n, m) in enumerate(zip(a.type.shape, b.type.shape, strict=True)):
        if 1 in (n, m) or (n == m and n is not None):
            continue
        own, other = a.shape[i], b.shape[i]
        fits = ot.or_(ot.eq(own, other), ot.or_(ot.eq(own, 1), ot.eq(other, 1)))
        count = ot.switch(fits, ot.switch(ot.eq(own, 1), other, own), 0)
        same = ot.and_(same, fits)
        lead = (slice(None),) * i
        a, b = (
            v[(*lead, ot.minimum(ot.arange(count), length - 1))]
            for v, length in ((a, own), (b, other))
        )
    return ot.and_(same, ot.all(ot.eq(a, b)))


@stands_for("nan_to_num", "x -copy=True nan posinf neginf")
def nan_to_num(x: Any, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> TensorVariable:
    """``x`` with NaN replaced by ``nan``, inf by ``posinf``, and -inf by ``neginf``.

    By default, ``posinf`` and ``neginf`` are the largest and the smallest finite number of the dtype. The real and the
    imaginary parts of complex numbers are treated apart.
    """
    x = ot.as_tensor_variable(x)
    plain_number(nan, "nan", "nan_to_num has no copy, since it changes nothing that it is given")
    if is_discrete(x.dtype):
        return x
    if is_complex(x.dtype):
        parts = [nan_to_num(part, nan, posinf, neginf) for part in (x.real, x.imag)]
        return ot.complex(*parts)
    limits = np.finfo(x.dtype)
    x = ot.switch(ot.isnan(x), nan, x)
    x = ot.switch(ot.eq(x, np.inf), limits.max if posinf is None else posinf, x)
    return ot.switch(ot.eq(x, -np.inf), limits.min if neginf is None else neginf, x)
