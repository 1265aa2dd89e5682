"""Convolutions, with the names and arguments of `scipy.signal`.

Users import it as `occelo.tensor.signal`. The names come from `occelo_signal.functions`.
"""

from occelo_signal.functions import *
