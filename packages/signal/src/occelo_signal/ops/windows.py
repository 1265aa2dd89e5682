"""Window functions, with the names and arguments of `scipy.signal.windows`: numbers that weigh the samples of a signal.

Each is a graph in the positions of the samples. Lengths ``M`` and parameters may be variables. A window is symmetric, or, if
``sym`` is false, one whose repetitions join, as Fourier transforms need it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import arange, ones
from occelo_graph.ops.elemwise.arithmetic import abs as abs_
from occelo_graph.ops.elemwise.arithmetic import ge, le, lt, maximum, sqrt, switch
from occelo_graph.ops.elemwise.transcendental import cos, exp, sin
from occelo_graph.ops.length_inputs import integer_length
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_special.ops.special_functions import i0

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "barthann",
    "bartlett",
    "blackman",
    "blackmanharris",
    "bohman",
    "boxcar",
    "cosine",
    "exponential",
    "flattop",
    "gaussian",
    "general_cosine",
    "general_gaussian",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "lanczos",
    "nuttall",
    "parzen",
    "triang",
    "tukey",
]


class _Samples:
    """The samples of a window of length ``M``. ``at`` has their positions, in intervals from the first to the last.

    A window that is not symmetric (``sym`` false) is one that is longer by one, without its last element, so that its
    repetitions join.
    """

    def __init__(self, M: Any, sym: bool) -> None:
        length = integer_length(M)
        if isinstance(length, int) and length < 0:
            raise ValueError(f"The length M of a window cannot be negative, got {length}")
        self.count = as_tensor_variable(length)
        self.length = cast(self.count if sym else self.count + 1, "floatX")
        self.k = cast(arange(self.count), "floatX")

    @property
    def intervals(self) -> Any:
        """The number of intervals between the first and the last sample; 1 if there are no two."""
        return maximum(self.length - 1, 1)

    @property
    def at(self) -> Any:
        """The positions of the samples, from -1 to 1."""
        return 2 * self.k / self.intervals - 1

    @property
    def middle(self) -> Any:
        """The distances of the samples from the middle, in samples."""
        return self.k - (self.length - 1) / 2

    def window(self, values: Any) -> TensorVariable:
        """The window with these values, or with 1 if it has one element."""
        window: TensorVariable = switch(le(self.count, 1), 1.0, values)
        return cast(window, "floatX")


def boxcar(M: Any, sym: bool = True) -> TensorVariable:
    """The rectangular window: ``M`` ones, whatever ``sym`` is."""
    return ones(integer_length(M))


def triang(M: Any, sym: bool = True) -> TensorVariable:
    """The triangular window of length ``M``, whose ends are not 0; ``sym=False`` makes one whose repetitions join."""
    samples = _Samples(M, sym)
    length = samples.length
    odd = length % 2
    return samples.window(1 - abs_(2 * samples.middle) / (length + odd))


def bartlett(M: Any, sym: bool = True) -> TensorVariable:
    """The triangular window of length ``M``, whose ends are 0; ``sym=False`` makes one whose repetitions join."""
    samples = _Samples(M, sym)
    return samples.window(1 - abs_(samples.at))


def parzen(M: Any, sym: bool = True) -> TensorVariable:
    """The Parzen window of length ``M``, a piecewise cubic: the convolution of four rectangles. With ``sym=False`` repetitions join."""
    samples = _Samples(M, sym)
    x = abs_(samples.middle) / (samples.length / 2)
    return samples.window(switch(le(abs_(samples.middle), (samples.length - 1) / 4), 1 - 6 * x**2 + 6 * x**3, 2 * (1 - x) ** 3))  # fmt: skip


def bohman(M: Any, sym: bool = True) -> TensorVariable:
    """The Bohman window of length ``M``: the convolution of two half periods of a cosine. With ``sym=False`` repetitions join."""
    samples = _Samples(M, sym)
    x = abs_(samples.at)
    inside = (1 - x) * cos(math.pi * x) + sin(math.pi * x) / math.pi
    return samples.window(switch(lt(x, 1), inside, 0.0))


def cosine(M: Any, sym: bool = True) -> TensorVariable:
    """Half a period of a sine, of length ``M``; ``sym=False`` makes a window whose repetitions join."""
    samples = _Samples(M, sym)
    return samples.window(sin(math.pi / samples.length * (samples.k + 0.5)))


def lanczos(M: Any, *, sym: bool = True) -> TensorVariable:
    """The Lanczos window of length ``M``: the middle of sin(pi x) / (pi x). With ``sym=False`` repetitions join."""
    samples = _Samples(M, sym)
    x = math.pi * samples.at
    here = le(abs_(samples.middle), 0.0)
    return samples.window(switch(here, 1.0, sin(x) / switch(here, 1.0, x)))


def barthann(M: Any, sym: bool = True) -> TensorVariable:
    """The modified Bartlett-Hann window of length ``M``; ``sym=False`` makes one whose repetitions join."""
    samples = _Samples(M, sym)
    x = abs_(samples.at / 2)
    return samples.window(0.62 - 0.48 * x + 0.38 * cos(2 * math.pi * x))


def general_cosine(M: Any, a: Sequence[Any], sym: bool = True) -> TensorVariable:
    """A sum of cosines, of length ``M``: ``a[i]`` weighs the one with i periods, counted from the middle.

    With ``sym=False`` repetitions join. TypeError if ``a`` is no sequence.
    """
    if not is_list_or_tuple(a) and np.ndim(a) != 1:
        raise TypeError(f"a of general_cosine is a sequence of weights, got {a!r}")
    samples = _Samples(M, sym)
    angle = math.pi * samples.at
    total: Any = 0.0
    for i, weight in enumerate(a):
        total = total + weight * cos(i * angle)
    return samples.window(total)


def general_hamming(M: Any, alpha: Any, sym: bool = True) -> TensorVariable:
    """The window ``alpha`` - (1 - ``alpha``) cos(x) over one period x, of length ``M``. With ``sym=False`` repetitions join."""
    alpha = as_tensor_variable(alpha)
    return general_cosine(M, [alpha, 1 - alpha], sym)


def hann(M: Any, sym: bool = True) -> TensorVariable:
    """The Hann window of length ``M``: a period of a raised cosine, whose ends are 0. With ``sym=False`` repetitions join."""
    return general_hamming(M, 0.5, sym)


def hamming(M: Any, sym: bool = True) -> TensorVariable:
    """The Hamming window of length ``M``: a raised cosine, whose ends are 0.08. With ``sym=False`` repetitions join."""
    return general_hamming(M, 0.54, sym)


def blackman(M: Any, sym: bool = True) -> TensorVariable:
    """The Blackman window of length ``M``: three cosines. With ``sym=False`` repetitions join."""
    return general_cosine(M, [0.42, 0.50, 0.08], sym)


def nuttall(M: Any, sym: bool = True) -> TensorVariable:
    """Nuttall's window of four cosines, of length ``M``. With ``sym=False`` repetitions join."""
    return general_cosine(M, [0.3635819, 0.4891775, 0.1365995, 0.0106411], sym)


