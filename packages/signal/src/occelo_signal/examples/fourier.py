"""Example calls of Fourier transforms: even and odd lengths, cut and padded axes, all norms."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph.examples.example import Example, draw
from occelo_graph.optional_scipy import scipy_module
from occelo_signal import fft

_V = draw((-2.0, 2.0), (7,))
_M = draw((-2.0, 2.0), (3, 8))
_T = draw((-2.0, 2.0), (2, 4, 3))
_C = draw((-2.0, 2.0), (3, 5), "complex128")
_HALF = draw((-2.0, 2.0), (4, 3), "complex128")


def _named(function: Any, *values: Any, gradient: bool = True, **options: Any) -> list[Example]:
    """Calls of a function and of NumPy's of its name, with the same options."""
    name = function.__name__
    numpys = getattr(np.fft, name)

    def ours(x: Any) -> Any:
        return function(x, **options)

    def reference(x: Any) -> Any:
        with np.errstate(all="ignore"):
            return numpys(x, **options)

    chosen = "_".join(f"{k}_{v}" for k, v in options.items())
    return [
        Example(
            f"{name}_{i}{chosen and '_'}{chosen}",
            "signal",
            ours,
            reference,
            (value,),
            gradient=(0,) if gradient and value.dtype.kind == "f" else (),
            batched=(0,),
            tolerance=1e-5 if value.dtype.name in ("float32", "float16", "complex64") else 1e-10,
        )
        for i, value in enumerate(values)
    ]


def _summed(family: str, kind: int) -> Any:
    """A cosine or sine transform by its definition: a sum for each element."""

    def reference(x: Any) -> Any:
        n: int = x.shape[-1]
        k, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
        half = (k + 0.5) * (j + 0.5) / n
        once: list[int]
        if family == "dct":
            angles = [k * j / (n - 1), k * (j + 0.5) / n, (k + 0.5) * j / n, half]
            once = {1: [0, -1], 3: [0]}.get(kind, [])
        else:
            first = (k + 1) * (j + 1) / (n + 1)
            angles = [first, (k + 1) * (j + 0.5) / n, (k + 0.5) * (j + 1) / n, half]
            once = [-1] if kind == 3 else []
        function: Any = np.cos if family == "dct" else np.sin
        matrix = 2 * function(np.pi * angles[kind - 1])
        matrix[:, once] /= 2
        return x @ matrix.T

    return reference


def _real_transform(function: Any, kind: int) -> Example:
    family = function.__name__
    return Example(
        f"{family}_{kind}",
        "signal",
        lambda x: function(x, kind),
        _summed(family, kind),
        (_M,),
        gradient=(0,),
        batched=(0,),
    )


def _of_scipy(name: str, **options: Any) -> Example:
    """A cosine or sine transform beside SciPy's of the same name."""

    def reference(x: Any) -> Any:
        return getattr(scipy_module("fft", f"The example of {name}"), name)(x, **options)

    function = getattr(fft, name)
    return Example(
        name, "signal", lambda x: function(x, **options), reference, (_M,), gradient=(0,)
    )


