"""Riccati equations and discrete Lyapunov equations in compiled code."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import occelo as oc
import occelo.tensor as ot
from occelo.tensor import linalg

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
COMPILED = ["native", "c"]
# its compiler takes many seconds for these programs
if THOROUGH and importlib.util.find_spec("numba"):
    COMPILED.append("numba")
NAMES = ("solve_continuous_are", "solve_discrete_are")
spl: Any = scipy.linalg
npl: Any = np.linalg


def drawn(shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    rng = np.random.default_rng([seed, *shape])
    real = rng.standard_normal(shape)
    return real + 1j * rng.standard_normal(shape) if dtype[0] == "c" else real


def definite(n: int, dtype: str, seed: int) -> Any:
    x = drawn((n, n), dtype, seed)
    x = x @ x.conj().T + np.eye(n)
    return (x + x.conj().T).astype(dtype)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("backend", COMPILED)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_solutions_are_those_of_scipy(backend: str, name: str, dtype: str) -> None:
    a = ot.tensor("a", dtype=dtype, shape=(None, None, None))
    b, q, r = (ot.tensor(n, dtype=dtype, shape=(None, None)) for n in "bqr")
    for balanced in (True, False) if backend == "native" else (True,):
        made = getattr(linalg, name)(a, b, q, r, balanced=balanced)
        assert oc.supports(backend, made) == []
        f = oc.function([a, b, q, r], made, mode=backend)
        for lead, n, m in ((2, 4, 2), (1, 1, 1), (2, 2, 3), (2, 0, 1), (0, 2, 1)):
            x, y = (
                drawn((lead, n, n), dtype, 0).astype(dtype),
                drawn((n, m), dtype, 1).astype(dtype),
            )
            # Weights of other sizes, so that balancing scales. Without it SciPy too is then off by up to 5e-6.
            scale = np.asarray(1e4 if balanced else 1.0, dtype)
            weights = definite(n, dtype, 2) * scale, definite(m, dtype, 3)
            found = f(x, y, *weights)
            assert (found.dtype, found.shape) == (dtype, (lead, n, n))
            for each, result in zip(x, found, strict=True):
                if n == 0:
                    continue
                expected = getattr(spl, name)(each, y, *weights, balanced=balanced)
                tolerance = 1e-6 if dtype in ("float32", "complex64") else 1e-11
                room = tolerance * np.abs(expected).max()
                np.testing.assert_allclose(result, expected, rtol=0, atol=room)


@pytest.mark.parametrize("backend", COMPILED)
def test_equations_without_solution_are_errors(backend: str) -> None:
    inputs = [ot.dmatrix(n) for n in "abqr"]
    continuous, discrete = (
        oc.function(inputs, getattr(linalg, n)(*inputs), mode=backend) for n in NAMES
    )
    one, none = np.eye(2), np.zeros((2, 1))
    lost = np.array([[1.0, np.nan], [np.nan, 1.0]])
    for f, error, message, given in (
        (discrete, np.linalg.LinAlgError, "solve_discrete_are", (2 * one, none, one, np.eye(1))),
        (
            continuous,
            np.linalg.LinAlgError,
            "solve_continuous_are",
            (0 * one, none, one, np.eye(1)),
        ),
        (continuous, ValueError, "symmetric", (one, one, np.triu(np.ones((2, 2))), one)),
        (continuous, ValueError, "numerically singular", (one, one, one, 0 * one)),
        (continuous, ValueError, "infs or NaNs", (one, one, lost, one)),
        (discrete, ValueError, "infs or NaNs", (lost, one, one, one)),
    ):
        with pytest.raises(error, match=message):
            f(*given)
    # singular weights of the control are right in discrete time
    np.testing.assert_allclose(discrete(one, one, one, 0 * one), one, atol=1e-14)


ONE, NONE, WEIGHT = np.eye(2), np.zeros((2, 1)), np.eye(1)
GOOD: list[Any] = [np.diag([0.5, -0.25]), NONE + [[1.0], [0.5]], ONE, WEIGHT, ONE + 0.25, NONE]
LOST: dict[str, list[list[Any]]] = {
    "solve_continuous_are": [
        [0 * ONE, NONE, ONE, WEIGHT, ONE, NONE],  # eigenvalues on the axis
        [ONE, NONE + 1, ONE, 0 * WEIGHT, ONE, NONE],
        [ONE, NONE + 1, ONE + np.inf, WEIGHT, ONE, NONE],
        [ONE, NONE + 1, ONE, WEIGHT, 0 * ONE, NONE],
    ],
    "solve_discrete_are": [
        [2 * ONE, NONE, ONE, WEIGHT, ONE, NONE],  # cannot be stabilized
        [ONE, NONE + np.nan, ONE, WEIGHT, ONE, NONE],
        [ONE, NONE + 1, ONE, WEIGHT, 0 * ONE, NONE],
    ],
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
@pytest.mark.parametrize("backend", [*COMPILED, "py"])
@pytest.mark.parametrize("name", LOST)
def test_equations_without_solution_are_nan_alone(backend: str, name: str, dtype: str) -> None:
    inputs = [ot.tensor(n, dtype=dtype, shape=(None, None, None)) for n in "abqres"]
    cases = [GOOD, *(each for bad in LOST[name] for each in (bad, GOOD))]
    given = [np.stack(x).astype(dtype) for x in zip(*cases, strict=True)]
    solver = getattr(linalg, name)
    made = solver(*inputs, on_error="nan")
    results = [made]
    if backend != "py":
        assert oc.supports(backend, made) == []
    if backend != "c":
        results += oc.grad(ot.abs(made).sum(), inputs)
    found, *gradients = oc.function(inputs, results, mode=backend)(*given)
    expected = getattr(spl, name)(*GOOD)
    good = np.arange(len(cases)) % 2 == 0
    close = 1e-5 if dtype == "complex64" else 1e-10
    np.testing.assert_allclose(found[good], [expected] * good.sum(), rtol=close, atol=close)
    assert np.isnan(found[~good]).all()
    for gradient in gradients:
        assert np.isfinite(gradient[good]).all()
        assert np.isnan(gradient[~good]).all()


@pytest.mark.parametrize("backend", [*COMPILED, "py"])
@pytest.mark.parametrize("name", LOST)
def test_equations_without_solution_are_found_in_batches(backend: str, name: str) -> None:
    inputs = [ot.dtensor3(n) for n in "abqres"]
    strict = oc.function(inputs, getattr(linalg, name)(*inputs), mode=backend)
    for bad in LOST[name]:
        with pytest.raises(np.linalg.LinAlgError, match="at index 1 of the batch"):
            strict(*map(np.stack, zip(GOOD, bad, strict=True)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", [*COMPILED, "py"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_weights_of_the_control_may_be_singular_beside_others(backend: str, dtype: str) -> None:
    """In discrete time, also with weights of products of state and control; and the gradient of those."""
    a, b, s = drawn((2, 4, 4), dtype, 0), drawn((4, 2), dtype, 1), 0.1 * drawn((4, 2), dtype, 2)
    weights = definite(4, dtype, 3), np.diag([1.0, 0.0]).astype(dtype)
    scale = np.eye(4) + 0.2 * drawn((4, 4), dtype, 4)
    x = ot.tensor("x", dtype=dtype, shape=(None, None, None))
    y, v, w, z, e = (ot.tensor(n, dtype=dtype, shape=(None, None)) for n in "yvwze")
    for given in ((), (scale,)):
        inputs = [x, y, v, w, *([e] if given else []), z]
        made = linalg.solve_discrete_are(x, y, v, w, e if given else None, z)
        cost = ot.sin(ot.abs(made)).sum()
        f = oc.function(inputs, [made, cost, oc.grad(cost, z)], mode=backend)
        found, _, slope = f(a, b, *weights, *given, s)
        for each, result in zip(a, found, strict=True):
            expected = spl.solve_discrete_are(each, b, *weights, *(given or (None,)), s, False)
            np.testing.assert_allclose(result, expected, rtol=0, atol=1e-9 * abs(expected).max())
        move = drawn((4, 2), dtype, 5)
        above, below = (f(a, b, *weights, *given, s + h * move)[1] for h in (1e-5, -1e-5))
        np.testing.assert_allclose(
            (slope.conj() * move).real.sum(), (above - below) / 2e-5, rtol=1e-4, atol=1e-6
        )


SINGULAR = [[1.0, 2.0], [2.0, 4.0]]


def without_effect(n: int, m: int, dtype: str) -> tuple[list[Any], Any]:
    """Coefficients for which one direction of the control has neither effect nor cost, and a basis of the others."""
    if n == 2:
        return [np.array(SINGULAR, dtype)] * 4 + [np.zeros((2, 2), dtype)], np.array([[1.0], [2.0]])
    v = drawn((m, 1), dtype, 1)
    v /= npl.norm(v)
    keep = np.eye(m) - v @ v.conj().T
    r = keep @ definite(m, dtype, 2) @ keep
    a, b, s = (drawn(shape, dtype, 3) for shape in ((n, n), (n, m), (n, m)))
    r = (r + r.conj().T) / 2
    return [a, b @ keep, definite(n, dtype, 4), r, 0.1 * s @ keep], npl.svd(keep)[0][:, : m - 1]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("backend", [*COMPILED, "py"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 2), (3, 4)])
def test_controls_without_effect_and_cost(backend: str, dtype: str, n: int, m: int) -> None:
    """The solution is that without these controls. (SciPy's is wrong for `SINGULAR`: rounding decides.)"""
    given, basis = without_effect(n, m, dtype)
    a, b, q, r, s = given
    turned = basis.conj().T
    expected = spl.solve_discrete_are(a, b @ basis, q, turned @ r @ basis, s=s @ basis)
    inputs = [ot.tensor(k, dtype=dtype, shape=(None, None)) for k in "abqrs"]
    made = linalg.solve_discrete_are(*inputs[:4], s=inputs[4])
    results = [made]
    if backend != "c":
        results.append(oc.grad(ot.abs(made).sum(), inputs[0]))
    found, *gradients = oc.function(inputs, results, mode=backend)(*given)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9 * abs(expected).max())
    if gradients:
        few = [inputs[0], *map(ot.constant, [b @ basis, q, turned @ r @ basis])]
        made = linalg.solve_discrete_are(*few, s=ot.constant(s @ basis))
        slope = oc.grad(ot.abs(made).sum(), inputs[0]).eval({inputs[0]: a})
        np.testing.assert_allclose(gradients[0], slope, rtol=1e-6, atol=1e-7 * abs(slope).max())


