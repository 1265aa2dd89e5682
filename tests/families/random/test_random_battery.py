"""A battery of statistical tests of random bits, after TestU01 and PractRand, for the streams of one key and across keys.

Each test gives the probability that random bits deviate as much. Marsaglia and Tsang, "Some difficult-to-pass tests of randomness" (2002),
describe birthday spacings and the rank of binary matrices; L'Ecuyer and Simard, "TestU01" (2007), the others.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_random import functions as random

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
WORDS = 2**22 if THOROUGH else 2**13
LEAST = 1e-5
"""The bound of each probability. Thorough runs have about 100 of them, with fixed keys."""
SEED = np.uint64(0x0123456789ABCDEF)


def chi_square(found: Any, expected: Any) -> float:
    """The probability of a sum of squares as far from its mean, to either side."""
    kept = expected >= 10
    rest = float(expected[~kept].sum())
    found = np.append(found[kept], found[~kept].sum())
    expected = np.append(expected[kept], rest)
    if rest < 10:  # the rare values belong to the last of the others
        found[-2] += found[-1]
        expected[-2] += rest
        found, expected = found[:-1], expected[:-1]
    return of_squares(float(((found - expected) ** 2 / expected).sum()), len(found) - 1)


def of_squares(total: float, freedom: int) -> float:
    law = scipy.stats.chi2(freedom)
    return min(1.0, 2 * min(law.cdf(total), law.sf(total)))


def of_normal(z: float) -> float:
    return 2 * scipy.stats.norm.sf(abs(z))


def frequency(words: Any) -> float:
    """Ones at each of the 64 positions."""
    ones = [int(((words >> np.uint64(i)) & np.uint64(1)).sum()) for i in range(64)]
    z = (np.array(ones) - len(words) / 2) / np.sqrt(len(words) / 4)
    return of_squares(float((z**2).sum()), 64)


def runs(words: Any) -> float:
    """Changes from bit to bit, all words after each other."""
    n = 64 * len(words)
    inside = np.bitwise_count((words ^ (words >> np.uint64(1))) & np.uint64(2**63 - 1)).sum()
    between = ((words[1:] & np.uint64(1)) != (words[:-1] >> np.uint64(63))).sum()
    return of_normal((int(inside) + int(between) - (n - 1) / 2) / np.sqrt((n - 1) / 4))


def runs_of_one_bit(words: Any) -> float:
    """Changes of the bit at each position from word to word."""
    changes = words[1:] ^ words[:-1]
    return frequency(changes)


def serial(words: Any) -> float:
    """Pairs of bytes of words that follow each other, the same byte of each: all 8 of them."""
    total = np.zeros((256, 256), "int64")
    for i in range(8):
        byte = ((words >> np.uint64(8 * i)) & np.uint64(255)).astype("int64")
        total += np.bincount(byte[0::2] * 256 + byte[1::2], minlength=65536).reshape(256, 256)
    if len(words) < 2**18:  # too few for each pair: the high nibbles
        total = total.reshape(16, 16, 16, 16).sum(axis=(1, 3))
    return chi_square(total.ravel(), np.full(total.size, total.sum() / total.size))


def gaps(words: Any) -> float:
    """Numbers between two that lie in a given sixteenth of the interval."""
    at = np.flatnonzero((words >> np.uint64(60)) == np.uint64(5))
    lengths = np.diff(at) - 1
    if len(lengths) < len(words) / 32:
        return 0.0
    shares = np.append(1 / 16 * (15 / 16) ** np.arange(300), (15 / 16) ** 300)
    return chi_square(np.bincount(np.minimum(lengths, 300), minlength=301), len(lengths) * shares)


def weights(words: Any) -> float:
    """The number of ones in each of two words that follow each other."""
    classes = np.clip(np.bitwise_count(words).astype("int64") - 24, 0, 16)
    law = scipy.stats.binom(64, 0.5)
    shares = np.diff([0.0, *law.cdf(np.arange(24, 40)), 1.0])
    pairs = np.bincount(classes[0::2] * 17 + classes[1::2], minlength=289)
    return chi_square(pairs, np.outer(shares, shares).ravel() * (len(words) // 2))


def spacings(words: Any) -> float:
    """Birthday spacings: equal distances of 1024 sorted numbers of 28 bits, high and low ones; their number has Poisson's law, mean 1."""
    count, total = 0, 0
    for shift in (36, 18, 0):
        days = ((words >> np.uint64(shift)) & np.uint64(2**28 - 1)).reshape(-1, 1024)
        distances = np.sort(np.diff(np.sort(days.astype("int64"), axis=1), axis=1), axis=1)
        count += int((distances[:, 1:] == distances[:, :-1]).sum())
        total += len(days)
    law = scipy.stats.poisson(total)
    return min(1.0, 2 * min(law.cdf(count), law.sf(count - 1)))


