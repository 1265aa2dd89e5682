"""Batches of small matrices, which are computed with one matrix per lane: every size, group and way to fail."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import occelo as oc
import occelo.tensor as ot
from occelo.tensor import linalg

BACKENDS = [
    b for b in ("native", "c", "numba") if b != "numba" or importlib.util.find_spec("numba")
]
# below, at and above the number of lanes, of float64 and float32
BATCHES = [(0,), (1,), (7,), (8,), (17,), (2, 9)]


def drawn(*shape: int) -> Any:
    return np.random.default_rng(5).uniform(-1, 1, shape)


def loop_over(function: Any, *operands: Any) -> Any:
    """NumPy's function for each element of a batch."""
    batch = np.broadcast_shapes(*(a.shape[:-2] for a in operands))
    whole = [np.broadcast_to(a, (*batch, *a.shape[-2:])) for a in operands]
    made = [function(*(a[index] for a in whole)) for index in np.ndindex(batch)]
    return np.reshape(made, (*batch, *made[0].shape)) if made else np.zeros(batch)


def compiled(backend: str, function: Any, known: bool, *arrays: Any) -> Any:
    """A function of arrays of these dtypes and, if they are known, these shapes."""
    inputs = [
        ot.tensor(f"x{k}", dtype=a.dtype.name, shape=a.shape if known else (None,) * a.ndim)
        for k, a in enumerate(arrays)
    ]
    return oc.function(inputs, function(*inputs), mode=backend)


def check(backend: str, function: Any, reference: Any, known: bool, *arrays: Any) -> None:
    made = compiled(backend, function, known, *arrays)(*arrays)
    wanted = loop_over(reference, *arrays)
    assert made.dtype == arrays[0].dtype
    tolerance = 1e-9 if made.dtype == np.float64 else 1e-3
    if made.size:
        np.testing.assert_allclose(made, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_function_for_batches_of_every_size(backend: str, dtype: str) -> None:
    # compiling takes long with Numba and C, which get the same loops
    chosen = {"native": range(len(BATCHES)), "c": (4, 5), "numba": (2,)}[backend]
    for k in chosen:
        batch = BATCHES[k]
        n, columns = (1, 2, 4, 5, 8, 16)[k], (1, 3, 2)[k % 3]
        a = drawn(*batch, n, n).astype(dtype)
        a += 2 * np.roll(np.eye(n, dtype=dtype), 1, axis=0)  # pivots lie off the diagonal
        b = drawn(*batch, n, columns).astype(dtype)
        positive = a @ a.swapaxes(-1, -2) + np.eye(n, dtype=dtype)
        known = k % 2 == 0
        check(backend, linalg.cholesky, np.linalg.cholesky, known, positive)
        check(backend, linalg.inv, np.linalg.inv, known, a)
        check(backend, linalg.det, np.linalg.det, known, a)
        check(backend, lambda x, y: linalg.solve(x, y, b_ndim=2), np.linalg.solve, known, a, b)
        for lower, part in ((True, np.tril), (False, np.triu)):
            check(
                backend,
                lambda x, y, lower=lower: linalg.solve_triangular(x, y, lower=lower, b_ndim=2),
                lambda x, y, part=part: np.linalg.solve(part(x), y),
                known,
                positive,
                b,
            )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("n", "batch"), [(19, 9), (24, 8), (32, 5), (32, 4), (33, 6)])
