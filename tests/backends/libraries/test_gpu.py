"""The same functions on a GPU, with no change of code; skipped without one."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import grad
from occelo_graph import tensor as ot


def _has_gpu(backend: str) -> bool:
    if importlib.util.find_spec({"jax": "jax", "pytorch": "torch"}[backend]) is None:
        return False
    if backend == "jax":
        import jax

        return any(d.platform == "gpu" for d in jax.devices())
    import torch

    return torch.cuda.is_available()


@pytest.mark.parametrize("backend", ["jax", "pytorch"])
def test_training_on_a_gpu_gives_what_the_processor_gives(backend: str) -> None:
    if not _has_gpu(backend):
        pytest.skip("there is no GPU that the library sees")
    x, t = ot.dmatrix("x"), ot.dvector("t")

    def made(mode: str) -> tuple[Any, Any]:
        w = oc.shared(np.zeros(4), "w")
        cost = ((ot.tanh(x @ w) - t) ** 2).mean()
        return oc.function([x, t], cost, updates={w: w - 0.1 * grad(cost, w)}, mode=mode), w

    (f, w), (g, v) = made(backend), made("vm")
    rng = np.random.default_rng(0)
    data, target = rng.normal(size=(30, 4)), rng.normal(size=30)
    for _ in range(5):
        np.testing.assert_allclose(f(data, target), g(data, target), rtol=1e-10)
    np.testing.assert_allclose(w.get_value(), v.get_value(), rtol=1e-10)
    held = w.container.storage[0]
    assert "cuda" in str(getattr(held, "device", held)).lower() or "gpu" in str(held.devices())
