"""Products of Householder reflectors: as products of matrices, with gradients, also of reflectors that are not unitary."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.interpret import evaluate
from occelo_graph.ir.decomposing import decomposed_kernel
from occelo_linalg import functions as ol


def draw(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    rng = np.random.default_rng([seed, *shape])
    made: Any = rng.standard_normal(shape)
    return (made + 1j * rng.standard_normal(shape) if dtype[0] == "c" else made).astype(dtype)


def product(v: Any, tau: Any) -> Any:
    m, n = v.shape
    made = np.eye(m)
    for i, t in enumerate(tau):
        column = np.concatenate([np.zeros(i), [1], v[i + 1 :, i]])
        made = made @ (np.eye(m) - t * np.outer(column, column.conj()))
    return made[:, :n]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_values_are_products_of_reflectors(dtype: str) -> None:
    tolerance = 1e-4 if dtype in ("float32", "complex64") else 1e-11
    for m, n, k in ((4, 3, 2), (3, 3, 3), (5, 2, 2), (4, 4, 0), (1, 1, 1), (3, 0, 0), (0, 0, 0)):
        v, tau = draw((2, m, n), dtype), draw((3, 1, k), dtype)
        x, t = og.TensorType(dtype, (None,) * 3)(), og.TensorType(dtype, (None, 1, None))()
        made = ol.householder_product(x, t)
        found = evaluate(made, {x: v, t: tau})
        assert (found.dtype, found.shape) == (dtype, (3, 2, m, n))
        kernel = decomposed_kernel(made.owner)
        assert kernel is not None
        for each in (found, kernel(v, tau)[0]):
            for i in range(3):
                for j in range(2):
                    expected = product(v[j], tau[i, 0])
                    np.testing.assert_allclose(each[i, j], expected, rtol=tolerance, atol=tolerance)


def test_q_comes_from_the_raw_decomposition() -> None:
    a = ot.tensor3()
    h, tau = ol.qr(a, "raw")
    whole = ol.householder_product(ot.concatenate([h.mT, 0 * a[..., :1]], axis=-1), tau)
    x = draw((2, 5, 3), "complex128").real
    found = evaluate([ol.householder_product(h.mT, tau), whole], {a: x})
    np.testing.assert_allclose(found[0], np.linalg.qr(x)[0], atol=1e-12)
    np.testing.assert_allclose(found[1], np.linalg.qr(x, "complete")[0][..., :4], atol=1e-12)


def test_gradients() -> None:
    v, tau = draw((4, 3), "float64"), draw((2,), "float64")
    og.verify_grad(ol.householder_product, [v, tau])
    og.verify_grad(ol.householder_product, [v, 0 * tau])
    og.verify_grad(lambda x, t: og.grad((ol.householder_product(x, t) ** 2).sum(), x), [v, tau])

    def by_parts(a: Any, b: Any, c: Any, d: Any) -> Any:
        made = ol.householder_product(a + 1j * b, c + 1j * d)
        return ot.stack([made.real, made.imag])

    og.verify_grad(by_parts, [v, v[::-1].copy(), tau, tau[::-1].copy()])


def test_shapes_that_do_not_fit_are_errors() -> None:
    for m, n, k in ((2, 3, 1), (3, 2, 3)):
        with pytest.raises(ValueError, match="at most as many reflectors as columns"):
            ol.householder_product(np.ones((m, n)), np.ones(k))
        x, t = ot.dmatrix(), ot.dvector()
        with pytest.raises(ValueError, match="at most as many reflectors as columns"):
            evaluate(ol.householder_product(x, t), {x: np.ones((m, n)), t: np.ones(k)})
    with pytest.raises(ValueError, match="dimensions"):
        ol.householder_product(np.ones(3), np.ones(1))
