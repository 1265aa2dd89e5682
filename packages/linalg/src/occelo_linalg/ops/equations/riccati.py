"""Solves algebraic Riccati equations of optimal control, in continuous time and in discrete time.

Users call `solve_continuous_are` and `solve_discrete_are` from `occelo.tensor.linalg`. The linkers for machine code
compile the decomposition of the ops, which `riccati_pencils` computes. The gradients are solutions of Lyapunov
equations of the closed loop (Kao and Hennequin 2020, Automatic differentiation of Sylvester, Lyapunov, and algebraic
Riccati equations, arXiv:2011.11430).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.create import zeros_like
from occelo_graph.optional_scipy import scipy_module
from occelo_linalg.ops.equations.riccati_pencils import (
    EPS,
    LARGEST_RESIDUAL,
    RANK_LIMIT,
    cost_without_effect,
    equation_terms,
    feedback,
    nan_if_singular,
    over_one_batch,
    stabilizing_solution,
    sum_terms,
)
from occelo_linalg.ops.equations.solve import solve
from occelo_linalg.ops.equations.sylvester import DiscreteLyapunov, Sylvester
from occelo_linalg.ops.gradient_formulas import require_finite
from occelo_linalg.ops.matrix_op import (
    LinAlgError,
    MatrixOp,
    as_matrices,
    check_on_error,
    hermitian,
)

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["ContinuousRiccati", "DiscreteRiccati", "solve_continuous_are", "solve_discrete_are"]


class _Riccati(MatrixOp):
    """Base class of ops that compute the stabilizing solution of a Riccati equation.

    The inputs are A, B, Q and R. An equation in discrete time has a fifth input, S. ``balanced`` is SciPy's option.
    """

    balanced: bool = True
    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n),(n,m),(n,n),(m,m)->(n,n)"
    function: ClassVar[str]

    @property
    def label(self) -> str:
        return self.function

    def core(self, *arrays: Array) -> Array:
        if arrays[0].size == 0:
            return np.zeros_like(arrays[0])
        for each in arrays:
            require_finite(each)
        own = arrays[0].dtype
        a, b, q, r, *cross = arrays
        if cross:
            r = r + _cost_without_effect(b, r, *cross)
        solver = getattr(scipy_module("linalg", self.label), self.label)
        try:
            solved = solver(a, b, q, r, s=cross[0] if cross else None, balanced=self.balanced)
        except ValueError as error:
            # SciPy raises ValueError for a singular coefficient, or if stable eigenvalues cannot be separated
            if not any(word in str(error) for word in ("singular", "Reordering")):
                raise
            raise LinAlgError(str(error)) from None
        self._check_residual(arrays, solved)
        return np.asarray(solved, own)

    def _check_residual(self, arrays: Sequence[Array], solved: Array) -> None:
        """LinAlgError if ``solved`` is no solution, even roughly: SciPy's conditions do not find all such cases."""
        wide = np.result_type(arrays[0], np.float64)
        a, b, q, r = (x.astype(wide) for x in arrays[:4])
        cross = arrays[4].astype(wide) if len(arrays) > 4 else None
        linalg: Any = np.linalg
        matrix, right = feedback(solved, a, b, r, cross, _adjoint)
        for limit in (0.0, RANK_LIMIT):
            gain = linalg.pinv(matrix, limit) @ right
            terms = equation_terms(solved, a, b, q, gain, cross, _adjoint)
            residual = linalg.norm(sum_terms(terms), 1)
            if residual <= LARGEST_RESIDUAL * sum(linalg.norm(v, 1) for v in terms):
                return
        raise LinAlgError("there is no stabilizing solution")

    def decompose(self, *inputs: Any, **_: Any) -> Sequence[Any]:
        continuous = self.function == "solve_continuous_are"
        return [stabilizing_solution(inputs, continuous, self.balanced, self.on_error)]


def _cost_without_effect(b: Array, r: Array, s: Array) -> Array:
    """`cost_without_effect` of arrays."""
    both = np.concatenate([b, r, s])
    wide = both.astype(np.result_type(both, np.float64))
    _, values, rows = np.linalg.svd(wide, full_matrices=False)
    largest = values.max(initial=0.0)
    kernel = rows[values <= EPS * (b.shape[0] + b.shape[1]) * largest]
    cost: Array = (kernel.conj().T @ kernel * (largest or 1.0)).astype(r.dtype)
    return cost


@op
class ContinuousRiccati(_Riccati):
    """Computes the stabilizing solution X of A^H X + X A - X B R^-1 B^H X + Q = 0."""

    balanced: bool = True
    on_error: str = "raise"
    function: ClassVar[str] = "solve_continuous_are"

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        (a, b, _, r), (x,), ct = inputs, outputs, cotangents[0]
        if ct is None or ct is ZERO:
            return [ct] * 4
        gain = solve(r, matmul(hermitian(b), x), b_ndim=2, on_error=self.on_error)
        closed = a - matmul(b, gain)
        of_q = Sylvester(self.on_error)(closed, hermitian(closed), -ct)
        twice = matmul(x, of_q + hermitian(of_q))
        of_b = -matmul(twice, hermitian(gain))
        return [twice, of_b, of_q, matmul(gain, matmul(of_q, hermitian(gain)))]


