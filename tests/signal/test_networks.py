"""Convolutions of networks and pooling, by their definitions and beside PyTorch's: values, gradients, batches, errors."""

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
from occelo_signal.ops.sliding import OverlapAdd, Windows

CONVOLUTIONS: list[dict[str, Any]] = [
    {},
    {"stride": 2, "padding": 1},
    {"dilation": 2, "groups": 2},
    {"stride": (2, 3), "padding": (1, 2), "dilation": (1, 2)},
    {"padding": "same"},
]


def _kernels(*shape: int) -> Any:
    return ot.tensor("w", shape=(None, None, *shape[2:]))


@pytest.mark.parametrize("options", CONVOLUTIONS, ids=str)
def test_convolutions_are_those_of_pytorch(options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    groups = options.get("groups", 1)
    a, c = draw((-1.0, 1.0), (2, 4, 9, 10)), draw((-1.0, 1.0), (6,))
    b = draw((-1.0, 1.0), (6, 4 // groups, 3, 3))
    x, w, v = ot.dtensor4("x"), _kernels(*b.shape), ot.dvector("v")
    made = signal.conv2d(x, w, v, **options)
    f = oc.function([x, w, v], [made, *og.grad((made**2).sum(), [x, w, v])])
    tensors = [torch.tensor(each, requires_grad=True) for each in (a, b, c)]
    expected = torch.nn.functional.conv2d(*tensors, **options)
    (expected**2).sum().backward()
    for result, reference in zip(
        f(a, b, c), [expected.detach(), *(t.grad for t in tensors)], strict=True
    ):
        np.testing.assert_allclose(result, reference.numpy(), atol=1e-11)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"stride": 2, "padding": 1, "output_padding": 1},
        {"dilation": 2, "groups": 2},
        {"stride": (2, 3), "padding": (1, 2), "dilation": (1, 2)},
    ],
    ids=str,
)
def test_transposed_convolutions_are_those_of_pytorch(options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    a, b = draw((-1.0, 1.0), (2, 4, 5, 4)), draw((-1.0, 1.0), (4, 3, 3, 2))
    x, w = ot.dtensor4("x"), _kernels(*b.shape)
    made = signal.conv_transpose2d(x, w, **options)
    f = oc.function([x, w], [made, *og.grad((made**2).sum(), [x, w])])
    tensors = [torch.tensor(each, requires_grad=True) for each in (a, b)]
    expected = torch.nn.functional.conv_transpose2d(*tensors, **options)
    (expected**2).sum().backward()
    for result, reference in zip(
        f(a, b), [expected.detach(), *(t.grad for t in tensors)], strict=True
    ):
        np.testing.assert_allclose(result, reference.numpy(), atol=1e-11)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel_size": 2},
        {"kernel_size": (3, 2), "stride": 2, "padding": 1},
        {"kernel_size": 3, "stride": 2, "ceil_mode": True},
        {"kernel_size": 2, "stride": 3, "ceil_mode": True, "padding": 1},
    ],
    ids=str,
)
def test_pooling_is_that_of_pytorch(options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    x = ot.dtensor4("x")
    made = [
        signal.max_pool2d(x, **options),
        signal.avg_pool2d(x, **options),
        signal.avg_pool2d(x, **options, count_include_pad=False),
    ]
    f = oc.function([x], [*made, *(og.grad((y**2).sum(), x) for y in made)])
    for shape in ((2, 3, 9, 10), (1, 1, 6, 6)):
        a = draw((-1.0, 1.0), shape)
        found = f(a)
        functions = torch.nn.functional
        for i, (name, more) in enumerate(
            [
                ("max_pool2d", {}),
                ("avg_pool2d", {}),
                ("avg_pool2d", {"count_include_pad": False}),
            ]
        ):
            t = torch.tensor(a, requires_grad=True)
            expected = getattr(functions, name)(t, **options, **more)
            (expected**2).sum().backward()
            np.testing.assert_allclose(found[i], expected.detach().numpy(), atol=1e-12)
            np.testing.assert_allclose(found[i + 3], t.grad.numpy(), atol=1e-12)


@pytest.mark.parametrize("mode", ["max", "sum", "average_inc_pad", "average_exc_pad"])
def test_pool_2d(mode: Any) -> None:
    a = draw((-1.0, 1.0), (2, 5, 7))
    x = ot.dtensor3("x")
    reduce = {"max": np.max, "sum": np.sum}.get(mode, np.mean)
    f = oc.function(
        [x], [signal.pool_2d(x, (2, 3), mode=mode), signal.pool_2d(x, 2, False, mode=mode)]
    )
    inside, whole = f(a)
    np.testing.assert_allclose(inside, reduce(windows_of(a, (2, 3), (2, 3), (1, 1)), axis=(1, 2)))
    blocks = [[a[:, i : i + 2, j : j + 2] for j in range(0, 7, 2)] for i in range(0, 5, 2)]
    if mode == "average_inc_pad":
        expected = [[np.mean(b, axis=(1, 2)) for b in row] for row in blocks]
    else:
        expected = [[reduce(b, axis=(1, 2)) for b in row] for row in blocks]
    np.testing.assert_allclose(whole, np.moveaxis(expected, -1, 0))


@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (2, 1), (3, 2), (1, 3)])
def test_windows_and_their_adjoint(stride: int, dilation: int) -> None:
    a = draw((-1.0, 1.0), (3, 11))[:, ::-1]
    x = ot.dmatrix("x")
    windows = Windows((3,), (stride,), (dilation,))(x)
    weights = draw((-1.0, 1.0), windows_of(a, (3,), (stride,), (dilation,)).shape)
    f = oc.function([x], [windows, og.grad((windows * weights).sum(), x)])
    made, slope = f(a)
    np.testing.assert_array_equal(made, windows_of(a, (3,), (stride,), (dilation,)))
    expected = np.zeros(a.shape)
    for j in range(3):
        for i in range(weights.shape[-1]):
            expected[:, i * stride + j * dilation] += weights[:, j, i]
    np.testing.assert_allclose(slope, expected, atol=1e-15)
    og.verify_grad(lambda v: OverlapAdd((stride,), (dilation,), (20,))(v), [weights])


