"""The gradient of the Cholesky factor on backends with loops, which compute it by blocks of columns."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import occelo as oc
import occelo.tensor as ot
from occelo.tensor import linalg

BACKENDS = [
    b for b in ("native", "c", "numba") if b != "numba" or importlib.util.find_spec("numba")
]


def wanted(a: Any, ct: Any) -> Any:
    """The gradient with respect to the lower triangle of one matrix, from the formula of Murray (2016) with inverses."""
    factor = np.linalg.cholesky(a)
    inverse = np.linalg.inv(factor)
    inner = np.tril(factor.T @ np.tril(ct))
    inner -= 0.5 * np.diag(np.diagonal(inner))
    whole = inverse.T @ inner @ inverse
    folded = np.tril(whole + whole.T)
    return folded - 0.5 * np.diag(np.diagonal(folded))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_matrices_of_less_and_more_than_a_block(backend: str, dtype: str) -> None:
    def gradient(n: int | None) -> Any:
        a, ct = (ot.tensor(name, dtype=dtype, shape=(None, n, n)) for name in ("a", "ct"))
        return oc.function([a, ct], oc.grad((linalg.cholesky(a) * ct).sum(), a), mode=backend)

    of_any_length = gradient(None)
    lengths = [(n, of_any_length) for n in (0, 1, 2, 9, 63, 64, 65, 131)]
    rng = np.random.default_rng(6)
    for n, f in [*lengths, *((n, gradient(n)) for n in (9, 64, 65))]:
        x, y = rng.uniform(-1, 1, (2, 2, n, n)).astype(dtype)
        x = x @ x.swapaxes(-1, -2) + n * np.eye(n, dtype=dtype)
        made = f(x, y)
        assert made.dtype == dtype
        for got, each, cotangent in zip(made, x, y, strict=True):
            tolerance = 1e-9 if dtype == "float64" else 2e-4
            np.testing.assert_allclose(
                got, wanted(each.astype(float), cotangent.astype(float)), tolerance, tolerance
            )


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_batch_of_cotangents_of_one_matrix(backend: str) -> None:
    a = ot.dmatrix("a")
    jacobian = oc.function([a], oc.jacobian(linalg.cholesky(a).ravel(), a), mode=backend)
    x = np.array([[4.0, 1.0, 0.5], [1.0, 5.0, 0.25], [0.5, 0.25, 3.0]])
    made = jacobian(x)
    for k, ct in enumerate(np.eye(9).reshape(9, 3, 3)):
        np.testing.assert_allclose(made[k], wanted(x, ct), 1e-12, 1e-12)
