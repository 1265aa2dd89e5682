"""The namespace of signal processing, with the names of `scipy.signal`.

Users reach it as `occelo.tensor.signal`.
"""

from occelo_graph.errors import explain_errors as _explain_errors
from occelo_signal import windows as windows
from occelo_signal.ops.convolving import *
from occelo_signal.ops.networks import *
from occelo_signal.ops.pooling import *

_explain_errors(globals(), "arguments")
