"""`cg`, `minres` and `gmres`: solutions of linear systems by products with the matrix, with the names of `scipy.sparse.linalg`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from occelo_graph.errors import describe
from occelo_graph.gradient.forward import pushforward
from occelo_graph.gradient.reverse import pullback
from occelo_graph.ir.nodes import Variable
from occelo_graph.ops.create import zeros_like
from occelo_graph.ops.elemwise.arithmetic import maximum, switch
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.variable import TensorVariable
from occelo_optimize.ops.implicit import ImplicitFunction
from occelo_optimize.ops.methods import krylov
from occelo_optimize.ops.regions import region_between

__all__ = ["LinearSolution", "cg", "gmres", "minres"]

_METHODS: dict[str, Any] = {"cg": krylov.cg, "minres": krylov.minres, "gmres": krylov.gmres}


class LinearSolution(NamedTuple):
    """A pair as SciPy's functions return it: the solution, and 0 if it was found, else the number of iterations.

    TypeError if a field is missing.
    """

    x: Any
    info: Any


class Settings(NamedTuple):
    """The method, its tolerances, the most iterations (None: from the size), and the dimensions of a space of GMRES."""

    method: str
    rtol: float
    atol: float
    maxiter: int | None
    restart: int


class IterativeSolution(ImplicitFunction, further=("settings",)):
    """The solution of a linear system by a method that uses products. Its derivatives use the same method."""

    settings: tuple[Any, ...]

    def solved(self, residual: Any, x: Any, right: Any, *, transposed: bool) -> TensorVariable:
        def product(v: Any) -> Any:
            image: Any = pullback(residual, x, v) if transposed else pushforward(residual, x, v)
            return image

        return solve_linear(product, right, None, None, Settings(*self.settings))[0]


def solve_linear(
    product: Callable[[Any], Any],
    b: Any,
    x0: Any,
    precondition: Callable[[Any], Any] | None,
    settings: Settings,
) -> tuple[Any, Any, Any]:
    """The solution, whether it was found, and the iterations, for a vector ``b``."""
    x = b.type.make_variable("x")
    residual = region_between([product(x) - b], (x,))
    parts = region_between([product(x), x if precondition is None else precondition(x)], (x,))
    outside = tuple(dict.fromkeys((*residual.parameters, *parts.parameters, b)))
    arguments = [*outside, zeros_like(b) if x0 is None else x0]
    inner = [v.type.make_variable(v.name) for v in arguments]
    names = dict(zip(outside, inner, strict=False))
    own = [names[v] for v in parts.parameters]

    def part(which: int) -> Callable[[Any], Any]:
        return lambda v: parts.graph.bind([v, *own])[which]

    right: Any = names[b]
    options: dict[str, Any] = {} if settings.method != "gmres" else {"restart": settings.restart}
    most = settings.maxiter
    results = _METHODS[settings.method](
        part(0),
        right,
        inner[-1],
        part(1),
        tol=maximum(settings.rtol * (right**2).sum() ** 0.5, settings.atol),
        maxiter=10 * right.shape[0] if most is None else most,
        **options,
    )
    outputs = list(map(as_tensor_variable, results[:3]))
    op = IterativeSolution(
        inner, outputs, "linear_system", residual=residual.graph, settings=tuple(settings)
    )
    solution, success, nit = op(*arguments, return_list=True)
    return solution, success, nit


def _solution(a: Any, b: Any, x0: Any, m: Any, settings: Settings) -> LinearSolution:
    who = settings.method
    right = as_tensor_variable(b)
    if right.type.ndim != 1 or right.type.numpy_dtype.kind not in "fiu":
        raise TypeError(f"{who} needs a real vector as its right side, got {describe(right)}")
    if right.type.numpy_dtype.kind != "f":
        right = right.astype("float64")
    product = _product(a, who, "matrix", right)
    precondition = None if m is None else _product(m, who, "preconditioner", right)
    start = None if x0 is None else as_tensor_variable(x0).astype(right.dtype)
    x, success, nit = solve_linear(product, right, start, precondition, settings)
    return LinearSolution(x, switch(success, 0, maximum(nit, 1)))


def _product(a: Any, who: str, what: str, b: Any) -> Callable[[Any], Any]:
    if callable(a) and not isinstance(a, Variable):
        function: Any = a
        return lambda v: as_tensor_variable(function(v)).astype(b.dtype)
    matrix = as_tensor_variable(a)
    if matrix.type.ndim != 2 or matrix.type.numpy_dtype.kind not in "fiu":
        raise TypeError(
            f"{who} needs a real matrix, or a function of a vector, as its {what}, got {describe(matrix)}"
        )
    shape = matrix.type.shape
    if None not in shape and shape[0] != shape[1]:
        raise ValueError(f"{who} needs a square {what}, got {describe(matrix)}")
    return lambda v: (matrix @ v).astype(b.dtype)


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> LinearSolution:
    """The solution of A x = b for a symmetric positive definite A, by conjugate gradients.

    - ``A``: a real matrix, or a Python function that multiplies a vector by it, such as a `hessian_vector_product`.
    - ``b``: a real vector. ``x0``: where the search starts, by default 0.
    - ``rtol``, ``atol``: numbers: the norm of the residual is at most ``max(rtol |b|, atol)`` at the end.
    - ``maxiter``: the most iterations, by default 10 n.
    - ``M``: an approximate inverse of A, a matrix or a function. It is not used for derivatives.

    Returns a pair ``(x, info)``; ``info`` is 0 if the solution was found, else the number of iterations. The solution has
    derivatives with respect to ``b`` and everything that ``A`` reads, which solve a system with the same method.

    TypeError for a ``b`` that is no real vector or an ``A`` that is no real matrix, ValueError for one that is not square.
    """
    return _solution(A, b, x0, M, Settings("cg", rtol, atol, maxiter, 0))


def minres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
) -> LinearSolution:
    """The solution of A x = b for a symmetric A, by the method of least residuals.

    - ``A``, ``b``, ``x0``, ``rtol``, ``atol``, ``maxiter``: as in `cg`.

    Returns a pair ``(x, info)`` as `cg`, with the same derivatives and errors.
    """
    return _solution(A, b, x0, None, Settings("minres", rtol, atol, maxiter, 0))


def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: Any = None,
) -> LinearSolution:
    """The solution of A x = b for any invertible A, by generalized least residuals.

    - ``A``, ``b``, ``x0``, ``rtol``, ``atol``, ``M``: as in `cg`.
    - ``restart``: the dimension of the spaces in which residuals are made small. ``maxiter``: the most such spaces.

    Returns a pair ``(x, info)`` as `cg`, with the same derivatives and errors.
    """
    return _solution(A, b, x0, M, Settings("gmres", rtol, atol, maxiter, restart))
