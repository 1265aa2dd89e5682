"""Convolutions of networks, with the arguments of PyTorch's: channels, strides, padding, dilation and groups.

A convolution is the op `ChannelCorrelate` of a padded tensor. A transposed one adds windows that are a matrix product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from occelo_arrays.ops.padding import pad
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.cast import cast
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.shape.axes import static_integer
from occelo_graph.ops.shape.dimensions import expand_dims, swapaxes
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_signal.ops.channels import ChannelCorrelate
from occelo_signal.ops.sliding import extents, overlap_added

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]


def numbers(value: Any, ndim: int, what: str, least: int) -> tuple[int, ...]:
    """One integer for all axes, or one for each, as a tuple. ValueError for another count, or a number below ``least``."""
    listed = list(value) if is_list_or_tuple(value) else [value] * ndim
    each_axis = tuple(static_integer(n, what) for n in listed)
    if len(each_axis) != ndim or any(n < least for n in each_axis):
        several = f"{ndim} integers from {least} on, or one for all axes"
        allowed = several if ndim > 1 else f"an integer from {least} on"
        raise ValueError(f"The {what} must be {allowed}, got {value!r}")
    return each_axis


def _operands(
    function: str, ndim: int, input: Any, weight: Any, bias: Any, groups: Any, transposed: bool
) -> tuple[TensorVariable, TensorVariable, TensorVariable | None, int]:
    x, w = as_tensor_variable(input), as_tensor_variable(weight)
    common = np.result_type(x.type.numpy_dtype, w.type.numpy_dtype).name
    for v, what in ((x, "input"), (w, "weight")):
        if v.type.ndim != ndim + 2:
            raise ValueError(
                f"The {what} of {function} has {ndim + 2} dimensions, of which the first two are "
                f"{'a batch and channels' if what == 'input' else 'channels'}, got {v.type}"
            )
    count = static_integer(groups, "groups")
    if count < 1:
        raise ValueError(f"The groups of {function} must be a number from 1 on, got {groups!r}")
    channels, first, second = x.type.shape[1], w.type.shape[0], w.type.shape[1]
    if transposed:
        wrong = channels is not None and first is not None and channels != first
        split = first
    else:
        wrong = channels is not None and second is not None and channels != second * count
        split = first
    if wrong or (split is not None and split % count):
        raise ValueError(
            f"The channels of {function} do not fit: input {x.type}, weight {w.type}, groups {count}"
        )
    if bias is not None:
        bias = as_tensor_variable(bias)
        if bias.type.ndim != 1:
            raise ValueError(f"The bias of {function} is a vector, got {bias.type}")
        out = second * count if transposed and second is not None else None if transposed else first
        if None not in (out, bias.type.shape[0]) and out != bias.type.shape[0]:
            raise ValueError(
                f"The bias of {function} has an element for each of the {out} output channels, got {bias.type}"
            )
    if None in w.type.shape[2:]:
        raise ValueError(
            f"The lengths of the kernels of {function} must be known when the graph is built, got {w.type}; "
            "a shared variable has them with shared(value, shape=value.shape), a variable with tensor(shape=...)"
        )
    return cast(x, common), cast(w, common), bias, count


def _with_bias(y: TensorVariable, bias: TensorVariable | None, ndim: int) -> TensorVariable:
    return y if bias is None else y + expand_dims(bias, tuple(range(1, ndim + 1)))


def _padding(
    padding: Any, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> list[tuple[int, int]]:
    """The elements to add before and after each axis. "same" and "valid" are PyTorch's words."""
    if isinstance(padding, str):
        if padding == "valid":
            return [(0, 0)] * len(kernel)
        if padding != "same":
            raise ValueError(f"The padding must be 'same', 'valid' or integers, got {padding!r}")
        if any(s != 1 for s in strides):
            raise ValueError(f"The padding 'same' is for strides of 1, got {tuple(strides)}")
        rest = [extent - 1 for extent in extents(kernel, dilations)]
        return [(n // 2, n - n // 2) for n in rest]
    return [(n, n) for n in numbers(padding, len(kernel), "padding", 0)]


def named(function: FunctionT, name: str, doc: str) -> FunctionT:
    """The function, with a name and a docstring: one for each number of dimensions."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


_CONVOLUTION = """The convolution of a network along {axes}: ``input`` has the shape (batch, channels, {lengths}).

    ``weight`` has the shape (output channels, channels / groups, lengths of the kernel), which are static. ``stride``
    moves the kernel, ``dilation`` spreads its elements, and ``padding`` adds zeros at both ends; each is an integer, or one
    for each axis. The padding "same" keeps the lengths. The kernel is not reversed. ``bias`` is added to each output channel.

    ValueError for shapes that do not fit, and for numbers that are out of range.
    """
_TRANSPOSED = """The transposed convolution along {axes}: the gradient of `{forward}` by its input, applied to ``input``.

    ``weight`` has the shape (channels, output channels / groups, lengths of the kernel). ``padding`` is cut off at both ends,
    and ``output_padding`` adds elements at the end. ``bias``, ``stride``, ``groups`` and ``dilation`` are as in `{forward}`.
    """
AXES = {
    1: ("1 axis", "length"),
    2: ("2 axes", "height, width"),
    3: ("3 axes", "depth, height, width"),
}
"""The axes of images of one to three dimensions, and the names of their lengths, for docstrings."""


def _convolution(ndim: int):
    name = f"conv{ndim}d"

    def convolution(
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> TensorVariable:
        x, w, bias, count = _operands(name, ndim, input, weight, bias, groups, False)
        kernel = tuple(n or 0 for n in w.type.shape[2:])
        strides = numbers(stride, ndim, "stride", 1)
        dilations = numbers(dilation, ndim, "dilation", 1)
        widths = _padding(padding, kernel, strides, dilations)
        padded = pad(x, [(0, 0), (0, 0), *widths])
        return _with_bias(ChannelCorrelate(strides, dilations, count)(padded, w), bias, ndim)

    axes, lengths = AXES[ndim]
    return named(convolution, name, _CONVOLUTION.format(axes=axes, lengths=lengths))


def _transposed(ndim: int):
    name = f"conv_transpose{ndim}d"

    def convolution(
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> TensorVariable:
        x, w, bias, count = _operands(name, ndim, input, weight, bias, groups, True)
        kernel = tuple(n or 0 for n in w.type.shape[2:])
        strides = numbers(stride, ndim, "stride", 1)
        dilations = numbers(dilation, ndim, "dilation", 1)
        cut = numbers(padding, ndim, "padding", 0)
        extra = numbers(output_padding, ndim, "output_padding", 0)
        batch, channels, *places = lengths_by_variables(x)
        own = lengths_by_variables(w)[1]
        terms = length_product([own, *kernel])
        columns = reshape(x, [batch, count, channels // count, length_product(places)], 4)
        rows = swapaxes(reshape(w, [count, channels // count, terms], 3), 1, 2)
        product = matmul(rows if count > 1 else rows[0], columns if count > 1 else columns[:, 0])
        windows = reshape(product, [batch, own * count, *kernel, *places], 2 + 2 * ndim)
        lengths = [
            (n - 1) * s + e + o
            for n, s, e, o in zip(places, strides, extents(kernel, dilations), extra, strict=True)
        ]
        whole = overlap_added(windows, strides, dilations, lengths)
        key = [slice(c, n - c) for c, n in zip(cut, lengths, strict=True)]
        part = getitem(whole, (..., *key)) if any(cut) else whole
        return _with_bias(part, bias, ndim)

    return named(convolution, name, _TRANSPOSED.format(axes=AXES[ndim][0], forward=f"conv{ndim}d"))


conv1d, conv2d, conv3d = _convolution(1), _convolution(2), _convolution(3)
conv_transpose1d = _transposed(1)
conv_transpose2d = _transposed(2)
conv_transpose3d = _transposed(3)
