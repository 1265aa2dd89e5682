"""Lowerings of signal processing to loops. The linkers ``native``, ``c``, ``c|py`` and ``numba`` use them."""

from occelo_signal.lowerings import beyond as beyond
from occelo_signal.lowerings import channels as channels
from occelo_signal.lowerings import correlating as correlating
from occelo_signal.lowerings import sliding as sliding
from occelo_signal.lowerings import transforms as transforms
