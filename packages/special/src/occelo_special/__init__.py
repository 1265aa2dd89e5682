"""Special functions, such as gamma, beta and Bessel functions, named as in ``scipy.special``.

The names are those of `occelo_special.functions`, which is imported at its first use.
"""

from typing import TYPE_CHECKING

from occelo_special.family import FAMILY as FAMILY

__version__ = "0.1.0"

if TYPE_CHECKING:
    from occelo_special.functions import *
else:
    from occelo_graph.lazy_names import namespace_of

    __getattr__, __dir__ = namespace_of(__name__, "occelo_special.functions")
