"""Fourier transforms beside NumPy's and SciPy's: all functions, dtypes, norms, lengths, axes, gradients, batches, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.examples.example import draw
from occelo_signal import fft

NORMS = (None, "backward", "ortho", "forward")
ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
TWO = ("fft2", "ifft2", "rfft2", "irfft2")
SEVERAL = ("fftn", "ifftn", "rfftn", "irfftn")
OF_REALS = ("rfft", "ihfft", "rfft2", "rfftn")


def _value(name: str, shape: Any, dtype: str = "float64") -> Any:
    value = draw((-2.0, 2.0), shape)
    if name not in OF_REALS and dtype[0] == "c":
        value = value + 1j * draw((-2.0, 2.0), shape, salt=1)
    with np.errstate(invalid="ignore"):
        return np.asarray(value * 3).astype(dtype)


def _tensor(value: Any, static: bool = False) -> Any:
    shape = value.shape if static else (None,) * value.ndim
    return ot.tensor("x", dtype=value.dtype, shape=shape)


def _compare(made: Any, expected: Any) -> None:
    single = expected.dtype.name in ("float32", "complex64")
    assert made.dtype == expected.dtype
    assert made.shape == expected.shape
    scale = np.max(np.abs(expected), initial=1.0)
    np.testing.assert_allclose(made, expected, atol=scale * (1e-5 if single else 1e-13), rtol=0)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ONE)
def test_one_axis_of_any_length(name: str, norm: Any) -> None:
    for length in (1, 2, 5, 8):
        for n in (None, 1, 4, 9):
            if n is None and length == 1 and name in ("irfft", "hfft"):
                continue  # a result without elements, see the errors below
            for axis in (0, -1):
                shape = (length, 3) if axis == 0 else (3, length)
                value = _value(name, shape, "float64" if name in OF_REALS else "complex128")
                x = _tensor(value, static=axis == 0)
                made = getattr(fft, name)(x, n, axis, norm)
                expected = getattr(np.fft, name)(value, n, axis, norm)
                if axis == 0:
                    assert made.type.shape == expected.shape
                _compare(og.evaluate(made, {x: value}), expected)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "float16", "float32", "complex64"])
@pytest.mark.parametrize("name", ONE)
def test_dtypes_are_those_of_numpy(name: str, dtype: str) -> None:
    if dtype[0] == "c" and name in OF_REALS:
        with pytest.raises(TypeError, match=f"{name} transforms real numbers"):
            getattr(fft, name)(_tensor(_value("fft", (4,), dtype)))
        return
    value = _value(name, (2, 6), dtype)
    x = _tensor(value)
    made = oc.function([x], getattr(fft, name)(x))(value)
    expected = getattr(np.fft, name)(value)
    assert made.dtype == ("float32" if expected.dtype == "float16" else expected.dtype)
    # NumPy scales transforms of float16 by numbers of float16
    tolerance = 1e-2 if dtype == "float16" else 1e-4
    np.testing.assert_allclose(made, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", [*TWO, *SEVERAL])
def test_several_axes(name: str, norm: Any) -> None:
    value = _value(name, (3, 4, 5), "float64" if name in OF_REALS else "complex128")
    x = _tensor(value)
    for s, axes in [
        ((2, 6), (0, 1)),
        ((5, 3), (2, -3)),
        (None, (1,)),
        (None, (2, 1, 0)),
        ((-1, 4), (0, 2)),
        ((2, -1), (0, 1)),
        (None, (-2, -1)),
    ]:
        made = getattr(fft, name)(x, s, axes, norm)
        _compare(og.evaluate(made, {x: value}), getattr(np.fft, name)(value, s, axes, norm))
    if name in SEVERAL:
        whole = getattr(fft, name)(x, norm=norm)
        _compare(og.evaluate(whole, {x: value}), getattr(np.fft, name)(value, norm=norm))


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("name", ["irfftn", "irfft2"])
def test_last_lengths_of_an_axis_itself(name: str, static: bool) -> None:
    value = _value(name, (2, 3), "complex128")
    x = ot.tensor(dtype="complex128", shape=(2, 3) if static else (None, None))
    for s, axes in (((2, -1), (0, 1)), ((-1, -1), (-2, -1)), ((4, -1), (1, 0)), ((3, -1), (0, 1))):
        made = getattr(fft, name)(x, s, axes)
        expected = getattr(np.fft, name)(value, s, axes)
        assert not static or made.type.shape == expected.shape
        _compare(og.evaluate(made, {x: value}), expected)


def test_hermitian_transforms_of_several_axes_are_those_of_scipy() -> None:
    scipy_fft = pytest.importorskip("scipy.fft")
    value = _value("fft", (3, 4, 5), "complex128")
    x, r = _tensor(value), ot.dtensor3("r")
    for norm in NORMS:
        made = [
            fft.hfft2(x, norm=norm),
            fft.hfftn(x, (4, 3), (2, 0), norm),
            fft.hfftn(x, (4, -1), (2, 0), norm),
            fft.ihfft2(r, norm=norm),
            fft.ihfftn(r, norm=norm),
        ]
        f = oc.function([x, r], made)
        for result, expected in zip(
            f(value, value.real),
            [
                scipy_fft.hfft2(value, norm=norm),
                scipy_fft.hfftn(value, (4, 3), (2, 0), norm),
                scipy_fft.hfftn(value, (4, -1), (2, 0), norm),
                scipy_fft.ihfft2(value.real, norm=norm),
                scipy_fft.ihfftn(value.real, norm=norm),
            ],
            strict=True,
        ):
            _compare(result, expected)


def test_no_rows_and_rows_of_views() -> None:
    x, y = ot.zmatrix("x"), ot.dtensor3("y")
    none = oc.function([x], [fft.fft(x), fft.irfft(x, 5)])
    whole, real = none(np.zeros((0, 3), "complex128"))
    assert (whole.shape, real.shape) == ((0, 3), (0, 5))
    view = y[::-1, ::2].transpose((2, 0, 1))
    f = oc.function([y], [fft.rfftn(view, axes=(0, 2)), fft.fft(view, axis=1), view])
    value = draw((-1.0, 1.0), (3, 6, 4))
    half, along, read = f(value)
    _compare(half, np.fft.rfftn(read, axes=(0, 2)))
    _compare(along, np.fft.fft(read, axis=1))


def test_lengths_that_are_variables() -> None:
    x, n = ot.dvector("x"), ot.lscalar("n")
    f = oc.function(
        [x, n], [fft.fft(x, n, norm="ortho"), fft.rfft(x, n), fft.irfft(x, n), fft.hfft(x, n)]
    )
    value = np.array([1.0, -2.0, 0.5, 4.0])
    for length in (1, 3, 4, 7):
        expected = [
            np.fft.fft(value, length, norm="ortho"),
            np.fft.rfft(value, length),
            np.fft.irfft(value, length),
            np.fft.hfft(value, length),
        ]
        for made, reference in zip(f(value, length), expected, strict=True):
            _compare(made, reference)
    with pytest.raises(ValueError, match=r"(no|0) elements"):
        f(value, 0)


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("n", [None, 3, 8])
@pytest.mark.parametrize("name", ONE)
def test_gradients_are_those_of_small_steps(name: str, n: Any, norm: Any) -> None:
    weights = draw((-1.0, 1.0), (2, 20))
    function = getattr(fft, name)

    def cost(*parts: Any) -> Any:
        x = parts[0] if len(parts) == 1 else ot.complex(*parts)
        made = function(x, n, -1, norm)
        count = made.shape[-1]
        real = made if not made.type.is_complex else made.real + made.imag**2
        return (real * ot.as_tensor(weights)[:, :count]).sum()

    parts = [draw((-2.0, 2.0), (2, 5), salt=i) for i in range(1 if name in OF_REALS else 2)]
    og.verify_grad(cost, parts)


@pytest.mark.parametrize("name", ["fftn", "rfftn", "irfftn"])
def test_gradients_along_two_axes(name: str) -> None:
    weights = draw((-1.0, 1.0), (4, 6, 3))

    def cost(x: Any) -> Any:
        made = getattr(fft, name)(x * (1 + 2j) if name != "rfftn" else x, axes=(0, 1))
        count = made.shape[1]
        return (
            (made if name == "irfftn" else made.real * made.imag) * ot.as_tensor(weights)[:, :count]
        ).sum()

    og.verify_grad(cost, [draw((-1.0, 1.0), (4, 4, 3))])


def test_tangents() -> None:
    x, t = ot.dvector("x"), ot.dvector("t")
    f = oc.function([x, t], og.Rop(fft.irfft(fft.rfft(x) ** 2, 5), x, t))
    value, direction = draw((-1.0, 1.0), (5,)), draw((-1.0, 1.0), (5,), salt=2)
    expected = np.fft.irfft(2 * np.fft.rfft(value) * np.fft.rfft(direction), 5)
    np.testing.assert_allclose(f(value, direction), expected, atol=1e-13)


def test_batches() -> None:
    x, y = ot.dvector("x"), ot.dmatrix("y")
    value = draw((-1.0, 1.0), (3, 6))
    outputs = [fft.rfft(x), fft.fft(x, 4), fft.irfft(x, 9), og.grad(abs(fft.fft(x)).sum(), x)]
    f = oc.function([y], og.vectorize_graph(outputs, {x: y}))
    expected = [np.fft.rfft(value), np.fft.fft(value, 4), np.fft.irfft(value, 9)]
    *made, slopes = f(value)
    for result, reference in zip(made, expected, strict=True):
        np.testing.assert_allclose(result, reference, atol=1e-13)
    alone = oc.function([x], outputs[-1])
    np.testing.assert_allclose(slopes, [alone(row) for row in value], atol=1e-13)


def test_a_transform_and_its_inverse_cancel() -> None:
    x = ot.tensor("x", dtype="float64", shape=(3, 7))
    f = oc.function(
        [x],
        [
            fft.irfft(fft.rfft(x), x.shape[1]),
            fft.ifft2(fft.fft2(x)).real,
            fft.fft(fft.ifft(x, norm="ortho")).real,
        ],
    )
    assert "FFT" not in og.debugprint(f, file="str")
    value = draw((-1.0, 1.0), (3, 7))
    for made, factor in zip(f(value), (1, 1, 7**0.5), strict=True):
        np.testing.assert_allclose(made, value * factor, rtol=1e-15)
    # of another length they do not
    g = oc.function([x], fft.irfft(fft.rfft(x)))
    assert "FFT" in og.debugprint(g, file="str")
    # nor where there may be no elements, of which the transform is an error
    y = ot.dmatrix("y")
    h = oc.function([y], fft.ifft2(fft.fft2(y)).real)
    np.testing.assert_allclose(h(value), value, atol=1e-15)
    with pytest.raises(ValueError, match="no Fourier transform of no elements"):
        h(np.zeros((3, 0)))
    np.testing.assert_allclose(g(value), np.fft.irfft(np.fft.rfft(value)), atol=1e-13)


def test_static_lengths() -> None:
    x = ot.tensor("x", dtype="float32", shape=(2, None, 9))
    assert fft.rfft(x).type == ot.TensorType("complex64", (2, None, 5))
    assert fft.irfft(x).type == ot.TensorType("float32", (2, None, 16))
    assert fft.fft2(x, (4, 5)).type == ot.TensorType("complex64", (2, 4, 5))
    assert fft.rfftn(x, axes=(2, 0)).type.shape == (2, None, 9)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 8])
def test_frequencies(n: int) -> None:
    length, d = ot.lscalar("n"), ot.dscalar("d")
    f = oc.function([length, d], [fft.fftfreq(length, d), fft.rfftfreq(length, d)])
    for made, reference in zip(f(n, 0.2), (np.fft.fftfreq, np.fft.rfftfreq), strict=True):
        if n:
            np.testing.assert_allclose(made, reference(n, 0.2), rtol=1e-15)
        else:
            assert made.size == (reference is np.fft.rfftfreq)


def test_shifts_of_any_axes() -> None:
    value = np.arange(30).reshape(5, 6)
    x = ot.lmatrix("x")
    for axes in (None, 0, (1,), (0, -1)):
        made = oc.function([x], [fft.fftshift(x, axes), fft.ifftshift(x, axes)])(value)
        np.testing.assert_array_equal(made[0], np.fft.fftshift(value, axes))
        np.testing.assert_array_equal(made[1], np.fft.ifftshift(value, axes))


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda x: fft.fft(x[0, 0]), ValueError, "fft transforms along an axis"),
        (lambda x: fft.fft(x, axis=2), np.exceptions.AxisError, "axis 2"),
        (lambda x: fft.fft(x, 0), ValueError, "fft transforms one element at least"),
        (lambda x: fft.fft(x, 2.5), TypeError, "integer"),
        (lambda x: fft.ifft(x, norm="both"), ValueError, "norm must be one of"),
        (lambda x: fft.fftn(x, (3,), (0, 1)), ValueError, "fftn got 1 lengths"),
        (lambda x: fft.fftn(x, axes=(0, 0)), ValueError, "each axis once"),
        (lambda x: fft.rfft2(x + 1j), TypeError, "use fft2"),
        (lambda x: fft.irfft(x[:, 0, None]), ValueError, "has no elements; choose their number"),
        (lambda x: fft.fft(x[:, :0]), ValueError, "no elements"),
    ],
)
def test_errors_name_what_is_wrong(call: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        call(ot.dmatrix("x"))
