"""A warning where one key is used for two draws, and draws with the same bits on purpose."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ops.control import ifelse
from occelo_loops.ops.building.loops import loop
from occelo_random import functions as random


def _warnings(outputs: Any, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        inputs = [v for v in og.graph_inputs(list(outputs)) if not isinstance(v, og.Constant)]
        inputs = [v for v in inputs if not hasattr(v, "get_value")]
        oc.function(inputs, outputs, mode="fast_compile", **options)
    assert all(each.filename == __file__ for each in caught)
    return [str(each.message) for each in caught]


def test_a_key_that_is_used_twice_is_a_warning() -> None:
    key, a = ot.scalar("key", dtype="uint64"), ot.dscalar("a")
    keys = random.split(key, 2)
    x = random.normal(key, size=3)
    pairs = [
        (x, random.uniform(key, size=3)),
        (x, random.uniform(key, size=4)),
        (x, random.gamma(key, a, size=3)),
        (x, random.normal(key, a)),
        (random.normal(keys[0]),
         random.uniform(keys[0])),
        (random.wald(key, a, 1.0),
         random.split(key, 3)),
        (random.normal(random.key(3)),
         random.uniform(random.key(3))),
        (random.poisson(random.fold_in(key, 3), a),
         random.uniform(random.fold_in(key, 3))),
    ]  # fmt: skip
    for pair in pairs:
        (message,) = _warnings(pair)
        assert message.startswith("The key ")
        assert message.count("test_random_key_reuse.py") >= 2
        assert "split(key, 2)" in message
    assert "The key key (uint64 ())" in _warnings(pairs[0])[0]


def test_keys_that_are_not_used_twice() -> None:
    key, a = ot.scalar("key", dtype="uint64"), ot.dscalar("a")
    keys, many = random.split(key, 2), random.split(random.fold_in(key, 9), 4)
    x, y = random.gamma(key, a, size=3), random.uniform(random.reuse(key), size=3)
    state = oc.shared(random.key(3).data)
    following, now = random.split(state, 2)
    flag = oc.shared(np.array(True))
    one, other = random.normal(keys[0], a), random.exponential(keys[0], a)
    rows = ot.vector("rows", dtype="uint64")
    batched = og.vectorize_graph(x, {key: rows})

    def step(total: Any, mine: Any) -> Any:
        return (total + random.normal(mine, a) + random.uniform(random.fold_in(mine, 1)),) * 2

    looped = loop(step, ot.constant(0.0), many)[1]
    for outputs in (
        [x, og.grad(x.sum(), a), x.shape],
        [x, y, random.wald(random.reuse(key), a, 1.0), random.choice(random.reuse(key), 5)],
        [x, random.normal(key, size=4).shape[0] + 0 * a],
        [random.normal(keys[0]), random.uniform(keys[1])],
        [random.normal(random.fold_in(key, 1)), random.uniform(random.fold_in(key, 2))],
        [ifelse(flag, one, other)],
        [batched, og.vectorize_graph(x, {a: ot.dvector("b")}), x],
        [looped, og.grad(looped.sum(), a), random.normal(key)],
        [og.clone_replace(x, {a: a + 1.0}), x],
    ):
        assert not _warnings(outputs)
    assert not _warnings([random.normal(now, a)], updates={state: following})


def test_reused_keys_give_the_same_bits() -> None:
    key, loc = ot.scalar("key", dtype="uint64"), ot.dvector("loc")
    for make in (random.normal, lambda k, m: random.gamma(k, m + 2.0)):
        x = make(key, loc)
        y = make(random.reuse(key), loc + 1.0)
        z = make(key, loc + 1.0)
        f = oc.function([key, loc], [x, y])
        g = oc.function([key, loc], z)
        values = np.array([0.5, 1.5])
        np.testing.assert_array_equal(f(np.uint64(9), values)[1], g(np.uint64(9), values))
        slopes = oc.function([key, loc], og.grad((x + y).sum(), loc))
        assert np.isfinite(slopes(np.uint64(9), values)).all()
    with pytest.raises(TypeError, match="uint64"):
        random.reuse(loc)