@pytest.mark.parametrize("backend", ["py", "vm", "native"])
def test_equations_whose_eigenvalues_cannot_be_separated_have_no_solution(backend: str) -> None:
    inputs = [ot.ztensor3(n) for n in "abqr"]
    one = np.ones((3, 1, 1), "complex128")
    a = one * (0.1 + 0.1j)
    a[1] *= 1e200
    lenient = oc.function(inputs, linalg.solve_discrete_are(*inputs, on_error="nan"), mode=backend)
    found = lenient(a, one, one, one)
    expected = spl.solve_discrete_are(*(x[0] for x in (a, one, one, one)))
    np.testing.assert_allclose(found[[0, 2]], [expected] * 2, rtol=1e-12)
    assert np.isnan(found[1]).all()
    strict = oc.function(inputs, linalg.solve_discrete_are(*inputs), mode=backend)
    with pytest.raises(np.linalg.LinAlgError, match="at index 1 of the batch"):
        strict(a, one, one, one)


@pytest.mark.parametrize("backend", [*COMPILED, "py"])
def test_weights_that_are_not_symmetric_are_errors_always(backend: str) -> None:
    inputs = [ot.dmatrix(n) for n in "abqr"]
    for name in NAMES:
        made = getattr(linalg, name)(*inputs, on_error="nan")
        with pytest.raises(ValueError, match="symmetric") as raised:
            oc.function(inputs, made, mode=backend)(ONE, NONE, np.triu(ONE + 1), WEIGHT)
        assert not isinstance(raised.value, np.linalg.LinAlgError)


