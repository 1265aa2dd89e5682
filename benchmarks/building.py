"""Times of importing, building and differentiating, compared with NumPy and PyTensor; a part of `run`."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.progress import track
from workloads import MODELS

Step = Callable[[], tuple[float, float]]


# whether a garbage collection falls into these two milliseconds depends on what was imported before
_MODEL = """
import gc, sys
sys.path.insert(0, {here!r})
import compiled
from time import perf_counter
lib, work = compiled.library("occelo"), compiled.MODELS[{model!r}]()
gc.disable()
start = perf_counter()
work.build(lib)
print(perf_counter() - start)
"""


def import_time(module: str) -> float:
    """Seconds to import a module in a fresh process."""
    code = f"from time import perf_counter as t; a = t(); import {module}; print(t() - a)"
    return _seconds(code)


def model_time(model: str) -> float:
    """Seconds to build a model with its gradient in a fresh process, as the first that the process builds.

    Without garbage collections.
    """
    return _seconds(_MODEL.format(here=str(Path(__file__).parent), model=model))


def _seconds(code: str) -> float:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def chain(tensor: Any, grad: Any, nodes: int) -> tuple[float, float]:
    """Seconds per node to build a chain of elementwise nodes, and to differentiate it."""
    gc.collect()
    x = tensor.dvector("x")
    start = perf_counter()
    y = x
    for _ in range(nodes // 2):
        y = tensor.sin(y) * 1.5
    built = perf_counter()
    grad(y.sum(), x)
    done = perf_counter()
    return (built - start) / nodes, (done - built) / nodes


def network(tensor: Any, grad: Any, shared: Any, layers: int) -> tuple[float, float]:
    """Seconds to build a loss of a deep network, and to differentiate it by all weights."""
    numpy: Any = importlib.import_module("numpy")
    weights = [shared(numpy.eye(4)) for _ in range(layers)]
    start = perf_counter()
    h = tensor.dmatrix("x")
    for w in weights:
        h = tensor.tanh(tensor.dot(h, w) + 0.1)
    loss = (h**2).mean()
    built = perf_counter()
    grad(loss, weights)
    done = perf_counter()
    return built - start, done - built


def _build(tensor: Any, nodes: int) -> float:
    """Seconds to build a chain; it is dropped after the clock has stopped."""
    gc.collect()
    y = tensor.dvector("x")
    start = perf_counter()
    for _ in range(nodes // 2):
        y = tensor.sin(y) * 1.5
    return perf_counter() - start


def provenance_cost(nodes: int, rounds: int) -> float:
    """The ratio of the times to build a chain with and without recording source lines, measured alternately."""
    provenance: Any = importlib.import_module("occelo_graph.provenance")
    tensor: Any = importlib.import_module("occelo.tensor")
    best = {False: float("inf"), True: float("inf")}
    for _ in range(rounds):
        for on in (False, True):
            provenance.set_enabled(on)
            best[on] = min(best[on], _build(tensor, nodes))
    provenance.set_enabled(True)
    return best[True] / best[False]


def least(steps: dict[str, Step], rounds: int, what: str) -> dict[str, tuple[float, float]]:
    """The minimum of each figure over rounds, in which the libraries are measured alternately."""
    best = {name: (float("inf"), float("inf")) for name in steps}
    for _ in track(range(rounds), description=what):
        for name, step in steps.items():
            first, second = step()
            best[name] = (min(best[name][0], first), min(best[name][1], second))
    return best


def libraries() -> dict[str, tuple[Any, Any, Any]]:
    """Name to tensor library, gradient function and shared-variable constructor."""
    occelo: Any = importlib.import_module("occelo")
    found: dict[str, tuple[Any, Any, Any]] = {
        "occelo": (importlib.import_module("occelo.tensor"), occelo.grad, occelo.shared)
    }
    if importlib.util.find_spec("pytensor") is not None:
        peer: Any = importlib.import_module("pytensor")
        # PyTensor clones deep graphs recursively
        sys.setrecursionlimit(10**6)
        found["pytensor"] = (importlib.import_module("pytensor.tensor"), peer.grad, peer.shared)
    return found


def building_figures(
    rounds: int, nodes: int = 100_000, peer_nodes: int = 10_000
) -> dict[str, float]:
    """Figures by name, the minimum of all rounds."""
    figures: dict[str, float] = {}
    # first, while no other library's objects are there to be collected
    figures["source lines: time to build with / without"] = provenance_cost(nodes, rounds + 2)
    modules = ["numpy", "occelo_graph", "occelo", *(["pytensor"] if len(libraries()) > 1 else [])]
    for _ in track(range(rounds + 4), description="import"):
        for module in modules:
            seconds = import_time(module)
            key = f"import {module}, ms"
            figures[key] = min(figures.get(key, float("inf")), seconds * 1e3)
        for model in MODELS:
            key = f"{model} in a new process, build and gradient, ms"
            figures[key] = min(figures.get(key, float("inf")), model_time(model) * 1e3)
    sizes = {"occelo": nodes, "pytensor": peer_nodes}
    peers = libraries()
    chains = least(
        {n: (lambda t=t, g=g, n=n: chain(t, g, sizes[n])) for n, (t, g, _) in peers.items()},
        rounds,
        "chain",
    )
    nets = least(
        {n: (lambda t=t, g=g, s=s: network(t, g, s, 100)) for n, (t, g, s) in peers.items()},
        rounds,
        "network",
    )
    for name in peers:
        figures[f"chain of {sizes[name]:,} nodes, build, us a node, {name}"] = chains[name][0] * 1e6
        figures[f"chain of {sizes[name]:,} nodes, gradient, us a node, {name}"] = (
            chains[name][1] * 1e6
        )
        figures[f"network of 100 layers, build, ms, {name}"] = nets[name][0] * 1e3
        figures[f"network of 100 layers, gradient, ms, {name}"] = nets[name][1] * 1e3
    if "pytensor" in peers:
        figures["chain, build and gradient a node: occelo / pytensor"] = sum(
            chains["occelo"]
        ) / sum(chains["pytensor"])
        figures["network, build and gradient: occelo / pytensor"] = sum(nets["occelo"]) / sum(
            nets["pytensor"]
        )
    figures["import occelo - import numpy, ms"] = (
        figures["import occelo, ms"] - figures["import numpy, ms"]
    )
    return figures
