"""Random numbers that are computed from keys, with the same bits on every backend.

Users import it as `occelo.tensor.random`. The names come from `occelo_random.functions`.
"""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo.tensor.random import basic as basic
from occelo.tensor.random import op as op
from occelo.tensor.random import type as type
from occelo.tensor.random import utils as utils
from occelo_random.functions import *

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
