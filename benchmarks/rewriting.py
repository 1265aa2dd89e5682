"""Times of rewriting alone, compared with PyTensor: models, and graphs of growing size; a part of `run`."""

from __future__ import annotations

import gc
import math
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

from compiled import library
from workloads import MODELS

__all__ = ["GROWING", "Time", "growing_times", "growth", "model_times"]

Graph = tuple[list[Any], list[Any]]
PATIENCE = 15
"""Beyond 1,000 nodes a peer is stopped when it has taken this many times Occelo's time on the same graph."""


class Time(NamedTuple):
    """Seconds of a rewriting; with ``stopped`` it was stopped after them."""

    seconds: float
    stopped: bool = False


class _OutOfTime(BaseException):
    """The time limit is reached; a `BaseException`, so that no rewriter catches it."""


@contextmanager
def _stopped_after(seconds: float) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise _OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


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
    """The function that makes a graph for rewriting, and the rewriter."""
    if name == "occelo":
        from occelo_graph import FunctionGraph
        from occelo_rewrite import optimizer_query, rewriter_for
        from occelo_rewrite.features.protection import Supervisor

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
    name: str,
    inputs: Any,
    outputs: Any,
    mutable: bool = False,
    query: str = "fast_run",
    limit: float = 0.0,
) -> Time:
    """Seconds to rewrite a copy of a graph, stopped after ``limit`` seconds (0: never)."""
    graph, rewriter = _rewriter(name, query)
    made = graph(inputs, outputs, mutable)
    gc.collect()
    start = perf_counter()
    try:
        with _stopped_after(limit):
            rewriter.rewrite(made)
    except _OutOfTime:
        return Time(perf_counter() - start, stopped=True)
    return Time(perf_counter() - start)


def model_times(names: list[str], rounds: int) -> dict[str, dict[str, float]]:
    """The minimum of seconds to rewrite each model, for each library."""
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
                times[name] = min(times[name], seconds(name, inputs, outputs).seconds)
        result[model.name] = times
    return result


def growing_times(names: list[str], sizes: list[int]) -> dict[str, dict[str, dict[int, Time]]]:
    """The minimum time to rewrite each growing graph, for each library and size; Occelo comes first."""
    result: dict[str, dict[str, dict[int, Time]]] = {}
    for what, build in GROWING.items():
        result[what] = {name: {} for name in names}
        for n in sizes:
            for name in names:
                own = result[what]["occelo"].get(n)
                limit = 0.0 if own is None or n <= 1000 else PATIENCE * own.seconds
                graph = build(library(name).tensor, n)
                times = [
                    seconds(name, *graph, mutable=what == "updates", limit=limit)
                    for _ in range(2 if n <= 1000 or (n <= 10_000 and own is None) else 1)
                ]
                result[what][name][n] = min(times)
    return result


def growth(times: dict[int, Time]) -> float:
    """The exponent of growth between the smallest and the largest size."""
    (small, first), (large, last) = sorted(times.items())[0], sorted(times.items())[-1]
    return math.log(last.seconds / first.seconds) / math.log(large / small)
