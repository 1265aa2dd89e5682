"""The functions of the family that stand for functions of `numpy.fft` and of NumPy itself (`occelo_graph.ops.arguments`).

Those of NumPy itself are in `occelo.tensor`.
"""

from occelo_graph.errors import explain_errors as _explain_errors
from occelo_signal.fft import *
from occelo_signal.ops.polynomials import *
from occelo_signal.ops.vectors import *

_explain_errors(globals(), "arguments")
