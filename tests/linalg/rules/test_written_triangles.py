"""Matrices that are written at constant positions are known to be triangular, so that their products need no factoring."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_linalg import functions as ol
from occelo_linalg.ops.factorizations.cholesky import Cholesky

ROWS, COLUMNS = np.tril_indices(3)


def factored(rows: Any, columns: Any, on_error: str) -> tuple[Any, bool]:
    """The function from elements to the factor of L L^T, and whether it factors."""
    x = ot.dvector("x")
    lower = ot.set_subtensor(ot.zeros((3, 3))[rows, columns], x)
    f = oc.function([x], ol.cholesky(lower @ lower.T, on_error=on_error))
    return f, any(isinstance(n.op, Cholesky) for n in f.maker.fgraph.apply_nodes)


@pytest.mark.parametrize("on_error", ["raise", "nan"])
def test_a_product_of_a_written_triangle_is_not_factored(on_error: str) -> None:
    f, factors = factored(ROWS, COLUMNS, on_error)
    assert not factors
    x = np.array([1.5, 0.3, -2.0, 0.1, 0.7, 1e-9])
    lower = np.zeros((3, 3))
    lower[ROWS, COLUMNS] = x
    np.testing.assert_allclose(f(x), lower * np.sign(np.diag(lower)), rtol=1e-14)


def test_a_singular_product_gives_what_the_op_says() -> None:
    singular = np.array([1.0, 2.0, 0.0, 1.0, 1.0, 1.0])
    assert np.isnan(factored(ROWS, COLUMNS, "nan")[0](singular)).all()
    with pytest.raises(np.linalg.LinAlgError):
        factored(ROWS, COLUMNS, "raise")[0](singular)


@pytest.mark.parametrize(("rows", "columns"), [(COLUMNS, ROWS), (ROWS - 3, COLUMNS)])
def test_other_positions_tell_nothing_of_a_lower_triangle(rows: Any, columns: Any) -> None:
    f, factors = factored(rows, columns, "nan")
    assert factors
    x = np.array([1.5, 0.3, 2.0, 0.1, 0.7, 1.0])
    matrix = np.zeros((3, 3))
    matrix[rows, columns] = x
    np.testing.assert_allclose(f(x), np.linalg.cholesky(matrix @ matrix.T), rtol=1e-9)
