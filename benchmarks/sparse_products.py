"""Products of a sparse matrix of 10^5 x 10^5 with 10^6 stored values, with gradients, beside SciPy and JAX.

    python benchmarks/sparse_products.py

It prints the least processor time of some calls in milliseconds, in turns, and the ratios of the others' times to
Occelo's. SciPy's gradients are written by hand; JAX's matrices are BCOO, compiled. `--size` is the number of rows.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

import occelo as oc
import occelo.tensor as ot
from occelo import sparse

CALLS = 15


def a_matrix(n: int) -> Any:
    """A CSR matrix with ten values for each row on average, at random places, and a dominant diagonal."""
    rng = np.random.default_rng(1)
    places = rng.integers(0, n, (2, 10 * n - n))
    values = rng.standard_normal(places.shape[1])
    return sp.csr_matrix((values, tuple(places)), shape=(n, n)) + 50.0 * sp.eye(n, format="csr")


def of_occelo(value: Any, x: Any, X: Any) -> dict[str, Callable[[], Any]]:
    """The workloads as compiled functions."""
    A, v, V = sparse.csr_matrix("A"), ot.dvector("v"), ot.dmatrix("V")
    cost = (ot.tanh(A @ v) ** 2).sum()
    vector, matrix = oc.function([A, v], A @ v), oc.function([A, V], A @ V)
    turned = oc.function([A, v], A.T @ v)
    gradient = oc.function(
        [A, v], [sparse.csm_data(g) if g.type.ndim == 2 else g for g in oc.grad(cost, [A, v])]
    )
    return {
        "A x": lambda: vector(value, x),
        "A' x": lambda: turned(value, x),
        "A X, 8 columns": lambda: matrix(value, X),
        "gradient of sum(tanh(A x)^2)": lambda: gradient(value, x),
    }


def of_scipy(value: Any, x: Any, X: Any) -> dict[str, Callable[[], Any]]:
    """The same by SciPy; the gradient by the matrix is computed at its places."""
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
    }


def of_jax(value: Any, x: Any, X: Any) -> dict[str, Callable[[], Any]]:
    """The same by JAX's BCOO matrices, in float64."""
    import jax
    from jax import numpy as jnp
    from jax.experimental import sparse as js

    jax.config.update("jax_enable_x64", True)
    A, v, V = js.BCOO.from_scipy_sparse(value.tocsr()), jnp.asarray(x), jnp.asarray(X)

    def cost(data: Any, v: Any, indices: Any) -> Any:
        return (jnp.tanh(js.BCOO((data, indices), shape=A.shape) @ v) ** 2).sum()

    vector, turned = jax.jit(lambda A, v: A @ v), jax.jit(lambda A, v: A.T @ v)
    gradient = jax.jit(jax.grad(cost, (0, 1)))
    return {
        "A x": lambda: vector(A, v).block_until_ready(),
        "A' x": lambda: turned(A, v).block_until_ready(),
        "A X, 8 columns": lambda: vector(A, V).block_until_ready(),
        "gradient of sum(tanh(A x)^2)": lambda: jax.block_until_ready(
            gradient(A.data, v, A.indices)
        ),
    }


def times(functions: list[Callable[[], Any]]) -> list[float]:
    """The least processor time of each function in milliseconds, called in turns."""
    best = [float("inf")] * len(functions)
    for _ in range(CALLS):
        for i, each in enumerate(functions):
            start = time.process_time()
            each()
            best[i] = min(best[i], 1e3 * (time.process_time() - start))
    return best


def main() -> None:
    """Measure, compare results, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000)
    n = parser.parse_args().size
    rng = np.random.default_rng(2)
    arguments = a_matrix(n), rng.standard_normal(n), rng.standard_normal((n, 8))
    libraries = {"Occelo": of_occelo(*arguments), "SciPy": of_scipy(*arguments)}
    if importlib.util.find_spec("jax") is not None:
        libraries["JAX"] = of_jax(*arguments)
    print("| workload |", " | ".join(libraries), "|")
    for name in libraries["Occelo"]:
        functions = [each[name] for each in libraries.values()]
        results = [functions[i]() for i in range(2)]
        for own, other in zip(
            *(r if isinstance(r, (tuple, list)) else [r] for r in results), strict=True
        ):
            np.testing.assert_allclose(own, other, atol=1e-9)
        found = times(functions)
        told = [f"{t:.2f} ({t / found[0]:.2f})" for t in found]
        print(f"| {name} |", " | ".join(told), "|")


if __name__ == "__main__":
    main()
