"""Conversions of products of matrices and vectors, with the forms that PyTensor's rewriting makes for BLAS."""

from __future__ import annotations

from typing import Any

from pytensor.tensor.blas.batched import BatchedDot
from pytensor.tensor.blas.gemm import Dot22, Dot22Scalar, Gemm
from pytensor.tensor.blas.gemv import Gemv
from pytensor.tensor.math import Dot

import occelo.tensor as ot
from occelo_pytensor.registry import register_conversion
from occelo_pytensor.variables import as_dtype


@register_conversion(Dot, Dot22)
def _dot(node: Any, a: Any, b: Any) -> Any:
    dtype = node.outputs[0].type.dtype
    return ot.dot(as_dtype(a, dtype), as_dtype(b, dtype))


@register_conversion(BatchedDot)
def _batched(node: Any, a: Any, b: Any) -> Any:
    return ot.matmul(a, b)


@register_conversion(Dot22Scalar)
def _scaled(node: Any, a: Any, b: Any, factor: Any) -> Any:
    return factor * ot.dot(a, b)


@register_conversion(Gemm)
def _gemm(node: Any, z: Any, alpha: Any, x: Any, y: Any, beta: Any) -> Any:
    return _plus(ot.dot(x, y), alpha, z, beta)


@register_conversion(Gemv)
def _gemv(node: Any, y: Any, alpha: Any, a: Any, x: Any, beta: Any) -> Any:
    return _plus(ot.dot(a, x), alpha, y, beta)


def _plus(product: Any, alpha: Any, added: Any, beta: Any) -> Any:
    """``alpha * product + beta * added``; BLAS does not read what is added if beta is 0."""
    data = getattr(beta, "data", None)
    scaled = alpha * product
    if data is not None:
        return scaled if data == 0 else scaled + beta * added
    return scaled + ot.switch(ot.eq(beta, 0), ot.zeros_like(added), beta * added)
