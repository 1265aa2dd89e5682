"""Lowerings of sparse matrices to loops. The linkers ``native``, ``c``, ``c|py`` and ``numba`` use them."""

from occelo_sparse.lowerings import equations, parts, products

__all__ = ["equations", "parts", "products"]
