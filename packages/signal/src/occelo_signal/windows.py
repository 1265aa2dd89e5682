"""The namespace of window functions, with the names of `scipy.signal.windows`.

Users reach it as ``occelo.tensor.signal.windows``.
"""

from occelo_graph.errors import explain_errors as _explain_errors
from occelo_signal.ops.windows import *

_explain_errors(globals(), "arguments")
