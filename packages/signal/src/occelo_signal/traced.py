"""Lowerings of Fourier transforms, convolutions and windows for JAX and PyTorch.

`occelo_link.traced.linker` imports this module when ops of the family are first used, to register the lowerings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph import TensorApply
from occelo_graph.tensors.type import is_discrete
from occelo_link.traced.arrays import Arrays
from occelo_link.traced.fallback import fall_back
from occelo_link.traced.registry import traces
from occelo_link.traced.traced_values import Array
from occelo_link.traced.tracer import Tracer
from occelo_signal.ops.beyond import CorrelateBeyond
from occelo_signal.ops.channels import ChannelCorrelate
from occelo_signal.ops.correlating import Correlate
from occelo_signal.ops.sliding import OverlapAdd, Windows
from occelo_signal.ops.transforms import FFT, InverseRealFFT, RealFFT, check_lengths

IN_A_FORMULA = 32
"""The most elements of a kernel that is written out."""


def _checked(tracer: Tracer, x: Array, ndim: int) -> Array:
    x = tracer.array(x)
    check_lengths([int(n) for n in x.shape[len(x.shape) - ndim :]])
    return x


@traces(FFT)
def lower_fft(tracer: Tracer, node: TensorApply[FFT], inputs: list[Array]) -> Sequence[Array]:
    x = _checked(tracer, inputs[0], node.op.ndim)
    return [tracer.arrays.fft(x, node.op.ndim, node.op.inverse)]


@traces(RealFFT)
def lower_real_fft(
    tracer: Tracer, node: TensorApply[RealFFT], inputs: list[Array]
) -> Sequence[Array]:
    return [tracer.arrays.real_fft(_checked(tracer, inputs[0], node.op.ndim), node.op.ndim)]


@traces(InverseRealFFT)
def lower_inverse_real_fft(
    tracer: Tracer, node: TensorApply[InverseRealFFT], inputs: list[Array]
) -> Sequence[Array]:
    x = _checked(tracer, inputs[0], node.op.ndim)
    n = node.op.n if node.op.n is not None else tracer.integer(node, 1, inputs[1])
    node.op.check_last(int(x.shape[-1]), int(n))
    return [tracer.arrays.inverse_real_fft(x, node.op.ndim, int(n))]


def _zeros(tracer: Tracer, node: TensorApply[Any], shape: Sequence[int]) -> Array:
    return tracer.array(np.zeros(shape, node.outputs[0].type.dtype))


@traces(ChannelCorrelate)
def lower_channel_correlate(
    tracer: Tracer, node: TensorApply[ChannelCorrelate], inputs: list[Array]
) -> Sequence[Array]:
    x, w = (tracer.array(v) for v in inputs)
    op = node.op
    op.check_channels(x.shape[1], *w.shape[:2])
    places = op.windows(w.shape[2:]).places(x.shape[2:])
    if 0 in (*x.shape, *w.shape):
        return [_zeros(tracer, node, [x.shape[0], w.shape[0], *places])]
    sums = tracer.arrays.correlate(x, w, op.strides, op.dilations, op.groups)
    return fall_back(tracer, node, inputs) if sums is None else [sums]


@traces(Correlate)
def lower_correlate(
    tracer: Tracer, node: TensorApply[Correlate], inputs: list[Array]
) -> Sequence[Array]:
    x, k = (tracer.array(v) for v in inputs)
    split = len(x.shape) - node.op.ndim
    node.op.check_fit(x.shape[split:], k.shape[split:])
    return _correlated(tracer, node, inputs, x, k, node.op.ndim)


@traces(CorrelateBeyond)
def lower_correlate_beyond(
    tracer: Tracer, node: TensorApply[CorrelateBeyond], inputs: list[Array]
) -> Sequence[Array]:
    """`Correlate` of the vector with zeros beyond its ends."""
    x, k = (tracer.array(v) for v in inputs[:2])
    first, *rest = (tracer.integer(node, i, inputs[i]) for i in range(2, len(inputs)))
    count = node.op.count[0] if node.op.count[0] is not None else rest[0]
    n, needed = x.shape[-1], count + k.shape[-1] - 1
    start, stop = max(first, 0), min(n, first + needed)
    if 0 in (*x.shape, *k.shape, count) or stop <= start:
        lead = np.broadcast_shapes(x.shape[:-1], k.shape[:-1])
        return [_zeros(tracer, node, [*lead, count])]
    axis = len(x.shape) - 1
    key = [*(slice(0, length, 1) for length in x.shape[:-1]), slice(start, stop, 1)]
    padded = tracer.arrays.spread(tracer.arrays.read(x, key), axis, start - first, 1, needed)
    return _correlated(tracer, node, inputs, padded, k, 1)


def _correlated(
    tracer: Tracer, node: TensorApply, inputs: list[Array], x: Array, k: Array, ndim: int
) -> Sequence[Array]:
    """A sum of slices for a short kernel, else a convolution of one channel, or of as many groups as there are kernels."""
    split = len(x.shape) - ndim
    lengths, kernel = x.shape[split:], k.shape[split:]
    for i, (n, m) in enumerate(zip(x.shape[:split], k.shape[:split], strict=True)):
        if n != m and 1 not in (node.inputs[0].type.shape[i], node.inputs[1].type.shape[i]):
            return fall_back(tracer, node, inputs)  # NumPy raises the error
    lead = np.broadcast_shapes(x.shape[:split], k.shape[:split])
    shape = [*lead, *Correlate(ndim).places(lengths, kernel)]
    if 0 in shape:
        return [_zeros(tracer, node, shape)]
    arrays, ones = tracer.arrays, (1,) * ndim
    # PyTorch has no sums of some integers, and sums of float16 would lose digits
    short = math.prod(int(n) for n in kernel) <= IN_A_FORMULA
    if short and node.outputs[0].type.dtype in ("float32", "float64", "complex64", "complex128"):
        return [_sum_of_slices(arrays, x, k, shape[split:])]
    if is_discrete(node.outputs[0].type.dtype):
        # PyTorch's compiled sums of products of small integers are int64, whatever dtype they claim
        x, k = arrays.cast(x, "int64"), arrays.cast(k, "int64")
    if all(n == 1 for n in k.shape[:split]):
        groups = 1
        x, k = arrays.reshape(x, (-1, 1, *lengths)), arrays.reshape(k, (1, 1, *kernel))
    else:
        groups = int(np.prod(lead))
        x = arrays.reshape(arrays.broadcast(x, (*lead, *lengths)), (1, groups, *lengths))
        k = arrays.reshape(arrays.broadcast(k, (*lead, *kernel)), (groups, 1, *kernel))
    sums = arrays.correlate(x, k, ones, ones, groups)
    if sums is None:
        return fall_back(tracer, node, inputs)
    return [arrays.cast(arrays.reshape(sums, shape), node.outputs[0].type.dtype)]


def _sum_of_slices(arrays: Arrays, x: Array, k: Array, places: Sequence[int]) -> Array:
    """What a short kernel adds, written out: the libraries compute it in one loop, while their convolutions are slow."""
    split = len(x.shape) - len(places)
    lead: list[Any] = [slice(0, n, 1) for n in x.shape[:split]]
    own: list[Any] = [slice(0, n, 1) for n in k.shape[:split]]
    total: Array = None
    for at in np.ndindex(*k.shape[split:]):
        part = arrays.read(
            x, [*lead, *(slice(j, j + n, 1) for j, n in zip(at, places, strict=True))]
        )
        weight = arrays.read(k, [*own, *(slice(j, j + 1, 1) for j in at)])
        term = arrays.apply("mul", part, weight)
        total = term if total is None else arrays.apply("add", total, term)
    return total


@traces(Windows)
def lower_windows(
    tracer: Tracer, node: TensorApply[Windows], inputs: list[Array]
) -> Sequence[Array]:
    """One axis after the other: the slices that the elements of a window read."""
    x, op = tracer.array(inputs[0]), node.op
    split = len(x.shape) - len(op.windows)
    places = op.places(x.shape[split:])
    for i, (width, stride, dilation) in enumerate(
        zip(op.windows, op.strides, op.dilations, strict=True)
    ):
        slices: list[Array] = []
        for start in range(0, width * dilation, dilation):
            key = [slice(0, n, 1) for n in x.shape]
            key[split + 2 * i] = slice(start, start + (places[i] - 1) * stride + 1, stride)
            part = tracer.arrays.read(x, key)
            shape = part.shape
            slices.append(
                tracer.arrays.reshape(part, (*shape[: split + i], 1, *shape[split + i :]))
            )
        x = tracer.arrays.concatenate(slices, split + i)
    return [x]


@traces(OverlapAdd)
def lower_overlap_add(
    tracer: Tracer, node: TensorApply[OverlapAdd], inputs: list[Array]
) -> Sequence[Array]:
    """One axis after the other: sums of what is added by the elements of a window."""
    x, op = tracer.array(inputs[0]), node.op
    ndim = len(op.lengths)
    rest = iter(range(1, len(inputs)))
    lengths = [
        n if n is not None else tracer.integer(node, at := next(rest), inputs[at])
        for n in op.lengths
    ]
    split = len(x.shape) - 2 * ndim
    op.check_fit(x.shape[split : split + ndim], x.shape[split + ndim :], lengths)
    if 0 in x.shape:
        return [_zeros(tracer, node, [*x.shape[:split], *lengths])]
    for i in reversed(range(ndim)):
        total: Array = None
        axis = split + 2 * i
        for j in range(x.shape[split + i]):
            key = [slice(0, n, 1) for n in x.shape]
            key[split + i] = slice(j, j + 1, 1)
            shape = x.shape
            part = tracer.arrays.reshape(
                tracer.arrays.read(x, key), (*shape[: split + i], *shape[split + i + 1 :])
            )
            part = tracer.arrays.spread(part, axis, j * op.dilations[i], op.strides[i], lengths[i])
            total = part if total is None else tracer.arrays.apply("add", total, part)
        x = tracer.arrays.cast(total, node.outputs[0].type.dtype)
    return [x]
