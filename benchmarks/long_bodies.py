"""Compiling loops whose steps have thousands of nodes, on each backend, and by hand with the library itself; a part of `run`.

Each is measured in a new process with empty caches: processor time of the process and of the compilers that it starts,
from the start of building to the first result, imports excluded; and the peak memory of the largest of them. A result
that is wrong raises AssertionError.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from compiled import peak_memory, process

__all__ = ["BACKENDS", "BY_HAND", "compiling", "measured"]

BACKENDS = {
    "native": "llvmlite",
    "c": "llvmlite",
    "c|py": "llvmlite",
    "numba": "numba",
    "jax": "jax",
    "pytorch": "torch",
    "py": "numpy",
    "vm": "numpy",
}
"""The backends, and the module that each needs."""
BY_HAND = {"numba": "numba", "jax": "jax", "torch": "torch"}
"""The libraries in which the loop is written by hand, too, and their modules. Numba has no derivatives."""
STEPS = 3
PART = 11
"""The number of nodes of each part of a step."""
_CODE = """
import sys, json
sys.path.insert(0, {here!r})
import long_bodies
print(json.dumps(long_bodies.measured({backend!r}, {nodes}, {derivatives}, {by_hand})))
"""


def step(lib: Any, s: Any, v: Any, w: Any, m: Any, parts: int) -> tuple[Any, Any]:
    """A step of ``parts`` parts on a number, a vector of 4 and a matrix, with other numbers in each part."""
    small = 1.0 / parts
    for k in range(parts):
        c = 0.5 + k % 97 / 100.0 + k * 1e-5
        if k % 3 == 0:
            v = v + small * (m @ lib.tanh(v * c))
            s = s + lib.sin(s * c + v[k % 4]) * small
        elif k % 3 == 1:
            v = v + lib.sin(v * c + s) * small
            s = s + lib.exp(-s * s * c) * small
        else:
            v = v * (1.0 - small * c) + w * small * c
            s = s + (v * v).sum() * small * c - lib.tanh(s * c) * small
    return s, v


def _in_numpy(parts: int, s: Any, w: Any, m: Any) -> Any:
    v, total = w, 0.0
    for _ in range(STEPS):
        s, v = step(np, s, v, w, m, parts)
        total = total + s
    return s + v.sum() + total


def _occelo(backend: str, parts: int, derivatives: bool) -> Callable[..., Any]:
    occelo: Any = importlib.import_module("occelo")
    tensor: Any = importlib.import_module("occelo.tensor")
    s0, w = tensor.dscalar("s"), tensor.tensor("w", dtype="float64", shape=(4,))
    m = tensor.tensor("m", dtype="float64", shape=(4, 4))

    def once(state: Any) -> Any:
        made = step(tensor, state[0], state[1], w, m, parts)
        return made, made[0]

    (s, v), trace = occelo.loop(once, (s0, w), length=STEPS)
    cost = s + v.sum() + trace.sum()
    outputs = [cost, *occelo.grad(cost, [s0, w, m])] if derivatives else [cost]
    made: Callable[..., Any] = occelo.function([s0, w, m], outputs, mode=backend)
    return made


def _jax(parts: int, derivatives: bool) -> Callable[..., Any]:
    jax: Any = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)

    def cost(s0: Any, w: Any, m: Any) -> Any:
        def once(state: Any, _: Any) -> Any:
            made: Any = step(jax.numpy, state[0], state[1], w, m, parts)
            return made, made[0]

        (s, v), trace = jax.lax.scan(once, (s0, w), None, length=STEPS)
        return s + v.sum() + trace.sum()

    if not derivatives:
        return lambda *given: [jax.jit(cost)(*given)]
    compiled = jax.jit(jax.value_and_grad(cost, argnums=(0, 1, 2)))

    def both(*given: Any) -> Any:
        value, slopes = compiled(*given)
        return [value, *slopes]

    return both


def _torch(parts: int, derivatives: bool) -> Callable[..., Any]:
    torch: Any = importlib.import_module("torch")
    torch.set_num_threads(1)

    @torch.compile(dynamic=False)
    def once(s: Any, v: Any, w: Any, m: Any) -> Any:
        return step(torch, s, v, w, m, parts)

    def run(*given: Any) -> Any:
        arrays = [torch.tensor(a, requires_grad=derivatives) for a in given]
        s, w, m = arrays
        v, total = w, 0.0
        for _ in range(STEPS):
            s, v = once(s, v, w, m)
            total = total + s
        cost = s + v.sum() + total
        return [
            x.detach() for x in (cost, *(torch.autograd.grad(cost, arrays) if derivatives else ()))
        ]

    return run


def _numba(parts: int, derivatives: bool) -> Callable[..., Any]:
    """The step as a program for Numba: the statements of all parts one after the other."""
    assert not derivatives
    numba: Any = importlib.import_module("numba")
    small = 1.0 / parts
    lines = ["def once(s, v, w, m):"]
    for k in range(parts):
        c = 0.5 + k % 97 / 100.0 + k * 1e-5
        if k % 3 == 0:
            lines.append(f"v = v + {small!r} * (m @ np.tanh(v * {c!r}))")
            lines.append(f"s = s + np.sin(s * {c!r} + v[{k % 4}]) * {small!r}")
        elif k % 3 == 1:
            lines.append(f"v = v + np.sin(v * {c!r} + s) * {small!r}")
            lines.append(f"s = s + np.exp(-s * s * {c!r}) * {small!r}")
        else:
            lines.append(f"v = v * {1.0 - small * c!r} + w * {small!r} * {c!r}")
            lines.append(f"s = s + (v * v).sum() * {small * c!r} - np.tanh(s * {c!r}) * {small!r}")
    space: dict[str, Any] = {"np": np}
    exec("\n    ".join([*lines, "return s, v"]), space)
    once = numba.njit(space["once"])

    @numba.njit
    def run(s: Any, w: Any, m: Any) -> Any:
        v, total = w, 0.0
        for _ in range(STEPS):
            s, v = once(s, v, w, m)
            total = total + s
        return s + v.sum() + total

    return lambda *given: [run(*given)]


def _processor_time() -> float:
    """Seconds of processor time of this process and of all processes that it started and that have ended."""
    return sum(os.times()[:4])


def measured(backend: str, nodes: int, derivatives: bool, by_hand: bool) -> tuple[float, float]:
    """Seconds to the first result, and the peak memory in bytes, in this process.

    With ``by_hand``, ``backend`` is a library of `BY_HAND`.
    """
    parts = -(-nodes // PART)
    module = BY_HAND[backend] if by_hand else BACKENDS[backend]
    importlib.import_module(module)
    if not by_hand:
        importlib.import_module("occelo")
    rng = np.random.default_rng(0)
    given: list[Any] = [np.array(0.3), rng.normal(size=4), np.linalg.qr(rng.normal(size=(4, 4)))[0]]
    if by_hand and backend == "numba":
        given[0] = np.float64(0.3)
    start = _processor_time()
    if by_hand:
        call = {"jax": _jax, "torch": _torch, "numba": _numba}[backend](parts, derivatives)
    else:
        call = _occelo(backend, parts, derivatives)
    value, *slopes = (np.asarray(a) for a in call(*given))
    seconds = _processor_time() - start
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024.0
    peak = max(peak_memory(), children if sys.platform != "darwin" else children / 1024)
    np.testing.assert_allclose(value, _in_numpy(parts, *given), rtol=1e-9)
    for i, slope in enumerate(slopes):
        moved = _in_numpy(parts, *(a + 1e-30j * (i == j) for j, a in enumerate(given)))
        np.testing.assert_allclose(slope.sum(), moved.imag / 1e-30, rtol=1e-8, atol=1e-10)
    return seconds, peak


def _in_new_process(
    backend: str, nodes: int, derivatives: bool, by_hand: bool, limit: float
) -> tuple[float, float] | None:
    code = _CODE.format(
        here=str(Path(__file__).parent),
        backend=backend,
        nodes=nodes,
        derivatives=derivatives,
        by_hand=by_hand,
    )
    with tempfile.TemporaryDirectory() as folder:
        try:
            seconds, memory = process(code, folder, limit)
        except subprocess.TimeoutExpired:
            return None
    return seconds, memory


def compiling(
    nodes: int, chosen: str = "", limit: float = 1800.0
) -> dict[str, dict[str, tuple[float, float] | None]]:
    """Seconds and bytes of a loop alone and with derivatives, by backend and library.

    Only those whose names contain ``chosen``. None where a process was stopped after ``limit`` seconds.
    """
    table: dict[str, dict[str, tuple[float, float] | None]] = {}
    rows = [(name, module, False) for name, module in BACKENDS.items()]
    rows += [(name, module, True) for name, module in BY_HAND.items()]
    for name, module, by_hand in rows:
        label = f"{name}, by hand" if by_hand else name
        if chosen not in label or importlib.util.find_spec(module) is None:
            continue
        cases = {"loop": False} | ({} if label == "numba, by hand" else {"with derivatives": True})
        table[label] = {
            case: _in_new_process(name, nodes, derivatives, by_hand, limit)
            for case, derivatives in cases.items()
        }
    return table
