"""Solves linear equations for an unknown matrix: Sylvester's and Lyapunov's equations.

Users call the functions from `occelo.tensor.linalg`. The gradients of Riccati equations and of matrix square roots
apply the ops, too. The linkers for machine code have a lowering of `TriangularSylvester`. These linkers decompose the
other ops of this module into Schur decompositions and `TriangularSylvester`, except small `DiscreteLyapunov` nodes, which
become systems of linear equations.

The gradient of a solution is the solution of an equation of the same kind, with conjugate transposed coefficients (Kao
and Hennequin 2020, Automatic differentiation of Sylvester, Lyapunov, and algebraic Riccati equations,
arXiv:2011.11430).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.create import eye, triu
from occelo_graph.ops.elemwise.arithmetic import lt, switch
from occelo_graph.ops.join import concatenate
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.optional_scipy import scipy_module
from occelo_linalg.ops.equations.solve import solve
from occelo_linalg.ops.factorizations.schur import Schur
from occelo_linalg.ops.gradient_formulas import require_finite
from occelo_linalg.ops.matrix_op import MatrixOp, as_matrices, check_on_error, hermitian

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "DiscreteLyapunov",
    "Lyapunov",
    "Sylvester",
    "TriangularSylvester",
    "solve_continuous_lyapunov",
    "solve_discrete_lyapunov",
    "solve_sylvester",
]

DIRECT = 10
"""Discrete Lyapunov equations with fewer rows than this are solved by the method "direct" by default, as in SciPy."""


@op
class TriangularSylvester(MatrixOp):
    """Solves R X + X S^H = F for upper triangular R and S.

    R and S may be real Schur forms, with 2 x 2 blocks on the diagonal. If the solution is not unique, the coefficients
    are slightly perturbed, as in LAPACK's trsyl.
    """

    signature: ClassVar[str] = "(m,m),(n,n),(m,n)->(m,n)"
    formula: ClassVar[str | None] = None

    @property
    def label(self) -> str:
        return "solve_sylvester"

    def core(self, *arrays: Array) -> Array:
        if arrays[2].size == 0:
            return np.zeros_like(arrays[2])
        return _solved(*arrays)

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        (r, s, _), (x,), ct = inputs, outputs, cotangents[0]
        if ct is None or ct is ZERO:
            return [ct] * 3
        of_f = Sylvester()(hermitian(r), s, ct)
        # R and S may have 2 x 2 blocks, so the diagonal below the main diagonal has a cotangent, too
        return [
            triu(-matmul(of_f, hermitian(x)), -1),
            triu(-matmul(hermitian(of_f), x), -1),
            of_f,
        ]


def _solved(r: Array, s: Array, f: Array) -> Array:
    """Call LAPACK's trsyl to compute the result of `TriangularSylvester`."""
    linalg: Any = scipy_module("linalg", "solve_sylvester")
    (routine,) = linalg.get_lapack_funcs(("trsyl",), (r, s, f))
    solution, scale, _ = routine(r, s, f, tranb="C")
    # if the solution might overflow, the routine solves the equation for ``scale * f``
    return np.ascontiguousarray(solution / scale, f.dtype)


def _by_schur(decomposed: Sequence[Any], q: Any, solved: Any, product: Any) -> Any:
    """The solution of Sylvester's equation, computed from Schur decompositions of A and B^H.

    ``decomposed`` is R, U, S and V, with A = U R U^H and B^H = V S V^H. ``solved`` solves the triangular equation, and
    ``product`` multiplies matrices. The method is from Bartels and Stewart (1972), Solution of the matrix equation A X
    + X B = C.
    """
    r, u, s, v = decomposed
    turned = product(product(u.conj().swapaxes(-1, -2), q), v)
    return product(product(u, solved(r, s, turned)), v.conj().swapaxes(-1, -2))


