"""The namespace of functions of arrays: it collects the functions of `occelo_arrays.ops`, such as ``einsum``.

Users reach them in `occelo.tensor`, which imports this module at the first use of one of its names. It is also the
part of the family that stands for NumPy's functions (`occelo_graph.ops.arguments`).
"""

from occelo_arrays.ops.cross import *
from occelo_arrays.ops.einsum import *
