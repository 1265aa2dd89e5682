"""Conversions of convolutions and of Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.tensor.fft import IRFFTOp, RFFTOp
from pytensor.tensor.fourier import Fourier
from pytensor.tensor.signal.conv import Convolve1d, Convolve2d

import occelo.tensor as ot
from occelo_pytensor.conversion import Unconvertible
from occelo_pytensor.registry import register_conversion
from occelo_pytensor.variables import as_dtype, static


@register_conversion(Convolve1d, Convolve2d)
def _convolve(node: Any, x: Any, kernel: Any, full: Any) -> Any:
    dtype = node.outputs[0].type.dtype
    if dtype == "bool":
        raise Unconvertible(f"{node.op} of bool")
    ndim = node.op.ndim
    x, kernel = as_dtype(x, dtype), as_dtype(kernel, dtype)
    method: Any = getattr(node.op, "method", "direct")
    if not dtype.startswith(("float", "complex")):
        method = "direct"
    function = ot.signal.convolve1d if ndim == 1 else ot.signal.convolve2d
    try:
        whole = bool(ot.get_underlying_scalar_constant_value(full))
    except ot.NotScalarConstantError:
        # a gradient chooses the mode by the lengths, so it is the part of the full convolution that they say
        whole = full[(0,) * full.ndim]
        output = function(x, kernel, mode="full", method=method)
        return output[(..., *(_part(whole, x.shape[a], kernel.shape[a]) for a in range(-ndim, 0)))]
    return function(x, kernel, mode="full" if whole else "valid", method=method)


def _part(full: Any, n: Any, k: Any) -> slice:
    """The elements of a full convolution that the mode has: all, or those for which one vector lies within the other."""
    start = ot.switch(full, 0, ot.minimum(n, k) - 1)
    return slice(start, ot.switch(full, n + k - 1, ot.maximum(n, k)))


@register_conversion(RFFTOp)
def _real(node: Any, x: Any, lengths: Any) -> Any:
    s, axes = _lengths(x.ndim - 1, lengths)
    transform = ot.fft.rfftn(x, s, axes)
    return ot.stack([ot.real(transform), ot.imag(transform)], axis=-1)


@register_conversion(IRFFTOp)
def _inverse_real(node: Any, x: Any, lengths: Any) -> Any:
    s, axes = _lengths(x.ndim - 2, lengths)
    # "forward" puts the whole scale into the other direction: PyTensor's inverse has none
    return ot.fft.irfftn(ot.complex(x[..., 0], x[..., 1]), s, axes, norm="forward")


def _lengths(count: int, lengths: Any) -> tuple[list[Any], tuple[int, ...]]:
    """The lengths of the last axes as integers or scalars, and these axes, counted from the end."""
    return [static(lengths[i]) for i in range(count)], tuple(range(-count, 0))


@register_conversion(Fourier)
def _fourier(node: Any, x: Any, n: Any, axis: Any) -> Any:
    data = getattr(axis, "data", None)
    if data is None:
        raise Unconvertible(str(node.op))
    return ot.fft.fft(x, static(n), int(np.asarray(data)))
