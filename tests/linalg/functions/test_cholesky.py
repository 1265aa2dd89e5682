"""First and second derivatives of the Cholesky factor, real and complex, against finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph import grad
from occelo_graph import tensor as ot
from occelo_graph.gradient.numeric import verify_grad
from occelo_linalg.functions import cholesky
from occelo_linalg.ops.factorizations.cholesky import CholeskyPullback

rng = np.random.default_rng(7)
WEIGHTS = rng.uniform(-1, 1, (2, 3, 3))
BATCH = rng.uniform(-1, 1, (2, 3, 3))
BATCH = BATCH @ BATCH.swapaxes(-1, -2) + 3 * np.eye(3)


def of_parts(re: Any, im: Any) -> Any:
    """The factor of a positive definite matrix made of real and imaginary parts, as its own parts."""
    z = re + 1j * im
    factor = cholesky(ot.matmul(z, z.conj().T) + 3 * np.eye(3))
    return ot.concatenate([factor.real, factor.imag])


def test_derivatives_of_first_and_second_order() -> None:
    verify_grad(cholesky, [BATCH])
    verify_grad(lambda x: grad((cholesky(x) * WEIGHTS).sum(), x), [BATCH])


def test_derivatives_of_the_pullback_by_both_of_its_inputs() -> None:
    verify_grad(lambda x, ct: CholeskyPullback()(x, ct), [np.linalg.cholesky(BATCH), WEIGHTS])


def test_complex_derivatives_of_first_and_second_order() -> None:
    verify_grad(of_parts, list(WEIGHTS))
    verify_grad(
        lambda re, im: ot.concatenate(grad((of_parts(re, im) ** 3).sum(), [re, im])),
        list(WEIGHTS),
    )
