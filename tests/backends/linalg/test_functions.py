"""Square roots and logarithms of matrices on every backend that compiles them."""

from __future__ import annotations

import importlib.util
import itertools
import os
import warnings
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
spl: Any = scipy.linalg


def drawn(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    rng = np.random.default_rng([seed, *shape])
    real = rng.standard_normal(shape)
    return real + 1j * rng.standard_normal(shape) if dtype[0] == "c" else real


def kinds(lead: int, n: int, dtype: str) -> dict[str, Any]:
    """Matrices that take different paths through the algorithms."""
    x = drawn((lead, n, n), dtype)
    turned = x.conj().swapaxes(-1, -2)
    scales = np.logspace(-3, 3, max(n, 1))[:n]
    rotation = np.linalg.qr(x)[0]
    return {
        "close to a multiple of the identity": 0.3 * x + 3 * np.eye(n),
        "definite": x @ turned + 0.01 * np.eye(n),
        "definite, badly scaled": rotation * scales @ rotation.conj().swapaxes(-1, -2),
        "far from normal": np.triu(x, 1) * 100 + np.diag(scales),
        "with any eigenvalues": x * 50,
        "with equal eigenvalues": np.triu(x, 1) + np.eye(n),
        "close to the identity": 1e-9 * x + np.eye(n),
    }


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", COMPILED)
@pytest.mark.parametrize("name", ["sqrtm", "logm"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_values_are_those_of_scipy(backend: str, name: str, dtype: str) -> None:
    a = ot.tensor("a", dtype=dtype, shape=(None, None, None))
    made = getattr(linalg, name)(a, on_error="nan")
    assert oc.supports(backend, made) == []
    f, reference = oc.function([a], made, mode=backend), getattr(spl, name)
    inverse = (lambda r: r @ r) if name == "sqrtm" else spl.expm
    single = dtype in ("float32", "complex64")
    for lead, n in ((2, 1), (2, 2), (2, 7), (1, 0), (0, 2)):
        for kind, values in kinds(lead, n, dtype).items():
            x = values.astype(dtype)
            found = f(x[:, ::-1, ::-1])
            assert (found.dtype, found.shape) == (dtype, x.shape)
            if n == 0:
                continue
            for each, result in zip(x[:, ::-1, ::-1], found, strict=True):
                wide = each.astype(np.result_type(dtype, np.float64))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    expected = reference(wide)
                size = np.abs(expected).max()
                if dtype[0] == "f" and np.abs(np.imag(expected)).max() > 1e-7 * max(size, 1.0):
                    assert np.isnan(result).all(), kind
                    continue
                tolerance = 1e-5 if single else 1e-10
                # logarithms are as exact as the eigenvalues
                room = tolerance * size + 1e-14
                np.testing.assert_allclose(result, expected, tolerance, room, err_msg=kind)
                if not single:
                    errors = [np.abs(inverse(r) - wide).max() for r in (result, expected)]
                    assert errors[0] <= 1e-9 * np.abs(wide).max() + 10 * errors[1], kind


@pytest.mark.parametrize("backend", COMPILED)
def test_matrices_without_a_result(backend: str) -> None:
    x, z = ot.dtensor3("x"), ot.ztensor3("z")
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    nilpotent, tail = np.zeros((3, 3)), np.diag([0.0, 0.0, 1.0])
    nilpotent[0, 1] = 1.0
    cases = {
        "turned": turn,
        "negative": np.diag([-4.0, 1.0, 1.0]),
        "nilpotent": nilpotent,
        "part of it nilpotent": nilpotent + tail,
        "zero": np.zeros((3, 3)),
        "singular": tail,
        "not finite": np.full((3, 3), np.inf),
    }
    given = np.stack(list(cases.values()))
    for name, failing in (("sqrtm", (1, 2, 3)), ("logm", (1, 2, 3, 4, 5))):
        function = getattr(linalg, name)
        lenient = oc.function([x, z], [function(v, on_error="nan") for v in (x, z)], mode=backend)
        plain, whole = lenient(given, given.astype("complex128"))
        lost = [i in failing or i == 6 for i in range(7)]
        np.testing.assert_array_equal(np.isnan(plain).any((1, 2)), lost)
        np.testing.assert_array_equal(np.isnan(plain).all((1, 2)), lost)
        # a negative eigenvalue is a failure of a real matrix alone
        np.testing.assert_array_equal(np.isnan(whole).all((1, 2)), [False, False, *lost[2:]])
        np.testing.assert_allclose(plain[0], getattr(spl, name)(turn).real, atol=1e-12)
        expected = getattr(spl, name)(given[1].astype(complex))
        np.testing.assert_allclose(whole[1], expected, atol=1e-12)
        # what is not finite is no error
        strict = oc.function([x], function(x), mode=backend)
        np.testing.assert_array_equal(np.isnan(strict(given[[0, 6]])).all((1, 2)), [False, True])
        for case in failing:
            reason = "negative eigenvalues" if case == 1 else f"singular and has no {name}"
            with pytest.raises(
                np.linalg.LinAlgError, match=f"{name}: .*{reason}.*at index 1 of the batch"
            ):
                strict(given[[0, case]])


@pytest.mark.parametrize("name", ["sqrtm", "logm"])
def test_real_matrices_with_pairs_of_complex_eigenvalues_beside_real_ones(name: str) -> None:
    a = ot.dmatrix("a")
    f, reference = oc.function([a], getattr(linalg, name)(a), mode="native"), getattr(spl, name)
    for sizes in itertools.product((1, 2), repeat=3):
        blocks = [np.full((1, 1), 3.0), np.array([[0.5, -4.0], [2.0, 0.5]])]
        diagonal = spl.block_diag(*(blocks[size - 1] * (k + 1) for k, size in enumerate(sizes)))
        x = drawn(diagonal.shape, "float64")
        turn = np.linalg.qr(x)[0]
        whole = turn @ (diagonal + np.triu(x, 2)) @ turn.T
        for scale in (1e-100, 1.0, 1e100):
            # SciPy's logarithm warns of small matrices
            root, log = np.sqrt(scale) * reference(whole), np.log(scale) * np.eye(len(whole))
            expected = root if name == "sqrtm" else reference(whole) + log
            size = np.abs(expected).max()
            np.testing.assert_allclose(f(scale * whole), expected, 1e-10, 1e-12 * size)


def test_logarithms_of_eigenvalues_on_both_sides_of_the_branch_cut() -> None:
    z = ot.zmatrix("z")
    f = oc.function([z], linalg.logm(z))
    for angle in (1e-3, 1e-8, 0.5):
        values = np.exp(1j * np.array([np.pi - angle, angle - np.pi, 0.3]))
        x = np.diag(values) + np.triu(np.ones((3, 3)), 1) * 1e-3
        found = f(x)
        np.testing.assert_allclose(np.diag(found), np.log(values), rtol=1e-12)
        for i in range(2):
            apart = np.log(values[i + 1]) - np.log(values[i])
            wanted = 1e-3 * apart / (values[i + 1] - values[i])
            np.testing.assert_allclose(found[i, i + 1], wanted, rtol=1e-7)


@pytest.mark.parametrize("name", ["sqrtm", "logm"])
def test_gradients_in_compiled_code(name: str) -> None:
    a = ot.dmatrix("a")
    cost = ot.sin(getattr(linalg, name)(a) * np.arange(9.0).reshape(3, 3)).sum()
    value = oc.function([a], [cost, oc.grad(cost, a)], mode="native")
    x = 0.5 * drawn((3, 3), "float64") + 3 * np.eye(3)
    gradient = value(x)[1]
    for i in range(3):
        for j in range(3):
            step = np.zeros((3, 3))
            step[i, j] = 1e-5
            slope = (value(x + step)[0] - value(x - step)[0]) / 2e-5
            np.testing.assert_allclose(gradient[i, j], slope, rtol=1e-6, atol=1e-7)
