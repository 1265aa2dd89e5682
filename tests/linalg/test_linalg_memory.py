"""Factors and solutions that take over the memory of dead matrices, and where they must not; against NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import occelo_graph as og
from occelo_compile import function, shared
from occelo_graph import tensor as ot
from occelo_linalg import functions as linalg
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir.program import Alloc, Program
from occelo_link.loops.ir.verify import verify
from occelo_testing.loop_programs import Compiled

N = 20
"""More rows than matrices have that are factored by loops."""


def lowered(inputs: list[Any], outputs: list[Any]) -> Program:
    order = og.toposort(outputs)
    program = lower_graph(inputs, outputs, order)
    verify(program)
    # what routines of BLAS and LAPACK access is known
    verify(lower_graph(inputs, outputs, order, check_bounds=True))
    return program


def matrices_of(program: Program) -> int:
    """How many arrays of two or more dimensions are given memory of their own."""
    return sum(
        isinstance(s, Alloc) and s.reuse is None and s.buffer.ndim > 1
        for b in program.blocks()
        for s in b
    )


def drawn(*shape: int) -> Any:
    return np.random.default_rng(7).uniform(-1, 1, shape)


def positive(*shape: int) -> Any:
    a = drawn(*shape)
    return a @ a.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])


@pytest.mark.parametrize("shape", [(None, None), (N, N), (2, N, N)])
def test_cholesky_takes_over_a_dead_matrix(shape: tuple[int | None, ...]) -> None:
    x = ot.tensor("x", shape=shape, dtype="float64")
    array = drawn(*(n or N for n in shape))
    matrix = ot.matmul(x, x.mT) + N * ot.eye(N)
    wanted = array @ array.swapaxes(-1, -2) + N * np.eye(N)
    program = lowered([x], [linalg.cholesky(matrix)])
    np.testing.assert_allclose(Compiled(program)(array)[0], np.linalg.cholesky(wanted), rtol=1e-12)
    # the product and the factor; the sum is a formula that is read once
    assert matrices_of(program) == 2
    both = lowered([x], [linalg.cholesky(matrix), matrix])
    made = Compiled(both)(array)
    np.testing.assert_allclose(made[0], np.linalg.cholesky(wanted), rtol=1e-12)
    np.testing.assert_allclose(made[1], wanted, rtol=1e-12)


def test_a_factor_of_a_product_needs_one_matrix() -> None:
    x = ot.dmatrix("x")
    array = drawn(N, 2 * N)
    program = lowered([x], [linalg.cholesky(ot.dot(x, x.T))])
    made = Compiled(program)(array)[0]
    np.testing.assert_allclose(made, np.linalg.cholesky(array @ array.T), rtol=1e-12)
    assert matrices_of(program) == 1
    assert (np.triu(made, 1) == 0).all()


def test_a_failed_factor_in_place_is_nan() -> None:
    x = ot.dtensor3("x")
    array = np.stack([drawn(N, N), drawn(N, N), drawn(N, N)])
    array[1, :, 0] = np.inf
    squares = ot.matmul(x, x.mT) * ot.as_tensor([[[1.0]], [[1.0]], [[-1.0]]])
    program = lowered([x], [linalg.cholesky(squares, on_error="nan")])
    made = Compiled(program)(array)[0]
    np.testing.assert_allclose(made[0], np.linalg.cholesky(array[0] @ array[0].T), rtol=1e-8)
    assert np.isnan(made[2]).all()


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("unit_diagonal", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_triangular_equations_in_every_layout(
    lower: bool, unit_diagonal: bool, turned: bool
) -> None:
    for batch_a, batch_b, columns in [
        ((), (), 1),
        ((), (), 3),
        ((), (), 0),
        ((2,), (2,), 3),
        ((2,), (), 1),
        ((), (2,), 5),
        ((2, 1), (3,), 2),
    ]:
        a = ot.tensor("a", shape=(None,) * (len(batch_a) + 2), dtype="float64")
        if batch_a and 1 in batch_a:
            a = ot.tensor("a", shape=(None, 1, None, None), dtype="float64")
        b = ot.tensor("b", shape=(*[None] * len(batch_b), None, columns), dtype="float64")
        left, right = positive(*batch_a, N, N), drawn(*batch_b, N, columns)
        matrix, sides = (a.mT, b[..., ::-1, :]) if turned else (a, b)
        solution = linalg.solve_triangular(
            matrix, sides, lower=lower, unit_diagonal=unit_diagonal, b_ndim=2
        )
        made = Compiled(lowered([a, b], [solution]))(left, right)[0]
        if turned:
            left, right = left.swapaxes(-1, -2), right[..., ::-1, :]
        batch = np.broadcast_shapes(batch_a, batch_b)
        left = np.broadcast_to(left, (*batch, N, N))
        right = np.broadcast_to(right, (*batch, N, columns))
        assert made.shape == right.shape
        for index in np.ndindex(batch):
            wanted = scipy.linalg.solve_triangular(
                left[index], right[index], lower=lower, unit_diagonal=unit_diagonal
            )
            np.testing.assert_allclose(made[index], wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("columns", [1, 3])
def test_singular_triangles_are_nan_alone(columns: int) -> None:
    a, b = ot.dtensor3("a"), ot.tensor("b", shape=(None, None, columns), dtype="float64")
    left, right = positive(3, N, N), drawn(3, N, columns)
    left[1, 4, 4] = 0
    solution = linalg.solve_triangular(a, b + 1, lower=True, b_ndim=2, on_error="nan")
    made = Compiled(lowered([a, b], [solution]))(left, right)[0]
    assert np.isnan(made[1]).all()
    for k in (0, 2):
        wanted = scipy.linalg.solve_triangular(left[k], right[k] + 1, lower=True)
        np.testing.assert_allclose(made[k], wanted, rtol=1e-9)


@pytest.mark.parametrize("columns", [1, 3])
def test_solutions_take_over_dead_right_hand_sides_only(columns: int) -> None:
    a, b = ot.dmatrix("a"), ot.tensor("b", shape=(None, columns), dtype="float64")
    sides = ot.dot(a, b)

    def solved(x: Any) -> Any:
        return linalg.solve_triangular(a, x, lower=True, b_ndim=2)

    left, right = positive(N, N), drawn(N, columns)
    program = lowered([a, b], [solved(sides)])
    assert matrices_of(program) == 1
    first = scipy.linalg.solve_triangular(left, left @ right, lower=True)
    np.testing.assert_allclose(Compiled(program)(left, right)[0], first, rtol=1e-9)
    made = Compiled(lowered([a, b], [solved(sides), sides]))(left, right)
    np.testing.assert_allclose(made[0], first, rtol=1e-9)
    np.testing.assert_allclose(made[1], left @ right, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "shape", [(0, 0), (1, 1), (5, 5), (N, N), (0, 4, 4), (3, 0, 0), (17, 3, 3), (2, 3, N, N)]
)
def test_determinants(shape: tuple[int, ...], dtype: str) -> None:
    turned: Callable[[Any], Any] = lambda x: x.swapaxes(-1, -2)[..., ::-1, :]  # noqa: E731
    array = drawn(*shape).astype(dtype)
    tolerance = 1e-9 if dtype == "float64" else 2e-3
    for known in (shape, (None,) * len(shape)):
        x = ot.tensor("x", shape=known, dtype=dtype)
        made = Compiled(lowered([x], [linalg.det(x), linalg.det(turned(x))]))(array)
        for found, given in zip(made, (array, turned(array)), strict=True):
            assert found.dtype == array.dtype
            np.testing.assert_allclose(found, np.linalg.det(given), rtol=tolerance, atol=1e-12)


def test_a_determinant_of_a_singular_matrix_is_0() -> None:
    for n in (3, N):
        for known in ((4, n, n), (None, None, None), (1, n, n)):
            array = drawn(known[0] or 4, n, n)
            array[0, :, 1] = 0
            x = ot.tensor("x", shape=known, dtype="float64")
            assert Compiled(lowered([x], [linalg.det(x)]))(array)[0][0] == 0


@pytest.mark.parametrize("on_error", ["raise", "nan"])
@pytest.mark.parametrize("turned", [False, True])
def test_equations_and_inverses_by_factors_of_the_transpose(on_error: str, turned: bool) -> None:
    a, b = ot.dtensor3("a"), ot.tensor("b", shape=(None, None, 2), dtype="float64")
    left, right = drawn(3, N, N), drawn(3, N, 2)
    if on_error == "nan":
        left[1, 3] = left[1, 5] = 0
    matrix = a.mT if turned else a
    outputs = [
        linalg.solve(matrix, b, b_ndim=2, on_error=on_error),
        linalg.inv(matrix, on_error=on_error),
    ]
    solution, inverse = Compiled(lowered([a, b], outputs))(left, right)
    if turned:
        left = left.swapaxes(-1, -2)
    for k in range(3):
        if on_error == "nan" and k == 1:
            assert np.isnan(solution[k]).all()
            assert np.isnan(inverse[k]).all()
            continue
        np.testing.assert_allclose(solution[k], np.linalg.solve(left[k], right[k]), rtol=1e-8)
        np.testing.assert_allclose(inverse[k], np.linalg.inv(left[k]), rtol=1e-8, atol=1e-10)


def test_a_factor_that_fails_leaves_the_state_as_it_was() -> None:
    matrix = np.diag(np.arange(20.0)) - 5
    state = shared(matrix.copy(), "state")
    f = function([], [], updates=[(state, linalg.cholesky(state))])
    with pytest.raises(np.linalg.LinAlgError):
        f()
    np.testing.assert_array_equal(state.get_value(), matrix)
    state.set_value(matrix @ matrix.T + np.eye(20))
    f()
    np.testing.assert_allclose(
        state.get_value(), np.linalg.cholesky(matrix @ matrix.T + np.eye(20)), rtol=1e-9
    )
