"""`dtype=` of products of matrices and vectors, beside NumPy's einsum of the converted operands."""

from __future__ import annotations

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot

PRODUCTS = {"matvec": (ot.matvec, "...ij,j->...i"), "vecmat": (ot.vecmat, "...ij,i->...j")}
DTYPES = [
    ("float32", "float32", "float64"),
    ("int8", "int16", "float32"),
    ("float64", "float64", "complex128"),
    ("float64", "float64", "float32"),
    ("int8", "float32", None),
]


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize(("matrix", "vector", "dtype"), DTYPES)
def test_products_have_the_dtype(name: str, matrix: str, vector: str, dtype: str | None) -> None:
    function, subscripts = PRODUCTS[name]
    rng = np.random.default_rng(0)
    a = (rng.normal(size=(2, 3, 3)) * 5).astype(matrix)
    b = (rng.normal(size=3) * 5).astype(vector)
    given = map(ot.constant, (a, b) if name == "matvec" else (b, a))
    result = og.evaluate(function(*given, dtype=dtype), {})
    expected = np.einsum(subscripts, a.astype(dtype or matrix), b.astype(dtype or vector))
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected, rtol=1e-4)


@pytest.mark.parametrize("name", PRODUCTS)
def test_another_kind_is_refused(name: str) -> None:
    operands = (ot.dmatrix(), ot.dvector())
    with pytest.raises(TypeError, match=f"{name} cannot compute with float64 in dtype int64"):
        PRODUCTS[name][0](*(operands if name == "matvec" else operands[::-1]), dtype="int64")
