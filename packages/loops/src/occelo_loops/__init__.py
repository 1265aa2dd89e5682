"""Loops in graphs: `loop`, `scan` and their relatives.

The names are those of `occelo_loops.functions`, which is imported at its first use.
"""

from typing import TYPE_CHECKING

from occelo_loops.family import FAMILY as FAMILY

__version__ = "0.1.0"

if TYPE_CHECKING:
    from occelo_loops.functions import *
else:
    from occelo_graph.lazy_names import namespace_of

    __getattr__, __dir__ = namespace_of(__name__, "occelo_loops.functions")