def test_larger_matrices_are_in_lanes_where_there_are_some(dtype: str, n: int, batch: int) -> None:
    a = drawn(batch, n, n).astype(dtype) + 2 * np.roll(np.eye(n, dtype=dtype), 1, axis=0)
    b = drawn(batch, n, 2).astype(dtype)
    positive = a @ a.swapaxes(-1, -2) / n + np.eye(n, dtype=dtype)
    functions = [
        (linalg.cholesky, np.linalg.cholesky, [positive]),
        (linalg.inv, np.linalg.inv, [positive]),
        (linalg.det, np.linalg.det, [positive]),
        (lambda x, y: linalg.solve(x, y, b_ndim=2), np.linalg.solve, [a, b]),
    ]
    for function, reference, arrays in functions:
        wanted = loop_over(reference, *arrays)
        for lead in (batch, None):
            inputs = [
                ot.tensor(f"x{k}", dtype=dtype, shape=(lead, *x.shape[1:]))
                for k, x in enumerate(arrays)
            ]
            made = oc.function(inputs, function(*inputs), mode="native")(*arrays)
            tolerance = 1e-9 if dtype == "float64" else 1e-2
            np.testing.assert_allclose(made, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("n", "batch"), [(16, 3), (17, 17), (24, 40), (32, 23), (32, 16), (33, 17)]
)
def test_eigenvectors_are_as_orthogonal_as_those_of_lapack(dtype: str, n: int, batch: int) -> None:
    a = drawn(batch, n, n).astype(dtype)
    a[1] = np.eye(n)  # an eigenvalue n times
    a[2, : n // 2] = 0.0
    symmetric = np.tril(a) + np.tril(a, -1).swapaxes(1, 2)
    exact = symmetric.astype("float64")
    eps = np.finfo(dtype).eps
    for length in (batch, None):
        x = ot.tensor("x", dtype=dtype, shape=(length, n, n))
        values, vectors = oc.function([x], linalg.eigh(x), mode="native")(a)
        only = oc.function([x], linalg.eigvalsh(x), mode="native")(a)
        norms = np.abs(np.linalg.eigvalsh(exact)).max(-1, keepdims=True)
        for found in (values, only):
            # the errors of both, of which the largest was 10.4
            assert (np.abs(found - np.linalg.eigvalsh(exact)) <= 16 * eps * norms).all()
        v, w = vectors.astype("float64"), values.astype("float64")
        assert np.abs(v.swapaxes(1, 2) @ v - np.eye(n)).max() < 30 * eps
        residual = np.abs(exact @ v - v * w[:, None])
        assert (residual <= 10 * eps * norms[..., None]).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [8, 16, 24, 31])
@pytest.mark.parametrize("lower", [True, False])
def test_two_eigenvalues_repeated_in_turn_do_not_fail(dtype: str, n: int, lower: bool) -> None:
    turned = np.linalg.qr(drawn(40, n, n))[0]
    wanted = np.where(np.arange(n) % 2, 1.0, 3.0)
    a = ((turned * wanted) @ turned.swapaxes(1, 2)).astype(dtype)
    x = ot.tensor("x", dtype=dtype, shape=(None, n, n))
    outputs = linalg.eigh(x, lower=lower, on_error="nan")
    values, vectors = oc.function([x], list(outputs), mode="native")(a)
    eps = np.finfo(dtype).eps
    assert np.abs(values - np.sort(wanted)).max() < 30 * eps
    assert np.abs(a @ vectors - vectors * values[:, None]).max() < 60 * eps


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_matrix_for_all_right_hand_sides_and_the_other_way_round(backend: str) -> None:
    matrices, sides = drawn(9, 3, 3) + 3 * np.eye(3), drawn(9, 3, 2)
    for a, b in (
        (matrices[0], sides),
        (matrices[:1], sides),
        (matrices, sides[0]),
        (matrices[::-2], sides[1:6]),
        (matrices.swapaxes(-1, -2), sides),
        (matrices[:, None], sides[None]),
    ):
        for known in (True, False) if backend == "native" else (True,):
            if not known and 1 in (*a.shape, *b.shape):
                continue  # only lengths that are known to be 1 broadcast
            check(backend, lambda x, y: linalg.solve(x, y, b_ndim=2), np.linalg.solve, known, a, b)
            check(
                backend,
                lambda x, y: linalg.solve_triangular(x, y, unit_diagonal=True, b_ndim=2),
                lambda x, y: np.linalg.solve(np.triu(x, 1) + np.eye(3), y),
                known,
                a,
                b,
            )


