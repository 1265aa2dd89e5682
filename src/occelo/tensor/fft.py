"""Fourier transforms, with the names, arguments and results of `numpy.fft` and `scipy.fft`.

Users import it as `occelo.tensor.fft`. The names come from `occelo_signal.fft`.
"""

from occelo_signal.fft import *
