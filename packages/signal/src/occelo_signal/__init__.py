"""Signal processing for symbolic tensors, with the names of `scipy.signal`, and Fourier transforms in `occelo_signal.fft`.

The names are those of `occelo_signal.functions`, which is imported at its first use.
"""

from typing import TYPE_CHECKING

from occelo_signal.family import FAMILY as FAMILY

__version__ = "0.1.0"

if TYPE_CHECKING:
    from occelo_signal import fft as fft
    from occelo_signal.functions import *
else:
    from occelo_graph.lazy_names import namespace_of

    __getattr__, __dir__ = namespace_of(__name__, "occelo_signal.functions")
