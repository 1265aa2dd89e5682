"""Products of matrices in parts: all orders of factors, lengths that are no multiples of a part, and threads."""

import itertools
from typing import Any

import numpy as np
import pytest

import occelo as oc
import occelo.tensor as ot
import occelo_graph as og
from occelo_link.machine.symbol_addresses import blas_library

SHAPES = [
    (129, 130, 131),
    (33, 1000, 65),
    (1, 2000, 600),
    (600, 2000, 1),
    (10, 1000, 101),
    (24, 5000, 25),
    (330, 49, 64),
    (512, 70, 256),
    (101, 1030, 530),
    (98, 2100, 97),
    (600, 8, 601),
    (0, 70, 300),
    (300, 0, 70),
    (3, 4, 5),
]


def in_order(array: Any, by_columns: bool) -> Any:
    return np.asfortranarray(array) if by_columns else np.ascontiguousarray(array)


@pytest.mark.parametrize("mode", ["native", "c", "numba"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_products_of_all_shapes_and_orders(mode: str, dtype: str) -> None:
    x, y = ot.matrix("x", dtype=dtype), ot.matrix("y", dtype=dtype)
    f = oc.function([x, y], [x @ y, (x @ y).sum()], mode=mode)
    rng = np.random.default_rng(3)
    for m, k, n in SHAPES:
        a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
        expected = a.astype(dtype).astype(float) @ b.astype(dtype).astype(float)
        size = np.abs(a) @ np.abs(b)
        for left, right in itertools.product((False, True), repeat=2):
            product, total = f(in_order(a.astype(dtype), left), in_order(b.astype(dtype), right))
            bound = 4 * np.finfo(dtype).eps * np.sqrt(k + 1) * size
            assert (np.abs(product - expected) <= bound + 1e-30).all()
            assert np.isclose(total, product.sum(dtype=float), rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(500, 70), (5000, 33), (40, 513), (2100, 130), (90, 1100)])
def test_matrix_times_its_own_transpose(dtype: str, shape: tuple[int, int]) -> None:
    x = ot.matrix("x", dtype=dtype)
    f = oc.function([x], [x.T @ x, x @ x.T], mode="native")
    a = np.random.default_rng(4).standard_normal(shape).astype(dtype)
    for order in (False, True):
        for product, matrix in zip(f(in_order(a, order)), (a.T, a), strict=True):
            wide = matrix.astype(float)
            size = np.abs(wide) @ np.abs(wide).T
            assert (np.abs(product - wide @ wide.T) <= 1e2 * np.finfo(dtype).eps * size).all()
            if blas_library().has_small_kernels and len(product) > 64:
                assert (product == product.T).all()


def test_sums_with_products_and_values_that_are_not_finite() -> None:
    x, y, z = ot.dmatrix("x"), ot.dmatrix("y"), ot.dmatrix("z")
    f = oc.function([x, y, z], [2.0 * z - 3.0 * (x @ y), x.T @ x + z[0, 0]], mode="native")
    rng = np.random.default_rng(5)
    a, b, c = (rng.standard_normal(s) for s in ((200, 1100), (1100, 150), (200, 150)))
    a[7, 600], b[1000, 140] = np.nan, np.inf
    got, square = f(a, b, c)
    np.testing.assert_allclose(got, 2 * c - 3 * (a @ b), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(square, a.T @ a + c[0, 0], rtol=1e-9, atol=1e-9)
    sliced = f(a[::-2], b, c[::-2])[0]
    np.testing.assert_allclose(sliced, (2 * c - 3 * (a @ b))[::-2], rtol=1e-9, atol=1e-9)


@pytest.mark.skipif(not blas_library().has_small_kernels, reason="products are those of BLAS")
def test_results_do_not_depend_on_the_number_of_threads() -> None:
    x, y = ot.dmatrix("x"), ot.dmatrix("y")
    results: list[Any] = []
    rng = np.random.default_rng(6)
    a, b = rng.standard_normal((300, 2500)), rng.standard_normal((2500, 310))
    for threads in (1, 2, 3, 8):
        with og.config.change_flags(native__threads=threads):
            f = oc.function([x, y], [x @ y, x @ x.T, y.T @ x.T, x @ y[:, ::-1]], mode="native")
            f(a, b)
            results.append(f(a, b))
    for result in results[1:]:
        for got, expected in zip(result, results[0], strict=True):
            assert (got == expected).all()
