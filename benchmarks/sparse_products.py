"""Products and equations of sparse matrices, with gradients, beside SciPy, JAX and PyTensor.

    python benchmarks/sparse_products.py [--pytensor PYTHON]

Products are of a matrix of 10^5 x 10^5 with 10^6 stored values, equations of the matrix of a grid of 100 x 100 cells. It prints the least
processor time of some calls in milliseconds, or with `--wall` the least wall time, in turns, the ratios of the others' times to Occelo's, and the geometric mean of the ratios
to the best of the others. SciPy's gradients are written by hand; JAX's matrices are BCOO and its solutions call SciPy. PyTensor runs in a process of the given
Python, and is left out without it. `--size` is the number of rows.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import pickle
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

import occelo as oc
import occelo.tensor as ot
from occelo import sparse

CALLS = 30


def a_matrix(n: int) -> Any:
    """A CSR matrix with ten values for each row on average, at random places, and a dominant diagonal."""
    rng = np.random.default_rng(1)
    places = rng.integers(0, n, (2, 10 * n - n))
    values = rng.standard_normal(places.shape[1])
    return sp.csr_matrix((values, tuple(places)), shape=(n, n)) + 50.0 * sp.eye(n, format="csr")


def of_a_grid(n: int) -> list[Any]:
    """Two CSR matrices of equations between neighbours on a grid of n x n cells, which take turns: factors are of one call."""
    line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    grid = sp.kron(line, sp.eye(n)) + sp.kron(sp.eye(n), line) + sp.eye(n * n)
    return [sp.csr_matrix(grid * scale) for scale in (1.0, 1.5)]


SOLVE, SLOPE = "spsolve", "gradient of sum(spsolve(A, b)^2)"


def of_occelo(value: Any, x: Any, X: Any, grids: list[Any], b: Any) -> dict[str, Callable[[], Any]]:
    """The workloads as compiled functions."""
    A, v, V = sparse.csr_matrix("A"), ot.dvector("v"), ot.dmatrix("V")
    cost = (ot.tanh(A @ v) ** 2).sum()
    vector, matrix = oc.function([A, v], A @ v), oc.function([A, V], A @ V)
    turned = oc.function([A, v], A.T @ v)
    gradient = oc.function(
        [A, v], [sparse.csm_data(g) if g.type.ndim == 2 else g for g in oc.grad(cost, [A, v])]
    )
    S = sparse.csr_matrix("S")
    solution = sparse.spsolve(S, v)
    solve = oc.function([S, v], solution)
    of_values, of_right_side = oc.grad((solution**2).sum(), [S, v])
    slope = oc.function([S, v], [sparse.csm_data(of_values), of_right_side])
    turns, others = itertools.cycle(grids), itertools.cycle(grids)
    return {
        "A x": lambda: vector(value, x),
        "A' x": lambda: turned(value, x),
        "A X, 8 columns": lambda: matrix(value, X),
        "gradient of sum(tanh(A x)^2)": lambda: gradient(value, x),
        SOLVE: lambda: solve(next(turns), b),
        SLOPE: lambda: slope(next(others), b),
    }


def of_scipy(value: Any, x: Any, X: Any, grids: list[Any], b: Any) -> dict[str, Callable[[], Any]]:
    """The same by SciPy; the gradients by the matrix are computed at its places, with one factorization."""
    turns, others = itertools.cycle(grids), itertools.cycle(grids)
    lines = np.repeat(np.arange(len(b)), np.diff(grids[0].indptr))

    def slope() -> Any:
        matrix = next(others)
        factors = splu(matrix.T)  # a CSC matrix with the same arrays
        solution = factors.solve(b, "T")
        turned = factors.solve(2 * solution)
        return -turned[lines] * solution[matrix.indices], turned

    rows = np.repeat(np.arange(value.shape[0]), np.diff(value.indptr))

    def gradient() -> Any:
        outer = np.tanh(value @ x)
        slope = 2 * outer * (1 - outer**2)
        return slope[rows] * x[value.indices], value.T @ slope

    return {
        "A x": lambda: value @ x,
        "A' x": lambda: value.T @ x,
        "A X, 8 columns": lambda: value @ X,
        "gradient of sum(tanh(A x)^2)": gradient,
        SOLVE: lambda: sp.linalg.spsolve(next(turns), b),
        SLOPE: slope,
    }


def of_jax(value: Any, x: Any, X: Any, grids: list[Any], b: Any) -> dict[str, Callable[[], Any]]:
    """The same by JAX's BCOO matrices, in float64."""
    import jax
    from jax import numpy as jnp
    from jax.experimental import sparse as js
    from jax.experimental.sparse.linalg import spsolve

    jax.config.update("jax_enable_x64", True)
    A, v, V = js.BCOO.from_scipy_sparse(value.tocsr()), jnp.asarray(x), jnp.asarray(X)

    def cost(data: Any, v: Any, indices: Any) -> Any:
        return (jnp.tanh(js.BCOO((data, indices), shape=A.shape) @ v) ** 2).sum()

    turns, others = itertools.cycle(grids), itertools.cycle(grids)
    structure, right = (jnp.asarray(grids[0].indices), jnp.asarray(grids[0].indptr)), jnp.asarray(b)

    def solution(data: Any, right: Any) -> Any:
        return spsolve(data, *structure, right)

    solve = jax.jit(solution)
    slope = jax.jit(jax.grad(lambda data, right: (solution(data, right) ** 2).sum(), (0, 1)))
    vector, turned = jax.jit(lambda A, v: A @ v), jax.jit(lambda A, v: A.T @ v)
    gradient = jax.jit(jax.grad(cost, (0, 1)))
    return {
        "A x": lambda: vector(A, v).block_until_ready(),
        "A' x": lambda: turned(A, v).block_until_ready(),
        "A X, 8 columns": lambda: vector(A, V).block_until_ready(),
        "gradient of sum(tanh(A x)^2)": lambda: jax.block_until_ready(
            gradient(A.data, v, A.indices)
        ),
        SOLVE: lambda: solve(next(turns).data, right).block_until_ready(),
        SLOPE: lambda: jax.block_until_ready(slope(next(others).data, right)),
    }


