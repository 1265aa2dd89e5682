"""Several equations with one matrix beside NumPy, and how often it is factorized."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import occelo_compile as oc
import occelo_graph as og
import occelo_sparse as sparse
from occelo_graph import tensor as ot
from occelo_sparse.ops import factors


def matrix(kind: str, n: int = 6) -> Any:
    rng = np.random.default_rng(n)
    dense = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.4) + 4 * np.eye(n)
    if kind == "complex":
        dense = dense + 1j * (rng.random((n, n)) < 0.3)
    return dense @ dense.T if kind == "definite" else dense


@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("kind", ["general", "definite", "complex"])
def test_all_kinds_of_equations(kind: str, format: str) -> None:
    dtype = "complex128" if kind == "complex" else "float64"
    A, b, B = sparse.matrix(format, "A", dtype), ot.vector(dtype=dtype), ot.matrix(dtype=dtype)
    lu = sparse.splu(A)
    solutions = [lu.solve(right, trans) for right in (b, B) for trans in "NTH"]
    f = oc.function([A, b, B], [*solutions, sparse.factorized(A)(b), *lu.slogdet(), lu.shape])
    rng = np.random.default_rng(1)
    for n in (1, 6):
        dense = matrix(kind, n)
        vector, columns = rng.normal(size=n).astype(dtype), rng.normal(size=(n, 3)).astype(dtype)
        made = f(sp.csr_matrix(dense).asformat(format), vector, columns)
        operands = (dense, dense.T, dense.conj().T)
        expected = [np.linalg.solve(m, r) for r in (vector, columns) for m in operands]
        expected += [expected[0], *np.linalg.slogdet(dense), (n, n)]
        for own, wanted in zip(made, expected, strict=True):
            np.testing.assert_allclose(own, wanted, rtol=1e-10)


@pytest.mark.parametrize("mode", ["py", "native"])
def test_one_factorization_serves_solutions_determinant_and_gradient(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    class Counted(factors.Factors):
        def __init__(self, *parts: Any) -> None:
            made.append(1)
            super().__init__(*parts)

    A, b, c = sparse.csc_matrix("A"), ot.dvector("b"), ot.dvector("c")
    lu = sparse.splu(A)
    cost = (lu.solve(b) * lu.solve(c, "T")).sum() + lu.slogdet().logabsdet
    f = oc.function([A, b, c], [cost, *og.grad(cost, [A, b, c])], mode=mode)
    monkeypatch.setattr(factors, "Factors", Counted)
    monkeypatch.setattr(factors, "_last", threading.local())
    dense = matrix("general")
    vectors = np.random.default_rng(2).normal(size=(2, 6))
    _, of_matrix, of_b, of_c = f(sp.csc_matrix(dense), *vectors)
    assert len(made) == 1

    def whole(m: Any, b: Any, c: Any) -> Any:
        product = np.linalg.solve(m, b) @ np.linalg.solve(m.T, c)
        return product + np.linalg.slogdet(m)[1]

    step, arguments = 1e-6, (dense, *vectors)
    for slope, at in ((of_matrix.toarray(), 0), (of_b, 1), (of_c, 2)):
        for place in np.ndindex(np.shape(slope)):
            if at == 0 and not dense[place]:
                continue
            sides: list[Any] = []
            for sign in (1, -1):
                moved = [np.array(each) for each in arguments]
                moved[at][place] += sign * step
                sides.append(whole(*moved))
            difference = (sides[0] - sides[1]) / (2 * step)
            np.testing.assert_allclose(slope[place], difference, rtol=1e-5, atol=1e-7)


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="square"):
        sparse.splu(sparse.csc_matrix(shape=(2, 3)))
    with pytest.raises(TypeError, match="sparse"):
        sparse.splu(ot.dmatrix())
    lu = sparse.splu(sp.csc_matrix([[2, 0], [0, 4]]))
    with pytest.raises(ValueError, match="trans"):
        lu.solve(ot.dvector(), "X")
    np.testing.assert_array_equal(oc.function([], lu.solve([1.0, 1.0]))(), [0.5, 0.25])
