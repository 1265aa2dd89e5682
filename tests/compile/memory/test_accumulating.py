"""Products of matrices added to other terms: one call of BLAS, over a dead operand, with NumPy's values."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from occelo_compile import Mode, function, shared
from occelo_graph import tensor as ot
from occelo_graph.ops.blas.updates import Gemm, Gemv
from occelo_link.units.object_layout import layout_fits
from occelo_rewrite import RewriteDatabaseQuery
from occelo_testing.programs.generating import ACCUMULATIONS, random_program
from occelo_testing.programs.listing import listing
from occelo_testing.random_programs.case import Case, Violation
from occelo_testing.random_programs.running import run_seeds

COUNT = 4000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 40
ONLY_PRODUCTS = RewriteDatabaseQuery(
    include=["minimum_compile", "BlasOpt", "accumulate_products", "InplaceBlasOpt"]
)
"""Nothing else, since other rules leave out what is multiplied by 0, or cancels."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("special", [False, True])
def test_sums_of_products_are_what_numpy_computes(mode: str, special: bool) -> None:
    chosen = Mode(mode, ONLY_PRODUCTS) if special else Mode(mode, "fast_run")
    few = COUNT if mode in ("native", "vm") else COUNT // 8
    fused = 0
    for seed in range(few):
        program = random_program(seed, replace(ACCUMULATIONS, special=special))
        case = Case(program, chosen)
        f = case.compiled(case.inputs, case.outputs)
        try:
            case.compare(case.called(f, program.values()))
        except Violation as error:
            raise AssertionError(listing(program, str(error))) from error
        fused += any(isinstance(n.op, Gemm | Gemv) for n in f.maker.fgraph.toposort())
    assert fused >= few // 3 or mode in ("jax", "pytorch", "c|py")


def test_sums_that_update_a_variable(mode: str) -> None:
    report = run_seeds(range(COUNT // 8), lambda _: [("state", mode)], profile=ACCUMULATIONS)
    assert not report.faults, "\n".join(report.texts.values())
    assert report.outcomes["state"]["kept"], report.outcomes


fast_entry = pytest.mark.skipif(
    not layout_fits(), reason="objects of this Python lie elsewhere: the entry in Python copies"
)


def descending(rate: Any, mode: str = "native") -> tuple[Any, Any]:
    weights = shared(np.ones((30, 20)), name="weights")
    x, d = ot.dmatrices("x", "d")
    inputs = [x, d] if isinstance(rate, float) else [x, d, rate]
    step = weights - rate * ot.dot(x.T, d)
    return weights, function(inputs, [], updates={weights: step}, mode=mode)


def address_of(weights: Any) -> int:
    """Where the value is, which nobody must hold meanwhile."""
    address: int = weights.get_value(borrow=True).__array_interface__["data"][0]
    return address


@fast_entry
@pytest.mark.parametrize("rate", [0.25, ot.dscalar("rate")], ids=["number", "input"])
def test_a_step_of_descent_is_added_in_the_memory_of_the_weights(rate: Any, mode: str) -> None:
    if mode not in ("native", "c", "numba"):
        pytest.skip("this linker gives each new value memory of its own")
    weights, f = descending(rate, mode)
    x, d = np.full((4, 30), 0.5), np.full((4, 20), 2.0)
    expected = np.ones((30, 20))
    where: list[int] = []
    for number in (0.25, 0.0, 0.25, np.inf, np.nan):
        if isinstance(rate, float) and number != rate:
            continue
        f(x, d) if isinstance(rate, float) else f(x, d, number)
        expected = expected - number * (x.T @ d)
        np.testing.assert_array_equal(weights.get_value(), expected)
        where.append(address_of(weights))
    f(x, d) if isinstance(rate, float) else f(x, d, 0.25)
    f(x, d) if isinstance(rate, float) else f(x, d, 0.25)
    # the first call takes memory of its own
    assert set(where[1:]) | {address_of(weights)} == {where[0]}


@pytest.mark.parametrize("rate", [0.25, ot.dscalar("rate")], ids=["number", "input"])
def test_a_step_that_fails_leaves_the_weights_as_they_were(rate: Any) -> None:
    weights, f = descending(rate)
    more = () if isinstance(rate, float) else (0.25,)
    for _ in range(2):
        f(np.ones((4, 30)), np.ones((4, 20)), *more)
    held = weights.get_value(borrow=True)
    copy = held.copy()
    with pytest.raises(ValueError, match=r"\(29|29,|29"):
        f(np.ones((4, 29)), np.ones((4, 20)), *more)
    assert weights.get_value(borrow=True) is held
    np.testing.assert_array_equal(held, copy)
    f(np.ones((4, 30)), np.ones((4, 20)), *more)
    np.testing.assert_array_equal(held, copy)  # somebody holds it
    np.testing.assert_array_equal(weights.get_value(), copy - 1.0)


def test_steps_in_several_threads_are_all_added() -> None:
    weights, f = descending(0.25)
    x, d = np.ones((4, 30)), np.ones((4, 20))
    threads = [threading.Thread(target=lambda: [f(x, d) for _ in range(200)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(weights.get_value(), np.full((30, 20), 1.0 - 800.0))


def test_lengths_that_do_not_fit_are_an_error_of_the_users_operation(mode: str) -> None:
    a, b, c = ot.dmatrices("a", "b", "c")
    f = function([a, b, c], c - 2.0 * ot.dot(a, b), mode=mode)
    for shapes in [((2, 3), (4, 5), (2, 5)), ((2, 3), (3, 5), (2, 4)), ((2, 3), (3, 5), (1, 5))]:
        with pytest.raises(ValueError, match=r"While computing \w+, made at .*test_accumulating"):
            f(*[np.ones(s) for s in shapes])


@pytest.mark.parametrize("dtype", ["int64", "complex128", "float16"])
def test_other_dtypes_are_not_accumulated_by_blas(mode: str, dtype: str) -> None:
    a, b, c = (ot.matrix(n, dtype=dtype) for n in "abc")
    f = function([a, b, c], c - ot.dot(a, b), mode=mode)
    x, y, z = ((np.arange(9).reshape(3, 3) % k).astype(dtype) for k in (3, 4, 5))
    np.testing.assert_array_equal(f(x, y, z), z - x @ y)
    assert not any(isinstance(n.op, Gemm) for n in f.maker.fgraph.toposort())


def test_mixed_dtypes_are_not_accumulated_by_blas(mode: str) -> None:
    a, b, c = ot.fmatrix("a"), ot.fmatrix("b"), ot.dmatrix("c")
    f = function([a, b, c], c + ot.dot(a, b), mode=mode)
    x = np.full((3, 3), 0.5, np.float32)
    np.testing.assert_array_equal(f(x, x, np.full((3, 3), 1e-9)), np.full((3, 3), 0.75 + 1e-9))
    assert not any(isinstance(n.op, Gemm) for n in f.maker.fgraph.toposort())


def test_stacks_of_matrices_plus_a_term(mode: str) -> None:
    a, b, c = ot.dtensor3("a"), ot.dtensor3("b"), ot.dtensor3("c")
    f = function([a, b, c], 2.0 * c - ot.matmul(a, b), mode=mode)
    for inner in (0, 3):
        x, y, z = np.ones((4, 2, inner)), np.full((4, inner, 5), 2.0), np.full((4, 2, 5), 3.0)
        np.testing.assert_array_equal(f(x, y, z), 2 * z - x @ y)
