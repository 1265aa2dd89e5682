"""Linear equations for matrices: those of Sylvester and of Lyapunov; users find them in `occelo.tensor.linalg`.

The gradients of Riccati equations and of matrix square roots solve them, too. A rule treats `Sylvester`; compiled code runs
the ops in Python.

Their gradients solve the same equations with conjugate transposed coefficients (Kao and Hennequin 2020, Automatic
differentiation of Sylvester, Lyapunov, and algebraic Riccati equations, arXiv:2011.11430).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.linalg.matrix_op import MatrixOp, as_matrices, hermitian
from occelo_graph.optional_scipy import scipy_module

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "DiscreteLyapunov",
    "Sylvester",
    "solve_continuous_lyapunov",
    "solve_discrete_lyapunov",
    "solve_sylvester",
]


@op
class Sylvester(MatrixOp):
    """The X with A X + X B = Q."""

    signature: ClassVar[str] = "(m,m),(n,n),(m,n)->(m,n)"

    @property
    def label(self) -> str:
        return "solve_sylvester"

    def core(self, *arrays: Array) -> Array:
        a, b, q = arrays
        if q.size == 0:
            return np.zeros_like(q)
        solved = scipy_module("linalg", self.label).solve_sylvester(a, b, q)
        return np.asarray(solved, q.dtype)

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        (a, b, _), (x,), ct = inputs, outputs, cotangents[0]
        if ct is None or ct is ZERO:
            return [ct] * 3
        of_q = self(hermitian(a), hermitian(b), ct)
        return [-matmul(of_q, hermitian(x)), -matmul(hermitian(x), of_q), of_q]


@op
class DiscreteLyapunov(MatrixOp):
    """The X with X = A X A^H + Q."""

    method: str | None = None
    signature: ClassVar[str] = "(n,n),(n,n)->(n,n)"

    @property
    def label(self) -> str:
        return "solve_discrete_lyapunov"

    def core(self, *arrays: Array) -> Array:
        a, q = arrays
        if q.size == 0:
            return np.zeros_like(q)
        solve = scipy_module("linalg", self.label).solve_discrete_lyapunov
        return np.asarray(solve(a, q, method=self.method), q.dtype)

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        (a, _), (x,), ct = inputs, outputs, cotangents[0]
        if ct is None or ct is ZERO:
            return [ct] * 2
        of_q = self(hermitian(a), ct)
        of_a = matmul(of_q, matmul(a, hermitian(x))) + matmul(hermitian(of_q), matmul(a, x))
        return [of_a, of_q]


def solve_sylvester(a: Any, b: Any, q: Any) -> TensorVariable:
    """The ``x`` with ``a @ x + x @ b == q``, of shape (..., m, n); SciPy's ``solve_sylvester``.

    ``a`` has shape (..., m, m), ``b`` (..., n, n) and ``q`` (..., m, n); batch dimensions broadcast. The result has the common
    dtype, float64 for integers; float16 is a TypeError. As in SciPy, equations without a single solution, where ``a`` and ``-b``
    have a common eigenvalue, are solved for coefficients that are perturbed a little. ValueError for other shapes.
    """
    made: TensorVariable = Sylvester()(*as_matrices("solve_sylvester", a, b, q))
    return made


def solve_continuous_lyapunov(a: Any, q: Any) -> TensorVariable:
    """The ``x`` with ``a @ x + x @ a^H == q``, of shape (..., n, n); SciPy's ``solve_continuous_lyapunov``.

    Otherwise as `solve_sylvester`, whose ``b`` is the conjugate transpose of ``a``.
    """
    x, right = as_matrices("solve_continuous_lyapunov", a, q)
    made: TensorVariable = Sylvester()(x, hermitian(x), right)
    return made


def solve_discrete_lyapunov(a: Any, q: Any, method: str | None = None) -> TensorVariable:
    """The ``x`` with ``x == a @ x @ a^H + q``, of shape (..., n, n); SciPy's ``solve_discrete_lyapunov``.

    ``method`` is "direct", by linear equations for all n^2 elements, or "bilinear", by a continuous equation; without it
    "direct" if n < 10. The result has the common dtype, float64 for integers; float16 is a TypeError. Equations without a
    single solution are a ``numpy.linalg.LinAlgError``. ValueError for other shapes or another method.
    """
    if method not in (None, "direct", "bilinear"):
        raise ValueError(f'method must be "direct" or "bilinear", got {method!r}')
    made: TensorVariable = DiscreteLyapunov(method)(*as_matrices("solve_discrete_lyapunov", a, q))
    return made
