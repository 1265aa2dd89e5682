"""Lowerings of sparse matrices to loops. The linkers ``native``, ``c``, ``c|py`` and ``numba`` use them."""

from occelo_sparse.lowerings import equations as equations
from occelo_sparse.lowerings import parts as parts
from occelo_sparse.lowerings import products as products
