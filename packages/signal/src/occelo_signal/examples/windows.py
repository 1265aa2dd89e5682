"""Example calls of window functions, by formulas of their own where NumPy has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from occelo_graph.examples.example import Example
from occelo_signal import windows
from occelo_signal.ops import vectors

_N = 9
_AT = np.linspace(-1, 1, _N)
_MIDDLE = np.arange(_N) - (_N - 1) / 2
_A = np.array(0.75)


def _cosines(*weights: float) -> Any:
    return np.sum([w * np.cos(i * np.pi * _AT) for i, w in enumerate(weights)], axis=0)


def _weighed(name: str, function: Callable[[int], Any], values: Any) -> Example:
    """A window times a number, since an example has an argument."""
    return Example(
        name, "signal", lambda x: function(_N) * x, lambda x: values * x, (_A,), gradient=(0,)
    )


def _parzen() -> Any:
    x = np.abs(_MIDDLE) / (_N / 2)
    return np.where(np.abs(_MIDDLE) <= (_N - 1) / 4, 1 - 6 * x**2 + 6 * x**3, 2 * (1 - x) ** 3)


def _bohman() -> Any:
    x = np.abs(_AT)
    inside = (1 - x) * np.cos(np.pi * x) + np.sin(np.pi * x) / np.pi
    return np.where(x < 1, inside, 0)


def _tukey() -> Any:
    end = np.minimum((1 - np.abs(_AT)) / 0.5, 1)
    return 0.5 - 0.5 * np.cos(np.pi * end)


EXAMPLES: list[Example] = [
    _weighed("boxcar", windows.boxcar, np.ones(_N)),
    _weighed("triang", windows.triang, 1 - np.abs(2 * _MIDDLE) / (_N + 1)),
    _weighed("bartlett_window", windows.bartlett, np.bartlett(_N)),
    _weighed("parzen", windows.parzen, _parzen()),
    _weighed("bohman", windows.bohman, _bohman()),
    _weighed("cosine", windows.cosine, np.sin(np.pi * (np.arange(_N) + 0.5) / _N)),
    _weighed("lanczos", windows.lanczos, np.sinc(_AT)),
    _weighed("barthann", windows.barthann, 0.62 - 0.24 * np.abs(_AT) + 0.38 * np.cos(np.pi * _AT)),
    _weighed("hann", windows.hann, np.hanning(_N)),
    _weighed("hamming", windows.hamming, np.hamming(_N)),
    _weighed("blackman", windows.blackman, np.blackman(_N)),
    _weighed("nuttall", windows.nuttall, _cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411)),
    _weighed(
        "blackmanharris", windows.blackmanharris, _cosines(0.35875, 0.48829, 0.14128, 0.01168)
    ),
    _weighed(
        "flattop",
        windows.flattop,
        _cosines(0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
    ),
    _weighed("tukey", windows.tukey, _tukey()),
    Example(
        "general_cosine",
        "signal",
        lambda a: windows.general_cosine(_N, [0.5, a]),
        lambda a: 0.5 + a * np.cos(np.pi * _AT),
        (_A,),
        gradient=(0,),
    ),
    Example(
        "general_hamming",
        "signal",
        lambda a: windows.general_hamming(_N, a),
        lambda a: a + (1 - a) * np.cos(np.pi * _AT),
        (_A,),
        gradient=(0,),
    ),
    Example(
        "gaussian",
        "signal",
        lambda s: windows.gaussian(_N, s),
        lambda s: np.exp(-0.5 * (_MIDDLE / s) ** 2),
        (_A,),
        gradient=(0,),
    ),
    Example(
        "general_gaussian",
        "signal",
        lambda s: windows.general_gaussian(_N, 1.5, s),
        lambda s: np.exp(-0.5 * np.abs(_MIDDLE / s) ** 3),
        (_A,),
    ),
    Example(
        "exponential",
        "signal",
        lambda t: windows.exponential(_N, tau=t),
        lambda t: np.exp(-np.abs(_MIDDLE) / t),
        (_A,),
        gradient=(0,),
    ),
    Example(
        "kaiser",
        "signal",
        lambda b: windows.kaiser(_N, b),
        lambda b: np.kaiser(_N, float(b)),
        (_A,),
        gradient=(0,),
    ),
    Example(
        "hanning",
        "signal",
        lambda n: vectors.hanning(n),
        lambda n: np.hanning(int(n)),
        (np.array(7),),
    ),
    Example(
        "hann_periodic",
        "signal",
        lambda n: windows.hann(n, sym=False),
        lambda n: np.hanning(int(n) + 1)[:-1],
        (np.array(6),),
    ),
]
