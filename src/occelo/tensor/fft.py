"""Fourier transforms, with the names, arguments and results of `numpy.fft` and `scipy.fft`.

Users import it as `occelo.tensor.fft`. The names come from `occelo_signal.fft`.
"""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_signal.fft import *

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
