"""Products of matrices and vectors, and the updates that BLAS computes in one call."""

from __future__ import annotations

from occelo_graph.ops.blas.products import (
    Dot,
    MatMul,
    batched_dot,
    batched_tensordot,
    dense_dot,
    dot,
    matmul,
    matvec,
    outer,
    tensordot,
    trace,
    vecdot,
    vecmat,
)
from occelo_graph.ops.blas.updates import Gemm, Gemv, Ger

__all__ = [
    "Dot",
    "Gemm",
    "Gemv",
    "Ger",
    "MatMul",
    "batched_dot",
    "batched_tensordot",
    "dense_dot",
    "dot",
    "matmul",
    "matvec",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
    "vecmat",
]
