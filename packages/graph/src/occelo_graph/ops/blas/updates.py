"""The ops `Gemm`, `Gemv` and `Ger`, which compute ``beta z + alpha x y`` by one call of BLAS where it can.

Rules replace sums and products by these ops. `Ger` is only for linkers that run or trace node by node. Infinities and
NaN propagate as in NumPy, even if ``alpha`` or ``beta`` is 0. A call of BLAS alone might lose them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

import numpy as np

from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import ZERO, Cotangents, Op, Tangents, op
from occelo_graph.ir.traits import trait
from occelo_graph.ops.blas.products import Dot, outer
from occelo_graph.ops.shape.asserting import specify_shape
from occelo_graph.ops.shape.dimensions import transpose
from occelo_graph.tensors.nodes import OptionalTensors, Tensors
from occelo_graph.tensors.type import TensorType, is_complex, is_discrete

__all__ = ["Gemm", "Gemv", "Ger"]

_ROUTINES = {"float32": "s", "float64": "d"}


@cache
def _routine(name: str, dtype: Any) -> Any:
    """SciPy's function for the BLAS routine ``name`` and a dtype. None if SciPy is not installed, or for other dtypes."""
    letter = _ROUTINES.get(dtype.name)
    if letter is None:
        return None
    try:
        from scipy.linalg import blas
    except ModuleNotFoundError:
        return None

    return getattr(blas, letter + name)


def _blas_is_exact(alpha: Any, beta: Any) -> bool:
    """Whether BLAS treats infinities and NaN in ``beta z + alpha x y`` like NumPy, for these scalars.

    BLAS skips terms with factor 0, even if z or x y is not finite. BLAS also multiplies each term of the product by
    ``alpha`` before it sums them. So if ``alpha`` is infinite or far from 1, intermediates overflow that do not
    overflow in NumPy.
    """
    most = 2.0 ** (int(np.finfo(alpha.dtype).maxexp) // 5)
    return bool(beta != 0 and 1 / most <= abs(alpha) <= most)


@op
class _Update(Op):
    """Base class of the updates. The inputs are ``z, alpha, x, y``, and also ``beta`` if ``has_beta`` is True.

    The result has the type of ``z``, and with ``inplace`` its memory. The numbers of dimensions of ``z``, ``x`` and ``y`` are ``ndims``.
    """

    inplace: bool = False
    ndims: ClassVar[tuple[int, int, int]]
    has_beta: ClassVar[bool] = True

    @trait
    def destroy_map(self) -> Mapping[int, Sequence[int]]:
        return {0: [0]} if self.inplace else {}

    def with_inplace(self) -> Op:
        """The same op with ``inplace=True``, which overwrites ``z``."""
        return replace(self, inplace=True)

    def infer(self, *types: TensorType) -> TensorType:
        ndims = [self.ndims[0], 0, *self.ndims[1:], *([0] if self.has_beta else [])]
        if [t.ndim for t in types] != ndims or len({t.dtype for t in types}) != 1:
            listed = ", ".join(str(t) for t in types)
            raise TypeError(
                f"{self} takes tensors of {ndims} dimensions and one dtype, got {listed}"
            )
        if is_discrete(types[0].dtype) or is_complex(types[0].dtype):
            raise TypeError(f"{self} takes real floats, got {types[0].dtype}")
        return types[0]

    def evaluate(self, *arrays: Any) -> Any:
        z, alpha, x, y = arrays[:4]
        beta = arrays[4] if self.has_beta else np.ones((), z.dtype)
        self._check(z, x, y)
        result = self._by_blas(z, alpha, x, y, beta) if _blas_is_exact(alpha, beta) else None
        if result is None:
            result = beta * z + alpha * self._product(x, y)
        if self.inplace:
            if result is not z:
                z[...] = result
            return z
        return np.asarray(result, z.dtype)

    def decompose(self, *inputs: Any) -> Sequence[Any]:
        z, alpha, x, y, *beta = inputs
        product = self._symbolic_product(x, y)
        shape = [
            n if m is None else m for n, m in zip(z.type.shape, product.type.shape, strict=True)
        ]
        z, product = specify_shape(z, shape), specify_shape(product, shape)
        return [(beta[0] * z if beta else z) + alpha * product]

    def _product(self, x: Any, y: Any) -> Any:
        return np.dot(x, y)

    def _check(self, z: Any, x: Any, y: Any) -> None:
        inner = x.shape[-1] == y.shape[0]
        if not inner or z.shape != x.shape[:-1] + y.shape[1:]:
            raise ValueError(f"{self}: shapes {x.shape} and {y.shape} do not give {z.shape}")

    def _by_blas(self, z: Any, alpha: Any, x: Any, y: Any, beta: Any) -> Any:
        """Compute the result by BLAS. It may be written to ``z`` and returned. None if BLAS cannot compute it."""
        raise NotImplementedError

    def _symbolic_product(self, x: Any, y: Any) -> Any:
        return Dot()(x, y)

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        ct = cotangents[0]
        z, alpha, x, y, *beta = inputs
        product = self._symbolic_product(x, y)
        of_x, of_y = self._pull_factors(alpha * ct, x, y)
        of_z = beta[0] * ct if beta else ct
        return [of_z, (ct * product).sum(), of_x, of_y, *([(ct * z).sum()] if beta else [])]

    def _pull_factors(self, ct: Any, x: Any, y: Any) -> tuple[Any, Any]:
        raise NotImplementedError

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: OptionalTensors) -> Tangents:
        z, alpha, x, y, *beta = inputs
        dz, dalpha, dx, dy, *dbeta = tangents
        terms: list[Any] = []
        if dz is not None:
            terms.append(beta[0] * dz if beta else dz)
        if dalpha is not None:
            terms.append(dalpha * self._symbolic_product(x, y))
        if dx is not None:
            terms.append(alpha * self._symbolic_product(dx, y))
        if dy is not None:
            terms.append(alpha * self._symbolic_product(x, dy))
        if dbeta and dbeta[0] is not None:
            terms.append(dbeta[0] * z)
        total: Any = ZERO
        for term in terms:
            total = term if total is ZERO else total + term
        return [total]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        z, alpha, x, y, *beta = inputs
        product = self._batched_product(node.inputs[2:4], (x, y), batch_ndims[2:4])
        scaled = self._with_batch_dims(alpha, batch_ndims[1]) * product
        return [scaled + (self._with_batch_dims(beta[0], batch_ndims[4]) * z if beta else z)]

    def _with_batch_dims(self, scalar: Any, extra: int) -> Any:
        """Add dimensions of length 1 to ``scalar``, so that it broadcasts with the batched ``z``.

        ``scalar`` has ``extra`` batch dimensions.
        """
        order: list[Any] = [*range(extra), *["x"] * self.ndims[0]]
        return scalar.dimshuffle(order) if extra else scalar

    def _batched_product(self, core: Any, inputs: Any, batch_ndims: Any) -> Any:
        return Dot().batch(Dot().make_node(*core), inputs, batch_ndims)[0]

    def __str__(self) -> str:
        return f"{type(self).__name__}{'_inplace' if self.inplace else ''}"


