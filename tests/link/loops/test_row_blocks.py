"""Values and gradients of linear models, which read their matrix once, in blocks of rows: random models, shapes and layouts."""

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
from occelo_link.loops.ir.program import For, Invoke, Program
from occelo_link.loops.ir.uses import called_in
from occelo_link.loops.ir.verify import verify
from occelo_link.loops.row_blocks import FEWER, MEDIUM, NARROW, ROWS, WIDE
from occelo_link.units.thread_pool import thread_pool
from occelo_testing.loop_programs import has_compiler

LINKERS = ["native", *(["c"] if has_compiler() else []), "numba"]
LENGTHS = [0, 1, 2, MEDIUM - 1, MEDIUM, MEDIUM + 1, ROWS, ROWS + 1, 3 * ROWS + 3]
COLUMNS = [0, 1, 2, 3, 7, NARROW, NARROW + 1, 16, 17, WIDE, WIDE + 1, 70]

# each: the terms of the sum, the derivative of a term by eta, and a bound of the derivative of that
Curve = tuple[Callable[[Any, Any, Any], Any], Callable[[Any, Any], Any], Callable[[Any, Any], Any]]
CURVES: dict[str, Curve] = {
    "normal": (
        lambda m, y, eta: (y - eta) ** 2,
        lambda y, eta: 2 * (eta - y),
        lambda y, eta: 2 + 0 * eta,
    ),
    "logistic": (
        lambda m, y, eta: m.log1p(m.exp(eta)) - y * eta,
        lambda y, eta: 1 / (1 + np.exp(-eta)) - y,
        lambda y, eta: 0.25 + 0 * eta,
    ),
    "poisson": (
        lambda m, y, eta: m.exp(eta) - y * eta,
        lambda y, eta: np.exp(eta) - y,
        lambda y, eta: np.exp(eta + 0.1),
    ),
}


def compiled(inputs: Any, outputs: Any, linker: str) -> Callable[..., list[Any]]:
    graph = og.FunctionGraph(list(inputs), list(outputs), clone=True)
    return make_linker(linker).accept(graph).make_function()


def laid_out(array: Any, layout: str) -> Any:
    """The matrix in C or Fortran order, with gaps between its rows or columns, or elsewhere in the cache lines."""
    order: Any = layout[0]
    if layout in "CF":
        return np.asarray(array, order=order)
    rows, columns = array.shape
    if layout == "shifted":
        return np.append(array.dtype.type(0), array.T.ravel())[1:].reshape(columns, rows).T
    around: Any = np.full((rows + 3, columns + 3), np.nan, array.dtype, order=order)
    place = around[1 : rows + 1, 2 : columns + 2]
    place[...] = array
    return place


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_random_models(linker: str, dtype: str) -> None:
    """Against NumPy in float64, within what the sums and the errors of the linear predictor allow."""
    eps = float(np.finfo(dtype).eps)
    for seed in range(40 if linker == "native" else 10):
        rng = np.random.default_rng(seed)
        n, k, static = int(rng.choice(LENGTHS)), int(rng.choice(COLUMNS)), rng.random(4) < 0.3
        values: list[Any] = [rng.normal(size=s).astype(dtype) for s in ((n, k), n, n, k)]
        x, offset, y, b = values
        b /= b.dtype.type(max(k, 1) ** 0.5)
        term, slope, bend = CURVES[list(CURVES)[seed % 3]]
        inputs = [
            og.TensorType(dtype, shape if known else (None,) * len(shape))(name)
            for shape, known, name in zip([(n, k), (n,), (n,), (k,)], static, "xoyb", strict=True)
        ]
        with_offset = bool(rng.random() < 0.5)
        eta = inputs[0] @ inputs[3] + (inputs[1] if with_offset else 0.25)
        total = term(ot, inputs[2], eta).sum() + 0.5 * (inputs[3] ** 2).sum()
        outputs = [total, og.grad(total, inputs[3]), *([eta] if rng.random() < 0.3 else [])]
        layout = str(rng.choice(["C", "F", "C gaps", "F gaps"]))
        results = compiled(inputs, outputs, linker)(laid_out(x, layout), offset, y, b)

        x, offset, y, b = (v.astype("float64") for v in values)
        predictor = x @ b + (offset if with_offset else 0.25)
        of_predictor = eps * (k + 4) * (abs(x) @ abs(b) + abs(offset) + 1)
        residual = slope(y, predictor)
        of_residual = bend(y, predictor) * of_predictor + 8 * eps * (abs(residual) + abs(y) + 1)
        count = ROWS + n / FEWER + 8
        terms = term(np, y, predictor)
        of_total = (abs(residual) * of_predictor + count * eps * (abs(terms) + 4)).sum()
        np.testing.assert_allclose(
            results[0], terms.sum() + 0.5 * (b**2).sum(), 0, of_total + 9 * k * eps
        )
        error = abs(x).T @ (of_residual + count * eps * abs(residual)) + 9 * eps * (abs(b) + 1)
        assert np.all(abs(results[1] - (x.T @ residual + b)) <= error), (seed, n, k, layout)
        if len(outputs) > 2:
            assert np.all(abs(results[2] - predictor) <= of_predictor)