def blackmanharris(M: Any, sym: bool = True) -> TensorVariable:
    """The Blackman-Harris window of length ``M``: four cosines. With ``sym=False`` repetitions join."""
    return general_cosine(M, [0.35875, 0.48829, 0.14128, 0.01168], sym)


def flattop(M: Any, sym: bool = True) -> TensorVariable:
    """The flat top window of length ``M``: five cosines. With ``sym=False`` repetitions join."""
    return general_cosine(M, [0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368], sym)


def gaussian(M: Any, std: Any, sym: bool = True) -> TensorVariable:
    """The Gaussian window of length ``M`` with the standard deviation ``std``, in samples. With ``sym=False`` repetitions join."""
    return general_gaussian(M, 1.0, std, sym)


def general_gaussian(M: Any, p: Any, sig: Any, sym: bool = True) -> TensorVariable:
    """The window exp(-|x / ``sig``|^(2 ``p``) / 2) of length ``M``, where x counts samples from the middle. With ``sym=False`` repetitions join."""
    samples = _Samples(M, sym)
    return samples.window(exp(-0.5 * abs_(samples.middle / sig) ** (2 * p)))


def exponential(M: Any, center: Any = None, tau: Any = 1.0, sym: bool = True) -> TensorVariable:
    """The window exp(-|k - ``center``| / ``tau``) of length ``M``, by default around the middle. With ``sym=False`` repetitions join.

    ValueError for a ``center`` if the window is symmetric.
    """
    if sym and center is not None:
        raise ValueError(
            "A symmetric exponential window has its center in the middle; give sym=False"
        )
    samples = _Samples(M, sym)
    distance = samples.middle if center is None else samples.k - center
    return samples.window(exp(-abs_(distance) / tau))


def tukey(M: Any, alpha: Any = 0.5, sym: bool = True) -> TensorVariable:
    """The tapered cosine window of length ``M``: flat but for the part ``alpha``, which falls as a cosine. 0 is a rectangle, 1 is `hann`.

    With ``sym=False`` repetitions join.
    """
    samples = _Samples(M, sym)
    from_end = (1 - abs_(samples.at)) / maximum(alpha, 1e-300)
    tapered = 0.5 * (1 - cos(math.pi * from_end))
    inside = ge(1 - abs_(samples.at), alpha)
    return samples.window(switch(inside, 1.0, tapered))


def kaiser(M: Any, beta: Any, sym: bool = True) -> TensorVariable:
    """The Kaiser window of length ``M``: Bessel functions I0, which ``beta`` makes narrow. With ``sym=False`` repetitions join."""
    samples = _Samples(M, sym)
    beta = as_tensor_variable(beta)
    return samples.window(i0(beta * sqrt(maximum(1 - samples.at**2, 0.0))) / i0(beta))
