"""Probability distributions: densities, distribution functions, quantiles and moments.

Users import it as `occelo.tensor.stats`. The names come from `occelo_stats.functions`.
"""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_stats.functions import *

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
