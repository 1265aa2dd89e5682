"""Linear algebra: ops and functions of matrices. Matrices may have leading batch dimensions.

Users call the functions from `occelo.tensor.linalg`; `occelo_linalg.functions` is this namespace. If an op has no lowering
and no decomposition, compiled code calls its NumPy code.
"""

from occelo_linalg.family import FAMILY

FAMILY.register()
