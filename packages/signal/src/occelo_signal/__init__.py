"""Fourier transforms of symbolic tensors, with the names of `numpy.fft` and `scipy.fft`.

The module `occelo_signal.fft` has the functions. It is imported at its first use.
"""

from typing import TYPE_CHECKING

from occelo_signal.family import FAMILY as FAMILY

__version__ = "0.1.0"

if TYPE_CHECKING:
    from occelo_signal import fft as fft
else:
    from occelo_graph.lazy_names import deferred

    __getattr__, __dir__ = deferred(__name__, {"fft": "occelo_signal.fft"})
