"""Lowerings of sparse matrices for JAX and PyTorch.

`occelo_link.traced.linker` imports this package when sparse matrices are first used, to register the lowerings.
"""

from occelo_sparse.traced import parts as parts
from occelo_sparse.traced import products as products
