"""Minima, roots, differential equations and integrals of symbolic expressions, with the names of SciPy.

The names are those of `occelo_optimize.functions`, which is imported at its first use.
"""

from typing import TYPE_CHECKING

from occelo_optimize.family import FAMILY as FAMILY

__version__ = "0.1.0"

if TYPE_CHECKING:
    from occelo_optimize.functions import *
else:
    from occelo_graph.lazy_names import namespace_of

    __getattr__, __dir__ = namespace_of(__name__, "occelo_optimize.functions")