@op
class DiscreteRiccati(_Riccati):
    """Computes the stabilizing solution X of A^H X A - X - G^H (R + B^H X B)^-1 G + Q = 0, with G = B^H X A + S^H."""

    balanced: bool = True
    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n),(n,m),(n,n),(m,m),(n,m)->(n,n)"
    formula: ClassVar[str | None] = "{label}({0}, {1}, {2}, {3}, s={4}{options})"
    function: ClassVar[str] = "solve_discrete_are"

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        (a, b, _, r, s), (x,), ct = inputs, outputs, cotangents[0]
        if ct is None or ct is ZERO:
            return [ct] * 5
        turned = matmul(hermitian(b), x)
        right = matmul(turned, a) + hermitian(s)
        curvature = r + matmul(turned, b) + cost_without_effect(*over_one_batch(b, r, s))
        gain = solve(curvature, right, b_ndim=2, on_error=self.on_error)
        closed = a - matmul(b, gain)
        of_q = DiscreteLyapunov(None, self.on_error)(closed, ct)
        twice = of_q + hermitian(of_q)
        of_a = matmul(x, matmul(closed, twice))
        of_b, of_s = (-matmul(v, hermitian(gain)) for v in (of_a, twice))
        return [of_a, of_b, of_q, matmul(gain, matmul(of_q, hermitian(gain))), of_s]


def solve_continuous_are(
    a: Any,
    b: Any,
    q: Any,
    r: Any,
    e: Any = None,
    s: Any = None,
    balanced: bool = True,
    *,
    on_error: str = "raise",
) -> TensorVariable:
    """The stabilizing solution ``x`` of ``a^H x + x a - x b r^-1 b^H x + q == 0``, like SciPy's function.

    ``a`` and ``q`` have the shape (..., n, n), ``b`` has (..., n, m), and ``r`` has (..., m, m). ``q`` and ``r`` must
    be Hermitian, and ``r`` must be nonsingular. ``e`` of shape (..., n, n), which must be nonsingular, and ``s`` of
    shape (..., n, m) are optional. With them, the equation is ``e^H x a + a^H x e - (e^H x b + s) r^-1 (b^H x e + s^H)
    + q == 0``. If ``balanced`` is True, the matrix pencil of the equation is scaled first, for precision. The result
    has the common dtype, or float64 for integers. The gradient assumes that ``q`` and ``r`` stay Hermitian.

    ``numpy.linalg.LinAlgError`` is raised if there is no stabilizing solution, if rounding makes the solution useless
    (its residual is above a tenth of the terms), if ``r`` or ``e`` is singular, or if a matrix contains infinity or
    NaN. With ``on_error="nan"``, the solution of each such equation of a batch is NaN, and no LinAlgError is raised.
    ValueError if ``q`` or ``r`` is not Hermitian, or if shapes do not fit. TypeError for float16.
    """
    options: dict[str, Any] = {"b_ndim": 2, "on_error": check_on_error(on_error)}
    a, b, q, r, e, s = _coefficients("solve_continuous_are", a, b, q, r, e, s)
    if e is not None:
        # the equation for a e^-1, e^-H q e^-1 and e^-H s, without e, has the same solution
        e = nan_if_singular(e)
        inverse = hermitian(e)
        a = hermitian(solve(inverse, hermitian(a), **options))
        half = solve(inverse, q, **options)
        q = _hermitian_part(solve(inverse, hermitian(half), **options))
        s = None if s is None else solve(inverse, s, **options)
    if s is not None:
        a, q = _without_cross_term(a, b, q, r, s, options)
    solution: TensorVariable = ContinuousRiccati(bool(balanced), on_error)(a, b, q, r)
    return solution


def solve_discrete_are(
    a: Any,
    b: Any,
    q: Any,
    r: Any,
    e: Any = None,
    s: Any = None,
    balanced: bool = True,
    *,
    on_error: str = "raise",
) -> TensorVariable:
    """The stabilizing solution ``x`` of ``a^H x a - x - (a^H x b) (r + b^H x b)^-1 (b^H x a) + q == 0``.

    The function is like SciPy's ``solve_discrete_are``. Shapes, dtypes, ``balanced``, ``on_error``, errors and gradients
    are as in `solve_continuous_are`. With ``e`` and ``s``, the equation is ``a^H x a - e^H x e - (a^H x b + s) (r + b^H x b)^-1
    (b^H x a + s^H) + q == 0``. But ``r`` may be singular here.
    """
    options: dict[str, Any] = {"b_ndim": 2, "on_error": check_on_error(on_error)}
    a, b, q, r, e, s = _coefficients("solve_discrete_are", a, b, q, r, e, s)
    if e is not None:
        # the equation for e^-1 a and e^-1 b, without e, has the solution e^H x e
        e = nan_if_singular(e)
        a, b = solve(e, a, **options), solve(e, b, **options)
    cross = zeros_like(b) if s is None else s
    solution: TensorVariable = DiscreteRiccati(bool(balanced), on_error)(a, b, q, r, cross)
    if e is None:
        return solution
    inverse = hermitian(e)
    half = solve(inverse, solution, **options)
    return _hermitian_part(solve(inverse, hermitian(half), **options))


def _adjoint(x: Array) -> Array:
    return x.conj().T


def _coefficients(label: str, *matrices: Any) -> list[Any]:
    """Convert coefficients to tensors of their common dtype. None stays None."""
    converted = iter(as_matrices(label, *(v for v in matrices if v is not None)))
    return [None if v is None else next(converted) for v in matrices]


def _without_cross_term(
    a: Any, b: Any, q: Any, r: Any, s: Any, options: dict[str, Any]
) -> tuple[Any, Any]:
    """Replace ``a`` and ``q`` so that the equation without ``s`` has the same solution."""
    gain = solve(r, hermitian(s), **options)
    return a - matmul(b, gain), _hermitian_part(q - matmul(s, gain))


def _hermitian_part(x: Any) -> Any:
    """The Hermitian part of each matrix. A matrix that is Hermitian up to rounding becomes exactly Hermitian."""
    return (x + hermitian(x)) * np.asarray(0.5, x.dtype)
