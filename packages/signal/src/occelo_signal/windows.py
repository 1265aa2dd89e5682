"""The namespace of window functions, with the names of `scipy.signal.windows`.

Users reach it as ``occelo.tensor.signal.windows``.
"""

from occelo_signal.ops.windows import *