@pytest.mark.parametrize("backend", COMPILED)
def test_discrete_lyapunov_equations_of_unknown_lengths(backend: str) -> None:
    a, q = ot.dtensor3("a"), ot.dmatrix("q")
    made = linalg.solve_discrete_lyapunov(a, q)
    assert oc.supports(backend, made) == []
    f = oc.function([a, q], made, mode=backend)
    # on both sides of the length from which on the equation is transformed
    for lead, n in ((2, 3), (1, 9), (2, 10), (1, 12), (2, 0), (0, 3), (0, 11)):
        x, y = 0.2 * drawn((lead, n, n), "float64", 4), drawn((n, n), "float64", 5)
        found = f(x, y)
        assert found.shape == (lead, n, n)
        np.testing.assert_allclose(found, x @ found @ x.swapaxes(-1, -2) + y, atol=1e-10)
    with pytest.raises(np.linalg.LinAlgError, match=r"solve_discrete_lyapunov.*at index 1"):
        f(np.stack([0 * np.eye(2), np.eye(2)]), np.eye(2))


def useless(name: str) -> list[Any]:
    """Coefficients for which SciPy returns a matrix that does not solve the equation, without an error."""
    rng = np.random.default_rng([1, 18, 2] if name == "solve_discrete_are" else [1, 4, 6])
    n, m = (18, 2) if name == "solve_discrete_are" else (4, 6)
    a, b, q = (rng.standard_normal(s) for s in ((n, n), (n, m), (n, n)))
    q = q @ q.T + np.eye(n)
    r = rng.standard_normal((m, m))
    r = r @ r.T + np.eye(m)
    if name == "solve_discrete_are":
        return [a, 1e-2 * b, 1e6 * (q + q.T) / 2, (r + r.T) / 2]
    return [a, b, (q + q.T) / 2, -(r + r.T) / 2]


