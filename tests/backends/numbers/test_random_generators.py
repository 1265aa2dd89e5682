"""Draws with generators on Numba, JAX and PyTorch: NumPy's numbers, in loops too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats

import occelo as oc
import occelo.tensor as ot
from occelo_graph.config import config


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings(
    "ignore:.*runs in Python:UserWarning", "ignore:.*torch.jit.*:DeprecationWarning"
)
@pytest.mark.parametrize("linker", ["numba", "jax", "pytorch"])
def test_numbers_are_those_of_numpy(linker: str) -> None:
    pytest.importorskip("torch" if linker == "pytorch" else linker, reason="not installed")
    state = ot.random.shared_rng(seed=3)
    scale = ot.dscalar("scale")

    def step(carried: Any, _: Any) -> Any:
        x, rng = carried
        rng, move = rng.normal(0.0, scale, size=2)
        return (x + move, rng), None

    (end, last), _ = oc.loop(step, (ot.constant(np.zeros(2)), state), ot.arange(4))
    last, counts = last.poisson(4.0, size=3)
    last, shuffled = last.shuffle(ot.arange(5), size=2)
    last, bounded = last.truncnorm(-1.0, scale, size=3)
    last, covariance = last.wishart(3, scale * np.eye(2))
    g = np.random.default_rng(3)
    with config.change_flags(pytorch__compile=False):
        mode = oc.Mode(linker, "fast_run")
        f = oc.function(
            [scale], [end, counts, shuffled, bounded, covariance], updates={state: last}, mode=mode
        )
        results = [f(0.5) for _ in range(2)]
    for moved, counted, *others in results:
        expected = np.zeros(2)
        for _ in range(4):
            expected += g.normal(0.0, 0.5, 2)
        np.testing.assert_array_equal(moved, expected)
        np.testing.assert_array_equal(counted, g.poisson(4.0, 3))
        for found in others[0]:
            numbers = np.arange(5)
            g.shuffle(numbers)
            np.testing.assert_array_equal(found, numbers)
        drawn = scipy.stats.truncnorm.rvs(-1.0, 0.5, size=3, random_state=g)
        np.testing.assert_allclose(others[1], drawn, rtol=1e-13)
        drawn = scipy.stats.wishart.rvs(3, 0.5 * np.eye(2), random_state=g)
        np.testing.assert_allclose(others[2], drawn, rtol=1e-13, atol=1e-15)
    with pytest.raises(ValueError, match="scale < 0") as caught:
        f(-1.0)
    assert "test_random_generators.py" in str(caught.value)
