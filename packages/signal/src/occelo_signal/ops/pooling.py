"""Pooling: the largest element, the mean or the sum of windows, with the arguments of PyTorch's functions, and of PyTensor's `pool_2d`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from occelo_arrays.ops.padding import pad
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import ones
from occelo_graph.ops.elemwise.arithmetic import maximum, minimum
from occelo_graph.ops.reduce import max as max_
from occelo_graph.ops.reduce import sum as sum_
from occelo_graph.ops.shape.reading import shape_tuple
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import is_complex, is_discrete
from occelo_signal.ops.convolving import check_choice
from occelo_signal.ops.networks import named, numbers
from occelo_signal.ops.sliding import Windows

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "pool_2d",
]

PoolMode: TypeAlias = Literal["max", "sum", "average_inc_pad", "average_exc_pad"]


class _Pool:
    """Windows over the last axes of ``input``, with padding at both ends, and at the end as much as ``ceil`` needs.

    With ``ceil``, the last window may reach beyond the end, if it begins before it.
    """

    def __init__(
        self,
        function: str,
        input: Any,
        kernel: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        ceil: bool,
        ndim: int,
    ) -> None:
        self.x = as_tensor_variable(input)
        if self.x.type.ndim < ndim:
            raise ValueError(f"{function} pools {ndim} dimensions, got {self.x.type}")
        if is_complex(self.x.dtype):
            raise TypeError(f"{function} takes real numbers, got {self.x.type}")
        self.ndim, self.ceil = ndim, ceil
        self.kernel = numbers(kernel, ndim, "length of a window", 1)
        self.strides = self.kernel if stride is None else numbers(stride, ndim, "stride", 1)
        self.padding = numbers(padding, ndim, "padding", 0)
        self.dilations = numbers(dilation, ndim, "dilation", 1)
        if any(2 * p > k for p, k in zip(self.padding, self.kernel, strict=True)):
            raise ValueError(
                f"The padding of {function} is at most half of a window, got {self.padding} for {self.kernel}"
            )

    def ends(self) -> list[Any]:
        """The number of elements to add after each axis."""
        if not self.ceil:
            return list(self.padding)
        ends: list[Any] = []
        lengths = shape_tuple(self.x)[self.x.type.ndim - self.ndim :]
        for n, k, s, p, d in zip(
            lengths, self.kernel, self.strides, self.padding, self.dilations, strict=True
        ):
            extent = (k - 1) * d + 1
            # as many windows as reach the end, but none that begins after the last element
            windows, starts = -((extent - n - 2 * p) // s), (n + p - 1) // s
            if isinstance(n, int):
                ends.append(max(min(windows, starts) * s + extent - n - p, p))
            else:
                ends.append(maximum(minimum(windows, starts) * s + extent - n - p, p))
        return ends

    def windows(
        self, x: TensorVariable, value: Any, before: Sequence[Any], after: Sequence[Any]
    ) -> TensorVariable:
        """The windows over ``x``, which is padded with ``value``."""
        widths = [(0, 0)] * (x.type.ndim - self.ndim) + [*zip(before, after, strict=True)]
        if any(width != (0, 0) for width in widths):
            x = pad(x, widths, constant_values=value)
        windows: TensorVariable = Windows(self.kernel, self.strides, self.dilations)(x)
        return windows

    @property
    def axes(self) -> tuple[int, ...]:
        """The dimensions of the elements of a window."""
        split = self.x.type.ndim - self.ndim
        return tuple(range(split, split + self.ndim))

    def largest(self) -> TensorVariable:
        """The largest element of each window."""
        dtype = self.x.type.numpy_dtype
        if dtype.kind == "b":
            least: Any = False
        else:
            least = np.iinfo(dtype).min if is_discrete(self.x.dtype) else -np.inf
        return max_(self.windows(self.x, least, self.padding, self.ends()), axis=self.axes)

    def total(self) -> TensorVariable:
        """The sum of each window."""
        return sum_(
            self.windows(self.x, 0, self.padding, self.ends()), axis=self.axes, dtype=self.x.dtype
        )

    def counts(self, with_padding: bool) -> TensorVariable:
        """The number of elements of each window, with or without the padding at both ends."""
        lengths = shape_tuple(self.x)[self.x.type.ndim - self.ndim :]
        inner = ones(lengths, self.x.dtype)
        before: Sequence[int] = self.padding
        after = self.ends()
        if with_padding:
            inner = pad(inner, [(p, p) for p in before], constant_values=1)
            after = [end - p for end, p in zip(after, before, strict=True)]
            before = [0] * self.ndim
        windows = self.windows(inner, 0, before, after)
        return sum_(windows, axis=tuple(range(self.ndim)), dtype=self.x.dtype)

    def mean(self, with_padding: bool) -> TensorVariable:
        """The mean of each window."""
        if is_discrete(self.x.dtype):
            self.x = cast(self.x, "float64")
        if not self.ceil and (with_padding or not any(self.padding)):
            return self.total() / int(np.prod(self.kernel))
        return self.total() / self.counts(with_padding)


def pool_2d(
    input: Any,
    ws: Any = None,
    ignore_border: bool = True,
    stride: Any = None,
    pad: Any = (0, 0),
    mode: PoolMode = "max",
) -> TensorVariable:
    """Pool the last two dimensions of ``input``, with the arguments of PyTensor's predecessors.

    ``ws`` has the lengths of a window, and ``stride`` the steps between windows, by default the same. If
    ``ignore_border`` is false, there is a last window for elements that are left, and ``pad`` must be 0. ``mode`` is
    "max", "sum", "average_inc_pad" or "average_exc_pad", which counts no padding.
    """
    check_choice(mode, ("max", "sum", "average_inc_pad", "average_exc_pad"), "The mode", "pool_2d")
    pooled = _Pool("pool_2d", input, ws, stride, pad, 1, not ignore_border, 2)
    if not ignore_border and any(pooled.padding):
        raise ValueError(f"pool_2d pads only if ignore_border is true, got pad={pad!r}")
    if mode == "max":
        return pooled.largest()
    return pooled.total() if mode == "sum" else pooled.mean(mode == "average_inc_pad")


_LARGEST = """The largest element of each window along the last {dimensions} of ``input``.

    Windows of ``kernel_size`` elements, ``dilation`` apart, move by ``stride``, by default by their length. Both ends are
    padded by ``padding``, at most half a window. With ``ceil_mode`` the last window may reach beyond the end. Each number
    is an integer, or one for each axis. ValueError for numbers that are out of range, TypeError for complex numbers.
    """
_MEAN = """The mean of each window along the last {dimensions}. If ``count_include_pad`` is false, padding does not count.

    The other arguments, ``input``, ``kernel_size``, ``stride``, ``padding`` and ``ceil_mode``, are those of `{other}`. Integers
    become float64.
    """
_DIMENSIONS = {1: "dimension", 2: "two dimensions", 3: "three dimensions"}


def _max_pool(ndim: int):
    name = f"max_pool{ndim}d"

    def pool(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> TensorVariable:
        pooled = _Pool(name, input, kernel_size, stride, padding, dilation, ceil_mode, ndim)
        return pooled.largest()

    return named(pool, name, _LARGEST.format(dimensions=_DIMENSIONS[ndim]))


def _avg_pool(ndim: int):
    name = f"avg_pool{ndim}d"

    def pool(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> TensorVariable:
        pooled = _Pool(name, input, kernel_size, stride, padding, 1, ceil_mode, ndim)
        return pooled.mean(count_include_pad)

    return named(pool, name, _MEAN.format(dimensions=_DIMENSIONS[ndim], other=f"max_pool{ndim}d"))


max_pool1d, max_pool2d, max_pool3d = _max_pool(1), _max_pool(2), _max_pool(3)
avg_pool1d, avg_pool2d, avg_pool3d = _avg_pool(1), _avg_pool(2), _avg_pool(3)
