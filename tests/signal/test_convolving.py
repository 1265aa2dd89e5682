"""Convolutions beside SciPy's and NumPy's: modes, boundaries, methods, lengths, dtypes, gradients, batches, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.examples.example import draw
from occelo_signal import functions as signal
from occelo_signal.ops import vectors
from occelo_signal.ops.beyond import correlated_beyond

MODES = ("full", "valid", "same")
PAIRS = ((1, 1), (5, 3), (3, 5), (4, 4), (7, 2), (1, 6), (2, 5), (4, 7))


def _value(shape: Any, dtype: str = "float64", salt: int = 0) -> Any:
    value = draw((-3.0, 3.0), shape, salt=salt)
    if dtype[0] == "c":
        value = value + 1j * draw((-3.0, 3.0), shape, salt=salt + 10)
    return (value > 0) if dtype == "bool" else value.astype(dtype)


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_vectors_of_any_lengths(mode: Any, static: bool) -> None:
    scipy_signal = pytest.importorskip("scipy.signal")
    for n, m in PAIRS:
        a, v = _value((n,)), _value((m,), salt=1)
        x = ot.tensor("x", dtype="float64", shape=(n if static else None,))
        k = ot.tensor("k", dtype="float64", shape=(m if static else None,))
        cases = [
            (vectors.convolve(x, k, mode), np.convolve(a, v, mode)),
            (vectors.correlate(x, k, mode), np.correlate(a, v, mode)),
            (signal.convolve(x, k, mode), scipy_signal.convolve(a, v, mode)),
            (signal.convolve1d(x, k, mode, "fft"), scipy_signal.convolve(a, v, mode)),
            (signal.correlate(x, k, mode), scipy_signal.correlate(a, v, mode)),
        ]
        for made, expected in cases:
            assert not static or made.type.shape == expected.shape
        results = oc.function([x, k], [made for made, _ in cases])(a, v)
        for result, (_, expected) in zip(results, cases, strict=True):
            np.testing.assert_allclose(result, expected, atol=1e-13)


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.filterwarnings("ignore")
def test_infinite_elements_reach_only_their_sums(mode: Any, static: bool) -> None:
    short, long = np.array([2.0, -1.0]), np.array([1.0, np.inf, 3.0, np.nan, 5.0, 6.0, 7.0])
    pairs = [(short, long), (short[:1], long), (np.array([1.0, np.nan, np.inf]), long[4:])]
    pairs += [(np.array([np.inf, 2.0]), np.arange(2100.0)), (np.full(40, np.nan), np.ones(1100))]
    for a, v in pairs + [pair[::-1] for pair in pairs]:
        shapes = [each.shape if static else (None,) for each in (a, v)]
        x, k = (ot.tensor(dtype="float64", shape=shape) for shape in shapes)
        calls = ((vectors.convolve, np.convolve), (vectors.correlate, np.correlate))
        sums = [ours(x, k, mode) for ours, _ in calls]
        expected = [theirs(a, v, mode) for _, theirs in calls]
        interpreted = og.evaluate(sums, {x: a, k: v})
        compiled = oc.function([x, k], sums, mode="FAST_COMPILE")(a, v)
        for results in (interpreted, compiled):
            for result, wanted in zip(results, expected, strict=True):
                np.testing.assert_allclose(result, wanted)


def test_gradients_by_short_and_long_kernels_near_the_ends() -> None:
    """The cost is a sum of products with ones, so the slopes are sums of what lies under the kernel."""
    for n, m, first, count in (
        (1500, 3, -2, 1502),
        (1500, 30, -29, 1529),
        (5, 9, -3, 4),
        (2, 2, 7, 3),
    ):
        x, k = ot.dvectors("x", "k")
        a, v = (draw((-1.0, 1.0), (length,), salt=length) for length in (n, m))
        weights = draw((-1.0, 1.0), (count,), salt=2)
        cost = (correlated_beyond(x, k, first, count) * weights).sum()
        of_x, of_k = oc.function([x, k], og.grad(cost, [x, k]))(a, v)
        by_x, by_k = np.zeros(n), np.zeros(m)
        for j in range(m):
            at = np.arange(count) + first + j
            inside = (at >= 0) & (at < n)
            by_k[j] = (weights[inside] * a[at[inside]]).sum()
            np.add.at(by_x, at[inside], weights[inside] * v[j])
        np.testing.assert_allclose(of_x, by_x, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(of_k, by_k, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
@pytest.mark.parametrize("mode", MODES)
def test_planes(mode: Any, boundary: Any) -> None:
    scipy_signal = pytest.importorskip("scipy.signal")
    x, k = ot.dmatrix("x"), ot.dmatrix("k")
    fill = 2.5 if boundary == "fill" else 0
    f = oc.function(
        [x, k],
        [
            signal.convolve2d(x, k, mode, boundary, fill),
            signal.correlate2d(x, k, mode, boundary, fill),
        ],
    )
    for first, second in (((6, 7), (3, 2)), ((4, 4), (4, 4)), ((5, 4), (1, 3))):
        a, v = _value(first), _value(second, salt=1)
        convolved, correlated = f(a[::-1], v)
        expected = scipy_signal.convolve2d(a[::-1], v, mode, boundary, fill)
        np.testing.assert_allclose(convolved, expected, atol=1e-12)
        expected = scipy_signal.correlate2d(a[::-1], v, mode, boundary, fill)
        np.testing.assert_allclose(correlated, expected, atol=1e-12)


@pytest.mark.parametrize("static", [False, True])
def test_valid_planes_of_the_larger_kernel_have_no_boundary(static: bool) -> None:
    scipy_signal = pytest.importorskip("scipy.signal")
    a, v = _value((2, 3)), _value((4, 3), salt=1)
    x, k = (ot.tensor(dtype="float64", shape=w.shape if static else (None, None)) for w in (a, v))
    made, expected = [], []
    for boundary, fill in (("fill", 2.5), ("wrap", 0), ("symm", 0)):
        for name in ("convolve2d", "correlate2d"):
            made.append(getattr(signal, name)(x, k, "valid", boundary, fill))
            expected.append(getattr(scipy_signal, name)(a, v, "valid", boundary, fill))
    for result, reference in zip(oc.function([x, k], made)(a, v), expected, strict=True):
        np.testing.assert_allclose(result, reference, atol=1e-12)


@pytest.mark.parametrize("method", ["direct", "fft", "auto"])
@pytest.mark.parametrize("mode", MODES)
def test_tensors_of_three_dimensions(mode: Any, method: Any) -> None:
    scipy_signal = pytest.importorskip("scipy.signal")
    a, v = _value((5, 6, 3)), _value((2, 3, 3), salt=1)
    x, k = ot.dtensor3("x"), ot.dtensor3("k")
    f = oc.function(
        [x, k],
        [
            signal.convolve(x, k, mode, method),
            signal.correlate(x, k, mode, method),
            signal.fftconvolve(x, k[:, 0][:, None, :], mode, axes=(0, 2)),
        ],
    )
    expected = [
        scipy_signal.convolve(a, v, mode, "direct"),
        scipy_signal.correlate(a, v, mode, "direct"),
        scipy_signal.fftconvolve(a, np.repeat(v[:, :1], 6, 1), mode, axes=(0, 2)),
    ]
    for made, reference in zip(f(a, v), expected, strict=True):
        np.testing.assert_allclose(made, reference, atol=1e-12)


def test_long_static_vectors_are_transformed() -> None:
    a, v = _value((900,)), _value((450,), salt=1)
    x, k = (ot.tensor(dtype="float64", shape=(n,)) for n in (900, 450))
    long = oc.function([x, k], vectors.convolve(x, k, "same"))
    assert "FFT" in og.debugprint(long, file="str")
    np.testing.assert_allclose(long(a, v), np.convolve(a, v, "same"), atol=1e-10)
    short = oc.function([x, k], vectors.convolve(x, k[:30], "same"))
    assert "FFT" not in og.debugprint(short, file="str")
    np.testing.assert_allclose(short(a, v), np.convolve(a, v[:30], "same"), atol=1e-10)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("bool", "bool"),
        ("int8", "int8"),
        ("uint16", "int32"),
        ("int64", "float32"),
        ("float16", "float16"),
        ("float32", "complex64"),
        ("complex128", "float64"),
    ],
)
def test_dtypes_are_those_of_numpy(first: str, second: str) -> None:
    a, v = _value((9,), first), _value((4,), second, salt=1)
    x, k = ot.tensor("x", dtype=first, shape=(None,)), ot.tensor("k", dtype=second, shape=(None,))
    f = oc.function([x, k], [vectors.convolve(x, k), vectors.correlate(x, k, "same")])
    for made, expected in zip(
        f(a, v), (np.convolve(a, v), np.correlate(a, v, "same")), strict=True
    ):
        assert made.dtype == expected.dtype
        tolerance = {"float16": 1e-2, "float32": 1e-5, "complex64": 1e-5}.get(
            str(made.dtype), 1e-12
        )
        np.testing.assert_allclose(made, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", ["direct", "fft"])
def test_gradients(method: Any, mode: Any) -> None:
    og.verify_grad(
        lambda x, k: signal.convolve1d(x, k, mode, method), [_value((2, 5)), _value((3,), salt=1)]
    )
    og.verify_grad(
        lambda x, k: signal.correlate(x, k, mode, method), [_value((3, 4)), _value((2, 2), salt=1)]
    )
    weights = _value((20,), salt=2)

    def cost(re: Any, im: Any, k: Any) -> Any:
        made = vectors.correlate(ot.complex(re, im), ot.complex(k, 2 * k), mode)
        count = made.shape[0]
        return ((made.real * made.imag) * ot.as_tensor(weights)[:count]).sum()

    og.verify_grad(cost, [_value((5,)), _value((5,), salt=1), _value((3,), salt=3)])


def test_batches_broadcast() -> None:
    x, k = ot.tensor("x", shape=(None, 1, None)), ot.dmatrix("k")
    a, v = _value((2, 1, 6)), _value((3, 4), salt=1)
    f = oc.function(
        [x, k], [signal.convolve1d(x, k), *og.grad(signal.convolve1d(x, k).sum(), [x, k])]
    )
    made, of_x, of_k = f(a, v)
    expected = np.array([[np.convolve(row[0], each) for each in v] for row in a])
    np.testing.assert_allclose(made, expected, atol=1e-13)
    np.testing.assert_allclose(of_x, np.full(a.shape, v.sum()))
    np.testing.assert_allclose(of_k, np.full(v.shape, a.sum()))
    y = ot.dvector("y")
    g = oc.function([x, k], og.vectorize_graph(vectors.convolve(y, k[0], "same"), {y: x[:, 0]}))
    np.testing.assert_allclose(
        g(a, v), [np.convolve(row[0], v[0], "same") for row in a], atol=1e-13
    )
    both = ot.dmatrix("both")
    with pytest.raises(ValueError, match="broadcasts only if"):
        oc.function([both, k], signal.convolve1d(both, k))(a[:, 0], v)


def test_a_value_and_its_gradient_with_several_readers() -> None:
    x, k = ot.dvector("x"), ot.dvector("k")
    made = vectors.convolve(x, k, "same")
    f = oc.function([x, k], [made, made.sum() + x.sum(), og.grad((made**2).sum(), k)])
    a, v = _value((8,))[::-2], _value((3,), salt=1)
    result, total, slope = f(a, v)
    expected = np.convolve(a, v, "same")
    np.testing.assert_allclose(result, expected)
    np.testing.assert_allclose(total, expected.sum() + a.sum())
    steps = [2 * (expected * np.convolve(a, unit, "same")).sum() for unit in np.eye(3)]
    np.testing.assert_allclose(slope, steps)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda x, m: vectors.convolve(x, x, "half"), "The mode of convolve must be one of"),
        (lambda x, m: vectors.convolve(m, x), "convolve takes two vectors"),
        (lambda x, m: signal.convolve(m, x), "as many dimensions"),
        (lambda x, m: signal.convolve(x, x, method="slow"), "The method of convolve"),
        (lambda x, m: signal.convolve2d(m, m, boundary="open"), "The boundary of convolve2d"),
        (lambda x, m: signal.convolve2d(x, m), "convolve2d takes tensors of 2 dimensions"),
        (lambda x, m: signal.convolve2d(m, m, boundary="wrap", method="fft"), "fills with 0"),
        (lambda x, m: signal.convolve(m, ot.zeros((1, 9)), "valid"), "at least as long"),
        (lambda x, m: vectors.correlate(x, ot.zeros(0)), "no empty tensors"),
    ],
)
def test_errors_name_what_is_wrong(call: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        call(ot.dvector("x"), ot.tensor("m", shape=(2, 3)))


def test_a_kernel_without_elements_at_run_time() -> None:
    x, k = ot.dvector("x"), ot.dvector("k")
    f = oc.function([x, k], vectors.convolve(x, k))
    with pytest.raises(ValueError, match="takes no empty tensors"):
        f([1.0, 2.0], [])


@pytest.mark.parametrize("mode", ["native", "vm"])
@pytest.mark.parametrize("name", ["convolve", "correlate", "convolve2d", "correlate2d"])
def test_valid_needs_a_tensor_that_is_longer_everywhere(name: str, mode: str) -> None:
    """SciPy raises too, and so does the graph where static lengths tell."""
    m, k = ot.dmatrix("m"), ot.dmatrix("k")
    f = oc.function([m, k], getattr(signal, name)(m, k, mode="valid"), mode=mode)
    assert f(np.ones((3, 5)), np.ones((2, 2))).shape == (2, 4)
    for shapes in (((2, 5), (3, 4)), ((3, 4), (2, 5))):
        with pytest.raises(ValueError, match="at least as long as the other one in every dim"):
            f(*map(np.ones, shapes))
