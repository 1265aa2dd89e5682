"""Lowerings of linear algebra: calls of LAPACK for each matrix of a batch, and loops for small matrices."""

from occelo_link.loops.linalg import cholesky, triangular

__all__ = ["cholesky", "triangular"]