def ranks(words: Any) -> float:
    """The rank of binary matrices of 64 x 64."""
    rows = words[: 64 * min(len(words) // 64, 2**15)].reshape(-1, 64).copy()
    n = len(rows)
    rank, every = np.zeros(n, "int64"), np.arange(n)
    for column in range(64):
        bit = np.uint64(column)
        free = np.arange(64) >= rank[:, None]
        has = (((rows >> bit) & np.uint64(1)) == 1) & free
        found, pivot = has.any(axis=1), has.argmax(axis=1)
        mine, first = every[found], rank[found]
        taken = rows[mine, pivot[found]]
        rows[mine, pivot[found]] = rows[mine, first]
        rows[mine, first] = taken
        later = np.arange(64) > first[:, None]
        changes = (((rows[mine] >> bit) & np.uint64(1)) == 1) & later
        rows[mine] ^= np.where(changes, taken[:, None], np.uint64(0))
        rank[found] += 1
    full = np.prod(1 - 0.5 ** np.arange(1, 65))
    shares = np.array([1 - 3 * full, 2 * full, full])
    return chi_square(np.bincount(np.clip(rank - 62, 0, 2), minlength=3), n * shares)


def correlations(words: Any) -> float:
    """Correlations of numbers with those 1 to 16 places later."""
    x = (words >> np.uint64(11)).astype("float64") * 2.0**-53 - 0.5
    z = [float(x[:-lag] @ x[lag:]) * 12 / np.sqrt(len(x) - lag) for lag in range(1, 17)]
    return of_squares(float(np.square(z).sum()), 16)


TESTS: list[Callable[[Any], float]] = [
    frequency,
    runs,
    runs_of_one_bit,
    serial,
    gaps,
    weights,
    spacings,
    ranks,
    correlations,
]


def least(words: Any) -> tuple[float, str]:
    """The least probability, and the test that gives it."""
    return min((test(words), test.__name__) for test in TESTS)


def streams() -> dict[str, Callable[[Any], Any]]:
    """Bits as graphs of a key: of one key, and of many keys in the order in which they are made."""
    few, many = 64, WORDS // 64
    numbers = ot.arange(WORDS)
    words = ot.constant(np.arange(WORDS, dtype="uint64"))
    return {
        "one key": lambda k: random.bits(k, WORDS),
        "keys by split": lambda k: random.split(k, WORDS),
        "keys by fold_in": lambda k: random.fold_in(k, numbers),
        "first words of keys by split": lambda k: random.bits(random.split(k, WORDS)),
        "first words of keys by fold_in": lambda k: random.bits(random.fold_in(k, numbers)),
        "long rows of keys by split": lambda k: random.bits(random.split(k, few), many).T.ravel(),
        "short rows of keys by fold_in": lambda k: random.bits(
            random.fold_in(k, ot.arange(many)), few
        ).ravel(),
        "keys that follow each other": lambda k: random.bits(k + words),
        "keys with high words that follow each other": lambda k: random.bits(
            k + words * np.uint64(2**32)
        ),
        "keys and those of their splits": lambda k: (
            random.bits(k, WORDS) ^ random.bits(random.split(k, 2)[0], WORDS)
        ),
        "neighbouring keys": lambda k: random.bits(k, WORDS) ^ random.bits(k + np.uint64(1), WORDS),
        "a chain of keys": lambda k: random.bits(
            random.fold_in(random.split(random.fold_in(k, 1), 3)[1], 2**40), WORDS
        ),
    }


@pytest.mark.parametrize("name", streams() if THOROUGH else ["one key", "keys by split"])
def test_bits_look_random(name: str) -> None:
    key = ot.scalar("key", dtype="uint64")
    words = oc.function([key], streams()[name](key))(SEED)
    found = {test.__name__: test(words) for test in TESTS}
    print({test: f"{p:.3g}" for test, p in found.items()})  # with -s
    assert min(found.values()) > LEAST, found


def test_one_changed_bit_changes_half_of_the_bits() -> None:
    """Of the key and of the position, over keys from NumPy: each bit of the input, and each of the output."""
    many = WORDS // 16
    keys = np.random.default_rng(5).integers(0, 2**64, many, "uint64")
    key, flip = ot.vector("key", dtype="uint64"), ot.scalar("flip", dtype="uint64")
    f = oc.function(
        [key, flip],
        [
            random.bits(key) ^ random.bits(key ^ flip),
            random.split(key, 1)[:, 0] ^ random.split(key ^ flip, 1)[:, 0],
            random.fold_in(key, 7) ^ random.fold_in(key ^ flip, 7),
            random.fold_in(key[0], key) ^ random.fold_in(key[0], key ^ flip),
        ],
    )
    found = [
        frequency(each)
        for i in range(0, 64, 1 if THOROUGH else 21)
        for each in f(keys, np.uint64(1 << i))
    ]
    assert min(found) > LEAST
    assert scipy.stats.kstest(found, "uniform").pvalue > 1e-4


def weak(rounds: int) -> Any:
    """The cipher with few rounds, for the bits of one key."""
    low, shift = np.uint64(2**32 - 1), np.uint64(32)
    first, second = np.arange(WORDS, dtype="uint64"), np.uint64(int(SEED) >> 32)
    key = SEED & low
    for _ in range(rounds):
        product = first * np.uint64(0xD256D193)
        first, second = (product >> shift) ^ key ^ second, product & low
        key = (key + np.uint64(0x9E3779B9)) & low
    return (first << shift) + second


def _congruential() -> Any:
    values, state = [], 1
    for _ in range(2**13):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append(state)
    return np.array(values, "uint64")


def _shifted() -> Any:
    values, state = [], 88172645463325252
    for _ in range(2**13):
        state ^= state << 13 & 2**64 - 1
        state ^= state >> 7
        state ^= state << 17 & 2**64 - 1
        values.append(state)
    return np.array(values, "uint64")


def test_the_battery_finds_what_is_not_random() -> None:
    good = np.random.default_rng(3).integers(0, 2**64, 2**13, "uint64")
    assert least(good)[0] > LEAST
    bad: dict[str, Any] = {
        "a counter": np.arange(2**13, dtype="uint64") << np.uint64(40),
        "a linear congruence": _congruential(),
        "shifts and xors": _shifted(),
        "a bit that is one more often": good
        | (np.roll(good, 1) & np.roll(good, 2) & np.roll(good, 5) & np.uint64(1 << 17)),
        "words that are there twice": np.repeat(good[: 2**12], 2),
        "3 rounds of Philox": weak(3),
    }
    for name, words in bad.items():
        assert least(words)[0] < LEAST, name
    np.testing.assert_array_equal(
        weak(10), oc.function([], random.bits(ot.constant(SEED), WORDS))()
    )
