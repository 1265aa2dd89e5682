"""Products of matrices and vectors, and the updates that BLAS computes in one call."""

from __future__ import annotations

from occelo_graph.ops.blas.products import *
from occelo_graph.ops.blas.products import __all__ as _products
from occelo_graph.ops.blas.updates import Gemm, Gemv, Ger

__all__ = ["Gemm", "Gemv", "Ger"]
__all__ += _products
