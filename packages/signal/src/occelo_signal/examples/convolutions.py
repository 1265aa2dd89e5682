"""Example calls of convolutions and correlations: modes, boundaries, methods, batches, complex numbers, integers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from occelo_graph.examples.example import Example, draw
from occelo_signal import functions as signal
from occelo_signal.ops import vectors
from occelo_signal.ops.beyond import correlated_beyond
from occelo_signal.ops.correlating import Correlate

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array, ArrayFunction, TensorFunction

_MODES: tuple[Literal["full", "valid", "same"], ...] = ("full", "valid", "same")
_X = draw((-2.0, 2.0), (7,))
_K = draw((-1.0, 1.0), (4,), salt=1)
_M = draw((-2.0, 2.0), (5, 6))
_N = draw((-1.0, 1.0), (2, 3), salt=1)
_C = draw((-2.0, 2.0), (6,), "complex128")
_ROWS = draw((-2.0, 2.0), (3, 7))


def _full(x: Any, k: Any) -> Any:
    """The convolution of tensors of as many dimensions, by its definition."""
    shape = np.add(x.shape, k.shape) - 1
    total = np.zeros(shape, np.result_type(x, k))
    for at in np.ndindex(*k.shape):
        total[tuple(slice(i, i + n) for i, n in zip(at, x.shape, strict=True))] += x * k[at]
    return total


def _part(x: Any, k: Any, mode: str) -> Any:
    part = _full(x, k)
    for axis, (n, m) in enumerate(zip(x.shape, k.shape, strict=True)):
        start, length = {
            "full": (0, n + m - 1),
            "valid": (m - 1, n - m + 1),
            "same": ((m - 1) // 2, n),
        }[mode]
        part = np.take(part, range(start, start + length), axis)
    return part


def _beyond(x: Any, k: Any, first: int, count: int) -> Any:
    """The sums of the products that exist, one after the other."""
    sums = np.zeros(count, x.dtype)
    for i, j in np.ndindex(count, len(k)):
        if 0 <= first + i + j < len(x):
            sums[i] += x[first + i + j] * k[j]
    return sums


def _turned(k: Any) -> Any:
    return np.flip(k).conj()


def _wrapped(x: Any, k: Any) -> Any:
    return _part(np.pad(x, [(m - 1, m - 1) for m in k.shape], "wrap"), k, "valid")


def _rows(x: Any, k: Any) -> Any:
    return np.stack([np.convolve(row, k) for row in x])


def _both(
    name: str,
    function: TensorFunction,
    reference: ArrayFunction,
    x: Array,
    k: Array,
    batched: tuple[int, ...] = (),
) -> Example:
    floats = x.dtype.kind == "f"
    return Example(name, "signal", function, reference, (x, k), gradient=(0, 1) if floats else (), tolerance=1e-9, batched=batched,)  # fmt: skip


EXAMPLES: list[Example] = [
    _both(
        "correlate_valid", Correlate(1), partial(np.correlate, mode="valid"), _X, _K, batched=(0, 1)
    ),
    _both(
        "correlate_rows",
        Correlate(1),
        lambda x, k: np.stack([np.correlate(r, k[0]) for r in x]),
        _ROWS,
        _K[None],
    ),
    *(
        _both(
            f"correlate_beyond_{first}",
            partial(correlated_beyond, first=first, count=count),
            partial(_beyond, first=first, count=count),
            _X,
            _K,
            batched=(0, 1),
        )
        for first, count in ((-3, 10), (-1, 7), (2, 9), (-6, 16), (8, 2))
    ),
    _both(
        "correlate_beyond_rows",
        lambda x, k: correlated_beyond(x, k, -2, 8),
        lambda x, k: np.stack([_beyond(row, k[0], -2, 8) for row in x]),
        _ROWS,
        _K[None],
    ),
    _both(
        "correlate_planes",
        Correlate(2),
        lambda x, k: _part(x, _turned(k), "valid"),
        _M,
        _N,
        batched=(0, 1),
    ),
    _both(
        "correlate_int",
        Correlate(1),
        np.correlate,
        np.arange(6, dtype="int16"),
        np.array([1, -2], "int16"),
    ),
    *(
        _both(
            f"convolve_{mode}",
            partial(vectors.convolve, mode=mode),
            partial(np.convolve, mode=mode),
            _X,
            _K,
            batched=(0, 1),
        )
        for mode in _MODES
    ),
    _both(
        "convolve_longer",
        lambda x, k: vectors.convolve(x, k, "same"),
        partial(np.convolve, mode="same"),
        _K,
        _X,
    ),
    _both("numpy_correlate", vectors.correlate, np.correlate, _X, _K),
    _both(
        "numpy_correlate_complex",
        lambda x, k: vectors.correlate(x, k, "full"),
        partial(np.correlate, mode="full"),
        _C,
        _C[:3] * 1j,
    ),
    _both("convolve_bool", vectors.convolve, np.convolve, _X > 0, _K > 0),
    _both(
        "convolve_int",
        vectors.convolve,
        np.convolve,
        np.arange(6, dtype="int8"),
        np.array([3, -50], "int8"),
    ),
    *(
        _both(
            f"convolve_planes_{mode}",
            partial(signal.convolve, mode=mode),
            partial(_part, mode=mode),
            _M,
            _N,
        )
        for mode in _MODES
    ),
    _both(
        "convolve_by_fft",
        lambda x, k: signal.convolve(x, k, "same", "fft"),
        partial(_part, mode="same"),
        _M,
        _N,
    ),
    _both(
        "convolve_int_by_fft",
        lambda x, k: signal.convolve(x, k, method="fft"),
        _full,
        np.arange(6),
        np.array([3, -5]),
    ),
    _both("fftconvolve", signal.fftconvolve, _full, _M, _N),
    _both("fftconvolve_complex", signal.fftconvolve, _full, _C, _C[:4]),
    _both(
        "correlate_same",
        lambda x, k: signal.correlate(x, k, "same"),
        lambda x, k: _part(x, _turned(k), "same"),
        _M,
        _N,
    ),
    _both("convolve1d", signal.convolve1d, _rows, _ROWS, _K),
    _both(
        "convolve2d",
        lambda x, k: signal.convolve2d(x, k, "same"),
        partial(_part, mode="same"),
        _M,
        _N,
        batched=(0, 1),
    ),
    _both(
        "convolve2d_wrap", lambda x, k: signal.convolve2d(x, k, boundary="wrap"), _wrapped, _M, _N
    ),
    _both(
        "correlate2d",
        lambda x, k: signal.correlate2d(x, k, "valid"),
        lambda x, k: _part(x, _turned(k), "valid"),
        _M,
        _N,
    ),
]
