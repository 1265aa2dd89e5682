"""Random numbers that are computed from keys, with the same bits on every backend.

Users import it as `occelo.tensor.random`. The names come from `occelo_random.functions`.
"""

from occelo_random.functions import *