X, Y, W, V = ot.dmatrix("X"), ot.dvector("Y"), ot.dvector("W"), ot.dvector("V")
GROUPS, LEVELS = ot.lvector("groups"), ot.dvector("levels")


def program_of(outputs: list[Any], own_code: bool = True) -> Program:
    inputs = [v for v in (X, Y, W, V, GROUPS, LEVELS) if v in set(og.ancestors(outputs))]
    graph = og.FunctionGraph(inputs, outputs, clone=True)
    program = lower_graph(
        graph.inputs, graph.outputs, graph.toposort(), own_code=own_code, threads=1
    )
    verify(program)
    return program


def products(program: Program) -> tuple[int, int]:
    """How many products are computed in blocks, and how many as a whole."""
    whole = sum(isinstance(s, Invoke) for s in program.body)
    inside = sum(len(list(called_in(s.body))) for s in program.body if isinstance(s, For))
    return inside, whole


def residual(predictor: Any) -> Any:
    return Y - 1 / (1 + ot.exp(-predictor))


def test_which_models_are_computed_in_blocks() -> None:
    by_rows = residual(X @ W)
    assert products(program_of([X.T @ by_rows])) == (2, 0)
    assert products(program_of([by_rows @ X, by_rows.sum()])) == (2, 0)
    # several vectors on both sides
    both = by_rows * ot.exp(X @ V)
    assert products(program_of([X.T @ both, both @ X, X.T @ (both * Y), (both**2).sum()])) == (5, 0)
    # levels of groups, whose index is checked for each row
    of_levels = residual(X @ W + LEVELS[GROUPS])
    assert products(program_of([X.T @ of_levels, of_levels.sum()])) == (2, 0)
    # a sum over all rows is needed before the first row is complete
    eta = X @ W
    centred = residual(eta - eta.mean())
    assert products(program_of([X.T @ centred])) == (0, 2)
    # a product with the result of a product
    assert products(program_of([X @ (X.T @ by_rows)])) == (2, 1)
    # few rows, and another matrix
    few = og.TensorType("float64", (ROWS, None))("few")
    graph = og.FunctionGraph([few, W], [few.T @ ot.tanh(few @ W)], clone=True)
    assert products(lower_graph(graph.inputs, graph.outputs, graph.toposort())) == (0, 2)
    assert products(program_of([X.T @ Y, X @ W])) == (0, 2)
    # programs that run without this package call only BLAS
    assert {*program_of([X.T @ by_rows], own_code=False).table} == {"blas:dgemv"}


