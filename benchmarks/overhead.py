"""Overhead of Occelo's linkers to Numba, JAX and PyTorch over these libraries used directly; a part of `run`."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

__all__ = ["library_overhead"]

SECONDS = 0.5
_MODES = {"numba": "numba", "jax": "jax", "torch": "pytorch"}


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
    made: Callable[[Any], Any] = oc.function([x], ot.exp(x) * 2.0 + 1.0, mode=_MODES[name])
    return made


def _updating_by_hand(name: str, length: int) -> Callable[[Any], Any]:
    """The sum of a state, which then becomes state / 2 + x; the library keeps the state."""
    start = np.zeros(length)
    if name == "numba":
        import numba

        @numba.njit(error_model="numpy")
        def numba_step(state: Any, x: Any) -> Any:
            total = 0.0
            for i in range(x.shape[0]):
                total += state[i]
                state[i] = state[i] * 0.5 + x[i]
            return total

        return lambda x: numba_step(start, x)
    if name == "jax":
        import jax

        jax_step = jax.jit(lambda state, x: (state.sum(), state * 0.5 + x), donate_argnums=0)
        with jax.enable_x64(True):
            held = [jax.numpy.array(start)]

        def with_jax(x: Any) -> Any:
            with jax.enable_x64(True):
                total, held[0] = jax_step(held[0], x)
            return np.array(total)

        return with_jax
    import torch

    torch_step = torch.compile(lambda state, x: (state.sum(), state * 0.5 + x))
    kept = [torch.from_numpy(start)]

    def with_torch(x: Any) -> Any:
        with torch.no_grad():
            total, kept[0] = torch_step(kept[0], torch.from_numpy(x))
        return total.numpy()

    return with_torch


def _updating_by_occelo(name: str, length: int) -> Callable[[Any], Any]:
    import occelo as oc
    import occelo.tensor as ot

    x, state = ot.dvector("x"), oc.shared(np.zeros(length), "state")
    made: Callable[[Any], Any] = oc.function(
        [x], state.sum(), updates={state: state * 0.5 + x}, mode=_MODES[name]
    )
    return made


def _run(function: Callable[[Any], Any], value: Any) -> float:
    count = 0
    start = perf_counter()
    while perf_counter() - start < SECONDS:
        for _ in range(20):
            function(value)
        count += 20
    return (perf_counter() - start) / count


def _compared(
    hand: Callable[[Any], Any], own: Callable[[Any], Any], value: Any, rounds: int
) -> dict[str, float]:
    for _ in range(3):
        np.testing.assert_allclose(own(value), hand(value), rtol=1e-9)
    times = [(_run(hand, value), _run(own, value)) for _ in range(rounds)]
    return {"by hand": min(t[0] for t in times), "occelo": min(t[1] for t in times)}


def library_overhead(rounds: int) -> dict[str, dict[str, float]]:
    """Seconds per call by hand and by Occelo, measured alternately, the minimum of the rounds."""
    found: dict[str, dict[str, float]] = {}
    for name in _MODES:
        if importlib.util.find_spec(name) is None:
            continue
        for length in (10, 1_000_000):
            value = np.linspace(0.0, 1.0, length)
            found[f"{name}, vectors of {length:,}"] = _compared(
                _by_hand(name), _by_occelo(name), value, rounds
            )
            found[f"{name}, an update of {length:,}"] = _compared(
                _updating_by_hand(name, length), _updating_by_occelo(name, length), value, rounds
            )
    return found