EXAMPLES: list[Example] = [
    *[_real_transform(fft.dct, kind) for kind in (1, 2, 3, 4)],
    *[_real_transform(fft.dst, kind) for kind in (1, 2, 3, 4)],
    _of_scipy("idct", type=1),
    _of_scipy("idst", n=5, norm="ortho"),
    _of_scipy("dctn"),
    _of_scipy("idctn", type=3),
    _of_scipy("dstn", norm="forward"),
    _of_scipy("idstn", type=4),
    *_named(
        fft.fft, _V, _M, _C, _V.astype("float32"), np.arange(6), np.zeros((0, 3)), gradient=False
    ),
    *_named(fft.fft, _C.astype("complex64"), n=4, norm="ortho"),
    *_named(fft.ifft, _C, n=7, axis=0),
    *_named(fft.ifft, _C, norm="forward"),
    *_named(fft.rfft, _V, _M, _M.astype("float16"), _V[:1], gradient=False),
    *_named(fft.rfft, _M, axis=0, norm="ortho", gradient=False),
    *_named(fft.rfft, np.zeros((0, 4)), gradient=False),
    *_named(fft.irfft, np.zeros((0, 4), "complex64"), n=7),
    *_named(fft.irfft, _HALF),
    *_named(fft.irfft, _C, n=5, axis=0),
    *_named(fft.irfft, _C[0, :1], n=1),
    *_named(fft.hfft, _HALF),
    *_named(fft.hfft, _HALF, n=5, norm="forward"),
    *_named(fft.ihfft, _M, gradient=False),
    *_named(fft.fft2, _C, _T, gradient=False),
    *_named(fft.ifft2, _C, s=(2, 6)),
    *_named(fft.fftn, _T, s=(2, 5), axes=(2, 0), gradient=False),
    *_named(fft.ifftn, _C, norm="ortho"),
    *_named(fft.rfft2, _T, gradient=False),
    *_named(fft.irfft2, _HALF),
    *_named(fft.rfftn, _T, axes=(2, 0), gradient=False),
    *_named(fft.irfftn, _HALF, s=(3, 5), axes=(0, 1)),
    *_named(fft.fftshift, _V, _M),
    *_named(fft.ifftshift, _V, _M),
    Example(
        "hfftn",
        "signal",
        lambda x: fft.hfftn(x, (3, 6)),
        lambda x: np.fft.irfftn(np.conj(x), (3, 6), (0, 1), "forward"),
        (_HALF,),
    ),
    Example(
        "hfft2", "signal", fft.hfft2, lambda x: np.fft.irfft2(np.conj(x), norm="forward"), (_HALF,)
    ),
    Example(
        "ihfftn", "signal", fft.ihfftn, lambda x: np.conj(np.fft.rfftn(x, norm="forward")), (_T,)
    ),
    Example(
        "ihfft2", "signal", fft.ihfft2, lambda x: np.conj(np.fft.rfft2(x, norm="forward")), (_T,)
    ),
    Example(
        "rfft_power",
        "signal",
        lambda x: abs(fft.rfft(x)) ** 2,
        lambda x: abs(np.fft.rfft(x)) ** 2,
        (_M,),
        gradient=(0,),
        batched=(0,),
    ),
    Example(
        "ihfft_imag",
        "signal",
        lambda x: fft.ihfft(x, 5).imag,
        lambda x: np.fft.ihfft(x, 5).imag,
        (_V,),
        gradient=(0,),
    ),
    Example(
        "fft_real",
        "signal",
        lambda x: fft.fftn(x).real,
        lambda x: np.fft.fftn(x).real,
        (_T,),
        gradient=(0,),
    ),
    Example(
        "irfft_of_rfft",
        "signal",
        lambda x: fft.irfft(fft.rfft(x) ** 2, 8),
        lambda x: np.fft.irfft(np.fft.rfft(x) ** 2, 8),
        (_M,),
        gradient=(0,),
        batched=(0,),
    ),
    Example(
        "irfft_of_length",
        "signal",
        lambda x, n: fft.irfft(x, n),
        lambda x, n: np.fft.irfft(x, int(n)),
        (_HALF, np.array(6)),
    ),
    Example(
        "fft_of_length",
        "signal",
        lambda x, n: fft.fft(x, n),
        lambda x, n: np.fft.fft(x, int(n)),
        (_V, np.array(10)),
    ),
    Example(
        "fftfreq",
        "signal",
        lambda d: fft.fftfreq(7, d),
        lambda d: np.fft.fftfreq(7, d),
        (np.array(0.25),),
        gradient=(0,),
    ),
    Example(
        "rfftfreq",
        "signal",
        lambda n: fft.rfftfreq(n, 0.5),
        lambda n: np.fft.rfftfreq(int(n), 0.5),
        (np.array(8),),
    ),
]
