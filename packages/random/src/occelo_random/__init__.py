"""Random numbers: draws that are functions of a key, and draws with NumPy's generators.

The names are those of `occelo_random.functions`, which is imported at its first use.
"""

from typing import TYPE_CHECKING

from occelo_random import shared_generators as shared_generators
from occelo_random.family import FAMILY as FAMILY

__version__ = "0.1.0"

if TYPE_CHECKING:
    from occelo_random.functions import *
else:
    from occelo_graph.lazy_names import namespace_of

    __getattr__, __dir__ = namespace_of(__name__, "occelo_random.functions")
