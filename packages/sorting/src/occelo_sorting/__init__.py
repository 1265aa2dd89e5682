"""Sorting, searching, sets and order statistics of symbolic tensors, with the names of NumPy's functions.

The names are those of `occelo_sorting.functions`, which is imported at its first use.
"""

from typing import TYPE_CHECKING

from occelo_sorting.family import FAMILY as FAMILY

__version__ = "0.1.0"

if TYPE_CHECKING:
    from occelo_sorting.functions import *
else:
    from occelo_graph.lazy_names import namespace_of

    __getattr__, __dir__ = namespace_of(__name__, "occelo_sorting.functions")
