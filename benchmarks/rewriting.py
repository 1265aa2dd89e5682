"""Times of rewriting alone, beside PyTensor: models, and graphs of growing size."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from time import perf_counter
from typing import Any

from compiled import library
from workloads import MODELS

__all__ = ["GROWING", "growing_times", "growth", "model_times"]

Graph = tuple[list[Any], list[Any]]


def chain(tensor: Any, nodes: int) -> Graph:
    """One chain of elementwise nodes."""
    x = tensor.dvector("x")
    y = x
    for _ in range(nodes // 2):
        y = tensor.sin(y) * 1.5
    return [x], [y]


def fan_out(tensor: Any, nodes: int) -> Graph:
    """One variable that every node uses."""
    x = tensor.dvector("x")
    shared = tensor.exp(x)
    return [x], [tensor.sin(shared * float(i + 2)) for i in range(nodes // 2)]


def many_inputs(tensor: Any, nodes: int) -> Graph:
    """As many inputs as nodes."""
    inputs = [tensor.dvector(f"x{i}") for i in range(nodes // 2)]
    return inputs, [tensor.sin(x) * 2.0 for x in inputs]


def many_updates(tensor: Any, nodes: int) -> Graph:
    """As many values to update in place as nodes."""
    inputs = [tensor.dvector(f"x{i}") for i in range(nodes // 4)]
    rate = tensor.dscalar("rate")
    return [rate, *inputs], [x - rate * tensor.sin(x) for x in inputs]


GROWING: dict[str, Callable[[Any, int], Graph]] = {
    "chain": chain,
    "fan-out": fan_out,
    "inputs": many_inputs,
    "updates": many_updates,
}


def _rewriter(name: str, query: str) -> tuple[Any, Any]:
    """What makes a graph for rewriting, and the rewriter."""
    if name == "occelo":
        from occelo_graph import FunctionGraph, Supervisor
        from occelo_rewrite import optimizer_query, rewriter_for

        def graph(inputs: Any, outputs: Any, mutable: bool) -> Any:
            made = FunctionGraph(inputs, outputs, clone=True)
            guarded = () if mutable else tuple(made.inputs)
            made.attach_feature(Supervisor(guarded))
            return made

        return graph, rewriter_for(optimizer_query(query))
    from pytensor.compile.aliasing import Supervisor as Guard
    from pytensor.compile.mode import get_mode
    from pytensor.graph.destroyhandler import DestroyHandler
    from pytensor.graph.features import ReplaceValidate
    from pytensor.graph.fg import FunctionGraph

    def graph(inputs: Any, outputs: Any, mutable: bool) -> Any:
        made = FunctionGraph(inputs, outputs, clone=True)
        made.attach_feature(ReplaceValidate())
        made.attach_feature(DestroyHandler())
        made.attach_feature(Guard(() if mutable else made.inputs))
        return made

    return graph, get_mode("FAST_RUN").optimizer


def seconds(
    name: str, inputs: Any, outputs: Any, mutable: bool = False, query: str = "fast_run"
) -> float:
    """Seconds to rewrite a copy of a graph."""
    graph, rewriter = _rewriter(name, query)
    made = graph(inputs, outputs, mutable)
    gc.collect()
    start = perf_counter()
    rewriter.rewrite(made)
    return perf_counter() - start


def model_times(names: list[str], rounds: int) -> dict[str, dict[str, float]]:
    """The least seconds to rewrite each model, for each library."""
    result: dict[str, dict[str, float]] = {}
    for make in MODELS.values():
        model = make()
        built = {}
        for name in names:
            inputs, outputs, updates = model.build(library(name))
            roots = [*inputs, *(s for s, _ in updates)]
            built[name] = (roots, [*outputs, *(u for _, u in updates)])
        times = {name: float("inf") for name in names}
        for _ in range(rounds):
            for name, (inputs, outputs) in built.items():
                times[name] = min(times[name], seconds(name, inputs, outputs))
        result[model.name] = times
    return result


def growing_times(
    names: list[str], sizes: dict[str, list[int]]
) -> dict[str, dict[str, dict[int, float]]]:
    """Seconds to rewrite each growing graph, for each library and size that it is given."""
    result: dict[str, dict[str, dict[int, float]]] = {}
    for what, build in GROWING.items():
        result[what] = {}
        for name in names:
            tensor = library(name).tensor
            result[what][name] = {
                n: min(
                    seconds(name, *build(tensor, n), mutable=what == "updates")
                    for _ in range(2 if n <= 10_000 else 1)
                )
                for n in sizes[name]
            }
    return result


def growth(times: dict[int, float]) -> float:
    """The exponent of growth between the least and the greatest size."""
    (small, first), (large, last) = sorted(times.items())[0], sorted(times.items())[-1]
    return math.log(last / first) / math.log(large / small)
