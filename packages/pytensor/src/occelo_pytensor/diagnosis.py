"""`doctor`: what of a model would run in Python, what has no conversion, and where the time goes."""

from __future__ import annotations

import timeit
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

import occelo_pytensor.calls as calls
from occelo_graph import apply_ancestors
from occelo_pytensor.conversion import Settings, convert, converting
from occelo_pytensor.models import LogDensity, checks_of, log_density


@dataclass
class Report:
    """What `doctor` found. ``print(report)`` shows it as tables.

    - ``unknown``: the ops without a conversion, with the number of nodes.
    - ``python``: the nodes of the compiled log density that run in Python, by name, each with the user's lines.
    - ``scipy``: the special functions that are SciPy's. The first call imports `scipy.special` for them.
    - ``seconds``: what each step took by the clock: build (PyMC), convert, compile (with the cache as it is), first call. What is imported for a step counts
      with it.
    - ``microseconds``: one evaluation of the log density and its gradient.
    - ``cached``: whether the function was found in the cache.
    - ``parameters``, ``nodes``: the number of unconstrained parameters, and of nodes of the converted graph.
    - ``finite``: whether value and gradient are finite at the initial point.
    """

    unknown: dict[str, int] = field(default_factory=dict[str, int])
    python: dict[str, str] = field(default_factory=dict[str, str])
    scipy: list[str] = field(default_factory=list[str])
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    microseconds: float = 0.0
    cached: bool = False
    parameters: int = 0
    nodes: int = 0
    finite: bool = True

    def __str__(self) -> str:
        rows = [
            ("unconstrained parameters", str(self.parameters)),
            ("nodes of the log density and its gradient", str(self.nodes)),
            *((f"seconds to {what}", f"{took:.3f}") for what, took in self.seconds.items()),
            ("found in the cache", "yes" if self.cached else "no"),
            ("microseconds of an evaluation", f"{self.microseconds:.1f}"),
            ("finite at the initial point", "yes" if self.finite else "no"),
        ]
        parts = [_table("The log density and its gradient", rows)]
        unknown = [(name, str(count)) for name, count in self.unknown.items()]
        parts.append(_table("Ops without a conversion, and nodes", unknown or [("none", "")]))
        parts.append(
            _table("What runs in Python, and its line", list(self.python.items()) or [("none", "")])
        )
        if self.scipy:
            rows = [(name, "") for name in self.scipy]
            parts.append(_table("Functions of SciPy, which the first call imports", rows))
        return "\n\n".join(parts)


def _table(title: str, rows: list[tuple[str, str]]) -> str:
    width = max(len(name) for name, _ in rows)
    return "\n".join([title, *(f"  {name:{width}}  {value}".rstrip() for name, value in rows)])


def doctor(model: Any) -> Report:
    """Convert and compile the log density of a model of PyMC with its gradient, and report on it.

    It takes one compilation and about a tenth of a second of evaluations. TypeError for something else than a model, if a parameter is
    discrete, or if the graph has a type that Occelo lacks. ValueError for a model without parameters.
    """
    if not hasattr(model, "continuous_value_vars"):
        raise TypeError(f"doctor takes a model of PyMC, got {type(model).__name__} {model!r}")
    discrete = [v.name for v in model.discrete_value_vars]
    if discrete:
        raise TypeError(
            f"doctor reports on a log density with its gradient, and these parameters are discrete: {', '.join(discrete)}"
        )
    if not model.continuous_value_vars:
        raise ValueError("The model has no parameters")
    report = Report()
    start = perf_counter()
    cost = model.logp()
    report.seconds["build it (PyMC)"] = perf_counter() - start
    density = _converted(model, cost, report)
    start = perf_counter()
    function = density.function()
    report.seconds["compile it"] = perf_counter() - start
    point = np.concatenate(
        [np.ravel(model.initial_point()[v.name]) for v in model.continuous_value_vars]
        or [np.zeros(0)]
    )
    start = perf_counter()
    value, gradient = function(point)
    report.seconds["call it first"] = perf_counter() - start
    report.finite = bool(np.isfinite(value) and np.all(np.isfinite(gradient)))
    report.cached = function.maker.from_cache
    report.parameters = len(point)
    nodes = list(apply_ancestors([density.value, density.gradient]))
    report.nodes = len(nodes)
    report.python = _in_python(function)
    report.scipy = _of_scipy(function)
    function(point)
    report.microseconds = _microseconds(function, point)
    return report


def _converted(model: Any, cost: Any, report: Report) -> LogDensity:
    """The log density; what has no conversion is noted, and not warned of."""
    settings = Settings(checks_of(model))
    with converting(settings):
        convert([cost], {})
        report.unknown = dict(settings.called)
        start = perf_counter()
        density = log_density(model, costs=cost)
        report.seconds["convert and differentiate it"] = perf_counter() - start
        settings.called.clear()
    return density


def _in_python(function: Any) -> dict[str, str]:
    nodes = [*function.maker.fgraph.toposort(), *function.vm.python_nodes]
    own = {id(node) for node in function.vm.python_nodes}
    lines: dict[str, dict[str, None]] = {}
    for node in nodes:
        called = isinstance(node.op, calls.AnyCall)
        if called or id(node) in own:
            name = f"{node.op.theirs[0]} (PyTensor's own code)" if called else str(node.op)
            lines.setdefault(name, {})[str(node.outputs[0].source or "no line is known")] = None
    return {name: ", ".join(places) for name, places in lines.items()}


def _of_scipy(function: Any) -> list[str]:
    """The names of special functions in the tables of compiled code, which are SciPy's."""
    tables = [getattr(getattr(u, "interface", None), "table", {}) for u in function.vm.units]
    names = [name.partition(":") for table in tables for name in table]
    return sorted({name for kind, _, name in names if kind == "special"})


def _microseconds(function: Any, point: Any) -> float:
    timer = timeit.Timer(lambda: function(point))
    count, _ = timer.autorange(None)
    count = max(1, count // 4)
    return min(timer.repeat(3, count)) / count * 1e6