@op
class Sylvester(MatrixOp):
    """Solves A X + X B = Q."""

    on_error: str = "raise"
    signature: ClassVar[str] = "(m,m),(n,n),(m,n)->(m,n)"

    @property
    def label(self) -> str:
        return "solve_sylvester"

    def core(self, *arrays: Array) -> Array:
        a, b, q = arrays
        if q.size == 0:
            return np.zeros_like(q)
        forms = *Schur().core(a), *Schur().core(b.conj().T)
        return np.ascontiguousarray(_by_schur(forms, q, _solved, np.matmul))

    def decompose(self, *inputs: Any, **_: Any) -> Sequence[Any]:
        a, b, q = inputs
        forms = (
            *Schur(self.on_error)(a, return_list=True),
            *Schur(self.on_error)(hermitian(b), return_list=True),
        )
        return [_by_schur(forms, q, TriangularSylvester(), matmul)]

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        (a, b, _), (x,), ct = inputs, outputs, cotangents[0]
        if ct is None or ct is ZERO:
            return [ct] * 3
        of_q = self(hermitian(a), hermitian(b), ct)
        return [-matmul(of_q, hermitian(x)), -matmul(hermitian(x), of_q), of_q]


@op
class Lyapunov(MatrixOp):
    """Solves A X + X A^H = Q, by one Schur decomposition."""

    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n),(n,n)->(n,n)"

    @property
    def label(self) -> str:
        return "solve_continuous_lyapunov"

    def core(self, *arrays: Array) -> Array:
        a, q = arrays
        if q.size == 0:
            return np.zeros_like(q)
        forms = Schur().core(a) * 2
        return np.ascontiguousarray(_by_schur(forms, q, _solved, np.matmul))

    def decompose(self, *inputs: Any, **_: Any) -> Sequence[Any]:
        a, q = inputs
        forms = Schur(self.on_error)(a, return_list=True) * 2
        return [_by_schur(forms, q, TriangularSylvester(), matmul)]

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        (a, _), (x,), ct = inputs, outputs, cotangents[0]
        if ct is None or ct is ZERO:
            return [ct] * 2
        of_q = self(hermitian(a), ct)
        return [-matmul(of_q, hermitian(x)) - matmul(hermitian(of_q), x), of_q]


@op
class DiscreteLyapunov(MatrixOp):
    """Solves X = A X A^H + Q by the ``method`` "direct" or "bilinear", None for that of the size, as SciPy does."""

    method: str | None = None
    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n),(n,n)->(n,n)"

    @property
    def label(self) -> str:
        return "solve_discrete_lyapunov"

    def core(self, *arrays: Array) -> Array:
        a, q = arrays
        if q.size == 0:
            return np.zeros_like(q)
        if not np.isfinite(a).all() or not np.isfinite(q).all():
            # the method "direct" computes with NaN, but the Schur decomposition of "bilinear" raises LinAlgError
            if self.method == "bilinear" or (self.method is None and len(a) >= DIRECT):
                require_finite(a)
            return np.full_like(q, np.nan)
        solve = scipy_module("linalg", self.label).solve_discrete_lyapunov
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                # SciPy warns of matrices that are nearly singular
                warnings.simplefilter("ignore")
                return np.asarray(solve(a, q, method=self.method), q.dtype)
        except np.linalg.LinAlgError:
            raise
        except ValueError:
            # SciPy refuses products that have overflowed
            return np.full_like(q, np.nan)

    def decompose(self, *inputs: Any, **_: Any) -> Sequence[Any]:
        a, q = inputs
        static = [n for v in inputs for n in v.type.shape[-2:] if n is not None]
        if self.method == "direct" or (self.method is None and static and static[0] < DIRECT):
            return [_elementwise(a, q, self.on_error)]
        if self.method == "bilinear" or static:
            return [_bilinear(a, q, self.on_error)]
        # one method gets the matrices and the other gets empty matrices; then the elements of both results are joined
        n = a.shape[-1]
        some = switch(lt(n, DIRECT), n, 0)
        parts = (
            _elementwise(a[..., :some, :some], q[..., :some, :some], self.on_error),
            _bilinear(a[..., some:, some:], q[..., some:, some:], self.on_error),
        )
        lead = [parts[0].shape[i] for i in range(parts[0].type.ndim - 2)]
        elements = [x.reshape([*lead, x.shape[-2] * x.shape[-1]]) for x in parts]
        return [concatenate(elements, axis=-1).reshape([*lead, n, n])]

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        (a, _), (x,), ct = inputs, outputs, cotangents[0]
        if ct is None or ct is ZERO:
            return [ct] * 2
        of_q = self(hermitian(a), ct)
        of_a = matmul(of_q, matmul(a, hermitian(x))) + matmul(hermitian(of_q), matmul(a, x))
        return [of_a, of_q]


