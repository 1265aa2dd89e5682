"""The namespace of Fourier transforms, with the names of `numpy.fft` and `scipy.fft`.

Users reach it as `occelo.tensor.fft`.
"""

from occelo_graph.errors import explain_errors as _explain_errors
from occelo_signal.ops.cosines import *
from occelo_signal.ops.fourier import *
from occelo_signal.ops.frequencies import *

_explain_errors(globals(), "arguments")
