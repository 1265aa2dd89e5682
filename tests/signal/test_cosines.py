"""Cosine and sine transforms beside SciPy's, with the sums that define them and their gradients."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.fft

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_signal import fft
from occelo_signal.ops.cosines import RealTransform

NAMES = ["dct", "dst", "idct", "idst"]
TYPES = [1, 2, 3, 4]


def _value(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).standard_normal(shape)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", NAMES)
def test_arguments(name: str, kind: int) -> None:
    x = ot.dmatrix("x")
    least = 2 if kind == 1 and name.endswith("ct") else 1
    cases = [
        {"norm": norm, "orthogonalize": orthogonalize, **cut}
        for norm, orthogonalize, cut in itertools.product(
            (None, "ortho", "forward"), (None, True, False), ({}, {"n": 3, "axis": 0})
        )
    ]
    made_of = [getattr(fft, name)(x, kind, **case) for case in cases]
    f = oc.function([x], made_of, mode="FAST_COMPILE")
    for shape in ((4, 5), (1, least), (2, 8)):
        value = _value(*shape)
        for case, made in zip(cases, f(value), strict=True):
            expected = getattr(scipy.fft, name)(value, kind, **case)
            np.testing.assert_allclose(made, expected, atol=1e-13, err_msg=str(case))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", ["dct", "dst"])
def test_several_axes_and_dtypes(name: str, kind: int) -> None:
    value = _value(3, 4, 5)
    for dtype in ("float32", "float64", "int64", "complex64", "complex128"):
        given = (value * (1 + 2j) if "complex" in dtype else value * 5).astype(dtype)
        x = ot.tensor(dtype=dtype, shape=(None, 4, None))
        for inverse in ("", "i"):
            function = f"{inverse}{name}n"
            made = [
                getattr(fft, function)(x, kind),
                getattr(fft, function)(x, kind, s=(4, 3), axes=(0, 2), norm="ortho"),
            ]
            results = oc.function([x], made, mode="FAST_COMPILE")(given)
            expected = [
                getattr(scipy.fft, function)(given, kind),
                getattr(scipy.fft, function)(given, kind, s=(4, 3), axes=(0, 2), norm="ortho"),
            ]
            for result, reference in zip(results, expected, strict=True):
                assert result.dtype == reference.dtype
                scale = 1e-4 if dtype in ("float32", "complex64") else 1e-12
                np.testing.assert_allclose(result, reference, atol=scale)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_transposed_matrices(name: str, kind: int) -> None:
    for n in (2, 3, 6):
        matrix = getattr(scipy.fft, name)(np.eye(n), kind, axis=0)
        x, ct = ot.dvector("x"), ot.dvector("ct")
        y = getattr(fft, name)(x, kind)
        slope = og.grad((y * ct).sum(), x)
        f = oc.function([x, ct], [slope, og.grad((slope**2).sum(), ct)])
        given = _value(n)
        first, second = f(given, given)
        np.testing.assert_allclose(first, matrix.T @ given, atol=1e-12)
        np.testing.assert_allclose(second, 2 * matrix @ (matrix.T @ given), atol=1e-11)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", ["dct", "dst"])
def test_decompositions(name: Any, kind: int) -> None:
    for n in (2, 3, 7):
        x = ot.dmatrix("x")
        (made,) = RealTransform(name, kind).decompose(x)
        value = _value(2, n)
        np.testing.assert_allclose(
            made.eval({x: value}), getattr(scipy.fft, name)(value, kind), atol=1e-12
        )


def test_batches_and_lengths_of_variables() -> None:
    x, n = ot.dmatrix("x"), ot.lscalar("n")
    y = og.vmap(lambda row: fft.dct(row, 2, n))(x)
    value = _value(3, 5)
    f = oc.function([x, n], y)
    for length in (1, 4, 9):
        np.testing.assert_allclose(f(value, length), scipy.fft.dct(value, 2, length), atol=1e-13)


def test_bad_input() -> None:
    x = ot.dvector("x")
    unknown: Any = "unit"
    with pytest.raises(ValueError, match="type of dct is 1, 2, 3 or 4"):
        fft.dct(x, 5)
    with pytest.raises(ValueError, match="norm must be one of"):
        fft.idst(x, norm=unknown)
    with pytest.raises(ValueError, match="2 elements at least"):
        fft.dct(ot.tensor(dtype="float64", shape=(1,)), 1)
    with pytest.raises(ValueError, match="transforms along an axis"):
        fft.dct(ot.dscalar())
    with pytest.raises(ValueError, match="2 elements at least"):
        oc.function([x], fft.dct(x, 1))(np.ones(1))