def _bilinear(a: Any, q: Any, on_error: str) -> Any:
    """Solve a discrete Lyapunov equation by a continuous Lyapunov equation with the coefficient (A - I) (A + I)^-1."""
    one = eye(a.shape[-1], dtype=a.dtype)
    inverse = solve(a + one, one, b_ndim=2, on_error=on_error)
    moved = matmul(a - one, inverse)
    right = matmul(matmul(inverse, q), hermitian(inverse))
    return Lyapunov(on_error)(moved, right * np.asarray(-2, a.dtype))


def _elementwise(a: Any, q: Any, on_error: str) -> Any:
    """Solve a discrete Lyapunov equation by a system of linear equations for all elements of the solution."""
    n = a.shape[-1]
    square = n * n
    lead = [a.shape[i] for i in range(a.type.ndim - 2)]
    # the elements ((i, j), (k, l)) of the Kronecker product of A and its conjugate
    products = expand_dims(a, (-3, -1)) * expand_dims(a.conj(), (-4, -2))
    system = eye(square, dtype=a.dtype) - products.reshape([*lead, square, square])
    right = q.reshape([*(q.shape[i] for i in range(q.type.ndim - 2)), square, 1])
    solution = solve(system, right, b_ndim=2, on_error=on_error)
    return solution.reshape([*(solution.shape[i] for i in range(solution.type.ndim - 2)), n, n])


def solve_sylvester(a: Any, b: Any, q: Any, *, on_error: str = "raise") -> TensorVariable:
    """Solve ``a @ x + x @ b == q``, like SciPy's ``solve_sylvester``. The result has the shape (..., m, n).

    ``a`` has the shape (..., m, m), ``b`` has (..., n, n), and ``q`` has (..., m, n). Batch dimensions broadcast. The
    result has the common dtype, or float64 for integers. If ``a`` and ``-b`` have a common eigenvalue, the solution is
    not unique. Then the coefficients are slightly perturbed, as in SciPy.

    If ``a`` or ``b`` has infinite or NaN elements, ``numpy.linalg.LinAlgError`` is raised. With ``on_error="nan"``, the
    solution is NaN. ValueError for other shapes, TypeError for float16.
    """
    solver = Sylvester(check_on_error(on_error))
    solution: TensorVariable = solver(*as_matrices("solve_sylvester", a, b, q))
    return solution


def solve_continuous_lyapunov(a: Any, q: Any, *, on_error: str = "raise") -> TensorVariable:
    """Solve ``a @ x + x @ a^H == q``, like SciPy's ``solve_continuous_lyapunov``. The result has the shape (..., n, n).

    Dtypes, ``on_error`` and errors are as in `solve_sylvester`, where ``b`` is the conjugate transpose of ``a``.
    """
    solver = Lyapunov(check_on_error(on_error))
    solution: TensorVariable = solver(*as_matrices("solve_continuous_lyapunov", a, q))
    return solution


def solve_discrete_lyapunov(
    a: Any, q: Any, method: str | None = None, *, on_error: str = "raise"
) -> TensorVariable:
    """Solve ``x == a @ x @ a^H + q``, like SciPy's ``solve_discrete_lyapunov``. The result has the shape (..., n, n).

    ``method`` is "direct" (a system of linear equations for all n^2 elements) or "bilinear" (a continuous Lyapunov
    equation). None means "direct" if n < 10, else "bilinear". The result has the common dtype, or float64 for integers.

    If the solution is not unique, "direct" raises ``numpy.linalg.LinAlgError``. "bilinear" raises this error only if -1
    is an eigenvalue of ``a``. Otherwise its result has huge elements, as in SciPy. With ``on_error="nan"``, the
    solution is NaN where an error would be raised. ValueError for other shapes or another method, TypeError for
    float16.
    """
    if method not in (None, "direct", "bilinear"):
        raise ValueError(f'method must be "direct" or "bilinear", got {method!r}')
    solver = DiscreteLyapunov(method, check_on_error(on_error))
    solution: TensorVariable = solver(*as_matrices("solve_discrete_lyapunov", a, q))
    return solution
