"""Distributions of random numbers: densities, distribution functions, quantiles and moments as graphs, named as in ``scipy.stats``.

Users reach the distributions as ``occelo.tensor.stats.norm`` and so on. This package is imported when a program first uses one
of them. Each distribution of single numbers is a table of formulas (`distribution.Row`). `continuous.ContinuousDistribution` and
`discrete.DiscreteDistribution` turn these formulas into methods such as `pdf` and `cdf`. Each distribution of vectors or matrices is a
class of its own.
"""

from occelo_stats.counts import *
from occelo_stats.gammas import *
from occelo_stats.integrals import *
from occelo_stats.matrices import *
from occelo_stats.on_an_interval import *
from occelo_stats.on_the_line import *
from occelo_stats.positive import *
from occelo_stats.vectors import *