@pytest.mark.parametrize("linker", LINKERS)
def test_vectors_that_others_read(linker: str) -> None:
    rng = np.random.default_rng(3)
    values: list[Any] = [rng.normal(size=s) for s in ((300, 5), 300, 5, 5)]
    values.append(rng.integers(0, 4, 300))
    values.append(rng.normal(size=4))
    inputs = [X, Y, W, V, GROUPS, LEVELS]
    x, y, w, v, groups, levels = values
    eta, scale = X @ W + LEVELS[GROUPS], ot.exp(0.1 * (X @ V))
    r = (Y - eta) * scale
    outputs = [
        *(X.T @ r, X.T @ (r * eta), r[::-2].cumsum(), eta.max(), ot.inc_subtensor(ot.zeros(4)[GROUPS], r)),
        *(r.sum(), X @ (X.T @ r), (X * r[:, None]).sum(axis=0)),
    ]  # fmt: skip
    results = compiled(inputs, outputs, linker)(*values)
    eta_: Any = x @ w + levels[groups]
    r_ = (y - eta_) * np.exp(0.1 * (x @ v))
    sums: Any = np.zeros(4)
    np.add.at(sums, groups, r_)
    wanted = [
        *(x.T @ r_, x.T @ (r_ * eta_), r_[::-2].cumsum(), eta_.max(), sums),
        *(r_.sum(), x @ (x.T @ r_), (x * r_[:, None]).sum(axis=0)),
    ]
    for one, other in zip(results, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11)
    groups[250] = 4
    with pytest.raises(IndexError, match="4"):
        compiled(inputs, outputs, linker)(*values)


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("columns", [1, 3, 8, 13, 40])
def test_infinite_and_missing_elements(linker: str, columns: int) -> None:
    """They reach the results that they have in NumPy, and no others."""
    rng = np.random.default_rng(columns)
    run = compiled([X, Y, W], [X @ W, X.T @ ot.minimum(X @ W, Y)], linker)
    for row, number in [(0, np.inf), (200, np.nan), (299, -np.inf), (150, np.inf)]:
        x, y, w = rng.normal(size=(300, columns)), rng.normal(size=300), rng.normal(size=columns)
        x[row, rng.integers(columns)] = number
        for layout in ("C", "F", "C gaps"):
            eta, total = run(laid_out(x, layout), y, w)
            with np.errstate(invalid="ignore"):
                r = np.minimum(x @ w, y)
                np.testing.assert_allclose(eta, x @ w, rtol=1e-11, atol=1e-11)
                np.testing.assert_allclose(total, x.T @ r, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("linker", LINKERS[:-1])
def test_same_bits_in_any_number_of_threads(linker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "ENOUGH", -1)
    monkeypatch.setattr(thread_pool(), "worth", 1)
    rng = np.random.default_rng(5)
    r = residual(X @ W)
    for shape in [(1000, 9), (700, 40), (300, 3)]:
        x, y, w = rng.normal(size=shape), rng.normal(size=shape[0]), rng.normal(size=shape[1])
        for layouts in (["C"] * 3, ["F", "F", "shifted"]):
            results = list[Any]()
            for count, layout in zip((1, 2, 5), layouts, strict=True):
                with config.change_flags(native__threads=count, cache=False):
                    loops = thread_pool().loops
                    run = compiled([X, Y, W], [X.T @ r, r.sum(), r], linker)
                    results.append(run(laid_out(x, layout), y, w))
                    assert (thread_pool().loops > loops) == (count > 1)
            for other in results[1:]:
                for one, two in zip(results[0], other, strict=True):
                    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("linker", LINKERS)
def test_products_that_are_added_to_vectors(linker: str) -> None:
    """Factors that are 0, infinite or not a number multiply the product, as in NumPy."""
    rng = np.random.default_rng(7)
    x, y, w = (np.asarray(rng.normal(size=s)) for s in ((300, 6), 300, 6))
    alpha, beta = ot.dscalars("alpha", "beta")
    eta = Gemv()(Y, alpha, X, W, beta)
    total = Gemv()(W, beta, X.T, ot.tanh(eta), alpha)
    for outputs in ([total, eta], [total]):
        run = compiled([X, Y, W, alpha, beta], outputs, linker)
        for a, b in [(0.5, -2.0), (0.0, 1.0), (1e-300, 1e250), (np.inf, 1.0), (1.0, np.nan)]:
            with np.errstate(invalid="ignore"):
                eta_ = b * y + a * (x @ w)
                wanted = [a * w + b * (x.T @ np.tanh(eta_)), eta_]
            for one, other in zip(run(x, y, w, np.array(a), np.array(b)), wanted, strict=False):
                np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11)
