"""The exponential, logarithm and square root of matrices, and Sylvester's and Lyapunov's equations, beside SciPy's."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from occelo_graph import evaluate, grad, verify_grad
from occelo_graph import tensor as ot
from occelo_linalg import functions as linalg

scipy_linalg = pytest.importorskip("scipy.linalg")

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
FUNCTIONS = ("expm", "logm", "sqrtm")


def _matrices(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> Any:
    """Matrices with eigenvalues in the right half plane, most of them complex."""
    rng = np.random.default_rng([seed, *shape])
    values = rng.normal(size=shape)
    if dtype.startswith("complex"):
        values = values + 1j * rng.normal(size=shape)
    return (0.5 * values + 3 * np.eye(*shape[-2:])).astype(dtype)


def _looped(function: Any, *arrays: Any) -> Any:
    """A function of matrices, called for each element of the batch."""
    batch = np.broadcast_shapes(*(a.shape[:-2] for a in arrays))
    whole = [np.broadcast_to(a, (*batch, *a.shape[-2:])) for a in arrays]
    rows = [function(*(a[i] for a in whole)) for i in np.ndindex(batch)]
    return np.array(rows).reshape(*batch, *np.shape(rows[0]))


def _compare(function: Any, reference: Any, *arrays: Any, tolerance: float = 1e-9) -> None:
    expected = _looped(reference, *arrays)
    for known in (True, False):
        inputs = [
            ot.tensor(dtype=a.dtype, shape=[n if known or n == 1 else None for n in a.shape])
            for a in arrays
        ]
        given = [np.asarray(a[..., ::-1], order="F")[..., ::-1] for a in arrays]
        found = evaluate(function(*inputs), dict(zip(inputs, given, strict=True)))
        assert (found.dtype, found.shape) == (np.result_type(*arrays), expected.shape)
        np.testing.assert_allclose(found, expected, tolerance, tolerance)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "complex64"])
def test_functions_of_matrices_are_scipys(name: str, dtype: str) -> None:
    def reference(x: Any) -> Any:
        return getattr(scipy_linalg, name)(x.astype(np.result_type(x, np.float64)))

    narrow = dtype in ("float32", "complex64")
    for shape in [(3, 3), (1, 1), (2, 3, 3), (2, 1, 2, 2)]:
        _compare(
            getattr(linalg, name),
            reference,
            _matrices(shape, dtype),
            tolerance=1e-4 if narrow else 1e-9,
        )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_empty_matrices_and_batches(name: str) -> None:
    function = getattr(linalg, name)
    for shape in [(0, 0), (0, 3, 3), (2, 0, 0)]:
        assert function(np.zeros(shape)).eval().shape == shape
    assert function(np.eye(2, dtype="int64")).type.dtype == "float64"
    with pytest.raises(TypeError, match="float16"):
        function(np.eye(2, dtype="float16"))
    with pytest.raises(ValueError, match="square"):
        function(np.ones((2, 3)))


@pytest.mark.parametrize("name", ["logm", "sqrtm"])
def test_real_matrices_without_a_real_result(name: str) -> None:
    function = getattr(linalg, name)
    given = np.stack([np.diag([4.0, 1.0]), np.diag([-4.0, 1.0])])
    with pytest.raises(
        np.linalg.LinAlgError, match=r"negative eigenvalues.*at index 1 of the batch"
    ):
        function(given).eval()
    filled = function(given, on_error="nan").eval()
    reference = getattr(scipy_linalg, name)
    np.testing.assert_allclose(filled[0], reference(given[0]), 1e-12)
    assert np.isnan(filled[1]).all()
    np.testing.assert_allclose(
        function(given.astype("complex128")).eval(),
        [reference(m.astype(complex)) for m in given],
        1e-12,
    )
    nilpotent = np.array([[0.0, 1.0], [0.0, 0.0]])
    with pytest.raises(np.linalg.LinAlgError, match=f"singular and has no {name}"):
        function(nilpotent).eval()
    with pytest.raises(ValueError, match="on_error"):
        function(nilpotent, on_error="zero")


def test_a_rotation_has_a_real_root_and_logarithm() -> None:
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    np.testing.assert_allclose(linalg.logm(turn).eval(), turn * np.pi / 2, atol=1e-12)
    root = linalg.sqrtm(turn).eval()
    np.testing.assert_allclose(root @ root, turn, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_equations_are_scipys(dtype: str) -> None:
    tolerance = 1e-4 if dtype == "float32" else 1e-9
    batches: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), ()), ((2,), ()), ((2, 1), (3,))]
    for first, second in batches:
        a, b = _matrices((*first, 3, 3), dtype), _matrices((*second, 2, 2), dtype, 1)
        q, square = np.ones((*second, 3, 2), dtype), _matrices((*second, 3, 3), dtype, 2)
        _compare(linalg.solve_sylvester, scipy_linalg.solve_sylvester, a, b, q, tolerance=tolerance)
        reference = scipy_linalg.solve_continuous_lyapunov
        _compare(linalg.solve_continuous_lyapunov, reference, a, square, tolerance=tolerance)
        for method in (None, "direct", "bilinear"):
            _compare(
                lambda x, y, m=method: linalg.solve_discrete_lyapunov(x, y, m),
                lambda x, y, m=method: scipy_linalg.solve_discrete_lyapunov(x, y, m),
                a / np.array(10, dtype),
                square,
                tolerance=tolerance,
            )
    for m, n in ((0, 2), (2, 0), (0, 0)):
        made = linalg.solve_sylvester(np.zeros((m, m)), np.zeros((n, n)), np.zeros((m, n)))
        assert made.eval().shape == (m, n)


def test_equations_that_do_not_fit() -> None:
    eye = np.eye(2)
    with pytest.raises(ValueError, match="square matrices that fit"):
        linalg.solve_sylvester(eye, np.eye(3), eye)
    with pytest.raises(ValueError, match="method must be"):
        linalg.solve_discrete_lyapunov(eye, eye, method="fast")
    with pytest.raises(np.linalg.LinAlgError, match="solve_discrete_lyapunov"):
        linalg.solve_discrete_lyapunov(eye, eye, method="direct").eval()


CASES: dict[str, Any] = {
    "expm": linalg.expm,
    "logm": linalg.logm,
    "sqrtm": linalg.sqrtm,
    "solve_sylvester": lambda x: linalg.solve_sylvester(x, x[:2, :2] + x[1:, 1:], x[:, :2]),
    "solve_continuous_lyapunov": lambda x: linalg.solve_continuous_lyapunov(x, x * x),
    "solve_discrete_lyapunov": lambda x: linalg.solve_discrete_lyapunov(x / 9, x * x),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_gradients_to_second_order(name: str) -> None:
    value = _matrices((3, 3))

    def cost(x: Any) -> Any:
        return ot.sum(ot.sin(CASES[name](x)))

    verify_grad(cost, [value], rng=np.random.default_rng(0))
    verify_grad(lambda x: grad(cost(x), x), [value], rng=np.random.default_rng(1))


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_complex_matrices(name: str) -> None:
    value = _matrices((3, 3), "complex128")

    def cost(re: Any, im: Any) -> Any:
        made = CASES[name](ot.complex(re, im))
        return ot.sum(ot.sin(made.real) + made.real * made.imag)

    verify_grad(cost, [value.real, value.imag], rng=np.random.default_rng(0))


def test_gradients_of_operands_that_broadcast() -> None:
    a, b, q = _matrices((2, 3, 3)), _matrices((2, 2), seed=1), _matrices((2, 1, 3, 2)[2:], seed=2)
    verify_grad(lambda *v: linalg.solve_sylvester(*v), [a, b, q], rng=np.random.default_rng(0))


def _riccati_coefficients(dtype: str, batch: tuple[int, ...] = ()) -> list[Any]:
    """A, B, Q, R, E and S of moderate size."""
    square, wide = _matrices((*batch, 3, 3), dtype), _matrices((*batch, 3, 2), dtype)
    eye, two = np.eye(3, dtype=dtype), np.eye(2, dtype=dtype)
    a = (square - 3 * eye) / 2
    b, e, s = wide / 2, eye + a / 5, wide / 30
    q, r = (m @ m.conj().swapaxes(-1, -2) / 10 for m in (square, square[..., :2, :2]))
    return [a, b, q + eye, r + two, e, s]


@pytest.mark.parametrize("name", ["solve_continuous_are", "solve_discrete_are"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_riccati_equations_are_scipys(name: str, dtype: str) -> None:
    ours, reference = getattr(linalg, name), getattr(scipy_linalg, name)
    coefficients = _riccati_coefficients(dtype)
    for count in (4, 5, 6):
        _compare(ours, reference, *coefficients[:count])
    _compare(
        lambda *v: ours(*v[:4], s=v[4]),
        lambda *v: reference(*v[:4], s=v[4]),
        *coefficients[:4],
        coefficients[5],
    )
    _compare(ours, reference, _riccati_coefficients(dtype, (2,))[0], *coefficients[1:4])
    assert ours(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((0, 0)), np.eye(1)).eval().shape == (
        0,
        0,
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["solve_continuous_are", "solve_discrete_are"])
def test_gradients_of_riccati_equations(name: str) -> None:
    ours = getattr(linalg, name)

    def cost(a: Any, b: Any, q: Any, r: Any, *more: Any) -> Any:
        return ot.sum(
            ot.sin(ours(a, b, (q + q.mT) / 2, (r + r.mT) / 2, *more) * np.arange(9.0).reshape(3, 3))
        )

    values = _riccati_coefficients("float64")
    verify_grad(cost, values[:4], rng=np.random.default_rng(0), n_tests=2 if THOROUGH else 1)
    if THOROUGH:  # these take seconds each
        verify_grad(cost, values, rng=np.random.default_rng(0))
        again = np.random.default_rng(1)
        verify_grad(lambda a: grad(cost(a, *values[1:4]), a), values[:1], rng=again)

    def complex_cost(re: Any, im: Any) -> Any:
        a = ot.complex(re, im)
        made = ours(a, a[:, :2], a @ a.conj().mT, values[3])
        return ot.sum(made.real * made.imag + made.real)

    a = _matrices((3, 3), "complex128")
    verify_grad(complex_cost, [a.real, a.imag], rng=np.random.default_rng(2), n_tests=1)


def test_riccati_equations_without_solution() -> None:
    eye = np.eye(2)
    with pytest.raises(np.linalg.LinAlgError, match="solve_discrete_are"):
        linalg.solve_discrete_are(2 * eye, np.zeros((2, 1)), eye, np.eye(1)).eval()
    with pytest.raises(ValueError, match="symmetric"):
        linalg.solve_continuous_are(eye, eye, np.triu(np.ones((2, 2))), eye).eval()


def test_equations_of_tensors_are_numpys() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3, 3, 2)), rng.normal(size=(2, 3))
    cases: list[tuple[Any, Any]] = [
        (linalg.tensorsolve(a, b), np.linalg.tensorsolve(a, b)),
        (linalg.tensorinv(a), np.linalg.tensorinv(a)),
        (
            linalg.tensorinv(a.reshape(6, 3, 2), ind=1),
            np.linalg.tensorinv(a.reshape(6, 3, 2), ind=1),
        ),
        (
            linalg.tensorsolve(np.moveaxis(a, 2, 1), b, axes=(1, 3)),
            np.linalg.tensorsolve(np.moveaxis(a, 2, 1), b, axes=(1, 3)),
        ),
        (linalg.tensorsolve(np.eye(2, dtype="int64"), [1, 2]), [1.0, 2.0]),
    ]
    for made, expected in cases:
        np.testing.assert_allclose(made.eval(), expected, 1e-10)
    x, y = ot.tensor4("x", dtype="float64"), ot.dmatrix("y")
    np.testing.assert_allclose(
        evaluate(np.linalg.tensorsolve(x, y), {x: a, y: b}), np.linalg.tensorsolve(a, b), 1e-10
    )
    with pytest.raises(ValueError, match="ind must be positive, got 0"):
        linalg.tensorinv(a, ind=0)
    with pytest.raises(ValueError, match="fewer dimensions"):
        linalg.tensorsolve(b, a)
    with pytest.raises(ValueError, match="square"):
        linalg.tensorinv(a, ind=1)
