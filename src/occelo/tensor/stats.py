"""Probability distributions: densities, distribution functions, quantiles and moments.

The names come from `occelo_graph.stats`.
"""

from occelo_graph.stats import *
