"""Random programs on JAX, PyTorch and Numba; only a few, since they take long to compile."""

from __future__ import annotations

import importlib.util
import os

import pytest

from occelo_testing.fixtures import graphs_of_pytorch_run_as_they_are, without_the_cache
from occelo_testing.random_programs.running import run_seeds

__all__ = ["graphs_of_pytorch_run_as_they_are", "without_the_cache"]

FACTOR = 20 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 1
LIBRARIES = {"numba": ("numba", 5), "jax": ("jax", 6), "pytorch": ("torch", 8)}


@pytest.mark.parametrize("name", LIBRARIES)
def test_random_programs(name: str) -> None:
    library, count = LIBRARIES[name]
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    first = 3_000_000
    report = run_seeds(range(first, first + count * FACTOR), lambda _: [(name, None)], shrink=40)
    assert not report.faults, "\n".join(report.texts.values())
    assert report.outcomes[name]["kept"] >= 0.8 * count
