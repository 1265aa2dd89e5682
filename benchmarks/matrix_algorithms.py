"""The hand-written algorithms of linear algebra beside SciPy's and NumPy's: how many times as fast a compiled call is.

    OPENBLAS_NUM_THREADS=1 taskset -c 0 python benchmarks/matrix_algorithms.py

Each function is compiled for matrices of unknown lengths. A line has one figure for each number of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from timing import interleaved, timed

import occelo as oc
from occelo.tensor import linalg

ROWS = (4, 16, 64, 128)
rng = np.random.default_rng(0)


def general(n: int) -> Any:
    """A matrix with eigenvalues in about the unit circle."""
    return rng.normal(size=(n, n)) / np.sqrt(n)


def shifted(n: int) -> Any:
    """A matrix with eigenvalues around 3, so that its root and logarithm are real."""
    return general(n) + 3 * np.eye(n)


def positive(n: int) -> Any:
    """A symmetric positive definite matrix."""
    a = rng.normal(size=(n, n))
    return a @ a.T + n * np.eye(n)


CASES: dict[str, tuple[Any, list[Callable[[int], Any]]]] = {
    "expm": (scipy.linalg, [general]),
    "sqrtm": (scipy.linalg, [shifted]),
    "logm": (scipy.linalg, [shifted]),
    "schur": (scipy.linalg, [general]),
    "qz": (scipy.linalg, [general, general]),
    "eigh": (np.linalg, [positive]),
    "eig": (np.linalg, [general]),
    "svd": (np.linalg, [general]),
    "qr": (np.linalg, [general]),
    "lu": (scipy.linalg, [general]),
    "cholesky": (np.linalg, [positive]),
    "inv": (np.linalg, [general]),
    "pinv": (np.linalg, [general]),
    "det": (np.linalg, [general]),
    "solve": (np.linalg, [general, general]),
    "solve_toeplitz": (scipy.linalg, [lambda n: 3.0 ** -np.arange(n), lambda n: general(n)[0]]),
    "solve_sylvester": (scipy.linalg, [general, general, general]),
    "solve_discrete_lyapunov": (scipy.linalg, [lambda n: general(n) / 2, positive]),
    "solve_continuous_are": (scipy.linalg, [general, general, positive, positive]),
}


def ratio(name: str, library: Any, arguments: list[Any]) -> float:
    """The time of the library's function over that of ours."""
    inputs = [oc.tensor.TensorType("float64", (None,) * a.ndim)() for a in arguments]
    result: Any = getattr(linalg, name)(*inputs)
    ours = oc.function(inputs, result)
    theirs: Any = getattr(library, name)
    calls = {"ours": timed(lambda: ours(*arguments)), "theirs": timed(lambda: theirs(*arguments))}
    best = interleaved(calls, rounds=7)
    return best["theirs"] / best["ours"]


def main() -> None:
    """Print a line for each function."""
    print(f"{'':24}", *(f"{n:7}" for n in ROWS))
    for name, (library, makers) in CASES.items():
        ratios = [ratio(name, library, [make(n) for make in makers]) for n in ROWS]
        print(f"{name:24}", *(f"{each:7.2f}" for each in ratios), flush=True)


if __name__ == "__main__":
    main()
