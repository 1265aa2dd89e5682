"""Products of vectors and matrices with few columns, which are formulas and sums of the loops that need them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.ops.blas.updates import Gemv
from occelo_link import make_linker
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir import cost
from occelo_link.loops.ir.program import For, Invoke
from occelo_link.units.thread_pool import thread_pool
from occelo_testing.loop_programs import has_compiler

LINKERS = ["native", *(["c"] if has_compiler() else []), "numba"]
LENGTHS = [0, 1, 2, 7, 8, 33, 52, 300, 2048, 2049, 5000]
COLUMNS = [1, 2, 3, 5, 8, 12, 13]


def compiled(inputs: list[Any], outputs: list[Any], linker: str) -> Callable[..., list[Any]]:
    graph = og.FunctionGraph(inputs, outputs, clone=True)
    return make_linker(linker).accept(graph).make_function()


def laid_out(matrix: Any, layout: str) -> Any:
    """The matrix in C or Fortran order, with gaps, or with rows and columns from last to first in memory."""
    if layout in "CF":
        order: Any = layout
        return np.asarray(matrix, order=order)
    around = np.full([2 * n + 1 for n in matrix.shape], np.nan, matrix.dtype)
    place = around[::-2, ::-2] if layout == "backwards" else around[1::2, 1::2]
    place = place[: matrix.shape[0], : matrix.shape[1]]
    place[...] = matrix
    return place


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_random_products(linker: str, dtype: str) -> None:
    eps = float(np.finfo(dtype).eps)
    for seed in range(40 if linker == "native" else 8):
        rng = np.random.default_rng(seed)
        n, k = int(rng.choice(LENGTHS)), int(rng.choice(COLUMNS))
        matrix, b, r = (rng.normal(size=s).astype(dtype) for s in ((n, k), k, n))
        matrix = laid_out(matrix, str(rng.choice(["C", "F", "gaps", "backwards"])))
        a = ot.constant(matrix)
        lengths = [length if rng.random() < 0.5 else None for length in (k, n)]
        vb, vr = (ot.tensor(dtype=dtype, shape=(length,)) for length in lengths)
        one, two, half = (np.asarray(f, dtype) for f in (-1, 2, -0.5))
        rows, columns = abs(matrix) @ abs(b), abs(matrix).T @ abs(r)
        eta, total = ot.tanh(a @ vb) * vr, vr @ a
        cases: list[Any] = [
            (a @ vb, matrix @ b, rows),
            (vb @ a.T, matrix @ b, rows),
            (total, r @ matrix, columns),
            (a.T @ vr, r @ matrix, columns),
            ((vr + a @ vb)[::-1], (r + matrix @ b)[::-1], (abs(r) + rows)[::-1]),
            (a.T @ eta, matrix.T @ (np.tanh(matrix @ b) * r), (k + 2) * columns),
            (a @ total, matrix @ (r @ matrix), (n + 2) * (abs(matrix) @ columns)),
            ((a @ vb).sum(), (matrix @ b).sum(), rows.sum()),
            (Gemv()(vr, one, a, vb, -one), r - matrix @ b, abs(r) + rows),
            (Gemv()(vb, two, a.T, vr, half), 2 * (r @ matrix) - b / 2, abs(b) + 2 * columns),
        ]
        rng.shuffle(cases)
        chosen = cases[: int(rng.integers(1, len(cases)))]
        results = compiled([vb, vr], [c[0] for c in chosen], linker)(b, r)
        for result, (_, wanted, scale) in zip(results, chosen, strict=True):
            assert result.dtype == dtype
            error = abs(result - wanted) <= (min(n, 2048) + k + 8) * eps * (scale + 1e-30)
            assert np.all(error), (seed, n, k)


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("n", [0, 1, 9, 3000])
def test_rows_that_are_computed_and_have_an_unknown_length(linker: str, n: int) -> None:
    u, v, w = ot.dvectors("u", "v", "w")
    rows = ot.stack([u, u * v, v])
    outputs = [rows @ ot.exp(w), rows.sum(axis=1), (rows * 2.0).T @ ot.constant([1.0, -2.0, 0.5])]
    values = [np.random.default_rng(n).normal(size=n) for _ in range(3)]
    results = compiled([u, v, w], outputs, linker)(*values)
    both: Any = np.stack([values[0], values[0] * values[1], values[1]])
    wanted = [both @ np.exp(values[2]), both.sum(axis=1), 2 * both.T @ [1.0, -2.0, 0.5]]
    for result, other in zip(results, wanted, strict=True):
        np.testing.assert_allclose(result, other, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("linker", LINKERS)
def test_infinite_and_missing_elements_reach_what_they_reach_in_numpy(linker: str) -> None:
    rng = np.random.default_rng(2)
    b, r = ot.dvectors("b", "r")
    for number in (np.nan, np.inf, -np.inf):
        matrix, vectors = rng.normal(size=(100, 3)), [rng.normal(size=3), rng.normal(size=100)]
        matrix[rng.integers(100), rng.integers(3)] = number
        a = ot.constant(matrix)
        run = compiled([b, r], [a @ b, a.T @ r, ot.minimum(a @ b, 0.5) @ a], linker)
        for zero in (False, True):
            vectors[0] = vectors[0] * (not zero)
            with np.errstate(invalid="ignore"):
                eta = matrix @ vectors[0]
                wanted = [eta, matrix.T @ vectors[1], np.minimum(eta, 0.5) @ matrix]
            for one, other in zip(run(*vectors), wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11)


def model(n: int, k: int) -> tuple[Any, list[Any], Any]:
    rng = np.random.default_rng(n)
    a, y, b = ot.constant(rng.normal(size=(n, k))), rng.normal(size=n), ot.dvector("b")
    r = y - a @ b
    return b, [(r**2).sum(), a.T @ ot.tanh(r), r.sum()], rng.normal(size=k)


@pytest.mark.parametrize(("n", "k", "calls"), [(20, 5, 0), (3000, 12, 0), (3000, 13, 2)])
def test_one_loop_reads_the_matrix_once(n: int, k: int, calls: int) -> None:
    b, outputs, _ = model(n, k)
    graph = og.FunctionGraph([b], outputs, clone=True)
    program = lower_graph(graph.inputs, graph.outputs, graph.toposort(), own_code=True)
    statements = [s for block in program.blocks() for s in block]
    assert sum(isinstance(s, Invoke) for s in statements) == calls
    if not calls:
        loops = [s for s in statements if isinstance(s, For) and s.lanes > 1]
        assert len(loops) == 1
        assert len(loops[0].carried) == k + 2


def test_same_bits_in_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "ENOUGH", -1)
    monkeypatch.setattr(thread_pool(), "worth", 1)
    b, outputs, point = model(9000, 6)
    results = list[Any]()
    for count in (1, 2, 5):
        with config.change_flags(native__threads=count, cache=False):
            loops = thread_pool().loops
            results.append(compiled([b], outputs, "native")(point))
            assert (thread_pool().loops > loops) == (count > 1)
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one, two)
