"""Explanations of a rewriting as text, for users.

`explain` prints the rules that led to a variable. `rewrite_profile` lists the times of stages and rules. Both are in
the namespace `occelo`, and the command ``explain`` prints their text.
"""

from __future__ import annotations

from typing import Any

from occelo_graph import FunctionGraph, Variable
from occelo_graph.errors import explained_by
from occelo_graph.ir.graph_like import graph_parts, inspected
from occelo_rewrite.records.record import RECORDS, Application, RewriteRecord, chain_of


def history_of(variable: Variable) -> list[Application]:
    """The applications of rules that led to the node that computes a variable, the oldest first."""
    owner = variable.owner
    if owner is None:
        return []
    made_by = getattr(owner.tag, "made_by", None)
    return [] if made_by is None else chain_of(*made_by)


def _ways(variable: Variable, record: RewriteRecord | None) -> list[list[Application]]:
    """The chains of applications of rules that led to a variable.

    The last application of a chain made the variable, or replaced another variable by it.
    """
    history = history_of(variable)
    ends = () if record is None else record.ends.get(variable, ())
    replaced = [chain_of(record, number) for number in ends] if record is not None else []
    return [way for way in (history, *replaced) if way]


def _told(variable: Variable, record: RewriteRecord | None) -> list[str]:
    shown = str(variable.owner or variable)
    source = "" if variable.source is None else f"  {variable.source}"
    ways = _ways(variable, record)
    if not ways:
        return [f"{shown}{source}", "  as it was written"]
    return [line for steps in ways for line in _way(steps, shown, source)]


def _way(steps: list[Application], shown: str, source: str) -> list[str]:
    lines = [f"{steps[0].before}  {steps[0].source or source.strip()}".rstrip()]
    for step in steps:
        stage = step.stage.rpartition("/")[2]
        where = f" [{stage}]" if stage and stage != step.rule else ""
        lines.append(f"  {step.rule}{where}: {step.before} -> {step.after}")
    lines.append(f"  = {shown}")
    return lines


def explain(of: Any, file: Any = None, depth: int | None = None) -> str | None:
    """Print the rules that led from the user's lines to the nodes of a variable, a graph or a function.

    ``of`` is a variable of a rewritten graph, a list of such variables, a `FunctionGraph`, or a compiled function.
    Ancestors that rewriting changed are explained, too, up to a distance of ``depth`` nodes (None: all of them). A last
    line names the rules whose results are in no chain, since other rules replaced them. With ``file="str"`` the text is
    returned. Otherwise it is written to ``file`` (None: printed).
    """
    of = inspected(of)
    lines: list[str] = []
    variables = graph_parts(of)[0]
    record = _record(of, variables)
    told: set[str] = set()
    for variable in variables:
        for level, each in _upwards(variable, depth):
            ways = _ways(each, record)
            told |= {step.rule for way in ways for step in way}
            if level == 0 or ways:
                lines += [*_told(each, record), ""]
    if record is not None and depth is None:
        others = dict.fromkeys(a.rule for a in record.applications if a.rule not in told)
        lines += [f"Also applied: {', '.join(others)}", ""] if others else []
    text = "\n".join(lines)
    if file == "str":
        return text
    print(text, file=file)
    return None


def _record(of: Any, variables: list[Variable]) -> RewriteRecord | None:
    """The record of the rewriting of ``of``; None if there is none.

    The record is looked up by the graph that belongs to ``of``, or else read from a node that rewriting made.
    """
    graph = (
        of if isinstance(of, FunctionGraph) else getattr(getattr(of, "maker", of), "fgraph", None)
    )
    if isinstance(graph, FunctionGraph) and graph in RECORDS:
        return RECORDS[graph]
    for variable in variables:
        for _, each in _upwards(variable, None):
            made_by = getattr(each.owner.tag, "made_by", None) if each.owner is not None else None
            if made_by is not None:
                return made_by[0]
    return None


def _upwards(variable: Variable, depth: int | None) -> list[tuple[int, Variable]]:
    levels: dict[Variable, int] = {}
    pending = [(variable, 0)]
    while pending:
        each, level = pending.pop()
        if each in levels or (depth is not None and level > depth):
            continue
        levels[each] = level
        if each.owner is not None:
            pending.extend((v, level + 1) for v in reversed(each.owner.inputs))
    return [(level, v) for v, level in levels.items()]


@explained_by("graphs")
def rewrite_profile(record: RewriteRecord, most: int = 20, idle: bool = False) -> str:
    """A table of the time of each stage, as text. If rules were profiled, a second table lists the slowest rules.

    The second table has the calls, hits and milliseconds of the ``most`` slowest rules of those that applied. With
    ``idle``, it has the other rules, too, and their names follow. Rules are profiled if the option ``profile_optimizer`` is set, or if the record has ``profiling=True``.
    """
    if not hasattr(record, "stages"):
        raise TypeError(
            f"rewrite_profile takes a RewriteRecord, such as f.maker.rewritten.record, got {record!r}"
        )
    lines = ["stage                                       ms   applied"]
    for name, spent in record.stages.items():
        lines.append(f"{name[:38]:38} {spent.seconds * 1e3:8.2f} {spent.applications:9}")
    rows = [
        (stage.rpartition("/")[2], rule, count)
        for stage, counts in record.counts.items()
        for rule, count in counts.items()
    ]
    if not rows:
        return "\n".join(lines)
    # a rule may apply in one stage, and be tried in vain in the others
    applied = {rule for _, rule, count in rows if count.hits}
    others = sorted({rule for _, rule, _ in rows} - applied)
    if not idle:
        rows = [row for row in rows if row[1] in applied]
    rows.sort(key=lambda row: -row[2].seconds)
    lines += ["", "rule                            stage            calls    hits       ms"]
    for stage, rule, count in rows[:most]:
        lines.append(
            f"{rule[:31]:31} {stage[:14]:14} {count.calls:7} {count.hits:7} {count.seconds * 1e3:8.2f}"
        )
    if idle:
        lines += ["", "tried, but never applied: " + (", ".join(others) or "none")]
    elif others:
        lines += ["", f"{len(others)} other rules were tried, but never applied"]
    return "\n".join(lines)
