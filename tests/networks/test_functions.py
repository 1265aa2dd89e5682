"""Functions of networks equal formulas in NumPy, and JAX and PyTorch where they are installed, also at extreme inputs."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_networks import functions as nn
from occelo_random import functions as random

EXTREME = np.array(
    [-800.0, -100.0, -30.0, -6.0, -3.0, -1.0, -1e-8, 0.0, 0.3, 1.0, 3.0, 6.0, 30.0, 800.0]
)


def sigmoid(x: Any) -> Any:
    return special.expit(x)


def log1pexp(x: Any) -> Any:
    return np.logaddexp(0, x)


ACTIVATIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "identity": (lambda x: x, {}),
    "relu": (lambda x: np.maximum(x, 0), {}),
    "relu6": (lambda x: np.clip(x, 0, 6), {}),
    "hard_tanh": (lambda x: np.clip(x, -1, 1), {}),
    "hard_sigmoid": (lambda x: np.clip(x + 3, 0, 6) / 6, {}),
    "hard_silu": (lambda x: x * np.clip(x + 3, 0, 6) / 6, {}),
    "leaky_relu": (
        lambda x, negative_slope: np.where(x < 0, x * negative_slope, x),
        {"negative_slope": 0.2},
    ),
    "elu": (
        lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0))),
        {"alpha": 0.7},
    ),
    "celu": (
        lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha)),
        {"alpha": 0.7},
    ),
    "selu": (
        lambda x: (
            1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0)))
        ),
        {},
    ),
    "gelu": (
        lambda x, approximate: (
            x * special.ndtr(x)
            if not approximate
            else x * sigmoid(2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))
        ),
        {"approximate": False},
    ),
    "silu": (lambda x: x * sigmoid(x), {}),
    "mish": (lambda x: x * np.tanh(log1pexp(x)), {}),
    "softplus": (log1pexp, {}),
    "log_sigmoid": (lambda x: -log1pexp(-x), {}),
    "soft_sign": (lambda x: x / (1 + abs(x)), {}),
    "squareplus": (lambda x: (x + np.sqrt(x * x + 4)) / 2, {}),
    "sparse_plus": (lambda x: np.where(x < -1, 0, np.where(x > 1, x, (x + 1) ** 2 / 4)), {}),
    "sparse_sigmoid": (lambda x: np.clip((x + 1) / 2, 0, 1), {}),
    "sigmoid": (sigmoid, {}),
    "tanh": (np.tanh, {}),
}
KINKS = {
    "relu": [0.0],
    "relu6": [0.0, 6.0],
    "hard_tanh": [-1.0, 1.0],
    "hard_sigmoid": [-3.0, 3.0],
    "hard_silu": [-3.0, 3.0],
    "leaky_relu": [0.0],
    "elu": [0.0],
    "selu": [0.0],
    "sparse_sigmoid": [-1.0, 1.0],
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str) -> None:
    formula, options = ACTIVATIONS[name]
    x = ot.dvector("x")
    y = getattr(nn, name)(x, **options)
    f = oc.function([x], [y, og.grad(y.sum(), x)])
    value, slope = f(EXTREME)
    # the root of 2 is rounded, and the tail of the normal distribution multiplies this by x**2
    rtol = 1e-12 if name == "gelu" else 2e-14
    np.testing.assert_allclose(value, formula(EXTREME, **options), rtol=rtol, atol=1e-300)
    assert np.isfinite(slope).all()
    step = 1e-6 * np.maximum(1, abs(EXTREME))
    differences = (formula(EXTREME + step, **options) - formula(EXTREME - step, **options)) / (
        2 * step
    )
    smooth = ~np.isin(EXTREME, KINKS.get(name, [])) & (abs(EXTREME) > 1e-7)
    np.testing.assert_allclose(slope[smooth], differences[smooth], rtol=2e-7, atol=2e-7)
    value, _ = f([math.nan])
    assert np.isnan(value).all()
    single = getattr(nn, name)(ot.fvector("x"), **options)
    assert single.dtype == "float32"


@pytest.mark.parametrize("name", ["relu", "relu6", "hard_tanh"])
def test_slopes_at_kinks_are_0(name: str) -> None:
    x = ot.dvector("x")
    slope = oc.function([x], og.grad(getattr(nn, name)(x).sum(), x))
    np.testing.assert_array_equal(slope(KINKS[name]), 0)


def test_integers() -> None:
    x = ot.lvector("x")
    assert nn.relu(x).dtype == nn.relu6(x).dtype == "int64"
    np.testing.assert_array_equal(og.evaluate(nn.relu6(x), {x: np.array([-1, 3, 9])}), [0, 3, 6])
    assert nn.silu(x).dtype == nn.softmax(x).dtype == "float64"


@pytest.mark.parametrize("static", [True, False])
def test_glu_and_prelu(static: bool) -> None:
    data = np.linspace(-3, 3, 24).reshape(2, 4, 3)
    x = ot.tensor("x", dtype="float64", shape=data.shape if static else (None,) * 3)
    f = oc.function([x], [nn.glu(x, 1), nn.prelu(x, np.array([0.1, 0.2, 0.3]))])
    gated, leaky = f(data)
    np.testing.assert_allclose(gated, data[:, :2] * sigmoid(data[:, 2:]))
    np.testing.assert_allclose(leaky, np.where(data < 0, data * [0.1, 0.2, 0.3], data))


def test_softmax_with_a_mask() -> None:
    data = np.array([[800.0, -800.0, 1.0, 2.0], [0.0, 1.0, 2.0, 3.0]])
    mask = np.array([[True, True, False, True], [False] * 4])
    x, m = ot.dmatrix("x"), ot.tensor("m", dtype="bool", shape=(None, None))
    p, logs = nn.softmax(x, where=m), nn.log_softmax(x, where=m)
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    f = oc.function([x, m], [p, logs, og.grad((p * weights).sum(), x)])
    got, got_logs, slope = f(data, mask)
    expected = np.zeros((2, 4))
    expected[0, mask[0]] = special.softmax(data[0, mask[0]])
    np.testing.assert_allclose(got, expected)
    np.testing.assert_allclose(got_logs[0, mask[0]], special.log_softmax(data[0, mask[0]]))
    assert (got_logs[0, ~mask[0]] == -np.inf).all()
    np.testing.assert_allclose(
        slope, expected * (weights - (expected * weights).sum(1, keepdims=True)), atol=1e-300
    )


def test_reductions_of_exponentials() -> None:
    data = np.array([[800.0, 799.0, -800.0], [0.0, 0.0, 0.0]])
    x = ot.dmatrix("x")
    f = oc.function(
        [x],
        [
            nn.softmax(x),
            nn.softmax(x, None),
            nn.softmin(x, 0),
            nn.logmeanexp(x, 1),
            nn.logmeanexp(x),
        ],
    )
    rows, whole, least, mean, of_all = f(data)
    np.testing.assert_allclose(rows, special.softmax(data, 1))
    np.testing.assert_allclose(whole, special.softmax(data))
    np.testing.assert_allclose(least, special.softmax(-data, 0))
    np.testing.assert_allclose(mean, special.logsumexp(data, 1) - math.log(3))
    np.testing.assert_allclose(of_all, special.logsumexp(data) - math.log(6))


# losses


def test_cross_entropies_at_extreme_logits() -> None:
    x, t = ot.dvector("x"), ot.dvector("t")
    loss = nn.sigmoid_binary_cross_entropy(x, t)
    f = oc.function([x, t], [loss, og.grad(loss.sum(), x)])
    for target in (0.0, 1.0, 0.25):
        value, slope = f(EXTREME, np.full_like(EXTREME, target))
        expected = target * log1pexp(-EXTREME) + (1 - target) * log1pexp(EXTREME)
        np.testing.assert_allclose(value, expected, rtol=1e-14)
        accurate = sigmoid(EXTREME) - target if target != 1 else -sigmoid(-EXTREME)
        np.testing.assert_allclose(slope, accurate, rtol=1e-13, atol=1e-17)
    truth = ot.tensor("b", dtype="bool", shape=(None,))
    of_truth = oc.function([x, truth], nn.sigmoid_binary_cross_entropy(x, truth))
    np.testing.assert_allclose(of_truth(EXTREME, EXTREME > 0), log1pexp(-abs(EXTREME)), rtol=1e-14)

    logits, labels = ot.dmatrix("logits"), ot.lvector("labels")
    loss = nn.softmax_cross_entropy_with_integer_labels(logits, labels)
    g = oc.function([logits, labels], [loss, og.grad(loss.sum(), logits)])
    data = np.array([[800.0, -800.0, 0.0], [800.0, -800.0, 0.0], [1.0, 2.0, 3.0]])
    value, slope = g(data, [0, 1, 2])
    np.testing.assert_allclose(value, [0, 1600, -special.log_softmax(data[2])[2]])
    np.testing.assert_allclose(slope, special.softmax(data, 1) - np.eye(3), rtol=1e-13, atol=1e-300)


def test_cross_entropy_of_probabilities() -> None:
    p, t = ot.dvector("p"), ot.dvector("t")
    f = oc.function([p, t], nn.binary_cross_entropy(p, t))
    got = f([0.0, 1.0, 0.25, 0.25, 0.0], [0.0, 1.0, 1.0, 0.5, 1.0])
    np.testing.assert_allclose(
        got, [0, 0, math.log(4), -(math.log(0.25) + math.log(0.75)) / 2, np.inf]
    )
    logits, labels = ot.dmatrix("logits"), ot.dmatrix("labels")
    g = oc.function([logits, labels], nn.softmax_cross_entropy(logits, labels))
    np.testing.assert_allclose(
        g([[-np.inf, 1.0, 2.0]], [[0.0, 0.5, 0.5]]), -special.log_softmax([1.0, 2.0]).mean()
    )


TORCH_LOSSES: list[dict[str, Any]] = [
    {},
    {"reduction": "sum"},
    {"reduction": "none"},
    {"label_smoothing": 0.3},
    {"weight": np.array([0.2, 1.0, 3.0])},
    {"weight": np.array([0.2, 1.0, 3.0]), "label_smoothing": 0.3},
    {"ignore_index": 1},
    {"ignore_index": 1, "weight": np.array([0.2, 1.0, 3.0])},
]


@pytest.mark.parametrize("options", TORCH_LOSSES, ids=lambda o: "-".join(o) or "plain")
@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_cross_entropy_as_in_torch(options: dict[str, Any], ndim: int) -> None:
    torch: Any = pytest.importorskip("torch")
    rng = np.random.default_rng(ndim)
    shape = [(3,), (4, 3), (2, 3, 5)][ndim - 1]
    data, weights = rng.normal(size=shape), rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])
    numbers = rng.integers(0, 3, size=shape[:1] + shape[2:] if ndim > 1 else ())
    of_torch = {k: torch.tensor(v) if k == "weight" else v for k, v in options.items()}
    x = ot.tensor("x", dtype="float64", shape=(None,) * ndim)
    targets = [numbers] if "ignore_index" in options else [numbers, weights]
    for target in targets:
        t = ot.tensor("t", dtype=target.dtype.name, shape=(None,) * target.ndim)
        got = oc.function([x, t], nn.cross_entropy(x, t, **options))(data, target)
        expected = torch.nn.functional.cross_entropy(
            torch.tensor(data), torch.tensor(target), **of_torch
        )
        np.testing.assert_allclose(got, expected.numpy(), rtol=1e-12)


# selection


def test_one_hot() -> None:
    ids = np.array([[0, 2], [3, -1]])
    for axis in (-1, 0, 1, -2):
        expected = np.moveaxis((ids[..., None] == np.arange(3)).astype("float64"), -1, axis)
        np.testing.assert_array_equal(og.evaluate(nn.one_hot(ids, 3, axis=axis)), expected)
    assert nn.one_hot(ids, 3, dtype="bool").dtype == "bool"
    n, k = ot.lscalar("n"), ot.lscalar("k")
    f = oc.function([n, k], nn.one_hot(k, n))
    np.testing.assert_array_equal(f(3, 1), [0, 1, 0])
    assert f(0, 0).shape == (0,)


def test_embedding() -> None:
    ids, w = ot.lmatrix("ids"), ot.dmatrix("w")
    rows = nn.embedding(ids, w)
    f = oc.function([ids, w], [rows, og.grad((rows**2).sum(), w)])
    weights = np.arange(8.0).reshape(4, 2)
    picked = np.array([[1, 1, 3], [0, 1, 3]])
    got, slope = f(picked, weights)
    np.testing.assert_array_equal(got, weights[picked])
    counts = np.bincount(picked.ravel(), minlength=4)[:, None]
    np.testing.assert_array_equal(slope, 2 * weights * counts)
    assert f(np.zeros((0, 2), "int64"), weights)[0].shape == (0, 2, 2)


def test_dropout() -> None:
    x = ot.dmatrix("x")
    key = random.key(7)
    y = nn.dropout(key, x, 0.25)
    f = oc.function(
        [x], [y, og.grad(y.sum(), x), nn.dropout(random.reuse(key), x, 0.25, broadcast=[0])]
    )
    data = np.arange(1.0, 40001.0).reshape(200, 200)
    got, slope, rows = f(data)
    kept = got != 0
    np.testing.assert_allclose(got[kept], data[kept] / 0.75)
    np.testing.assert_allclose(slope, kept / 0.75)
    assert abs(kept.mean() - 0.75) < 4 * math.sqrt(0.25 * 0.75 / data.size)
    assert ((rows == 0) == (rows[0] == 0)).all()
    assert 0 < (rows[0] == 0).sum() < 100
    np.testing.assert_array_equal(f(data)[0], got)
    assert nn.dropout(key, x, 0) is x
    np.testing.assert_array_equal(og.evaluate(nn.dropout(key, x, 1), {x: data}), 0 * data)
    rate = ot.dscalar("rate")
    by_rate = oc.function([x, rate], nn.dropout(random.reuse(key), x, rate))
    np.testing.assert_allclose(by_rate(data, 0.25), got)
    np.testing.assert_array_equal(by_rate(data, 0.0), data)
    assert nn.dropout(key, ot.fmatrix("x"), 0.5).dtype == "float32"


# normalization


def normalized(x: Any, axes: Any, epsilon: float) -> Any:
    mean = x.mean(axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(axis=axes, keepdims=True) + epsilon)


def test_normalization() -> None:
    rng = np.random.default_rng(1)
    data = rng.normal(3, 2, size=(5, 6, 4))
    w, b = rng.normal(size=(2, 6))
    last, rows = rng.normal(size=4), ot.tensor(dtype="float64", shape=(None, None, None))
    mean, variance = nn.moments(rows, (0, 2))
    f = oc.function(
        [rows],
        {
            "layer": nn.layer_norm(rows, last, -last),
            "two": nn.layer_norm(rows, axis=(1, 2), epsilon=0.1),
            "rms": nn.rms_norm(rows, last),
            "batch": nn.batch_norm(rows, w, b),
            "group": nn.group_norm(rows, 3, w, b),
            "instance": nn.group_norm(rows, 6),
            "moving": nn.batch_norm(rows, w, b, mean=b, variance=w**2),
            "itself": nn.batch_norm(rows, mean=mean, variance=variance, axis=1),
        },
    )
    got = f(data)
    wide, shifts = w[:, None], b[:, None]
    np.testing.assert_allclose(got["layer"], normalized(data, -1, 1e-5) * last - last)
    np.testing.assert_allclose(got["two"], normalized(data, (1, 2), 0.1))
    np.testing.assert_allclose(
        got["rms"], data / np.sqrt((data**2).mean(-1, keepdims=True) + 1e-6) * last
    )
    np.testing.assert_allclose(got["batch"], normalized(data, (0, 2), 1e-5) * wide + shifts)
    groups = normalized(data.reshape(5, 3, 2, 4), (2, 3), 1e-5).reshape(data.shape)
    np.testing.assert_allclose(got["group"], groups * wide + shifts)
    np.testing.assert_allclose(got["instance"], normalized(data, 2, 1e-5))
    np.testing.assert_allclose(
        got["moving"], (data - shifts) / np.sqrt(wide**2 + 1e-5) * wide + shifts
    )
    np.testing.assert_allclose(got["itself"], normalized(data, (0, 2), 1e-5))


# attention


def attention_by_hand(q: Any, k: Any, v: Any, bias: Any, mask: Any, scale: float) -> Any:
    """Attention, query by query, for tensors (B, N, T, H)."""
    out = np.zeros((*q.shape[:-1], v.shape[-1]))
    for b in range(q.shape[0]):
        for n in range(q.shape[1]):
            for i in range(q.shape[2]):
                logits = np.array([q[b, n, i] @ row * scale for row in k[b, n]]) + bias[b, n, i]
                seen = np.flatnonzero(mask[b, n, i])
                if seen.size:
                    weights = np.exp(logits[seen] - logits[seen].max())
                    out[b, n, i] = weights @ v[b, n, seen] / weights.sum()
    return out


ATTENTION: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"is_causal": True},
    "scaled": {"scale": 0.3},
    "masked": {"mask": True},
    "masked and causal": {"mask": True, "is_causal": True},
    "biased": {"bias": True, "mask": True},
    "fewer heads": {"heads": 2},
    "lengths": {"lengths": True, "is_causal": True},
}


@pytest.mark.parametrize("case", ATTENTION)
def test_attention(case: str) -> None:
    rng = np.random.default_rng(3)
    options = dict(ATTENTION[case])
    batch, heads, t, s, h, width = 2, 4, 3, 5, 6, 7
    fewer = options.pop("heads", heads)
    q, k, v = (
        rng.normal(size=(batch, t, heads, h)),
        rng.normal(size=(batch, s, fewer, h)),
        rng.normal(size=(batch, s, fewer, width)),
    )
    bias = rng.normal(size=(batch, heads, t, s)) * ("bias" in options)
    mask = (rng.random((batch, heads, t, s)) < 0.6) | ("mask" not in options)
    given = {"bias": bias} if options.pop("bias", False) else {}
    given |= {"mask": mask} if options.pop("mask", False) else {}
    seen = mask & np.tri(t, s, dtype=bool) if options.get("is_causal") else mask
    if options.pop("lengths", False):
        given |= {"query_seq_lengths": np.array([2, 3]), "key_value_seq_lengths": np.array([5, 1])}
        seen = seen & (np.arange(t) < np.array([[2], [3]]))[:, None, :, None]
        seen = seen & (np.arange(s) < np.array([[5], [1]]))[:, None, None, :]
    q_, k_, v_ = (ot.tensor(n, dtype="float64", shape=(None,) * 4) for n in "qkv")
    result = nn.dot_product_attention(q_, k_, v_, **given, **options)
    f = oc.function([q_, k_, v_], [result, *og.grad((result**2).sum(), [q_, k_, v_])])
    got, *slopes = f(q, k, v)
    assert all(np.isfinite(each).all() for each in slopes)
    wide = [np.swapaxes(np.repeat(x, heads // x.shape[2], 2), 1, 2) for x in (q, k, v)]
    scale = options.get("scale", 1 / math.sqrt(h))
    expected = attention_by_hand(*wide, bias, seen, scale)
    np.testing.assert_allclose(np.swapaxes(got, 1, 2), expected, rtol=1e-12)
    # along a direction
    direction = [rng.normal(size=x.shape) for x in (q, k, v)]
    step = 1e-6
    ahead, back = (
        (f(*(x + sign * step * d for x, d in zip((q, k, v), direction, strict=True)))[0] ** 2).sum()
        for sign in (1, -1)
    )
    along = sum((g * d).sum() for g, d in zip(slopes, direction, strict=True))
    np.testing.assert_allclose(along, (ahead - back) / (2 * step), rtol=1e-6)


@pytest.mark.parametrize("case", ["plain", "causal", "scaled", "fewer heads"])
def test_attention_as_in_jax_and_torch(case: str) -> None:
    jax: Any = pytest.importorskip("jax")
    torch: Any = pytest.importorskip("torch")
    rng = np.random.default_rng(4)
    options = dict(ATTENTION[case])
    fewer = options.pop("heads", 4)
    q, k, v = (
        rng.normal(size=(2, n, m, 6)).astype("float32") for n, m in ((5, 4), (5, fewer), (5, fewer))
    )
    ours = og.evaluate(nn.dot_product_attention(q, k, v, **options))
    np.testing.assert_allclose(
        ours, jax.nn.dot_product_attention(q, k, v, **options), rtol=2e-5, atol=2e-6
    )
    moved = [np.swapaxes(x, 1, 2) for x in (q, k, v)]
    grouped = {"enable_gqa": True} if fewer != 4 else {}
    theirs = torch.nn.functional.scaled_dot_product_attention(
        *map(torch.tensor, moved), **options, **grouped
    )
    plain = og.evaluate(nn.scaled_dot_product_attention(*moved, **options, **grouped))
    np.testing.assert_allclose(plain, theirs.numpy(), rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(np.swapaxes(ours, 1, 2), plain, rtol=1e-6)


def test_masks_of_numbers_and_dropout_in_attention() -> None:
    rng = np.random.default_rng(5)
    q, k, v = rng.normal(size=(3, 4)), rng.normal(size=(5, 4)), rng.normal(size=(5, 2))
    mask = rng.random((3, 5)) < 0.5
    mask[:, 0] = True
    by_numbers = nn.scaled_dot_product_attention(q, k, v, np.where(mask, 0, -np.inf))
    by_truth = nn.scaled_dot_product_attention(q, k, v, mask)
    np.testing.assert_allclose(og.evaluate(by_numbers), og.evaluate(by_truth))
    key = random.key(2)
    dropped = nn.scaled_dot_product_attention(q, k, np.eye(5), dropout_rate=0.5, dropout_key=key)
    weights = og.evaluate(nn.scaled_dot_product_attention(q, k, np.eye(5)))
    got = og.evaluate(dropped)
    assert ((got == 0) | np.isclose(got, 2 * weights)).all()
    assert 0 < (got == 0).sum() < 15


# the names of jax.nn

ABSENT = {
    "initializers": "a module of its own, which occelo.nn has",
    "scaled_matmul": "a product in block formats of accelerators",
    "scaled_dot_general": "a product in block formats of accelerators",
    "get_scaled_dot_general_config": "about products in block formats of accelerators",
}


def test_every_name_of_jax_nn() -> None:
    jax_nn: Any = pytest.importorskip("jax.nn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        public = {n for n in dir(jax_nn) if n[0] != "_"}
    assert public - {*dir(nn)} <= set(ABSENT)
    for name in ABSENT:
        assert not hasattr(nn, name)


@pytest.mark.parametrize("name", sorted({*ACTIVATIONS, "log_softmax", "softmax"}))
def test_activations_as_in_jax(name: str) -> None:
    jax_nn: Any = importlib.import_module("jax.nn") if importlib.util.find_spec("jax") else None
    if jax_nn is None:
        pytest.skip("jax is not installed (ModuleNotFoundError)")
    x = ot.fvector("x")
    data = EXTREME.astype("float32")
    got = oc.function([x], getattr(nn, name)(x))(data)
    np.testing.assert_allclose(
        got, getattr(jax_nn, name)(data), rtol=3e-6, atol=1e-30 if name != "gelu" else 1e-6
    )


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "an odd length": (lambda: nn.glu(np.ones(3)), ValueError, "two halves, and its length is 3"),
    "positions of floats": (lambda: nn.one_hot(0.5, 3), TypeError, "Positions are integers"),
    "rows of floats": (
        lambda: nn.embedding([0.5], np.eye(2)),
        TypeError,
        "Rows are chosen by integers",
    ),
    "rows of a vector": (lambda: nn.embedding([0], np.ones(2)), TypeError, "are a matrix"),
    "a rate": (
        lambda: nn.dropout(random.key(1), np.ones(2), 1.5),
        ValueError,
        "lies between 0 and 1, got 1.5",
    ),
    "labels of floats": (
        lambda: nn.softmax_cross_entropy_with_integer_labels(np.eye(2), np.ones(2)),
        TypeError,
        "Labels are the numbers of classes",
    ),
    "a reduction": (
        lambda: nn.cross_entropy(np.eye(2), [0, 1], reduction="avg"),
        ValueError,
        "mean, sum or none",
    ),
    "smoothing": (
        lambda: nn.cross_entropy(np.eye(2), [0, 1], label_smoothing=2.0),
        ValueError,
        "between 0 and 1",
    ),
    "groups": (
        lambda: nn.group_norm(np.ones((2, 3, 4)), 2),
        ValueError,
        "3 features cannot be divided into 2 groups",
    ),
    "attention of vectors": (
        lambda: nn.scaled_dot_product_attention(np.ones(2), np.eye(2), np.eye(2)),
        TypeError,
        "The query of attention has 2 dimensions or more",
    ),
    "attention of matrices": (
        lambda: nn.dot_product_attention(np.eye(2), np.eye(2), np.eye(2)),
        TypeError,
        "The query of attention has 3 dimensions or more",
    ),
    "dropout without a key": (
        lambda: nn.scaled_dot_product_attention(np.eye(2), np.eye(2), np.eye(2), dropout_rate=0.5),
        TypeError,
        "dropout_rate needs a dropout_key",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    make, kind, message = MISTAKES[name]
    with pytest.raises(kind, match=message):
        make()


def test_attention_without_a_batch_takes_lengths_of_sequences() -> None:
    rng = np.random.default_rng(3)
    query, key, value = (rng.normal(size=(4, 2, 3)) for _ in range(3))
    alone = nn.dot_product_attention(query, key, value, key_value_seq_lengths=[2])
    expected = nn.dot_product_attention(query, key[:2], value[:2])
    np.testing.assert_allclose(alone.eval(), expected.eval())
    late = nn.dot_product_attention(query, key, value, query_seq_lengths=[3]).eval()
    np.testing.assert_array_equal(late[3], np.zeros((2, 3)))


@pytest.mark.parametrize("target", [3, -1])
def test_a_target_that_is_no_class_is_an_error(target: int) -> None:
    numbers = ot.lvector("numbers")
    loss = nn.cross_entropy(np.zeros((2, 3)), numbers)
    with pytest.raises(ValueError, match="is a number of a class"):
        loss.eval({numbers: [0, target]})
    ignored = nn.cross_entropy(np.zeros((2, 3)), numbers, ignore_index=target)
    np.testing.assert_allclose(ignored.eval({numbers: [0, target]}), np.log(3.0))


def test_dropout_of_integers_is_not_rounded() -> None:
    kept = nn.dropout(random.key(1), np.full(8, 7), 0.25).eval()
    np.testing.assert_allclose(kept[kept != 0], 7 / 0.75)


def test_an_error_names_the_line_of_the_user() -> None:
    vector = ot.dvector("x")
    with pytest.raises(TypeError, match=r"made at .*test_functions\.py:\d+"):
        og.grad(nn.silu(vector), vector)


def test_labels_of_0_and_1_have_gradients() -> None:
    p, labels, logits = (ot.tensor(dtype="float64", shape=(3,)) for _ in range(3))
    values = {p: [0.1, 0.3, 0.9], labels: [0.0, 1.0, 0.5], logits: [1.0, -2.0, 0.5]}
    slope = og.grad(nn.binary_cross_entropy(p, labels).sum(), labels)
    expected = np.log1p(-np.array(values[p])) - np.log(values[p])
    np.testing.assert_allclose(og.evaluate(slope, values), expected)
    for loss in (nn.softmax_cross_entropy(logits, labels), nn.cross_entropy(logits, labels)):
        found = og.evaluate(og.grad(loss, labels), values)
        np.testing.assert_allclose(found, -np.log(special.softmax(values[logits])))
    # a label of 0 where the probability is 0
    ends = nn.binary_cross_entropy(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    assert ends.eval().tolist() == [0, 0]
    off = nn.softmax_cross_entropy(np.array([0.0, -np.inf]), np.array([1.0, 0.0]))
    assert float(off.eval()) == 0


def test_losses_of_probabilities_keep_their_dtype() -> None:
    logits, labels = ot.fmatrix(), ot.fmatrix()
    for reduction in ("mean", "sum", "none"):
        assert nn.cross_entropy(logits, labels, reduction=reduction).dtype == "float32"
