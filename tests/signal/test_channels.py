"""Convolutions of networks by loops over whole images, beside sums of the windows: shapes, groups, dilations, dtypes, backends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.examples.example import draw
from occelo_signal import functions as signal
from occelo_signal.examples.networks import windows_of
from occelo_signal.ops.channels import ChannelCorrelate


def _summed(x: Any, w: Any, dilations: tuple[int, ...], groups: int) -> Any:
    ndim = len(dilations)
    windows = windows_of(x, w.shape[2:], (1,) * ndim, dilations)
    parts: list[Any] = []
    for own, kernels in zip(np.split(windows, groups, 1), np.split(w, groups), strict=True):
        axes = list(range(1, ndim + 2))
        parts.append(np.moveaxis(np.tensordot(kernels, own, (axes, axes)), 1, 0))
    return np.concatenate(parts, 1)


SHAPES: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], int]] = [
    ((1, 1, 5), (1, 1, 2), (1,), 1),
    ((3, 4, 40), (5, 4, 3), (2,), 1),
    ((2, 6, 9), (6, 1, 4), (1,), 6),
    ((2, 6, 13), (9, 2, 4), (3,), 3),
    ((2, 3, 7, 9), (4, 3, 3, 2), (1, 2), 1),
    ((1, 2, 40, 80), (7, 2, 5, 7), (1, 1), 1),
    ((1, 2, 3, 3), (2, 2, 3, 3), (1, 1), 1),
    ((1, 1, 1, 6), (2, 1, 1, 3), (1, 1), 1),
    ((2, 2, 4, 5, 6), (3, 2, 2, 3, 2), (2, 1, 1), 1),
    ((0, 2, 7), (3, 2, 2), (1,), 1),
]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("image", "kernel", "dilations", "groups"), SHAPES, ids=str)
def test_loops_are_sums_of_windows(
    image: Any, kernel: Any, dilations: Any, groups: int, dtype: str, static: bool
) -> None:
    a, b = draw((-1.0, 1.0), image).astype(dtype), draw((-1.0, 1.0), kernel).astype(dtype)
    lead = (None, None)
    x = ot.tensor("x", dtype=dtype, shape=image if static else (None,) * len(image))
    w = ot.tensor("w", dtype=dtype, shape=kernel if static else (*lead, *kernel[2:]))
    made = ChannelCorrelate((1,) * len(dilations), dilations, groups)(x, w)
    cost = (made**2).sum()
    f = oc.function([x, w], [made, *og.grad(cost, [x, w])])
    result, of_x, of_w = f(a, b)
    expected = _summed(a.astype("float64"), b.astype("float64"), dilations, groups)
    tolerance = 1e-11 if dtype == "float64" else 2e-4
    np.testing.assert_allclose(result, expected, atol=tolerance)
    # the derivative along a direction is the product of a direction and the gradient
    u, v = draw((-1.0, 1.0), image, salt=3), draw((-1.0, 1.0), kernel, salt=4)
    along = _summed(u, b.astype("float64"), dilations, groups)
    np.testing.assert_allclose((of_x * u).sum(), 2 * (expected * along).sum(), rtol=1e-3)
    along = _summed(a.astype("float64"), v, dilations, groups)
    np.testing.assert_allclose((of_w * v).sum(), 2 * (expected * along).sum(), rtol=1e-3, atol=1e-9)


def test_input_that_is_no_block_and_consumers_of_the_result() -> None:
    a, b = draw((-1.0, 1.0), (2, 9, 3, 8)), draw((-1.0, 1.0), (4, 3, 2, 2))
    x, w = ot.dtensor4("x"), ot.tensor("w", shape=(None, None, 2, 2))
    made = signal.conv2d(x.transpose(0, 2, 3, 1)[:, :, ::-1, ::2], w)
    f = oc.function(
        [x, w], [made.sum(axis=1), ot.maximum(made, 0), made[:, 1], made.reshape((2, -1))]
    )
    expected = _summed(a.transpose(0, 2, 3, 1)[:, :, ::-1, ::2], b, (1, 1), 1)
    references = [expected.sum(1), np.maximum(expected, 0), expected[:, 1], expected.reshape(2, -1)]
    for result, reference in zip(f(a, b), references, strict=True):
        np.testing.assert_allclose(result, reference, atol=1e-12)


@pytest.mark.parametrize("mode", ["py", "native", "c"])
def test_what_does_not_fit_is_an_error(mode: str) -> None:
    x, w = ot.tensor4("x"), ot.tensor("w", shape=(None, None, 3, 3))
    f = oc.function([x, w], signal.conv2d(x, w, groups=2), mode=oc.Mode(mode))
    assert f(np.ones((1, 4, 3, 3)), np.ones((2, 2, 3, 3))).tolist() == [[[[18.0]], [[18.0]]]]
    with pytest.raises(ValueError, match="does not fit"):
        f(np.ones((1, 4, 2, 3)), np.ones((2, 2, 3, 3)))
    for image, kernel in (((1, 4, 3, 3), (2, 3, 3, 3)), ((1, 4, 3, 3), (3, 2, 3, 3))):
        with pytest.raises(ValueError, match="channels"):
            f(np.ones(image), np.ones(kernel))


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda x, w: signal.conv2d(x, w, stride=-1), "The stride must be 2 integers from 1 on"),
        (lambda x, w: signal.conv2d(x, w, dilation=0), "The dilation must be 2 integers"),
        (lambda x, w: signal.conv2d(x, w, padding=(1, 2, 3)), "The padding must be 2 integers"),
        (lambda x, w: signal.conv2d(x[0], w), "The input of conv2d has 4 dimensions"),
        (lambda x, w: signal.conv1d(x, w), "The input of conv1d has 3 dimensions"),
        (lambda x, w: signal.conv2d(x, w[:, :1]), "The channels of conv2d do not fit"),
        (lambda x, w: signal.conv2d(x[:, :, :2], w), "does not fit in a tensor of shape"),
        (lambda x, w: signal.max_pool2d(x, 2, -1), "The stride must be 2 integers from 1 on"),
        (lambda x, w: signal.max_pool2d(x, 9), "does not fit in a tensor of shape"),
        (lambda x, w: signal.avg_pool3d(x[0, 0], 2), "avg_pool3d pools 3 dimensions"),
        (lambda x, w: signal.convolve2d(x[0, 0, 0], w), "convolve2d takes tensors of 2 dimensions"),
        (lambda x, w: signal.convolve(x[0], w), "convolve takes two tensors of as many dimensions"),
    ],
)
def test_bad_arguments_are_named(call: Any, told: str) -> None:
    x = ot.tensor("x", shape=(2, 4, 5, 6))
    w = ot.tensor("w", shape=(3, 4, 3, 3))
    with pytest.raises(ValueError, match=told):
        call(x, w)
