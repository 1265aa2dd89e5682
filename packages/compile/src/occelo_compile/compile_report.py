"""The text of `Function.compile_report`: where the time of compiling a function went, and why it was compiled at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from occelo_compile.function_cache import why_missed

if TYPE_CHECKING:
    from occelo_compile.calling import Function
    from occelo_compile.maker import FunctionMaker

_STEPS = {
    "collect": "inputs, updates and givens",
    "rewrite": "rewriting",
    "link": "generating and compiling code",
    "wrap": "making the callable",
    "first_call": "the first call",
}
_WORTH_TELLING = 0.05
"""Seconds of rewriting outside of its stages that are told."""
_MOST = 5
"""The number of stages that are listed, and of rules of each."""


def compile_report(function: Function) -> str:
    """Return the report as lines of text. The figures are those of the function's maker."""
    maker = function.maker
    seconds = {step: getattr(maker.times, step) for step in _STEPS}
    if maker.from_cache:
        seconds["rewrite"] = (
            0.0  # a graph that is rewritten later, for a printout, took no time of compiling
        )
    measured = {step: spent for step, spent in seconds.items() if spent is not None}
    total = sum(measured.values())
    lines = [f"{function} in mode {maker.mode}: {total:.3f} s"]
    lines += [f"  {spent:9.3f} s  {_STEPS[step]}" for step, spent in measured.items()]
    if not maker.from_cache:
        lines += _rewriting(maker)
    return "\n".join([*lines, why_missed(maker)])


def _rewriting(maker: FunctionMaker) -> Iterator[str]:
    rewritten = maker.rewritten
    before, after = (len(g.apply_nodes) for g in (rewritten.before, rewritten.fgraph))
    record = rewritten.record
    yield f"{before} nodes became {after}, by {len(record.applications)} replacements"
    stages = [
        name for name in record.stages if name != "optdb"
    ]  # whose time is the sum of the others
    stages.sort(key=lambda name: -record.stages[name].seconds)
    for name in stages[:_MOST]:
        rules = Counter(each.rule for each in record.applications if each.stage == name)
        often = ", ".join(f"{rule} {times}" for rule, times in rules.most_common(_MOST))
        spent = record.stages[name].seconds
        yield f"  {spent:9.3f} s  {name.removeprefix('optdb/')}" + (f": {often}" if often else "")
    beside = (maker.times.rewrite or 0.0) - sum(record.stages[name].seconds for name in stages)
    if beside > _WORTH_TELLING:
        yield f"  {beside:9.3f} s  beside the stages: importing rules, copying the graph"
    for reached in record.limits.values():
        yield f"  stopped at a limit: {reached}"
