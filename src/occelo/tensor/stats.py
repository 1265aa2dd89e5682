"""Probability distributions: densities, distribution functions, quantiles and moments.

Users import it as `occelo.tensor.stats`. The names come from `occelo_stats.functions`.
"""

from occelo_stats.functions import *
