"""Frequencies of the elements of transforms, and shifts that put frequency 0 in the middle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from occelo_arrays.ops.rearranging import roll
from occelo_graph.ir.known_values import known_integer
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import arange
from occelo_graph.ops.elemwise.arithmetic import ge, switch
from occelo_graph.ops.length_inputs import integer_length
from occelo_graph.ops.shape.axes import listed_axes, normalize_axis
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def fftfreq(n: Any, d: Any = 1.0) -> TensorVariable:
    """The frequencies of the ``n`` elements of `fft`, for samples at distance ``d``: 0, 1, ..., -2, -1, over ``n * d``.

    ``n`` and ``d`` may be variables. ValueError for a number ``n`` below 1.
    """
    n = _count(n, "fftfreq")
    k = arange(n)
    return cast(k - switch(ge(k, (n + 1) // 2), n, 0), "float64") / (n * d)


def rfftfreq(n: Any, d: Any = 1.0) -> TensorVariable:
    """The frequencies of the n // 2 + 1 elements of `rfft` of ``n`` numbers, at distance ``d``. See `fftfreq`."""
    n = _count(n, "rfftfreq")
    return cast(arange(n // 2 + 1), "float64") / (n * d)


def _count(n: Any, function: str) -> TensorVariable:
    number = known_integer(n := integer_length(n))
    if number is not None and number < 1:
        raise ValueError(f"{function} gives the frequencies of one element at least, got n={n}")
    return as_tensor_variable(n)


@stands_for("fftshift", "x axes")
def fftshift(x: Any, axes: Any = None) -> TensorVariable:
    """Move frequency 0 of ``x`` from the first element to the middle of ``axes``, by default of all."""
    return _shifted(x, axes, 0)


@stands_for("ifftshift", "x axes")
def ifftshift(x: Any, axes: Any = None) -> TensorVariable:
    """The inverse of `fftshift`, with the same ``x`` and ``axes``. It differs from it for odd lengths."""
    return _shifted(x, axes, 1)


def _shifted(x: Any, axes: Any, extra: int) -> TensorVariable:
    x = as_tensor_variable(x)
    chosen = range(x.type.ndim) if axes is None else listed_axes(axes)
    for axis in chosen:
        where = normalize_axis(axis, x)
        x = roll(x, (lengths_by_variables(x)[where] + extra) // 2, where)
    return x
