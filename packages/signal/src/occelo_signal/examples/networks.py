"""Example calls of convolutions of networks and of pooling: strides, padding, dilation, groups, and windows beyond the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.examples.example import Example, draw
from occelo_graph.ops.shape.asserting import specify_shape
from occelo_signal import functions as signal
from occelo_signal.ops.sliding import OverlapAdd, Windows

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array

_SIGNAL = draw((-2.0, 2.0), (2, 4, 9))
_KERNELS = draw((-1.0, 1.0), (6, 2, 3))
_IMAGES = draw((-2.0, 2.0), (2, 2, 5, 6))
_FILTERS = draw((-1.0, 1.0), (3, 2, 2, 3))
_VOLUME = draw((-1.0, 1.0), (1, 1, 3, 4, 4))


def _known(w: Any, *lengths: int) -> Any:
    """The kernels with static lengths."""
    return specify_shape(w, (None, None, *lengths))


def windows_of(
    x: Array, sizes: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Array:
    """The windows over the last axes, by their definition: for each element of a window a slice."""
    ndim = len(sizes)
    split = x.ndim - ndim
    places = [
        (n - (w - 1) * d - 1) // s + 1
        for n, w, s, d in zip(x.shape[split:], sizes, strides, dilations, strict=True)
    ]
    windows = np.zeros((*x.shape[:split], *sizes, *places), x.dtype)
    for at in np.ndindex(*sizes):
        key = [
            slice(j * d, j * d + (p - 1) * s + 1, s)
            for j, d, p, s in zip(at, dilations, places, strides, strict=True)
        ]
        windows[(slice(None),) * split + at] = x[(..., *key)]
    return windows


def _conv(
    x: Array, w: Array, stride: int = 1, padding: int = 0, dilation: int = 1, groups: int = 1
) -> Array:
    ndim = w.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0)] + [(padding, padding)] * ndim)
    out: list[Any] = []
    last = list(range(1, ndim + 2))
    for part, kernels in zip(np.split(x, groups, 1), np.split(w, groups), strict=True):
        windows = windows_of(part, w.shape[2:], [stride] * ndim, [dilation] * ndim)
        sums: Any = np.tensordot(kernels, windows, (last, last))
        out.append(np.moveaxis(sums, 1, 0))
    return np.concatenate(out, 1)


def _transposed(x: Array, w: Array, stride: int = 1, padding: int = 0, extra: int = 0) -> Array:
    lengths = [(n - 1) * stride + k + extra for n, k in zip(x.shape[2:], w.shape[2:], strict=True)]
    total = np.zeros((x.shape[0], w.shape[1], *lengths), x.dtype)
    for at in np.ndindex(*x.shape[2:]):
        key = [slice(i * stride, i * stride + k) for i, k in zip(at, w.shape[2:], strict=True)]
        total[(..., *key)] += np.tensordot(x[(..., *at)], w, 1)
    return total[(..., *[slice(padding, n - padding) for n in lengths])]


def _pooled(
    reduce: Callable[..., Any], size: int, stride: int, ndim: int = 2
) -> Callable[[Array], Any]:
    def reference(x: Array) -> Any:
        split = x.ndim - ndim
        windows = windows_of(x, [size] * ndim, [stride] * ndim, [1] * ndim)
        return reduce(windows, axis=tuple(range(split, split + ndim)))

    return reference


def _added(x: Array, stride: int, length: int) -> Array:
    """Windows along one axis, added at their places."""
    total = np.zeros((*x.shape[:-2], length), x.dtype)
    for i in range(x.shape[-1]):
        total[..., i * stride : i * stride + x.shape[-2]] += x[..., i]
    return total


def _mean_beyond(x: Array) -> Any:
    """The means of windows of 2 elements, 2 apart, where the last of an odd length has one."""
    n = x.shape[-1]
    return np.stack([x[..., i : i + 2].mean(axis=-1) for i in range(0, n, 2)], -1)


EXAMPLES: list[Example] = [
    Example(
        "windows",
        "signal",
        Windows((2, 3), (1, 2), (2, 1)),
        lambda x: windows_of(x, (2, 3), (1, 2), (2, 1)),
        (_IMAGES,),
        gradient=(0,),
        batched=(0,),
    ),
    Example(
        "windows_int",
        "signal",
        Windows((3,), (2,), (1,)),
        lambda x: windows_of(x, (3,), (2,), (1,)),
        (np.arange(8),),
    ),
    Example(
        "windows_complex",
        "signal",
        Windows((2,), (1,), (2,)),
        lambda x: windows_of(x, (2,), (1,), (2,)),
        (_SIGNAL[0, 0] * (1 + 2j),),
    ),
    Example(
        "overlap_add",
        "signal",
        OverlapAdd((2,), (1,), (10,)),
        lambda x: _added(x, 2, 10),
        (draw((-1.0, 1.0), (2, 3, 4)),),
        gradient=(0,),
        batched=(0,),
    ),
    Example(
        "overlap_add_complex",
        "signal",
        OverlapAdd((1,), (1,), (6,)),
        lambda x: _added(x, 1, 6),
        (draw((-1.0, 1.0), (3, 4), "complex128"),),
    ),
    Example(
        "overlap_add_of_length",
        "signal",
        lambda x, n: OverlapAdd((1,), (1,), (None,))(x, n),
        lambda x, n: _added(x, 1, int(n)),
        (draw((-1.0, 1.0), (3, 4)), np.array(7)),
    ),
    Example(
        "conv1d",
        "signal",
        lambda x, w: signal.conv1d(x, _known(w, 3), stride=2, padding=1, groups=2),
        lambda x, w: _conv(x, w, 2, 1, 1, 2),
        (_SIGNAL, _KERNELS),
        gradient=(0, 1),
    ),
    Example(
        "conv2d",
        "signal",
        lambda x, w: signal.conv2d(x, _known(w, 2, 3)),
        _conv,
        (_IMAGES, _FILTERS),
        gradient=(0, 1),
        batched=(0,),
    ),
    Example(
        "conv2d_dilated",
        "signal",
        lambda x, w: signal.conv2d(x, _known(w, 2, 3), dilation=2, padding=1),
        lambda x, w: _conv(x, w, 1, 1, 2),
        (_IMAGES.astype("float32"), _FILTERS.astype("float32")),
        tolerance=1e-4,
    ),
    Example(
        "conv1d_of_each_channel",
        "signal",
        lambda x, w: signal.conv1d(x, _known(w, 3), groups=4),
        lambda x, w: _conv(x, w, groups=4),
        (_SIGNAL, draw((-1.0, 1.0), (4, 1, 3))),
        gradient=(0, 1),
        batched=(1,),
    ),
    Example(
        "conv2d_int",
        "signal",
        lambda x, w: signal.conv2d(x, _known(w, 2, 2), stride=2),
        lambda x, w: _conv(x, w, 2),
        (np.arange(60).reshape(1, 2, 5, 6), np.arange(24).reshape(3, 2, 2, 2) - 9),
    ),
    Example(
        "conv2d_complex",
        "signal",
        lambda x, w: signal.conv2d(x, _known(w, 2, 3)),
        _conv,
        (_IMAGES * (1 + 2j), _FILTERS * (2 - 1j)),
    ),
    Example(
        "conv3d",
        "signal",
        lambda x: signal.conv3d(x, _VOLUME[:, :, :2, :2, :3]),
        lambda x: _conv(x, _VOLUME[:, :, :2, :2, :3]),
        (_VOLUME,),
        gradient=(0,),
    ),
    Example(
        "conv_transpose1d",
        "signal",
        lambda x, w: signal.conv_transpose1d(
            x, _known(w, 3), stride=2, padding=1, output_padding=1
        ),
        lambda x, w: _transposed(x, w, 2, 1, 1),
        (_SIGNAL, _KERNELS[:4]),
        gradient=(0, 1),
    ),
    Example(
        "conv_transpose2d",
        "signal",
        lambda x, w: signal.conv_transpose2d(x, _known(w, 2, 3)),
        _transposed,
        (_IMAGES, _FILTERS[:2]),
        gradient=(0, 1),
    ),
    Example(
        "conv_transpose3d",
        "signal",
        lambda x: signal.conv_transpose3d(x, _VOLUME[:, :, :2, :2, :3], stride=2),
        lambda x: _transposed(x, _VOLUME[:, :, :2, :2, :3], 2),
        (_VOLUME,),
    ),
    Example(
        "max_pool1d",
        "signal",
        lambda x: signal.max_pool1d(x, 3, 2),
        _pooled(np.max, 3, 2, 1),
        (_SIGNAL,),
        gradient=(0,),
        batched=(0,),
    ),
    Example(
        "max_pool2d",
        "signal",
        lambda x: signal.max_pool2d(x, 2),
        _pooled(np.max, 2, 2),
        (_IMAGES,),
        gradient=(0,),
    ),
    Example(
        "max_pool_int",
        "signal",
        lambda x: signal.max_pool1d(x, 2, 1, padding=1),
        lambda x: np.maximum(np.append(x[0], x), np.append(x, x[-1])),
        (np.array([3, -1, 2, 5]),),
    ),
    Example(
        "max_pool3d",
        "signal",
        lambda x: signal.max_pool3d(x, 2, 1),
        _pooled(np.max, 2, 1, 3),
        (_VOLUME,),
    ),
    Example(
        "avg_pool1d",
        "signal",
        lambda x: signal.avg_pool1d(x, 2, ceil_mode=True),
        _mean_beyond,
        (_SIGNAL,),
        gradient=(0,),
    ),
    Example(
        "avg_pool2d",
        "signal",
        lambda x: signal.avg_pool2d(x, 2, 1),
        _pooled(np.mean, 2, 1),
        (_IMAGES,),
        gradient=(0,),
    ),
    Example(
        "avg_pool3d",
        "signal",
        lambda x: signal.avg_pool3d(x, 2),
        _pooled(np.mean, 2, 2, 3),
        (_VOLUME,),
    ),
    Example(
        "pool_2d",
        "signal",
        lambda x: signal.pool_2d(x, (2, 2), mode="sum"),
        _pooled(np.sum, 2, 2),
        (_IMAGES,),
        gradient=(0,),
    ),
]
