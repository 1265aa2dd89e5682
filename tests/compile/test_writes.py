"""Programs that write and read parts of tensors and shared variables, with all rewrites and in-place ops."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from occelo_compile import Mode, function
from occelo_graph.ir.shared import shared
from occelo_testing.writing import Writing

COUNT = 5000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 60


def _update(writing: Writing) -> tuple[int, int] | None:
    """An input and something made that may update it, as positions."""
    count = len(writing.inputs)
    for k, (x, of_x) in enumerate(writing.inputs):
        for j in range(len(writing.made) - 1, count - 1, -1):
            made, value = writing.made[j]
            known = zip(made.type.shape, x.type.shape, strict=False)
            if value.shape == of_x.shape and all(n is None or m == n for m, n in known):
                return k, j
    return None


def check(found: list[Any], writing: Writing, seed: int) -> None:
    for got, (_, expected) in zip(found, writing.outputs, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12, err_msg=f"program {seed}")


@pytest.mark.parametrize("part", range(3))
def test_writes_are_seen_by_all_later_reads(part: int) -> None:
    for seed in range(part, COUNT, 3):
        writing = Writing(seed)
        outputs = [v for v, _ in writing.outputs]
        inputs = [v for v, _ in writing.inputs]
        for mode in ("native", Mode("vm", "fast_run")) if seed % 4 == 0 else ("native",):
            f = function(inputs, outputs, mode=mode, on_unused_input="ignore")
            for _ in range(2):
                check(f(*[a for _, a in writing.inputs]), writing, seed)


def test_writes_to_what_is_updated() -> None:
    seen = 0
    for seed in range(1000, 1000 + COUNT):
        writing = Writing(seed)
        chosen = _update(writing)
        if chosen is None:
            continue
        seen += 1
        k, j = chosen
        x, value = writing.inputs[k]
        state = shared(value.copy(), shape=x.type.shape)
        inputs = [v for i, (v, _) in enumerate(writing.inputs) if i != k]
        f = function(
            inputs,
            [v for v, _ in writing.outputs],
            updates=[(state, writing.made[j][0])],
            givens={x: state},
            mode="native",
            on_unused_input="ignore",
        )
        # the first call goes through Python
        for _ in range(3):
            now = Writing(seed, {k: value})
            check(f(*[a for i, (_, a) in enumerate(now.inputs) if i != k]), now, seed)
            value = now.made[j][1]
            np.testing.assert_allclose(state.get_value(), value, 1e-12, err_msg=f"program {seed}")
    assert seen > COUNT // 3
