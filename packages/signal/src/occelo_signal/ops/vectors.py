"""What NumPy itself has: `convolve` and `correlate` of two vectors, and symmetric windows.

The mode "same" has the length of the longer vector, unlike SciPy's. `bartlett` is in the core.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.errors import explained_by
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.shape.dimensions import atleast_1d
from occelo_graph.tensors.constant import is_python_number
from occelo_signal.ops import windows
from occelo_signal.ops.convolving import Mode, convolved, operands, reversed_kernel

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["blackman", "convolve", "correlate", "hamming", "hanning", "kaiser"]


def _vectors(a: Any, v: Any, function: str) -> tuple[TensorVariable, TensorVariable]:
    # NumPy makes arrays of numbers, which then decide about the dtype as arrays do
    arrays = [np.asarray(each) if is_python_number(each) else each for each in (a, v)]
    x, k = (atleast_1d(each) for each in operands(*arrays))
    if x.type.ndim != 1 or k.type.ndim != 1:
        raise ValueError(
            f"{function} takes two vectors, got {x.type} and {k.type}; see occelo.tensor.signal for tensors"
        )
    return x, k


@explained_by("arguments")
@stands_for("convolve", "a v mode")
def convolve(a: Any, v: Any, mode: Mode = "full") -> TensorVariable:
    """The convolution of the vectors ``a`` and ``v``, as NumPy's. ``mode`` is "full", "valid", or "same", as the longer one.

    ValueError for a vector that is statically empty, for tensors of more dimensions, and for another mode.
    """
    x, k = _vectors(a, v, "convolve")
    return convolved(x, k, 1, mode, same="longest", method="auto", function="convolve")


@explained_by("arguments")
@stands_for("correlate", "a v mode")
def correlate(a: Any, v: Any, mode: Mode = "valid") -> TensorVariable:
    """The correlation of the vectors ``a`` and ``v`` in a ``mode``, as NumPy's: `convolve` with ``v`` conjugated and reversed."""
    x, k = _vectors(a, v, "correlate")
    return convolved(x, reversed_kernel(k, 1), 1, mode, same="swapped", method="auto", function="correlate")  # fmt: skip


def hanning(M: Any) -> TensorVariable:
    """The Hann window of ``M`` numbers."""
    return windows.hann(M)


def hamming(M: Any) -> TensorVariable:
    """The Hamming window of ``M`` numbers."""
    return windows.hamming(M)


def blackman(M: Any) -> TensorVariable:
    """The Blackman window of ``M`` numbers."""
    return windows.blackman(M)


def kaiser(M: Any, beta: Any) -> TensorVariable:
    """The Kaiser window of ``M`` numbers, narrower for larger ``beta``; all are 1 for 0."""
    return windows.kaiser(M, beta)