@op
class Gemm(_Update):
    """Computes ``beta z + alpha x @ y`` for matrices ``z``, ``x`` and ``y``. The inputs are ``z, alpha, x, y, beta``."""

    ndims: ClassVar[tuple[int, int, int]] = (2, 2, 2)

    def _by_blas(self, z: Any, alpha: Any, x: Any, y: Any, beta: Any) -> Any:
        routine = _routine("gemm", z.dtype)
        if routine is None or not z.size or not x.size or not z.flags.c_contiguous:
            return None
        # BLAS expects Fortran order; the transposes of arrays in C order have it, so it computes z.T = y.T x.T
        updated = routine(alpha, y.T, x.T, beta, z.T, overwrite_c=self.inplace)
        return z if self.inplace and np.shares_memory(updated, z) else updated.T

    def _pull_factors(self, ct: Any, x: Any, y: Any) -> tuple[Any, Any]:
        return Dot()(ct, transpose(y)), Dot()(transpose(x), ct)


@op
class Gemv(_Update):
    """Computes ``beta z + alpha x @ y`` for vectors ``z`` and ``y`` and a matrix ``x``. The inputs are as in `Gemm`."""

    ndims: ClassVar[tuple[int, int, int]] = (1, 2, 1)

    def _by_blas(self, z: Any, alpha: Any, x: Any, y: Any, beta: Any) -> Any:
        routine = _routine("gemv", z.dtype)
        if routine is None or not z.size or not x.size or not z.flags.c_contiguous:
            return None
        by_rows = x.flags.c_contiguous
        updated = routine(
            alpha, x.T if by_rows else x, y, beta, z, trans=int(by_rows), overwrite_y=self.inplace
        )
        return z if self.inplace and np.shares_memory(updated, z) else updated

    def _pull_factors(self, ct: Any, x: Any, y: Any) -> tuple[Any, Any]:
        return outer(ct, y), Dot()(transpose(x), ct)


@op
class Ger(_Update):
    """Computes ``z + alpha x y^T`` for a matrix ``z`` and vectors ``x`` and ``y``. The inputs are ``z, alpha, x, y``."""

    ndims: ClassVar[tuple[int, int, int]] = (2, 1, 1)
    has_beta: ClassVar[bool] = False

    def _product(self, x: Any, y: Any) -> Any:
        return np.outer(x, y)

    def _symbolic_product(self, x: Any, y: Any) -> Any:
        return outer(x, y)

    def _batched_product(self, core: Any, inputs: Any, batch_ndims: Any) -> Any:
        x, y = inputs
        rows: list[Any] = [*range(x.type.ndim), "x"]
        columns: list[Any] = [*range(y.type.ndim - 1), "x", y.type.ndim - 1]
        return x.dimshuffle(rows) * y.dimshuffle(columns)

    def _check(self, z: Any, x: Any, y: Any) -> None:
        if z.shape != x.shape + y.shape:
            raise ValueError(f"{self}: shapes {x.shape} and {y.shape} do not give {z.shape}")

    def _by_blas(self, z: Any, alpha: Any, x: Any, y: Any, beta: Any) -> Any:
        routine = _routine("ger", z.dtype)
        if routine is None or not z.size or not z.flags.c_contiguous:
            return None
        updated = routine(alpha, y, x, a=z.T, overwrite_a=self.inplace)
        return z if self.inplace and np.shares_memory(updated, z) else updated.T

    def _pull_factors(self, ct: Any, x: Any, y: Any) -> tuple[Any, Any]:
        return Dot()(ct, y), Dot()(transpose(ct), x)
