"""Convolutions, with the names and arguments of `scipy.signal`.

Users import it as `occelo.tensor.signal`. The names come from `occelo_signal.functions`.
"""

from occelo_signal.functions import *

__path__: list[str] = []  # PyTensor has modules below this one, which `occelo.places` makes
