"""Probability distributions: densities, distribution functions, quantiles and moments, named as in ``scipy.stats``.

The names are those of `occelo_stats.functions`, which is imported at its first use.
"""

from typing import TYPE_CHECKING

import occelo_forms as occelo_forms  # derivatives of densities are taken of stable forms
from occelo_stats.family import FAMILY as FAMILY

__version__ = "0.1.0"

if TYPE_CHECKING:
    from occelo_stats.functions import *
else:
    from occelo_graph.lazy_names import namespace_of

    __getattr__, __dir__ = namespace_of(__name__, "occelo_stats.functions")
