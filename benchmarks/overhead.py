"""Occelo's linkers to Numba, JAX and PyTorch beside those libraries used by hand, for one computation."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

__all__ = ["library_overhead"]

SECONDS = 0.5


def _by_hand(name: str) -> Callable[[Any], Any]:
    """exp(x) 2 + 1, from NumPy to NumPy, as a user of the library would write it."""
    if name == "numba":
        import numba

        @numba.njit(error_model="numpy")
        def with_numba(x: Any) -> Any:
            out = np.empty_like(x)
            for i in range(x.shape[0]):
                out[i] = np.exp(x[i]) * 2.0 + 1.0
            return out

        made: Callable[[Any], Any] = with_numba
        return made
    if name == "jax":
        import jax

        compiled = jax.jit(lambda x: jax.numpy.exp(x) * 2.0 + 1.0)

        def with_jax(x: Any) -> Any:
            with jax.enable_x64(True):
                return np.array(compiled(x))

        return with_jax
    import torch

    module = torch.compile(lambda x: torch.exp(x) * 2.0 + 1.0)

    def with_torch(x: Any) -> Any:
        with torch.no_grad():
            return module(torch.from_numpy(x)).numpy()

    return with_torch


def _by_occelo(name: str) -> Callable[[Any], Any]:
    import occelo as oc
    import occelo.tensor as ot

    x = ot.dvector("x")
    mode = {"torch": "pytorch"}.get(name, name)
    made: Callable[[Any], Any] = oc.function([x], ot.exp(x) * 2.0 + 1.0, mode=mode)
    return made


def _run(function: Callable[[Any], Any], value: Any) -> float:
    count = 0
    start = perf_counter()
    while perf_counter() - start < SECONDS:
        for _ in range(20):
            function(value)
        count += 20
    return (perf_counter() - start) / count


def library_overhead(rounds: int) -> dict[str, dict[str, float]]:
    """Seconds of a call by hand and by Occelo, the least of the rounds, taken in turns."""
    found: dict[str, dict[str, float]] = {}
    for name in ("numba", "jax", "torch"):
        if importlib.util.find_spec(name) is None:
            continue
        for length in (10, 1_000_000):
            value = np.linspace(0.0, 1.0, length)
            hand, own = _by_hand(name), _by_occelo(name)
            np.testing.assert_allclose(own(value), hand(value), rtol=1e-12)
            times = [(_run(hand, value), _run(own, value)) for _ in range(rounds)]
            found[f"{name}, vectors of {length:,}"] = {
                "by hand": min(t[0] for t in times),
                "occelo": min(t[1] for t in times),
            }
    return found
