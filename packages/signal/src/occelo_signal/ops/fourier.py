"""Fourier transforms with the arguments of NumPy and SciPy: `fft`, `rfft`, `hfft`, their inverses, and those of several axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from occelo_graph.ir.known_values import known_integer
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.cast import cast
from occelo_graph.ops.control.checks import raise_unless
from occelo_graph.ops.create import zeros
from occelo_graph.ops.elemwise.arithmetic import ge, maximum, sqrt
from occelo_graph.ops.elemwise.complex import conj
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.join import join
from occelo_graph.ops.length_inputs import integer_length, lengths_of
from occelo_graph.ops.shape.asserting import specify_shape
from occelo_graph.ops.shape.axes import listed_axes, normalize_axis
from occelo_graph.ops.shape.dimensions import moveaxis
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import is_complex
from occelo_signal.ops.transforms import (
    COMPLEX,
    FFT,
    REAL,
    RealFFT,
    half_length,
    inverse_real,
    is_half_of_transform,
)

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "fft",
    "fft2",
    "fftn",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftn",
]

NORMS = ("backward", "ortho", "forward")
Norm: TypeAlias = Literal["backward", "ortho", "forward"] | None


def as_numbers(a: Any, function: str) -> TensorVariable:
    """Convert an argument to a tensor of float32, float64 or complex numbers. Integers become float64.

    `numpy.exceptions.AxisError` for a scalar.
    """
    x = as_tensor_variable(a)
    if not x.type.ndim:
        raise ValueError(f"{function} transforms along an axis, and {x} is a scalar")
    dtype = x.dtype
    if dtype in COMPLEX or dtype in REAL:
        return x
    return cast(x, "float32" if dtype == "float16" else "float64")


def as_complex(x: TensorVariable) -> TensorVariable:
    """Convert a tensor of floats to complex numbers of the same precision."""
    return x if is_complex(x.dtype) else cast(x, COMPLEX[x.dtype])


def chosen_axes(x: TensorVariable, s: Any, axes: Any, function: str) -> tuple[list[int], list[Any]]:
    """The axes to transform, not negative and in the order of the user, and the length of each, or None for its own.

    As in NumPy, without ``axes`` they are all axes, or the last ones if ``s`` has fewer lengths, and a length of -1 is
    the axis' own. ValueError if the numbers of axes and lengths differ, or if an axis is repeated.
    """
    ndim = x.type.ndim
    lengths = None if s is None else [_length(n, function) for n in lengths_of(s)]
    if axes is None:
        count = ndim if lengths is None else len(lengths)
        if count > ndim:
            raise ValueError(f"{function} got {count} lengths s={s} for {x.type}")
        listed = list(range(-count, 0))
    else:
        listed = listed_axes(axes)
    chosen = [normalize_axis(a, x, "axes" if len(listed) > 1 else "axis") for a in listed]
    if lengths is None:
        lengths = [None] * len(chosen)
    if len(lengths) != len(chosen):
        raise ValueError(f"{function} got {len(lengths)} lengths s={s} for the axes {listed}")
    if len(set(chosen)) != len(chosen):
        raise ValueError(f"{function} transforms each axis once, got axes={tuple(listed)}")
    return chosen, lengths


def _alone(n: Any) -> Any:
    """The lengths of one axis that has the length ``n``, or its own. -1 means that only in a list of lengths."""
    if n is None:
        return None
    n = integer_length(n)
    if n == -1:
        raise ValueError(f"A transform has one element at least, got the length {n}")
    return [n]


def _length(n: Any, function: str) -> Any:
    n = integer_length(n)
    number = known_integer(n)
    if number is None:
        message = f"{function} takes no negative lengths"
        return raise_unless(n, ge(n, 0), error=ValueError, message=message)
    if n == -1:
        return None
    if number < 1:
        raise ValueError(f"{function} transforms one element at least, got the length {n}")
    return n


def with_length(x: TensorVariable, axis: int, n: Any) -> TensorVariable:
    """Cut an axis to its first ``n`` elements, or append zeros so that it has ``n``."""
    own = x.type.shape[axis]
    if n is None or (isinstance(n, int) and n == own):
        return x
    lead = (slice(None),) * axis
    part = getitem(x, (*lead, slice(0, n)))
    if isinstance(n, int) and own is not None and n < own:
        return part
    lengths = list(lengths_by_variables(x))
    lengths[axis] = maximum(n - as_tensor_variable(lengths[axis]), 0)
    padded = join(axis, part, zeros(lengths, x.dtype))
    if not isinstance(n, int):
        return padded
    return specify_shape(padded, [n if i == axis else None for i in range(padded.type.ndim)])


def _scaled(y: TensorVariable, norm: Any, inverse: bool, lengths: Sequence[Any]) -> TensorVariable:
    """Divide a transform by what ``norm`` says: by nothing, or by the product of ``lengths``, or by its root."""
    setting = norm
    norm = "backward" if norm is None else norm
    if norm not in NORMS:
        raise ValueError(f"norm must be one of {', '.join(NORMS)}, got {setting!r}")
    if norm == ("forward" if inverse else "backward"):
        return y
    count: Any = as_tensor_variable(1.0, dtype="float64")
    for n in lengths:
        count = count * n
    return y / cast(sqrt(count) if norm == "ortho" else count, REAL.get(y.dtype, y.dtype))


def _along_axes(
    a: Any, s: Any, axes: Any, norm: Any, inverse: bool, function: str
) -> TensorVariable:
    """Transform complex numbers along several axes."""
    x = as_complex(as_numbers(a, function))
    chosen, lengths = chosen_axes(x, s, axes, function)
    for axis, n in zip(chosen, lengths, strict=True):
        x = with_length(x, axis, n)
    if not chosen:
        return x
    last = range(-len(chosen), 0)
    spectrum = FFT(len(chosen), inverse)(moveaxis(x, chosen, last))
    spectrum = moveaxis(spectrum, last, chosen)
    return _scaled(spectrum, norm, inverse, _own_lengths(x, chosen, lengths))


def _own_lengths(x: TensorVariable, axes: Sequence[int], lengths: Sequence[Any]) -> list[Any]:
    """The lengths of axes. Those that the user did not choose (None) are read from ``x``."""
    own = lengths_by_variables(x)
    return [own[axis] if n is None else n for axis, n in zip(axes, lengths, strict=True)]


def _of_reals(
    a: Any, s: Any, axes: Any, norm: Any, function: str, inverse: bool = False
) -> TensorVariable:
    """Transform real numbers along several axes. ``inverse`` is true for `ihfft`, which scales as inverses do."""
    x = as_numbers(a, function)
    if is_complex(x.dtype):
        raise TypeError(f"{function} transforms real numbers, got {x.type}; use {_ALL[function]}")
    chosen, lengths = chosen_axes(x, s, axes, function)
    _one_axis(chosen, function)
    for axis, n in zip(chosen, lengths, strict=True):
        x = with_length(x, axis, n)
    last = range(-len(chosen), 0)
    spectrum = RealFFT(len(chosen))(moveaxis(x, chosen, last))
    spectrum = moveaxis(spectrum, last, chosen)
    return _scaled(spectrum, norm, inverse, _own_lengths(x, chosen, lengths))


def _to_reals(
    a: Any, s: Any, axes: Any, norm: Any, function: str, inverse: bool = True
) -> TensorVariable:
    """The real numbers of a transform along several axes. ``inverse`` is false for `hfft`."""
    x = as_complex(as_numbers(a, function))
    chosen, lengths = chosen_axes(x, s, axes, function)
    _one_axis(chosen, function)
    n = lengths[-1]
    if n is None:
        own = lengths_by_variables(x)[chosen[-1]]
        n = 2 * (own - 1) if s is None else own  # a length of -1, as of the other axes
        if x.type.shape[chosen[-1]] in ((0, 1) if s is None else (0,)):
            raise ValueError(
                f"{function} of {x.type} along axis {chosen[-1]} has no elements; choose their number"
            )
    half = None if is_half_of_transform(x, chosen[-1], n) else half_length(n)
    for axis, length in zip(chosen, [*lengths[:-1], half], strict=True):
        x = with_length(x, axis, length)
    if not inverse:
        x = conj(x)
    last = range(-len(chosen), 0)
    signal = moveaxis(inverse_real(moveaxis(x, chosen, last), n, len(chosen)), last, chosen)
    return _scaled(signal, norm, inverse, _own_lengths(x, chosen, [*lengths[:-1], n]))


def _one_axis(axes: Sequence[int], function: str) -> None:
    if not axes:
        raise ValueError(f"{function} transforms at least one axis")


_ALL = {
    "rfft": "fft",
    "rfft2": "fft2",
    "rfftn": "fftn",
    "ihfft": "ifft",
    "ihfft2": "ifft2",
    "ihfftn": "ifftn",
}


@stands_for("fft", "a n axis norm -out")
def fft(a: Any, n: Any = None, axis: int = -1, norm: Norm = None) -> TensorVariable:
    """The discrete Fourier transform along ``axis``, as complex numbers.

    Element k is the sum of ``a[j] * exp(-2j * pi * j * k / n)`` over j. Before, the axis is cut to its first ``n``
    elements, or zeros are appended; ``n`` may be a variable. ``norm`` divides the result by the square root of n
    ("ortho"), by n ("forward"), or by nothing ("backward", or None).

    The precision of floats stays, and integers become float64. ValueError for a scalar, for no elements, or for another
    ``norm``.
    """
    return _along_axes(a, _alone(n), (axis,), norm, False, "fft")


@stands_for("ifft", "a n axis norm -out")
def ifft(a: Any, n: Any = None, axis: int = -1, norm: Norm = None) -> TensorVariable:
    """The inverse of `fft` of ``a``, with the same ``n`` and ``axis``.

    ``norm`` divides as that of `fft` does not: "backward" or None by n, "forward" by nothing.
    """
    return _along_axes(a, _alone(n), (axis,), norm, True, "ifft")


@stands_for("rfft", "a n axis norm -out")
def rfft(a: Any, n: Any = None, axis: int = -1, norm: Norm = None) -> TensorVariable:
    """The first n // 2 + 1 elements of `fft` of real numbers ``a``. The others are their conjugates, in reverse order.

    ``n``, ``axis`` and ``norm`` are as in `fft`. TypeError for complex numbers.
    """
    return _of_reals(a, _alone(n), (axis,), norm, "rfft")


@stands_for("irfft", "a n axis norm -out")
def irfft(a: Any, n: Any = None, axis: int = -1, norm: Norm = None) -> TensorVariable:
    """The inverse of `rfft`: ``n`` real numbers from ``a``, the first n // 2 + 1 elements of their transform.

    Without ``n`` it is twice the length along ``axis``, minus 2. ``norm`` is as in `ifft`. The imaginary part of the first element, and for an even
    ``n`` that of the last, is ignored.
    """
    return _to_reals(a, _alone(n), (axis,), norm, "irfft")


@stands_for("hfft", "a n axis norm -out")
def hfft(a: Any, n: Any = None, axis: int = -1, norm: Norm = None) -> TensorVariable:
    """The transform of ``n`` elements that are Hermitian, from ``a``, the first n // 2 + 1 of them: real numbers.

    Without ``n`` it is twice the length along ``axis``, minus 2. ``norm`` is as in `fft`.
    """
    return _to_reals(a, _alone(n), (axis,), norm, "hfft", False)


@stands_for("ihfft", "a n axis norm -out")
def ihfft(a: Any, n: Any = None, axis: int = -1, norm: Norm = None) -> TensorVariable:
    """The inverse of `hfft`: the first n // 2 + 1 elements of the inverse transform of real numbers ``a``.

    ``n``, ``axis`` and ``norm`` are as in `ifft`. TypeError for complex numbers.
    """
    return conj(_of_reals(a, _alone(n), (axis,), norm, "ihfft", True))


@stands_for("fftn", "a s axes norm -out")
def fftn(a: Any, s: Any = None, axes: Any = None, norm: Norm = None) -> TensorVariable:
    """The Fourier transform of ``a`` along several axes, as `fft` along each, with the same ``norm``.

    ``s`` has their lengths; -1 means that an axis keeps its own. Without ``axes``, all axes are transformed, or the last
    ``len(s)``. ValueError if the numbers of lengths and axes differ, or if an axis is repeated.
    """
    return _along_axes(a, s, axes, norm, False, "fftn")


@stands_for("fft2", "a s axes norm -out")
def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Norm = None) -> TensorVariable:
    """`fftn` of ``a`` along two ``axes``, by default the last two. ``s`` and ``norm`` are as there."""
    return _along_axes(a, s, axes, norm, False, "fft2")


@stands_for("ifftn", "a s axes norm -out")
def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Norm = None) -> TensorVariable:
    """The inverse of `fftn` of ``a``, with the same ``s`` and ``axes``. ``norm`` is as in `ifft`."""
    return _along_axes(a, s, axes, norm, True, "ifftn")


@stands_for("ifft2", "a s axes norm -out")
def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Norm = None) -> TensorVariable:
    """`ifftn` of ``a`` along two ``axes``, by default the last two. ``s`` and ``norm`` are as there."""
    return _along_axes(a, s, axes, norm, True, "ifft2")


@stands_for("rfftn", "a s axes norm -out")
def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Norm = None) -> TensorVariable:
    """The Fourier transform of real numbers ``a``: `rfft` along the last axis, and `fft` along the others.

    ``s``, ``axes`` and ``norm`` are as in `fftn`. TypeError for complex numbers.
    """
    return _of_reals(a, s, axes, norm, "rfftn")


@stands_for("rfft2", "a s axes norm -out")
def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Norm = None) -> TensorVariable:
    """`rfftn` of ``a`` along two ``axes``, by default the last two. ``s`` and ``norm`` are as there."""
    return _of_reals(a, s, axes, norm, "rfft2")


@stands_for("irfftn", "a s axes norm -out")
def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Norm = None) -> TensorVariable:
    """The inverse of `rfftn` of ``a``, with the same ``s`` and ``axes``. ``norm`` is as in `ifft`.

    The last of the axes has n // 2 + 1 elements of the transform, where n is the last length in ``s``: if that is -1, as many
    as ``a`` has, and without ``s`` twice as many, minus 2.
    """
    return _to_reals(a, s, axes, norm, "irfftn")


@stands_for("irfft2", "a s axes norm -out")
def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Norm = None) -> TensorVariable:
    """`irfftn` of ``a`` along two ``axes``, by default the last two. ``s`` and ``norm`` are as there."""
    return _to_reals(a, s, axes, norm, "irfft2")


def hfftn(a: Any, s: Any = None, axes: Any = None, norm: Norm = None) -> TensorVariable:
    """The transform of Hermitian elements ``a``: `hfft` along the last axis, and `fft` along the others.

    ``s``, ``axes`` and ``norm`` are as in `fftn`.
    """
    return _to_reals(a, s, axes, norm, "hfftn", False)


def hfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Norm = None) -> TensorVariable:
    """`hfftn` of ``a`` along two ``axes``, by default the last two. ``s`` and ``norm`` are as there."""
    return _to_reals(a, s, axes, norm, "hfft2", False)


def ihfftn(a: Any, s: Any = None, axes: Any = None, norm: Norm = None) -> TensorVariable:
    """The inverse of `hfftn`, of real numbers ``a``. ``s``, ``axes`` and ``norm`` are as in `ifftn`."""
    return conj(_of_reals(a, s, axes, norm, "ihfftn", True))


def ihfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Norm = None) -> TensorVariable:
    """`ihfftn` of ``a`` along two ``axes``, by default the last two. ``s`` and ``norm`` are as there."""
    return conj(_of_reals(a, s, axes, norm, "ihfft2", True))
