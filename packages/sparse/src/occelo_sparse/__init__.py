"""Sparse matrices for symbolic graphs, with the names of `pytensor.sparse`.

The names are those of `occelo_sparse.functions`, which is imported at its first use.
"""

from typing import TYPE_CHECKING

from occelo_sparse.family import FAMILY as FAMILY

__version__ = "0.1.0"

if TYPE_CHECKING:
    from occelo_sparse.functions import *
else:
    from occelo_graph.lazy_names import namespace_of

    __getattr__, __dir__ = namespace_of(__name__, "occelo_sparse.functions")
