"""Laws of random numbers: densities, distribution functions, quantiles and moments as graphs, named as in ``scipy.stats``.

`occelo.tensor.stats` exports the same names; `missing_names` imports this package at its first use. Most laws are a row
of formulas (`law.Row`), from which `continuous.ContinuousLaw` and `discrete.DiscreteLaw` make the methods. Laws of
vectors and matrices are classes of their own.
"""

from occelo_graph.late_families import loaded
from occelo_graph.stats.counts import *
from occelo_graph.stats.gammas import *
from occelo_graph.stats.integrals import *
from occelo_graph.stats.matrices import *
from occelo_graph.stats.on_an_interval import *
from occelo_graph.stats.on_the_line import *
from occelo_graph.stats.positive import *
from occelo_graph.stats.vectors import *

loaded("stats")