class OfPyTensor:
    """PyTensor in a process of another Python: a result at the first call, and then processor times."""

    def __init__(self, python: str, clock: str, arguments: Any) -> None:
        worker = Path(__file__).with_name("sparse_in_pytensor.py")
        self._process = subprocess.Popen(
            [python, str(worker), clock], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._send(arguments)

    def _send(self, what: Any) -> None:
        assert self._process.stdin is not None
        pickle.dump(what, self._process.stdin)
        self._process.stdin.flush()

    def __call__(self, name: str) -> Any:
        """The answer about a workload, None if PyTensor has no such function."""
        self._send(name)
        assert self._process.stdout is not None
        return pickle.load(self._process.stdout)


def timed(each: Callable[[], Any], clock: Callable[[], float]) -> Callable[[], float]:
    """A function that calls ``each`` twice, and returns the time of the second call in milliseconds: its operands are in cache as far as they fit."""

    def call() -> float:
        each()
        start = clock()
        each()
        return 1e3 * (clock() - start)

    return call


def least(clocks: list[Callable[[], float]]) -> list[float]:
    """The least time of each function, called in turns."""
    best = [float("inf")] * len(clocks)
    for _ in range(CALLS):
        best = [min(time, clock()) for time, clock in zip(best, clocks, strict=True)]
    return best


def check(own: Any, other: Any) -> None:
    """AssertionError if results differ."""
    own, other = (r if isinstance(r, tuple | list) else [r] for r in (own, other))
    for one, two in zip(own, other, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-8)


def main() -> None:
    """Measure, compare results, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--pytensor", metavar="PYTHON")
    parser.add_argument("--wall", action="store_true", help="wall time, for several threads")
    options = parser.parse_args()
    n, rng = options.size, np.random.default_rng(2)
    clock = time.perf_counter if options.wall else time.process_time
    products = a_matrix(n), rng.standard_normal(n), rng.standard_normal((n, 8))
    arguments = *products, of_a_grid(100), rng.standard_normal(10_000)
    libraries = {"Occelo": of_occelo(*arguments), "SciPy": of_scipy(*arguments)}
    if importlib.util.find_spec("jax") is not None:
        libraries["JAX"] = of_jax(*arguments)
    other = (
        None if options.pytensor is None else OfPyTensor(options.pytensor, clock.__name__, products)
    )
    print("| workload |", " | ".join([*libraries, *(["PyTensor"] if other else [])]), "|")
    logarithms: list[float] = []
    for name, function in libraries["Occelo"].items():
        clocks, own = [timed(function, clock)], function()
        for each in list(libraries.values())[1:]:
            check(own, each[name]())
            clocks.append(timed(each[name], clock))
        answer = None if other is None else other(name)
        if other is not None and answer is not None:
            check(own, answer)
            clocks.append(lambda name=name: other(name))
        measured = least(clocks)
        logarithms.append(np.log(min(measured[1:]) / measured[0]))
        print(f"| {name} |", " | ".join(f"{t:.2f} ({t / measured[0]:.2f})" for t in measured), "|")
    print(
        f"geometric mean of the ratios to the best of the others: {np.exp(np.mean(logarithms)):.2f}"
    )


if __name__ == "__main__":
    main()
