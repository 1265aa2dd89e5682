"""Random numbers by keys: published bits, distributions, independence of keys, shapes, dtypes, derivatives and errors."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_random import functions as random
from occelo_random.ops.draws import normal_quantile
from occelo_random.ops.philox import philox

COUNT = 1_000_000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 50_000
KEY = random.key(20)


def drawn(variable: Any) -> Any:
    return np.asarray(og.evaluate(variable, {}))


@pytest.mark.parametrize(
    ("key", "counter", "expected"),
    [
        # the file kat_vectors of Random123, philox2x32 with 10 rounds
        (0x00000000, (0x00000000, 0x00000000), (0xFF1DAE59, 0x6CD10DF2)),
        (0xFFFFFFFF, (0xFFFFFFFF, 0xFFFFFFFF), (0x2C3F628B, 0xAB4FD7AD)),
        (0x13198A2E, (0x243F6A88, 0x85A308D3), (0xDD7CE038, 0xF62A4C12)),
    ],
)
def test_published_bits(key: int, counter: tuple[int, int], expected: tuple[int, int]) -> None:
    found = drawn(philox(np.uint64(key | counter[1] << 32), np.uint64(counter[0])))
    assert int(found) == expected[0] << 32 | expected[1]


DISTRIBUTIONS: list[tuple[Any, Any]] = [
    (lambda k, n: random.uniform(k, -1.0, 3.0, size=n), scipy.stats.uniform(-1.0, 4.0)),
    (lambda k, n: random.normal(k, 2.0, 0.5, size=n), scipy.stats.norm(2.0, 0.5)),
    (lambda k, n: random.exponential(k, 3.0, size=n), scipy.stats.expon(scale=3.0)),
    (lambda k, n: random.normal(k, size=n, dtype="float32"), scipy.stats.norm()),
]


@pytest.mark.parametrize(("draw", "distribution"), DISTRIBUTIONS)
def test_draws_follow_their_distribution(draw: Any, distribution: Any) -> None:
    values = drawn(draw(KEY, COUNT)).astype("float64")
    assert scipy.stats.kstest(values, distribution.cdf).pvalue > 1e-3
    deviation = distribution.std() / np.sqrt(COUNT)
    assert abs(values.mean() - distribution.mean()) < 4 * deviation
    assert abs(values.std() - distribution.std()) < 20 * deviation
    # one key after the other, and one position after the other, are not correlated
    others = drawn(draw(random.split(KEY, COUNT), ())).astype("float64")
    assert scipy.stats.kstest(others, distribution.cdf).pvalue > 1e-3
    for other in (others, np.roll(values, 1)):
        assert abs(np.corrcoef(values, other)[0, 1]) < 5 / np.sqrt(COUNT)


def test_integers_and_truth_values() -> None:
    counts = np.bincount(drawn(random.integers(KEY, -2, 5, size=COUNT)) + 2, minlength=7)
    assert len(counts) == 7
    assert scipy.stats.chisquare(counts).pvalue > 1e-3
    share = drawn(random.bernoulli(KEY, 0.3, size=COUNT)).mean()
    assert abs(share - 0.3) < 5 * np.sqrt(0.21 / COUNT)
    assert not drawn(random.bernoulli(KEY, 0.0, size=COUNT)).any()
    assert drawn(random.bernoulli(KEY, 1.0, size=COUNT)).all()
    np.testing.assert_array_equal(drawn(random.integers(KEY, 4, 5, size=3)), [4, 4, 4])


def test_integers_at_the_ends_of_dtypes() -> None:
    every = np.uint64(2**63)
    for low, high, dtype, message in (
        (0, 256, "uint8", None),
        (0, 257, "uint8", "high is out of bounds for uint8"),
        (-1, 5, "uint8", "low is out of bounds for uint8"),
        (-129, 5, "int8", "low is out of bounds for int8"),
        (np.int8(-3), np.uint8(200), "int8", "high is out of bounds for int8"),
        (np.uint64(0), every, "int64", None),
        (np.uint64(0), every + np.uint64(1), "int64", "high is out of bounds for int64"),
        (np.int64(-(2**63)), every, "int64", None),
        (every, np.uint64(2**64 - 1), "uint64", None),
        (np.int64(-1), np.uint64(5), "uint64", "low is out of bounds for uint64"),
    ):
        bounds = [ot.scalar(dtype=np.asarray(each).dtype) for each in (low, high)]
        given = dict(zip(bounds, (np.asarray(low), np.asarray(high)), strict=True))
        if message:
            with pytest.raises(ValueError, match=message):
                random.integers(KEY, low, high, dtype=dtype)
            with pytest.raises(ValueError, match=message):
                og.evaluate(random.integers(KEY, *bounds, dtype=dtype), given)
            continue
        values = drawn(random.integers(KEY, low, high, size=2000, dtype=dtype))
        other = og.evaluate(random.integers(KEY, *bounds, size=2000, dtype=dtype), given)
        np.testing.assert_array_equal(values, other)
        shares = (values.astype(object) - int(low)) / (int(high) - int(low))
        assert scipy.stats.kstest(shares.astype(float), "uniform").pvalue > 1e-3


def test_the_quantile_of_the_normal_distribution() -> None:
    tail = np.logspace(-16, -0.31, 500)
    u = np.concatenate([tail, 1 - tail[tail > 1e-10], [0.075, 0.925, 0.5 + 2.0**-40]])
    found = drawn(normal_quantile(ot.constant(u)))
    np.testing.assert_allclose(found, scipy.special.ndtri(u), rtol=2e-15, atol=1e-16)
    assert drawn(normal_quantile(ot.constant(0.5))) == 0.0


def test_numbers_of_the_ends() -> None:
    for dtype, digits in (("float32", 24), ("float64", 53)):
        u = drawn(random.uniform(KEY, size=COUNT, dtype=dtype))
        assert u.dtype == dtype
        assert 0.0 <= u.min() < u.max() <= 1.0 - 2.0**-digits
        assert np.isfinite(drawn(random.normal(KEY, size=COUNT, dtype=dtype))).all()


def test_shapes() -> None:
    keys = random.split(KEY, 3)
    assert keys.type.shape == (3,)
    loc = ot.constant(np.zeros((4, 1)))
    assert drawn(random.normal(KEY)).shape == ()
    assert drawn(random.normal(KEY, loc, np.ones(2))).shape == (4, 2)
    assert drawn(random.normal(KEY, size=(2, 0, 3))).shape == (2, 0, 3)
    assert drawn(random.normal(keys, size=(2,))).shape == (3, 2)
    assert drawn(random.normal(keys, np.arange(3.0))).shape == (3,)
    n = ot.lscalar("n")
    for length in (0, 1, 5):
        found = np.asarray(og.evaluate(random.uniform(KEY, size=(n, 2)), {n: np.int64(length)}))
        np.testing.assert_array_equal(found, drawn(random.uniform(KEY, size=(length, 2))))


def test_a_batch_of_keys_is_every_key_by_itself() -> None:
    keys = random.split(KEY, 4)
    batch = drawn(random.uniform(keys, size=(3,)))
    for i, row in enumerate(batch):
        np.testing.assert_array_equal(row, drawn(random.uniform(keys[i], size=(3,))))
    mapped = og.vectorize(lambda k: random.normal(k, size=(3,)), "()->(n)")(keys)
    np.testing.assert_array_equal(drawn(mapped), drawn(random.normal(keys, size=(3,))))


def test_keys_differ() -> None:
    keys = [
        *drawn(random.split(KEY, 1000)),
        *drawn(random.fold_in(KEY, np.arange(-500, 500))),
        *drawn(random.fold_in(KEY, np.arange(1, 500) * 2**32)),
        *(int(drawn(random.key(seed))) for seed in (0, 1, 2**64, [0, 1])),
        int(drawn(KEY)),
    ]
    assert len(set(map(int, keys))) == len(keys)


def test_derivatives_by_parameters() -> None:
    loc, scale = np.array([0.5, -1.0]), np.array([0.5, 2.0])
    og.verify_grad(lambda m, s: random.normal(KEY, m, s), [loc, scale])
    og.verify_grad(lambda s: random.exponential(KEY, s), [scale])
    og.verify_grad(lambda a, b: random.uniform(KEY, a, b), [loc, loc + scale])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: random.split(ot.dscalar()), TypeError, "dtype uint64, made by random.key"),
        (lambda: random.normal(KEY, dtype="int64"), TypeError, "float32 or float64, not int64"),
        (lambda: random.integers(KEY, 0.5), TypeError, "integer bounds and dtypes, got float64"),
        (lambda: random.fold_in(KEY, 1.5), TypeError, "Integers are folded into keys"),
        (lambda: random.fold_in(KEY, np.True_), TypeError, "Integers are folded into keys"),
        (lambda: random.key(ot.lscalar("seed")), TypeError, "fold it in"),
        (lambda: random.key(-1), ValueError, "non-negative"),
        (lambda: random.split(KEY, 1.5), TypeError, "A length must be an integer"),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
