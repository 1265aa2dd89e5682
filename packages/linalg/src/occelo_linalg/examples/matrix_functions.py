"""Examples of functions of matrices, of Sylvester's, Lyapunov's and Riccati's equations, and of equations with tensors.

They belong to the family linalg, and are part of the table in `examples`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.examples.example import Example, draw
from occelo_linalg import functions as linalg
from occelo_linalg.examples.factors import dominant, make, positive_definite

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array, ArrayFunction

npl: Any = np.linalg
kron: Any = np.kron
M = draw((-1.0, 1.0), (3, 3), salt=31)
N = draw((-1.0, 1.0), (2, 2), salt=32)
Q = draw((-1.0, 1.0), (3, 2), salt=33)
BATCH = draw((-1.0, 1.0), (2, 3, 3), salt=34)
COMPLEX = BATCH + 1j * BATCH[::-1]


def _by_eigenvalues(function: Any, matrix: Any = dominant) -> ArrayFunction:
    """A reference in NumPy for a function of matrices. It applies ``function`` to the eigenvalues of ``matrix(x)``."""

    def reference(x: Array) -> Any:
        values, vectors = npl.eig(matrix(x))
        product = vectors @ (function(values)[..., None] * npl.inv(vectors))
        return (product if np.iscomplexobj(x) else product.real).astype(x.dtype)

    return reference


def same(x: Any) -> Any:
    """The matrix ``x`` itself."""
    return x


def _functions() -> list[Example]:
    examples = [
        make("expm", linalg.expm, _by_eigenvalues(np.exp, same), M, grad=(0,)),
        make("expm", linalg.expm, _by_eigenvalues(np.exp, same), COMPLEX),
        make("expm", linalg.expm, np.copy, np.zeros((0, 0))),
    ]
    examples += _principal("logm", linalg.logm, np.log)
    return examples + _principal("sqrtm", linalg.sqrtm, np.sqrt)


def _principal(name: str, function: Any, scalar: Any) -> list[Example]:
    """Examples of a function that is defined only for matrices without eigenvalues on the negative real axis."""

    def of_dominant(x: Any) -> Any:
        return function(dominant(x))

    reference = _by_eigenvalues(scalar)
    return [
        make(name, of_dominant, reference, BATCH, grad=(0,)),
        make(name, of_dominant, reference, M.astype("float32"), tolerance=1e-4),
        make(name, of_dominant, reference, COMPLEX),
    ]


def _by_kron(a: Any, b: Any, q: Any) -> Any:
    """The solution x of ``a x + x b = q``, from one linear system for all elements of x."""
    m, n = q.shape
    system = kron(a, np.eye(n)) + kron(np.eye(m), b.T)
    return npl.solve(system, q.reshape(-1)).reshape(m, n)


def _equations() -> list[Example]:
    def lyapunov(a: Any, q: Any) -> Any:
        a = dominant(a)
        return _by_kron(a, a.conj().T, q)

    def discrete(a: Any, q: Any) -> Any:
        a, n = a * 0.3, len(a)
        system = np.eye(n * n) - kron(a, a.conj())
        return npl.solve(system, q.reshape(-1)).reshape(n, n)

    return [
        make(
            "solve_sylvester",
            lambda a, b, q: linalg.solve_sylvester(dominant(a), dominant(b), q),
            lambda a, b, q: _by_kron(dominant(a), dominant(b), q),
            M,
            N,
            Q,
            grad=(0, 1, 2),
        ),
        make(
            "solve_continuous_lyapunov",
            lambda a, q: linalg.solve_continuous_lyapunov(dominant(a), q),
            lyapunov,
            M,
            BATCH[0],
            grad=(0, 1),
        ),
        make(
            "solve_continuous_lyapunov",
            lambda a, q: linalg.solve_continuous_lyapunov(dominant(a), q),
            lyapunov,
            COMPLEX[0],
            COMPLEX[1],
        ),
        make(
            "solve_discrete_lyapunov",
            lambda a, q: linalg.solve_discrete_lyapunov(a * 0.3, q),
            discrete,
            M,
            BATCH[0],
            grad=(0, 1),
        ),
        make(
            "solve_discrete_lyapunov",
            lambda a, q: linalg.solve_discrete_lyapunov(a * 0.3, q, method="bilinear"),
            discrete,
            COMPLEX[0],
            COMPLEX[1],
        ),
    ]


def _riccati() -> list[Example]:
    def continuous(a: Array, b: Array, r: Array) -> Any:
        """The solution of Riccati's continuous equation, from the eigenvectors of the Hamiltonian matrix.

        The eigenvectors used are those with eigenvalues of negative real part.
        """
        gain = b @ npl.solve(positive_definite(r), b.T)
        values, vectors = npl.eig(np.block([[a, -gain], [-positive_definite(a), -a.T]]))
        stable = vectors[:, values.real < 0]
        return (stable[3:] @ npl.inv(stable[:3])).real

    def discrete(a: Array, b: Array, r: Array) -> Any:
        """The solution of Riccati's discrete equation, by 200 fixed-point iterations."""
        q = x = positive_definite(a)
        for _ in range(200):
            gain = npl.solve(positive_definite(r) + b.T @ x @ b, b.T @ x @ a)
            x = a.T @ x @ (a - b @ gain) + q
        return x

    def solved(solve: Any) -> Any:
        def function(a: Any, b: Any, r: Any) -> Any:
            return solve(a, b, positive_definite(a), positive_definite(r))

        return function

    args = M, Q, N
    return [
        make(
            "solve_continuous_are",
            solved(linalg.solve_continuous_are),
            continuous,
            *args,
            grad=(0, 1, 2),
        ),
        make(
            "solve_discrete_are", solved(linalg.solve_discrete_are), discrete, *args, grad=(0, 1, 2)
        ),
    ]


def _tensors() -> list[Example]:
    def tensor(x: Any) -> Any:
        """The elements of a 6 x 6 matrix as a tensor of shape (2, 3, 6)."""
        return dominant(x).reshape((2, 3, 6))

    return [
        make(
            "tensorsolve",
            lambda a, b: linalg.tensorsolve(tensor(a), b),
            lambda a, b: npl.tensorsolve(tensor(a), b),
            draw((-1.0, 1.0), (6, 6), salt=35),
            Q.T,
            grad=(0, 1),
        ),
        make(
            "tensorinv",
            lambda a: linalg.tensorinv(tensor(a)),
            lambda a: npl.tensorinv(tensor(a)),
            draw((-1.0, 1.0), (6, 6), salt=36),
            grad=(0,),
        ),
    ]


EXAMPLES: list[Example] = [*_functions(), *_equations(), *_riccati(), *_tensors()]
