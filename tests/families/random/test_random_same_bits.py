"""Draws by keys have the same bits on all linkers, in loops, batches, threads and processes; errors are the same everywhere."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.ir.shared import shared
from occelo_loops.ops.building.loops import loop
from occelo_random import functions as random

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
KEYS = np.array([0, 1, 2**32 - 1, 2**32, 2**64 - 1], "uint64")
LINKERS = ["py", "vm", "native", "c", "c|py"] if THOROUGH else ["vm", "native"]
KEY = ot.scalar("key", dtype="uint64")

Keys = list[Any]


def exact(key: Any, length: int = 37) -> Keys:
    """Draws that are made of bits alone."""
    keys = [random.fold_in(key, i) for i in range(5)]
    return [
        random.bits(keys[0], (length,)),
        random.uniform(keys[1], size=length),
        random.uniform(keys[2], size=length, dtype="float32"),
        random.integers(keys[3], -5, 1000, size=length),
        random.bernoulli(random.split(keys[4], 2)[1], 0.25, size=length),
    ]


def others(key: Any, length: int = 37) -> Keys:
    """Draws by logarithms and by rejection."""
    keys = [random.fold_in(key, i) for i in range(5, 9)]
    return [
        random.normal(keys[0], size=length),
        random.exponential(keys[1], size=length),
        random.gamma(keys[2], 0.7, size=length),
        random.poisson(keys[3], 30.0, size=length),
    ]


def check(found: Any, expected: Any, place: str) -> None:
    """Equal bits for the draws of `exact`, which come first, a relative error of 2e-14 for the others."""
    for i, (one, other) in enumerate(zip(found, expected, strict=True)):
        assert np.asarray(one).dtype == other.dtype, place
        if i < 5 or other.dtype.kind != "f":
            np.testing.assert_array_equal(one, other, err_msg=f"{place}, draw {i}")
        else:
            np.testing.assert_allclose(np.asarray(one), other, 2e-14, 0, err_msg=place)


def digest(seed: int) -> str:
    f = oc.function([KEY], exact(KEY), mode=oc.Mode("native"))
    return hashlib.sha256(b"".join(np.asarray(v).tobytes() for v in f(np.uint64(seed)))).hexdigest()


def test_one_key_gives_the_same_bits_everywhere() -> None:
    made = exact(KEY) + (others(KEY) if THOROUGH else [])
    expected = [[np.asarray(v) for v in og.evaluate(made, {KEY: k})] for k in KEYS]
    functions = {name: oc.function([KEY], made, mode=oc.Mode(name)) for name in LINKERS}
    for name, f in functions.items():
        for k, wanted in zip(KEYS, expected, strict=True):
            check(f(k), wanted, name)
    # a batch of keys, and a key for each iteration of a loop
    few = made if THOROUGH else made[:2]
    together = [np.stack(each) for each in list(zip(*expected, strict=True))[: len(few)]]
    keys = ot.vector("keys", dtype="uint64")
    looped = loop(lambda _, k: (ot.constant(0.0), made_with(few, k)), ot.constant(0.0), keys)[1]
    for name in LINKERS if THOROUGH else ["native"]:
        mode = oc.Mode(name)
        check(
            oc.function([keys], og.vectorize_graph(few, {KEY: keys}), mode=mode)(KEYS),
            together,
            f"a batch, {name}",
        )
        check(oc.function([keys], looped, mode=mode)(KEYS), together, f"a loop, {name}")
    # one function, called from several threads
    for threads in (1, 2, 4):
        with ThreadPoolExecutor(threads) as pool:
            calls = pool.map(functions["native"], np.tile(KEYS, 8 if THOROUGH else 2))
            for i, found in enumerate(calls):
                check(found, expected[i % len(KEYS)], f"{threads} threads")


def made_with(made: Keys, key: Any) -> tuple[Any, ...]:
    return tuple(og.clone_replace(made, {KEY: key}))


def test_any_number_of_threads_gives_the_same_bits() -> None:
    length = 1_000_000 if THOROUGH else 100_000
    normals = random.normal(KEY, size=length)
    made = [*exact(KEY, length)[: 4 if THOROUGH else 2], normals, normals.sum()]
    found: list[Any] = []
    for threads in (1, 2, 4):
        with config.change_flags(native__threads=threads):
            found.append(oc.function([KEY], made, mode=oc.Mode("native"))(KEYS[1]))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.filterwarnings("ignore:.*runs in Python:UserWarning")
def test_errors_are_the_same_on_all_linkers() -> None:
    p = ot.dscalar("p")
    rng = random.default_rng(1)
    pair = ot.stack([p, 2.0])
    cases: list[tuple[str, Callable[[], Any]]] = [
        ("scale < 0", lambda: rng.normal(0.0, p)[1]),
        ("p < 0", lambda: rng.categorical(pair)[1]),
        ("scale < 0", lambda: random.normal(KEY, 0.0, p, size=1000).sum()),
        ("shape <= 0", lambda: random.gamma(KEY, p)),
        ("lam < 0", lambda: random.poisson(KEY, p)),
        ("p < 0", lambda: random.categorical(KEY, pair)),
    ]
    for text, make in cases if THOROUGH else cases[:3]:
        drawn, found = make(), set[str]()
        for name in ["py", *LINKERS]:
            f = oc.function([KEY, p], drawn, mode=oc.Mode(name), on_unused_input="ignore")
            with pytest.raises(ValueError, match=text) as caught:
                f(KEYS[1], -1.0)
            found.add(str(caught.value))
        (message,) = found
        assert re.search(r"test_random_same_bits\.py:\d+:\n +\(\"", message)


def test_threads_that_call_one_function_share_its_state() -> None:
    generator, key = random.shared_rng(seed=3), shared(KEYS[1], "key")
    following, drawn = generator.normal(size=2)
    keys = random.split(key, 2)
    calls = 200 if THOROUGH else 24
    g = np.random.default_rng(3)
    by_generator = [g.normal(size=2).tolist() for _ in range(calls)]
    for name in LINKERS if THOROUGH else ["native"]:
        generator.set_value(np.random.default_rng(3))
        key.set_value(KEYS[1])
        updates = {generator: following, key: keys[1]}
        f = oc.function([], [drawn, random.bits(keys[0])], updates=updates, mode=oc.Mode(name))
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _, f=f: f(), range(calls)))
        # each state is used once, in whatever order
        assert sorted(one.tolist() for one, _ in found) == sorted(by_generator)
        key.set_value(KEYS[1])
        assert {int(other) for _, other in found} == {int(f()[1]) for _ in range(calls)}


def growth(size: int) -> int:
    """By how many bytes the memory of this process grows while draws are summed."""
    resource = pytest.importorskip("resource", reason="only Unix counts memory")
    distributions = [
        random.normal(KEY, size=size),
        random.exponential(KEY, size=size),
        random.gamma(KEY, 2.5, size=size),
        random.integers(KEY, 10, size=size),
    ]
    functions = [
        oc.function([KEY], distribution.sum(), mode=oc.Mode("native"))
        for distribution in distributions
    ]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for f in functions:
        f(KEYS[1])
    return 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)


@pytest.mark.skipif(not THOROUGH, reason="processes take seconds to start")
def test_draws_that_are_summed_are_never_stored() -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(growth, 5_000_000).result() < 8_000_000


@pytest.mark.skipif(not THOROUGH, reason="processes take seconds to start")
def test_processes_draw_the_same_bits() -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(digest, [7, 7])) == [digest(7)] * 2
