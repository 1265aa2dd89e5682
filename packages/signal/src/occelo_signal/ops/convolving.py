"""Convolutions and correlations with the arguments of SciPy: `convolve`, `correlate`, `fftconvolve`, and PyTensor's two.

A result is a part of the full convolution. So the kernel is turned and applied to the first tensor, padded by as many
elements as the part needs (`correlating`), or of vectors without padding (`beyond`), or both are transformed (`fourier`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from occelo_arrays.ops.padding import pad
from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Variable
from occelo_graph.ops.cast import cast
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.elemwise.arithmetic import (
    and_,
    ceil,
    ge,
    gt,
    lt,
    maximum,
    minimum,
    neq,
    or_,
    switch,
)
from occelo_graph.ops.elemwise.transcendental import exp2, log2
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.join import flip, join
from occelo_graph.ops.reduce import min as min_
from occelo_graph.ops.shape.asserting import specify_shape
from occelo_graph.ops.shape.axes import normalize_axes
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable, promote_arguments
from occelo_graph.tensors.type import is_complex, is_discrete
from occelo_signal.ops.beyond import correlated_beyond
from occelo_signal.ops.correlating import correlated
from occelo_signal.ops.fourier import fftn, ifftn, irfftn, rfftn

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["convolve", "convolve1d", "convolve2d", "correlate", "correlate2d", "fftconvolve"]

Mode: TypeAlias = Literal["full", "valid", "same"]
Boundary: TypeAlias = Literal["fill", "wrap", "symm"]
Same: TypeAlias = Literal["first", "longest", "swapped", "later"]
Method: TypeAlias = Literal["auto", "direct", "fft"]

_PADDING = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}
_FACTORS = (16, 18, 20, 24, 25, 27, 30)
_LEAST_FOR_FFT = 400
"""The least number of elements of the smaller tensor for which "auto" chooses transforms.