def test_windows_of_dynamic_lengths_are_added() -> None:
    x = ot.dtensor3("x")
    made = OverlapAdd((2,), (1,), (10,))(x)
    a, weights = draw((-1.0, 1.0), (2, 3, 4)), draw((-1.0, 1.0), (2, 10))
    slope = oc.function([x], og.grad((made * weights).sum(), x))
    np.testing.assert_array_equal(slope(a), windows_of(weights, (3,), (2,), (1,))[..., :4])


def test_a_single_window_is_a_copy() -> None:
    """What reads the tensor itself may overwrite it."""
    x = ot.tensor("x", dtype="float64", shape=(1, 3))
    y = x + 1.0
    outputs = [ot.exp(y), 2.0 * signal.max_pool1d(y, 3)]
    for mode in ("py", "native"):
        found = oc.function([x], outputs, mode=mode)([[0.0, 1.0, 2.0]])
        np.testing.assert_allclose(found[0], np.exp([[1.0, 2.0, 3.0]]))
        np.testing.assert_array_equal(found[1], [[6.0]])
    kernel = Windows((3,), (1,), (1,)).evaluate(a := np.zeros((1, 3)))
    assert not np.shares_memory(kernel, a)


def test_no_images_and_kernels_that_do_not_fit() -> None:
    x, w = ot.dtensor4("x"), _kernels(1, 1, 3, 3)
    f = oc.function([x, w], [signal.conv2d(x, w), *og.grad(signal.conv2d(x, w).sum(), [x, w])])
    made, _, slope = f(np.zeros((0, 2, 4, 5)), np.ones((3, 2, 3, 3)))
    assert made.shape == (0, 3, 2, 3)
    np.testing.assert_array_equal(slope, np.zeros((3, 2, 3, 3)))
    with pytest.raises(ValueError, match="does not fit"):
        f(np.zeros((1, 2, 2, 5)), np.ones((3, 2, 3, 3)))


def test_batches_of_kernels() -> None:
    x, w = ot.dtensor3("x"), ot.tensor("w", shape=(None, None, 2))
    many = ot.tensor("many", shape=(None, None, None, 2))
    a, b = draw((-1.0, 1.0), (2, 3, 6)), draw((-1.0, 1.0), (4, 5, 3, 2))
    f = oc.function([x, many], og.vectorize_graph(signal.conv1d(x, w, stride=2), {w: many}))
    alone = oc.function([x, w], signal.conv1d(x, w, stride=2))
    np.testing.assert_allclose(f(a, b), [alone(a, each) for each in b], atol=1e-13)


def test_static_lengths() -> None:
    x = ot.tensor("x", dtype="float32", shape=(None, 4, 10, 9))
    w = ot.tensor("w", dtype="float32", shape=(8, 2, 3, 2))
    assert signal.conv2d(x, w, stride=2, groups=2).type.shape == (None, 8, 4, 4)
    assert signal.conv2d(x, w, stride=2, groups=2).dtype == "float32"
    assert signal.max_pool2d(x, 3, 2, 1).type.shape == (None, 4, 5, 5)
    assert signal.avg_pool2d(x, 2, ceil_mode=True).type.shape[:2] == (None, 4)


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda x, w: signal.conv2d(x[0], w), ValueError, "input of conv2d has 4 dimensions"),
        (lambda x, w: signal.conv2d(x, w, groups=2), ValueError, "channels of conv2d do not fit"),
        (
            lambda x, w: signal.conv2d(x, w, stride=0),
            ValueError,
            "stride must be 2 integers from 1",
        ),
        (lambda x, w: signal.conv2d(x, w, padding="full"), ValueError, "padding must be 'same'"),
        (lambda x, w: signal.conv2d(x, w, stride=2, padding="same"), ValueError, "strides of 1"),
        (
            lambda x, w: signal.conv2d(x, ot.dtensor4("w")),
            ValueError,
            "kernels of conv2d must be known",
        ),
        (lambda x, w: signal.conv2d(x, w, dilation=9), ValueError, "does not fit"),
        (lambda x, w: signal.max_pool2d(x, 2, padding=2), ValueError, "at most half of a window"),
        (lambda x, w: signal.avg_pool2d(x * 1j, 2), TypeError, "takes real numbers"),
        (lambda x, w: signal.pool_2d(x, 2, mode="mean"), ValueError, "The mode of pool_2d"),
        (lambda x, w: signal.pool_2d(x, 2, False, pad=1), ValueError, "only if ignore_border"),
    ],
)
def test_errors_name_what_is_wrong(call: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        call(ot.tensor("x", shape=(None, 2, 6, 6)), ot.tensor("w", shape=(4, 2, 3, 3)))
