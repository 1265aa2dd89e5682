"""NumPy's functions of arrays that are composed of the ops of the graph package, such as `einsum`.

The names are those of `occelo_arrays.functions`, which is imported at its first use.
"""

from typing import TYPE_CHECKING

from occelo_arrays.family import FAMILY as FAMILY

__version__ = "0.1.0"

if TYPE_CHECKING:
    from occelo_arrays.functions import *
else:
    from occelo_graph.lazy_names import namespace_of

    __getattr__, __dir__ = namespace_of(__name__, "occelo_arrays.functions")
