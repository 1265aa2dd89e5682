"""Steps of random programs: Fourier transforms, convolutions and pooling; NumPy's side is NumPy, SciPy or a loop."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal as scipy_signal

from occelo_signal import fft
from occelo_signal import functions as signal
from occelo_testing.programs.drawing import Drawing, Made, Unfit
from occelo_testing.programs.step_family import StepFamily


def convolved(x: Any, w: Any, stride: int, padding: int, dilation: int) -> Any:
    """Correlation of ``x`` of shape (batch, channels, length) with ``w`` of shape (out, channels, width)."""
    x = np.pad(x, [(0, 0), (0, 0), (padding, padding)])
    span = dilation * (w.shape[2] - 1) + 1
    count = (x.shape[2] - span) // stride + 1
    rows = [x[:, :, i * stride : i * stride + span : dilation] for i in range(count)]
    return np.stack([np.tensordot(row, w, ([1, 2], [1, 2])) for row in rows], 2)


def pooled(x: Any, size: int, stride: int, name: str) -> Any:
    """Maxima or means of windows along the last axis."""
    count = (x.shape[-1] - size) // stride + 1
    ends: Any = [x[..., i * stride : i * stride + size] for i in range(count)]
    return np.stack([getattr(w, name)(-1) for w in ends], -1)


def _is_float(m: Made) -> bool:
    return (
        m.ndim > 0
        and m.value.dtype.name in ("float32", "float64")
        and bool(np.isfinite(m.value).all())
    )


def _is_wide(m: Made) -> bool:
    return m.value.dtype.name in ("float64", "complex128") and bool(np.isfinite(m.value).all())


def transformed(d: Drawing) -> None:
    smooth = d.profile.smooth
    name = d.choice(["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fftn", "ifft2"])
    real = name in ("rfft", "ihfft") or smooth
    x = d.pick(
        lambda m: (
            m.ndim > (1 if name == "ifft2" else 0) and _is_wide(m) and (m.kind == "f" or not real)
        )
    )
    norm = d.choice(["", ", norm='ortho'", ", norm='forward'"])
    if name in ("fftn", "ifft2"):
        options = ""
        if not all(x.value.shape):
            raise Unfit
    else:
        length = d.choice(["", "", f"n={d.whole(1, 6)}, "])
        options = f", {length}axis={d.axis(x)}"
    text = f"fft.{name}({{0}}{options}{norm})"
    numpy, symbolic = f"np.{text}", text
    if smooth and name in ("fft", "ifft", "rfft", "ihfft", "fftn", "ifft2"):
        part = d.choice(["real", "imag"])
        numpy, symbolic = f"np.{part}({numpy})", f"ot.{part}({symbolic})"
    d.step(name, [x], numpy, symbolic, "cancels")


def shifted(d: Drawing) -> None:
    x = d.pick(lambda m: m.ndim > 0)
    name = d.choice(["fftshift", "ifftshift"])
    axes = d.choice(["None", str(d.axis(x))])
    d.step(name, [x], f"np.fft.{name}({{0}}, {axes})", f"fft.{name}({{0}}, {axes})")


def convolution(d: Drawing) -> None:
    x = d.pick(lambda m: _is_float(m) and m.value.size > 0)
    y = d.pick(lambda m: m.ndim == x.ndim and m.value.dtype == x.value.dtype and m.value.size > 0)
    if not np.isfinite(y.value).all():
        raise Unfit
    name = d.choice(["convolve", "correlate", "fftconvolve"])
    mode = d.choice(["full", "same", "valid"])
    method = "" if name == "fftconvolve" else d.choice(["", "", ", method='direct'"])
    # lengths decide which operand slides in mode valid
    wider = [a >= b for a, b in zip(x.value.shape, y.value.shape, strict=True)]
    if mode == "valid" and not all(wider):
        raise Unfit
    # the errors of transforms are relative to the largest products
    operands = "np.tanh({0}), np.tanh({1})" if name == "fftconvolve" else "{0}, {1}"
    text = f"signal.{name}({operands}, mode={mode!r}{method})"
    d.step(name, [x, y], f"scipy_{text}", text.replace("np.", "ot."), "cancels")


def layer(d: Drawing) -> None:
    x = d.pick(lambda m: _is_float(m) and m.ndim == 3)
    _, channels, n = x.value.shape
    stride, padding, dilation = d.whole(1, 2), d.whole(0, 2), d.whole(1, 2)
    width = d.whole(1, 3)
    if not channels or n + 2 * padding < dilation * (width - 1) + 1:
        raise Unfit
    w = d.new_input(x.value.dtype.name, (d.whole(1, 2), channels, width))
    if None in w.static:
        raise Unfit  # the lengths of kernels must be known
    numbers = f"{stride}, {padding}, {dilation}"
    named = f"stride={stride}, padding={padding}, dilation={dilation}"
    d.step(
        "conv1d",
        [x, w],
        f"convolved({{0}}, {{1}}, {numbers}).transpose(0, 1, 2)",
        f"signal.conv1d({{0}}, {{1}}, {named})",
        "cancels",
    )


def pooling(d: Drawing) -> None:
    x = d.pick(lambda m: _is_float(m) and m.ndim in (2, 3))
    size = d.whole(1, 3)
    stride = d.whole(1, 3)
    if x.value.shape[-1] < size:
        raise Unfit
    name = "mean" if d.profile.smooth else d.choice(["mean", "max"])
    ours = {"mean": "avg_pool1d", "max": "max_pool1d"}[name]
    d.step(
        ours,
        [x],
        f"pooled({{0}}, {size}, {stride}, {name!r})",
        f"signal.{ours}({{0}}, {size}, {stride})",
        "inside" if name == "mean" else "zeros",
    )


_FORMS = [(4.0, transformed), (1.0, shifted), (4.0, convolution), (2.0, layer), (2.0, pooling)]
STEPS = StepFamily(
    "signal",
    _FORMS,
    _FORMS,
    {"signal": signal, "fft": fft},
    (convolved, pooled),
    {"scipy_signal": scipy_signal},
    {
        "signal": "from occelo_signal import functions as signal",
        "fft": "from occelo_signal import fft",
        "scipy_signal": "from scipy import signal as scipy_signal",
    },
)
