"""Special functions of each element: all are composed, or scalar functions that `Elemwise` applies.

Users call the functions from `occelo.tensor`; `occelo_special.functions` collects them.
"""

from occelo_special.family import FAMILY

FAMILY.register()
