"""Eigenvalues, singular values and orthogonal factors: values as NumPy's and SciPy's, gradients, failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.interpret import evaluate
from occelo_linalg import functions as ol

DTYPES = ["float32", "float64", "complex64", "complex128"]
SHAPES = [
    (3, 3),
    (4, 2),
    (2, 4),
    (1, 1),
    (0, 0),
    (0, 3),
    (3, 0),
    (2, 3, 2),
    (2, 1, 3, 3),
    (0, 2, 3),
]
SQUARE = [s for s in SHAPES if s[-1] == s[-2]]
npl: Any = np.linalg


def draw(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> Any:
    rng = np.random.default_rng([seed, *shape])
    made: Any = rng.standard_normal(shape)
    if dtype.startswith("complex"):
        made = made + 1j * rng.standard_normal(shape)
    return made.astype(dtype)


def results(function: Callable[..., Any], *arrays: Any, known: bool = True) -> list[Any]:
    """The results of a function of tensors on arrays, whose lengths are known or not."""
    inputs = [og.TensorType(a.dtype.name, a.shape if known else (None,) * a.ndim)() for a in arrays]
    made = function(*inputs)
    outputs = list(made) if isinstance(made, tuple) else [made]
    found = [evaluate(v, dict(zip(inputs, arrays, strict=True))) for v in outputs]
    for v, r in zip(outputs, found, strict=True):
        assert v.dtype == r.dtype
        assert all(n in (None, m) for n, m in zip(v.type.shape, r.shape, strict=True))
    return found


def agree(found: Any, expected: Any) -> None:
    expected = np.asarray(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    tolerance = 1e-4 if expected.dtype in ("float32", "complex64") else 1e-10
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def turned(x: Any) -> Any:
    return x.conj().swapaxes(-1, -2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values_are_those_of_numpy(shape: tuple[int, ...], dtype: str) -> None:
    x = draw(shape, dtype)
    for known in (True, False):
        for full in (True, False):
            made = results(lambda v, full=full: ol.svd(v, full), x, known=known)
            for r, e in zip(made, npl.svd(x, full), strict=True):
                agree(r, e)
        agree(results(ol.svdvals, x, known=known)[0], npl.svd(x, compute_uv=False))
        for mode in ("reduced", "complete", "raw"):
            made = results(lambda v, mode=mode: ol.qr(v, mode), x, known=known)
            for r, e in zip(made, npl.qr(x, mode), strict=True):
                agree(r, e)
        agree(results(lambda v: ol.qr(v, "r"), x, known=known)[0], npl.qr(x, "r"))
        if shape in SQUARE:
            for uplo in "LU":
                made = results(lambda v, u=uplo: ol.eigh(v, u), x, known=known)
                for r, e in zip(made, npl.eigh(x, uplo), strict=True):
                    agree(r, e)
                values = results(lambda v, u=uplo: ol.eigvalsh(v, u), x, known=known)[0]
                agree(values, npl.eigvalsh(x, uplo))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [s for s in SHAPES if len(s) == 2], ids=str)
def test_qr_with_pivoting_is_that_of_scipy(shape: tuple[int, ...], dtype: str) -> None:
    linalg: Any = pytest.importorskip("scipy.linalg")
    x = draw(shape, dtype)
    for mode in ("full", "economic"):
        q, r, order = results(lambda v, mode=mode: ol.qr(v, mode, pivoting=True), x)
        agree(q @ r, x[:, order])
        if x.size:
            expected = linalg.qr(x, mode=mode, pivoting=True)
            agree(q, expected[0])
            agree(r, expected[1])
            agree(order, expected[2])
    batch = draw((2, *shape), dtype)
    q, r, order = results(lambda v: ol.qr(v, pivoting=True), batch)
    for k in range(2):
        agree(q[k] @ r[k], batch[k][:, order[k]])


def test_strides_of_arguments_may_be_any() -> None:
    whole = draw((6, 8))
    for x in (whole[::2, ::-1], whole.T, whole[::-1], np.broadcast_to(whole[:1], (3, 8))):
        agree(results(ol.svdvals, x)[0], npl.svd(x, compute_uv=False))
        agree(results(lambda v: ol.qr(v, "r"), x)[0], npl.qr(x, "r"))


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_pairs_of_matrices_are_those_of_scipy(dtype: str, kind: int, lower: bool) -> None:
    linalg: Any = pytest.importorskip("scipy.linalg")
    a, b = draw((4, 4), dtype), draw((4, 4), dtype, 1)
    b = b @ turned(b) + 2 * np.eye(4)
    # the other triangle is not read
    b[np.triu_indices(4, 1) if lower else np.tril_indices(4, -1)] = 7
    values, vectors = results(lambda x, y: ol.eigh(x, b=y, lower=lower, type=kind), a, b)
    expected, columns = linalg.eigh(a, b, lower=lower, type=kind)
    agree(values, expected)
    agree(abs(vectors), abs(columns))
    alone = results(lambda x, y: ol.eigvalsh(x, b=y, lower=lower, type=kind), a, b)[0]
    agree(alone, expected)


def test_matrices_that_are_not_finite_are_errors_that_say_their_place() -> None:
    x = draw((2, 3, 3))
    x[1, 2, 0] = np.nan
    for function in (ol.eigh, ol.eigvalsh, ol.svd, ol.svdvals):
        with pytest.raises(np.linalg.LinAlgError, match="index 1 of the batch"):
            results(function, x)
        for r in results(lambda v, f=function: f(v, on_error="nan"), x):
            assert np.isnan(r[1]).all()
            assert np.isfinite(r[0]).all()
    # the triangle that is not read does not count
    assert np.isfinite(results(lambda v: ol.eigvalsh(v, "U"), x)[0]).all()


def test_arguments_are_checked_when_the_graph_is_built() -> None:
    x = ot.tensor("x", dtype="float64", shape=(3, 2))
    with pytest.raises(ValueError, match="square"):
        ol.eigh(x)
    with pytest.raises(ValueError, match="UPLO"):
        ol.eigh(x.T @ x, "M")
    with pytest.raises(ValueError, match="mode"):
        ol.qr(x, "thin")
    with pytest.raises(ValueError, match="on_error"):
        ol.svd(x, on_error="ignore")
    with pytest.raises(ValueError, match="dimensions"):
        ol.svd(x[0])
    with pytest.raises(TypeError, match="float16"):
        ol.svdvals(x.astype("float16"))
    assert ol.svdvals(ot.imatrix()).dtype == "float64"
    assert ol.eigh(x.T @ x).eigenvectors.type.shape == (2, 2)
    assert ol.svd(x).Vh.type.shape == (2, 2)


def spectrum(x: Any) -> Any:
    values, vectors = ol.eigh(x)
    return (vectors * ot.exp(values * 0.1)[..., None, :]) @ turned(vectors)


def from_svd(x: Any, full: bool) -> Any:
    u, s, vh = ol.svd(x, full)
    n = s.shape[-1]
    return (u[..., :n] * ot.exp(s * 0.3)[..., None, :]) @ vh[..., :n, :]


def complements(x: Any) -> Any:
    u, s, vh = ol.svd(x)
    n = s.shape[-1]
    left, right = u[..., n:], turned(vh)[..., n:]
    both = [left @ turned(left), right @ turned(right)]
    return ot.concatenate([ot.flatten(p) for p in both])


def factors(x: Any) -> Any:
    q, r = ol.qr(x)
    return ot.concatenate([ot.flatten(q), ot.flatten(r)])


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], list[tuple[int, ...]]]] = {
    "eigh": (spectrum, [(3, 3), (2, 2, 2)]),
    "eigvalsh": (lambda x: ol.eigvalsh(x, "U"), [(3, 3)]),
    "generalised": (lambda x: ol.eigvalsh(x, b=x @ turned(x) + 2 * np.eye(3), type=2), [(3, 3)]),
    "svd": (lambda x: from_svd(x, False), [(3, 3), (3, 2), (2, 2, 3)]),
    "full svd": (lambda x: from_svd(x, True), [(3, 2), (2, 3)]),
    "complements": (complements, [(3, 2), (2, 3)]),
    "svdvals": (ol.svdvals, [(3, 2), (2, 3)]),
    "qr": (factors, [(3, 3), (3, 2), (2, 3)]),
    "full qr": (lambda x: ol.qr(x, "complete")[1], [(3, 2), (2, 3)]),
    "triangle": (lambda x: ol.qr(x, "r"), [(3, 2), (2, 3)]),
    "pivoting": (lambda x: ol.qr(x, "economic", True)[1], [(3, 2), (2, 2, 3)]),
}
CASES = [(name, shape) for name, (_, shapes) in FUNCTIONS.items() for shape in shapes]


@pytest.mark.sampled(11)
@pytest.mark.parametrize("complex_", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize(("name", "shape"), CASES, ids=str)
def test_gradients_of_first_and_second_order(
    name: str, shape: tuple[int, ...], complex_: bool
) -> None:
    function = FUNCTIONS[name][0]
    weights = np.random.default_rng(4)

    def parts(*given: Any) -> Any:
        x = given[0] + 1j * given[1] if complex_ else given[0]
        made = function(x)
        return ot.stack([made.real, made.imag]) if made.dtype.startswith("complex") else made

    def derivative(*given: Any) -> Any:
        return og.grad(ot.sin(parts(*given)).sum(), given[0])

    points = [draw(shape, seed=7), draw(shape, seed=8)][: 2 if complex_ else 1]
    og.verify_grad(parts, points, n_tests=1, rng=weights)
    og.verify_grad(derivative, points, n_tests=1, rng=weights, rel_tol=1e-3, abs_tol=1e-3)


def test_gradients_at_equal_values_are_right_for_values_and_nan_for_vectors() -> None:
    double = 2.0 * np.eye(3)
    double[2, 2] = 5.0
    for function in (
        lambda x: ot.exp(ol.eigvalsh(x)).sum(),
        lambda x: ot.exp(ol.svdvals(x)).sum(),
        lambda x: ot.exp(ol.eigh(x)[0]).sum(),
        lambda x: ot.exp(ol.svd(x)[1]).sum(),
    ):
        og.verify_grad(function, [double], n_tests=1)
    x = ot.dmatrix()
    for values in (ol.svdvals(x), ol.svd(x, False)[1]):
        slope = evaluate(og.grad(values.sum(), x), {x: np.zeros((2, 3))})
        assert npl.norm(slope, 2) <= 1 + 1e-12


def _root(x: Any) -> Any:
    w, v = ol.eigh(x)
    return (v * ot.sqrt(w)) @ v.T


def _polar(x: Any) -> Any:
    u, _, vh = ol.svd(x, False)
    return u @ vh


@pytest.mark.parametrize("function", [_root, _polar, lambda x: ol.eig(x)[1].real])
def test_no_gradient_through_vectors_of_equal_values_is_wrong_in_silence(function: Any) -> None:
    # the gradient of the root of 1 is half of the cotangent, which the formula cannot know
    x = ot.dmatrix()
    slope = og.grad((function(x) * np.arange(9.0).reshape(3, 3)).sum(), x)
    assert np.isnan(evaluate(slope, {x: np.eye(3)})).any()
    apart = np.diag([1.0, 2.0, 3.0])
    assert np.isfinite(evaluate(slope, {x: apart})).all()


def test_no_gradient_through_vectors_of_singular_value_zero_is_wrong_in_silence() -> None:
    x = ot.dmatrix()
    u, s, vh = ol.svd(x, False)
    slope = og.grad((((u * s) @ vh) * np.arange(9.0).reshape(3, 3)).sum(), x)
    assert np.isnan(evaluate(slope, {x: np.diag([2.0, 1.0, 0.0])})).any()
    np.testing.assert_allclose(
        evaluate(slope, {x: np.diag([3.0, 2.0, 1.0])}), np.arange(9.0).reshape(3, 3), atol=1e-12
    )