def relative_residual(name: str, x: Any, a: Any, b: Any, q: Any, r: Any) -> float:
    if name == "solve_continuous_are":
        terms: list[Any] = [a.T @ x, x @ a, -x @ b @ npl.solve(r, b.T @ x), q]
    else:
        gain: Any = npl.solve(r + b.T @ x @ b, b.T @ x @ a)
        terms = [a.T @ x @ a, -x, -a.T @ x @ b @ gain, q]
    return float(npl.norm(sum(terms)) / sum(npl.norm(v) for v in terms))


@pytest.mark.parametrize("backend", ["native", "py", "vm"])
@pytest.mark.parametrize("name", NAMES)
def test_useless_solutions_are_errors(backend: str, name: str) -> None:
    bad = useless(name)
    assert relative_residual(name, getattr(spl, name)(*bad, balanced=False), *bad) > 0.1
    (n, m), rng = bad[1].shape, np.random.default_rng(3)
    good = [0.3 * rng.standard_normal((n, n)), rng.standard_normal((n, m)), np.eye(n), np.eye(m)]
    given = [np.stack(pair) for pair in zip(good, bad, strict=True)]
    inputs = [ot.dtensor3(v) for v in "abqr"]
    solver = getattr(linalg, name)
    strict = oc.function(inputs, solver(*inputs, balanced=False), mode=backend)
    with pytest.raises(np.linalg.LinAlgError, match=f"{name}: .*at index 1 of the batch"):
        strict(*given)
    lenient = oc.function(inputs, solver(*inputs, balanced=False, on_error="nan"), mode=backend)
    found = lenient(*given)
    assert relative_residual(name, found[0], *good) < 1e-12
    assert np.isnan(found[1]).all()


@pytest.mark.parametrize("backend", ["native", "py"])
@pytest.mark.parametrize("name", NAMES)
def test_scales_that_are_numerically_singular_are_errors(backend: str, name: str) -> None:
    """Also where rounding keeps the pivots of the elimination away from zero."""
    e = np.arange(1.0, 10.0).reshape(3, 3) / 10
    a, b, q, r = np.diag([0.5, 0.2, 0.1]), np.ones((3, 1)), np.eye(3), np.eye(1)
    assert np.linalg.slogdet(e)[0] != 0
    with pytest.raises(ValueError, match="numerically singular"):
        getattr(spl, name)(a, b, q, r, e)
    x = ot.dtensor3("x")
    solved = oc.function([x], getattr(linalg, name)(a, b, q, r, x), mode=backend)
    with pytest.raises(np.linalg.LinAlgError, match="at index 1 of the batch"):
        solved(np.stack([np.eye(3), e]))