@pytest.mark.parametrize(
    ("backend", "batch", "n", "known"),
    [
        *((b, 11, 6, True) for b in BACKENDS),
        ("native", 9, 24, True),
        ("native", 9, 20, False),
        ("native", 3, 24, False),
    ],
)
def test_pivots_are_those_of_lapack(backend: str, batch: int, n: int, known: bool) -> None:
    from scipy.linalg import lu_factor

    a = drawn(batch, n, n)
    x = ot.tensor("x", shape=(batch if known else None, n, n), dtype="float64")
    factors, pivots = oc.function([x], list(linalg.lu_factor(x)), mode=backend)(a)
    for k in range(batch):
        wanted = lu_factor(a[k])
        np.testing.assert_allclose(factors[k], wanted[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(pivots[k], wanted[1])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["cholesky", "inv", "solve", "solve_triangular"])
def test_a_bad_matrix_is_named_or_becomes_nan_alone(backend: str, name: str) -> None:
    good = drawn(19, 4, 4)
    good = good @ good.swapaxes(-1, -2) + np.eye(4)
    bad = good.copy()
    bad[17] = np.diag([1.0, 2.0, -1.0 if name == "cholesky" else 0.0, 3.0])
    b = drawn(19, 4, 1)
    function = getattr(linalg, name)

    def apply(on_error: str) -> Any:
        if name in ("cholesky", "inv"):
            return lambda x: function(x, on_error=on_error)
        return lambda x: function(x, b, b_ndim=2, on_error=on_error)

    strict = compiled(backend, apply("raise"), True, bad)
    with pytest.raises(np.linalg.LinAlgError, match="index 17 of the batch"):
        strict(bad)
    made = compiled(backend, apply("nan"), True, bad)(bad)
    assert np.isnan(made[17]).all()
    others = np.arange(19) != 17
    np.testing.assert_allclose(made[others], strict(good)[others])


def _symmetric(dtype: str, n: int) -> Any:
    """Random matrices, and ones with equal, close, tiny and huge eigenvalues."""
    turn = np.linalg.qr(drawn(n, n))[0]
    spectra = [
        np.ones(n),
        np.zeros(n),
        np.arange(n) // 2,
        np.arange(n) % 2 + 1e-9 * np.arange(n),
        10.0 ** -np.arange(n),
        -1e30 * np.arange(n),
        1e-25 * np.arange(1, n + 1),
    ]
    return np.concatenate(
        [drawn(12, n, n), (turn * np.stack(spectra)[:, None, :]) @ turn.T]
    ).astype(dtype)


@pytest.mark.parametrize("backend", BACKENDS)
def test_eigenvectors_of_small_symmetric_matrices(backend: str) -> None:
    chosen = {"native": (2, 5, 16), "c": (4,), "numba": (3,)}[backend]
    for k, n in enumerate(chosen):
        dtype, uplo = ("float64", "float32")[k % 2], "LU"[k % 3 == 1]
        a = _symmetric(dtype, n)
        half = np.tril(a, -1) if uplo == "L" else np.triu(a, 1).swapaxes(-1, -2)
        whole = half + half.swapaxes(-1, -2) + np.eye(n) * a
        x = ot.tensor("x", shape=a.shape, dtype=dtype)
        outputs = [*linalg.eigh(x, uplo), linalg.eigvalsh(x, uplo)]
        values, vectors, alone = oc.function([x], outputs, mode=backend)(a)
        eps = 64 * np.finfo(dtype).eps
        size = abs(whole).max((-1, -2), keepdims=True) + np.finfo(dtype).tiny
        for found in (values, alone):
            assert found.dtype == a.dtype
            wanted = np.linalg.eigvalsh((whole / size).astype("float64"))
            np.testing.assert_allclose(found / size[..., 0], wanted, rtol=0, atol=eps)
            assert (np.diff(found) >= 0).all()
        left, right = whole @ vectors / size, vectors * values[..., None, :] / size
        np.testing.assert_allclose(left, right, rtol=0, atol=eps)
        gram = vectors.swapaxes(-1, -2) @ vectors
        np.testing.assert_allclose(gram, np.broadcast_to(np.eye(n), gram.shape), rtol=0, atol=eps)


@pytest.mark.parametrize(
    ("backend", "bad"), [("native", np.nan), ("native", np.inf), ("c", np.nan)]
)
def test_a_matrix_without_eigenvalues_is_nan_alone(backend: str, bad: float) -> None:
    a = drawn(11, 4, 4)
    a += a.swapaxes(-1, -2)
    wanted = np.linalg.eigh(a)
    a[9, 2, 1] = bad
    a[3, 1, 2] = bad  # is not read
    a[9, 1, 2] = 0
    x = ot.tensor("x", shape=a.shape, dtype="float64")
    made = oc.function([x], list(linalg.eigh(x, on_error="nan")), mode=backend)(a)
    for found in made:
        assert np.isnan(found[9]).all()
    others = np.arange(11) != 9
    # errors of eigenvalues are in proportion to the norm, which is at most 4.5 here
    np.testing.assert_allclose(made[0][others], wanted[0][others], rtol=0, atol=1e-14)
    np.testing.assert_allclose(abs(made[1][others]), abs(wanted[1][others]), rtol=1e-9, atol=1e-12)
    with pytest.raises((np.linalg.LinAlgError, ValueError)) as caught:
        oc.function([x], list(linalg.eigh(x)), mode=backend)(a)
    assert "infs or NaNs" in str(caught.value) or "finite" in str(caught.value)
