"""Traces of a scan whose lengths a branch of the step decides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_graph.ops.control.branches import ifelse
from occelo_link.capabilities import supports
from occelo_loops import scan


@pytest.mark.filterwarnings("ignore:jax has no Iterate")
@pytest.mark.parametrize("linker", ["py", "native", "c", "numba", "jax"])
def test_a_branch_decides_the_length_of_a_trace(linker: str) -> None:
    pytest.importorskip({"numba": "numba", "jax": "jax"}.get(linker, "numpy"))

    def step(s: Any) -> Any:
        y = ifelse(ot.gt(s, 0), ot.arange(3.0), ot.arange(2.0) + 0 * s)
        return s + 1, ot.zeros((y.shape[0],)) + s

    n = ot.lscalar("n")
    results: Any = scan(
        step, outputs_info=[ot.constant(1.0), None], n_steps=n, return_updates=False
    )
    f = oc.function([n], results, mode=linker)
    for steps in (0, 1, 4):
        states, trace = f(steps)
        np.testing.assert_array_equal(states, np.arange(2.0, steps + 2))
        np.testing.assert_array_equal(trace, np.arange(1.0, steps + 1)[:, None] * np.ones(3))
    supports(linker, results)  # raised TypeError
