"""Linear algebra over batches of matrices: the functions of `numpy.linalg` and `scipy.linalg` for symbolic tensors.

The names are those of `occelo_linalg.functions`, which is imported at its first use.
"""

from typing import TYPE_CHECKING

from occelo_linalg.family import FAMILY as FAMILY

__version__ = "0.1.0"

if TYPE_CHECKING:
    from occelo_linalg.functions import *
else:
    from occelo_graph.lazy_names import namespace_of

    __getattr__, __dir__ = namespace_of(__name__, "occelo_linalg.functions")
