"""The equals of Fourier transforms.

PyTensor transforms real tensors along all axes but the first, which is a batch; complex numbers are pairs there. Its
transforms of complex tensors are of one axis, forward, and have 128 bits. So each transform is a graph of several nodes there,
in an op that knows which one it is (`Composed`).
"""

from __future__ import annotations

from typing import Any

from pytensor.tensor.fft import irfft_op, rfft_op

from occelo_pytensor.composed import composed
from occelo_pytensor.equals.registry import register_equal
from occelo_pytensor.library import tensor as pt
from occelo_signal.ops.beyond import CorrelateBeyond
from occelo_signal.ops.correlating import Correlate
from occelo_signal.ops.transforms import FFT, InverseRealFFT, RealFFT


@register_equal(FFT)
@composed
def _transform(op: Any, x: Any) -> Any:
    if x.type.dtype != "complex128":
        return NotImplemented
    transformed = pt.conj(x) if op.inverse else x
    for axis in range(x.type.ndim - op.ndim, x.type.ndim):
        transformed = pt.fourier.fft(transformed, x.shape[axis], axis)
    return pt.conj(transformed) if op.inverse else transformed


@register_equal(RealFFT)
@composed
def _real(op: Any, x: Any) -> Any:
    lead, lengths = x.shape[: x.type.ndim - op.ndim], x.shape[x.type.ndim - op.ndim :]
    batch = x.reshape((-1, *(lengths[i] for i in range(op.ndim))), ndim=op.ndim + 1)
    parts: Any = rfft_op(batch, lengths)
    spectrum = pt.complex(parts[..., 0], parts[..., 1])
    whole = pt.concatenate([lead, spectrum.shape[1:]])
    return spectrum.reshape(whole, ndim=x.type.ndim)


@register_equal(InverseRealFFT)
@composed
def _inverse_real(op: Any, x: Any, *given: Any) -> Any:
    split = x.type.ndim - op.ndim
    last = given[0] if given else op.n
    lengths = pt.stack([*(x.shape[i] for i in range(split, x.type.ndim - 1)), last])
    batch = x.reshape((-1, *(x.shape[i] for i in range(split, x.type.ndim))), ndim=op.ndim + 1)
    signal: Any = irfft_op(pt.stack([pt.real(batch), pt.imag(batch)], axis=-1), lengths)
    return signal.reshape(pt.concatenate([x.shape[:split], signal.shape[1:]]), ndim=x.type.ndim)


@register_equal(Correlate)
def _correlate(op: Any, x: Any, kernel: Any) -> Any:
    if op.ndim > 2:
        return NotImplemented
    turned = kernel[(..., *[slice(None, None, -1)] * op.ndim)]
    function = pt.signal.convolve1d if op.ndim == 1 else pt.signal.convolve2d
    return function(x, turned, mode="valid")


@register_equal(CorrelateBeyond)
def _correlate_beyond(op: Any, x: Any, kernel: Any, first: Any, *rest: Any) -> Any:
    width, count = kernel.shape[-1], rest[0] if rest else op.count[0]
    full: Any = pt.signal.convolve1d(x, kernel[..., ::-1], mode="full")
    room = pt.zeros_like(full[..., :1]).repeat(width + count, axis=-1)
    padded: Any = pt.concatenate([room, full, room], axis=-1)
    start = first + width - 1 + width + count
    return padded[..., start : start + count]