The linker ``native`` multiplies and adds some 15 numbers in a nanosecond, and three transforms take some 25 ns for each
element.
"""


def operands(in1: Any, in2: Any) -> tuple[TensorVariable, TensorVariable]:
    """The two tensors in their common dtype."""
    x, k = promote_arguments([in1, in2])
    common = np.result_type(x.type.numpy_dtype, k.type.numpy_dtype).name
    return cast(x, common), cast(k, common)


def part_of_full(n: Any, m: Any, mode: str, same: Same) -> tuple[Any, Any]:
    """Where the part of a full convolution begins that ``mode`` chooses, and its length.

    ``n`` and ``m`` are the lengths of the tensor and of the kernel. ``same`` says what the part of mode "same" is: in the
    middle with the length of the first ("first") or of the longer one ("longest", as in NumPy's ``convolve``). It is one
    element later for a tensor of an even length that is shorter than the kernel ("swapped", as in NumPy's ``correlate``,
    which swaps the two and reverses the result), or for a kernel of an even length ("later", as in SciPy's
    ``correlate2d``).
    """
    if mode == "full":
        return 0, n + m - 1
    less, more = _in_order(n, m)
    if mode == "valid":
        return less - 1, more - less + 1
    if same == "swapped":
        return _middle_if_swapped(n, m), more
    if same == "longest":
        return (less - 1) // 2, more
    return (m // 2 if same == "later" else (m - 1) // 2), n


def _in_order(n: Any, m: Any) -> tuple[Any, Any]:
    """The smaller and the larger of two lengths."""
    static = known_integer(n), known_integer(m)
    if static[0] is not None and static[1] is not None:
        return (n, m) if static[0] <= static[1] else (m, n)
    n, m = as_tensor_variable(n), as_tensor_variable(m)
    return minimum(n, m), maximum(n, m)


def _middle_if_swapped(n: Any, m: Any) -> Any:
    """Where the part of mode "same" begins if the tensor and the kernel are swapped whenever the kernel is longer."""
    static = known_integer(n), known_integer(m)
    if static[0] is not None and static[1] is not None:
        return n // 2 if static[0] < static[1] else (m - 1) // 2
    n, m = as_tensor_variable(n), as_tensor_variable(m)
    return switch(lt(n, m), n // 2, (m - 1) // 2)


def check_choice(choice: Any, choices: Sequence[str], what: str, function: str) -> None:
    """Raise ValueError unless an argument is one of some words."""
    if not isinstance(choice, str) or choice not in choices:
        raise ValueError(
            f"{what} of {function} must be one of {', '.join(choices)}, got {choice!r}"
        )


def convolved(
    x: Any,
    k: Any,
    ndim: int,
    mode: str,
    *,
    same: Same = "first",
    boundary: str = "fill",
    fillvalue: Any = 0,
    method: str = "direct",
    function: str,
) -> TensorVariable:
    """Convolve the last ``ndim`` dimensions of ``x`` and ``k``, which have one dtype. See `convolve` and `convolve2d`."""
    check_choice(mode, ("full", "valid", "same"), "The mode", function)
    check_choice(method, ("auto", "direct", "fft"), "The method", function)
    check_choice(boundary, tuple(_PADDING), "The boundary", function)
    if np.ndim(fillvalue) if not isinstance(fillvalue, Variable) else fillvalue.type.ndim:
        raise TypeError(f"The fillvalue of {function} is a scalar, got {fillvalue!r}")
    _check_shapes(x, k, ndim, mode, same, function)
    if x.dtype == "bool":
        counts = convolved(cast(x, "int64"), cast(k, "int64"), ndim, mode, same=same, boundary=boundary, fillvalue=fillvalue, method="direct", function=function)  # fmt: skip
        return neq(counts, 0)
    x = _with_lengths_checked(x, k, ndim, mode, function)
    if method == "fft" or (method == "auto" and _is_faster_by_fft(x, k, ndim)):
        return _by_fft(x, k, ndim, mode, same)
    if mode == "valid":
        # No sum reaches beyond the ends: where the kernel is longer, the tensor moves along it, among zeros.
        boundary, fillvalue = "fill", 0
    lengths, widths = (lengths_by_variables(v)[v.type.ndim - ndim :] for v in (x, k))
    parts = [part_of_full(n, m, mode, same) for n, m in zip(lengths, widths, strict=True)]
    ends = boundary == "fill" and _is_zero(fillvalue)
    if ends and (ndim == 1 or mode != "same" or same in ("longest", "swapped")):
        # The shorter one is the kernel, which takes fewer products
        if _all_less(lengths, widths):
            x, k, lengths, widths = k, x, widths, lengths
        elif x.type.shape == k.type.shape == (None,):
            x, k = _longer_first(x, k)
            lengths, widths = lengths_by_variables(x), lengths_by_variables(k)
            if mode == "valid":
                return correlated(x, flip(k, 0), 1)
    if ends and ndim == 1 and (mode != "valid" or None in map(known_integer, lengths + widths)):
        (m,), ((start, length),) = widths, parts
        return correlated_beyond(x, flip(k, k.type.ndim - 1), start - m + 1, length)
    padding: list[Any] = [(0, 0)] * (x.type.ndim - ndim)
    padded: list[Any] = []
    for n, m, (start, length) in zip(lengths, widths, parts, strict=True):
        before = m - 1 - start
        padding.append((before, length + m - 1 - n - before))
        padded.append(length + m - 1)
    options = {"constant_values": fillvalue} if boundary == "fill" else {}
    x = _of_known_lengths(pad(x, padding, _PADDING[boundary], **options), padded)
    return correlated(x, flip(k, tuple(range(k.type.ndim - ndim, k.type.ndim))), ndim)


def _all_less(lengths: Sequence[Any], others: Sequence[Any]) -> bool:
    pairs = [(known_integer(n), known_integer(m)) for n, m in zip(lengths, others, strict=True)]
    return all(n is not None and m is not None and n < m for n, m in pairs)


def _longer_first(x: Any, k: Any) -> tuple[Any, Any]:
    """Two vectors of unknown lengths, swapped if the second is longer when the graph runs."""
    (n,), (m,) = lengths_by_variables(x), lengths_by_variables(k)
    less, more = _in_order(n, m)
    both, swaps = join(0, x, k), lt(n, m)
    at, after = switch(swaps, n, 0), switch(swaps, 0, n)
    return getitem(both, slice(at, at + more)), getitem(both, slice(after, after + less))


def _with_lengths_checked(
    x: TensorVariable, k: TensorVariable, ndim: int, mode: str, function: str
) -> Any:
    """``x`` with checks at run time: neither tensor is empty, and in mode "valid" one is as long as the other everywhere."""
    lengths, widths = (lengths_by_variables(v)[v.type.ndim - ndim :] for v in (x, k))
    unknown = [gt(n, 0) for n in (*lengths, *widths) if not isinstance(n, int)]
    if not unknown:
        return x
    checked = CheckAndRaise(ValueError, f"{function} takes no empty tensors")(x, *unknown)
    if mode != "valid" or ndim == 1:
        return checked
    pairs = list(zip(lengths, widths, strict=True))
    longer = functools.reduce(and_, [ge(n, m) for n, m in pairs])
    shorter = functools.reduce(and_, [ge(m, n) for n, m in pairs])
    text = f"{function} in mode 'valid' needs one tensor that is at least as long as the other one in every dimension"
    return CheckAndRaise(ValueError, text)(checked, or_(longer, shorter))


def _of_known_lengths(x: TensorVariable, lengths: Sequence[Any]) -> TensorVariable:
    """State the lengths of the last dimensions that are known when the graph is built."""
    lead = [None] * (x.type.ndim - len(lengths))
    return specify_shape(x, [*lead, *map(known_integer, lengths)])


def _check_shapes(
    x: TensorVariable, k: TensorVariable, ndim: int, mode: str, same: Same, function: str
) -> None:
    _check_dimensions(x, k, ndim, function)
    shapes = [v.type.shape[v.type.ndim - ndim :] for v in (x, k)]
    if any(0 in shape for shape in shapes):
        raise ValueError(f"{function} takes no empty tensors, got {x.type} and {k.type}")
    pairs = [(n, m) for n, m in zip(*shapes, strict=True) if n is not None and m is not None]
    if mode == "valid" and any(n < m for n, m in pairs) and any(n > m for n, m in pairs):
        raise ValueError(
            f"In mode 'valid' one tensor of {function} must be at least as long as the other one in every dimension, got "
            f"{x.type} and {k.type}"
        )


def _check_dimensions(x: TensorVariable, k: TensorVariable, ndim: int, function: str) -> None:
    for v in (x, k):
        if v.type.ndim < ndim:
            raise ValueError(
                f"{function} takes tensors of {ndim} dimensions at least, got {v.type}"
            )
    batches = [reversed(v.type.shape[: v.type.ndim - ndim]) for v in (x, k)]
    if any(
        n != m and None not in (n, m) and 1 not in (n, m) for n, m in zip(*batches, strict=False)
    ):
        raise ValueError(
            f"The dimensions of {function} in front of the last {ndim} broadcast, got {x.type} and {k.type}"
        )


def _is_faster_by_fft(x: TensorVariable, k: TensorVariable, ndim: int) -> bool:
    if is_discrete(x.dtype) or x.dtype == "float16":
        return False
    sizes = zip(*(v.type.shape[v.type.ndim - ndim :] for v in (x, k)), strict=True)
    least = [None if n is None or m is None else min(n, m) for n, m in sizes]
    return None not in least and math.prod(n or 0 for n in least) >= _LEAST_FOR_FFT


def _by_fft(x: Any, k: Any, ndim: int, mode: str, same: Same) -> TensorVariable:
    """A convolution as the product of two transforms. Integers are computed in float64, and rounded."""
    dtype = x.dtype
    axes = tuple(range(-ndim, 0))
    lengths, widths = (lengths_by_variables(v)[v.type.ndim - ndim :] for v in (x, k))
    total = [_fast_length(n + m - 1) for n, m in zip(lengths, widths, strict=True)]
    if is_complex(dtype):
        whole = ifftn(fftn(x, total, axes) * fftn(k, total, axes), total, axes)
    else:
        whole = irfftn(rfftn(x, total, axes) * rfftn(k, total, axes), total, axes)
    key: list[Any] = [Ellipsis]
    chosen: list[Any] = []
    for n, m in zip(lengths, widths, strict=True):
        start, length = part_of_full(n, m, mode, same)
        key.append(slice(start, start + length))
        chosen.append(length)
    part = _of_known_lengths(getitem(whole, tuple(key)), chosen)
    return cast(part.round() if is_discrete(dtype) else part, dtype)


def _fast_length(n: Any) -> Any:
    """A length from ``n`` on, near it, for which transforms are fast: one of `_FACTORS` times a power of 2.

    A variable if ``n`` is one.
    """
    static = known_integer(n)
    if static is not None:
        return min(c << max(-(-static // c) - 1, 0).bit_length() for c in _FACTORS)
    factors = as_tensor_variable(np.array(_FACTORS, "float64"))
    power = maximum(exp2(ceil(log2(n / factors))), 1.0)
    lengths = factors * power
    return cast(min_(switch(lt(lengths, n), 2 * lengths, lengths)), "int64")


def _several(in1: Any, in2: Any, function: str) -> tuple[TensorVariable, TensorVariable, int]:
    x, k = operands(in1, in2)
    if x.type.ndim != k.type.ndim:
        raise ValueError(
            f"{function} takes two tensors of as many dimensions, got {x.type} and {k.type}"
        )
    return x, k, x.type.ndim


def convolve(in1: Any, in2: Any, mode: Mode = "full", method: Method = "auto") -> TensorVariable:
    """The convolution of two tensors ``in1`` and ``in2`` of as many dimensions, as in SciPy.

    ``mode`` "full" has all sums in which the tensors overlap, "valid" those without padding, and "same" the part in the
    middle with the shape of ``in1``. ``method`` "direct" adds products, "fft" multiplies transforms, and "auto" chooses
    the faster one: transforms if both are floats with static shapes and the smaller one has 400 elements.

    ValueError for another mode or method, for different numbers of dimensions, for empty tensors, and in mode "valid"
    if neither tensor fits into the other.
    """
    x, k, ndim = _several(in1, in2, "convolve")
    if not ndim:
        return x * k
    return convolved(x, k, ndim, mode, method=method, function="convolve")


def fftconvolve(in1: Any, in2: Any, mode: Mode = "full", axes: Any = None) -> TensorVariable:
    """`convolve` of ``in1`` and ``in2`` by transforms, along all ``axes`` or some: along the others, they are multiplied.

    ``mode`` is as in `convolve`.
    """
    x, k, ndim = _several(in1, in2, "fftconvolve")
    if not ndim:
        return x * k
    chosen = normalize_axes(axes, x)
    rest = [i for i in range(ndim) if i not in chosen]
    order = [*rest, *chosen]
    if is_discrete(x.dtype):
        x, k = cast(x, "float64"), cast(k, "float64")
    product = convolved(x.transpose(order), k.transpose(order), len(chosen), mode, method="fft", function="fftconvolve")  # fmt: skip
    return product.transpose([order.index(i) for i in range(ndim)])


def correlate(in1: Any, in2: Any, mode: Mode = "full", method: Method = "auto") -> TensorVariable:
    """The correlation of two tensors, as in SciPy: the convolution of ``in1`` with ``in2`` conjugated and reversed.

    ``mode``, ``method`` and errors are those of `convolve`.
    """
    x, k, ndim = _several(in1, in2, "correlate")
    if not ndim:
        return x * k.conj()
    return convolved(x, reversed_kernel(k, ndim), ndim, mode, method=method, function="correlate")


def reversed_kernel(k: TensorVariable, ndim: int) -> TensorVariable:
    """The kernel with which a convolution is a correlation with ``k``: reversed, and conjugated if it is complex."""
    turned = flip(k, tuple(range(k.type.ndim - ndim, k.type.ndim)))
    return turned.conj() if is_complex(turned.dtype) else turned


def convolve1d(in1: Any, in2: Any, mode: Mode = "full", method: Method = "auto") -> TensorVariable:
    """The convolution of ``in1`` and ``in2`` along the last axis, as in PyTensor. The other dimensions broadcast.

    ``mode`` and ``method`` are as in `convolve`.
    """
    x, k = operands(in1, in2)
    return convolved(x, k, 1, mode, method=method, function="convolve1d")


def convolve2d(
    in1: Any,
    in2: Any,
    mode: Mode = "full",
    boundary: Boundary = "fill",
    fillvalue: Any = 0,
    method: Method = "direct",
) -> TensorVariable:
    """The convolution of ``in1`` and ``in2`` along the last two axes, as in SciPy. The other dimensions broadcast.

    ``mode`` is as in `convolve`.
    ``in1`` continues beyond its ends with ``fillvalue`` (``boundary`` "fill"), from its other end ("wrap"), or reflected
    ("symm"); in mode "valid" nothing lies beyond its ends. ``method`` is as in `convolve`; "fft" only for "fill" with 0. ValueError for arguments that are not among
    those.
    """
    x, k = operands(in1, in2)
    if method != "direct" and not (boundary == "fill" and _is_zero(fillvalue)):
        if method == "fft":
            raise ValueError("convolve2d with method 'fft' fills with 0 beyond the ends")
        method = "direct"
    return convolved(x, k, 2, mode, boundary=boundary, fillvalue=fillvalue, method=method, function="convolve2d")  # fmt: skip


def correlate2d(
    in1: Any, in2: Any, mode: Mode = "full", boundary: Boundary = "fill", fillvalue: Any = 0
) -> TensorVariable:
    """The correlation of ``in1`` and ``in2`` along the last two axes.

    ``mode``, ``boundary`` and ``fillvalue`` are those of `convolve2d`.
    """
    x, k = operands(in1, in2)
    _check_dimensions(x, k, 2, "correlate2d")
    return convolved(x, reversed_kernel(k, 2), 2, mode, same="later", boundary=boundary, fillvalue=fillvalue, function="correlate2d")  # fmt: skip


def _is_zero(value: Any) -> bool:
    return isinstance(value, int | float) and value == 0
