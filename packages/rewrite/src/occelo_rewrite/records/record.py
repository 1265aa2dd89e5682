"""`RewriteRecord`: every replacement that a rewriting made, with its rule, and the time of each stage.

Rewriters write records. `explaining`, `viewer` and the command ``explain`` read them, and so do profiles, `bisection`
and DebugMode in `occelo_compile`.

A replacement is called an application (of a rule). A record stores text and numbers, never graphs. Each new node refers
to the application that made it. Each application refers to its parent: the application that made the replaced variable.
So every compiled node can be traced back to the user's line.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import cache
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from occelo_graph import Apply, FunctionGraph, Variable
from occelo_graph.frozen_dataclasses import frozen_dataclass, mutable_dataclass
from occelo_graph.provenance import source_of
from occelo_rewrite.limits import LimitReached, warn_of
from occelo_rewrite.options import MAX_APPLICATIONS, PROFILE

if TYPE_CHECKING:
    from pathlib import Path


@frozen_dataclass
class Application:
    """One replacement: its stage, its rule, the old and the new expression as text, and the user's line.

    ``parent`` is the number of the application that made the replaced variable; -1 if this variable is in the user's
    graph. TypeError if a field is missing.
    """

    stage: str
    rule: str
    before: str
    after: str
    mark: Any = None
    parent: int = -1

    @property
    def source(self) -> str:
        """The file and line of the user's code as text, computed on demand from ``mark`` (a code object and an
        offset).
        """
        place = source_of(self.mark)
        return "" if place is None else str(place)

    def __reduce__(self) -> tuple[Any, ...]:
        # a mark holds a code object, which cannot be pickled
        told = (self.stage, self.rule, self.before, self.after, source_of(self.mark), self.parent)
        return Application, told

    def as_dict(self) -> dict[str, Any]:
        """The fields of the application, for the trace file."""
        return {
            "stage": self.stage,
            "rule": self.rule,
            "before": self.before,
            "after": self.after,
            "source": self.source,
            "parent": self.parent,
        }


@mutable_dataclass
class StageTime:
    """The seconds of a stage and the number of its applications."""

    seconds: float = 0.0
    applications: int = 0


@mutable_dataclass
class RuleCount:
    """How often a rule was tried (``calls``) and applied (``hits``), and how long this took."""

    calls: int = 0
    hits: int = 0
    seconds: float = 0.0


@mutable_dataclass
class RewriteRecord:
    """The applications of rules in one rewriting, in order.

    Rewriting ends after ``limit`` applications. If ``profiling`` is True, ``counts`` has the calls, hits and time of
    each rule, by stage. ``on_application`` is called after each application. ``trace`` is the path of a file; `finish`
    appends the applications to it. TypeError for unknown arguments.
    """

    applications: list[Application] = field(default_factory=lambda: list[Application]())
    stages: dict[str, StageTime] = field(default_factory=lambda: dict[str, StageTime]())
    stage: str = ""
    laws: dict[str, str] = field(default_factory=lambda: dict[str, str]())
    """For each rule that was applied, by name, what it says: the first paragraph of its docstring."""
    limit: int | None = None
    profiling: bool = False
    counts: dict[str, dict[str, RuleCount]] = field(
        default_factory=lambda: dict[str, dict[str, RuleCount]]()
    )
    on_application: Callable[[Application], None] | None = None

    trace: str = ""
    limits: dict[str, LimitReached] = field(default_factory=lambda: dict[str, LimitReached]())
    """The rewriters that stopped at a limit, by name."""
    enclosing: RewriteRecord | None = field(default=None, repr=False)
    """For the rewriting of an inner graph: the record of the whole graph, which gets the ``limits``."""
    validates: bool = True
    """Whether the graph is validated after each replacement, rather than only at the end of a stage."""
    ends: WeakKeyDictionary[Variable, list[int]] = field(
        default_factory=lambda: WeakKeyDictionary[Variable, list[int]](), repr=False
    )
    """For each variable that replaced others but was in the graph before: the numbers of the applications in which it
    replaced them.
    """
    refused: set[Any] = field(default_factory=lambda: set[Any](), repr=False)
    """Pairs of a rule and a node: the rule's replacement at the node was reverted in the current stage."""

    @classmethod
    def configured(cls) -> RewriteRecord:
        """A new record with the limit and profiling of the options.

        The environment variable OCCELO_TRACE names the trace file of the record.
        """
        most = MAX_APPLICATIONS.get()
        return cls(
            limit=None if most < 0 else most,
            profiling=PROFILE.get(),
            trace=os.environ.get("OCCELO_TRACE", ""),
        )

    def finish(self) -> None:
        """Append the applications to the trace file, if there is one, and warn if a rewriter stopped at a limit."""
        if self.trace:
            self.write(self.trace)
        if not self.limits:
            return
        if self.enclosing is None:
            warn_of(self.limits.values())
        else:
            for each in self.limits.values():
                name = f"{self.enclosing.stage}/{each.rewriter}"
                self.enclosing.limits[name] = replace(each, rewriter=name)

    @property
    def is_full(self) -> bool:
        """Whether ``limit`` is reached, so that no rule may be applied."""
        return self.limit is not None and len(self.applications) >= self.limit

    def counts_of(self, stage: str) -> dict[str, RuleCount] | None:
        """The counters of a stage by rule; None if rules are not profiled."""
        return self.counts.setdefault(stage, {}) if self.profiling else None

    def start(self, node: Apply) -> int:
        """The number of the application that made a node; -1 for a node of the user's graph.

        An application that replaces a result of the node gets this number as its ``parent``.
        """
        if not node.has_tag:
            return -1
        origin: tuple[RewriteRecord, int] | None = getattr(node.tag, "made_by", None)
        return origin[1] if origin is not None and origin[0] is self else -1

    def add(
        self,
        parent: int,
        rule: str,
        before: str,
        after: str,
        node: Apply,
        results: Sequence[Variable],
        law: str | None = None,
    ) -> None:
        """Record one replacement in the current stage. ``law`` is the docstring of the rule."""
        if law and rule not in self.laws:
            self.laws[rule] = _first_paragraph(law)
        application = Application(self.stage, rule, before, after, node.mark, parent)
        number = len(self.applications)
        self.applications.append(application)
        self.stages.setdefault(self.stage, StageTime()).applications += 1
        made_by = (self, number)
        pending: list[Apply] = []
        for variable in results:
            owner = variable.owner
            if owner is None or not _is_unnoted(owner):
                self.ends.setdefault(variable, []).append(number)
            else:
                pending.append(owner)
        while pending:
            owner = pending.pop()
            if _is_unnoted(owner):
                owner.tag.made_by = made_by
                pending += [v.owner for v in owner.inputs if v.owner is not None]
        if self.on_application is not None:
            self.on_application(application)

    def forget(self, number: int) -> None:
        """Remove the application with this number and all later ones, after the graph was reverted."""
        for each in self.applications[number:]:
            self.stages[each.stage].applications -= 1
        del self.applications[number:]
        self.limits.pop(self.stage, None)
        for variable, numbers in list(self.ends.items()):
            self.ends[variable] = [n for n in numbers if n < number]

    def __getstate__(self) -> dict[str, Any]:
        # weak references cannot be pickled
        return {**self.__dict__, "ends": None, "enclosing": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.ends = WeakKeyDictionary()

    def entering(self, stage: str) -> _Timer:
        """A context manager that times a stage. The recorded name includes the names of the enclosing stages."""
        return _Timer(self, stage)

    def write(self, path: str | Path) -> None:
        """Append the applications to a file, each as a line of JSON."""
        with open(path, "a", encoding="utf-8") as file:
            for number, each in enumerate(self.applications):
                file.write(json.dumps({"number": number, **each.as_dict()}) + "\n")

    def __str__(self) -> str:
        rows = [
            f"{name}: {t.seconds * 1e3:.2f} ms, {t.applications} applied"
            for name, t in self.stages.items()
        ]
        rows += [f"  {a.rule}: {a.before} -> {a.after}  {a.source}" for a in self.applications]
        return "\n".join(rows)


RECORDS: WeakKeyDictionary[FunctionGraph, RewriteRecord] = WeakKeyDictionary()
"""The record of the last rewriting of each graph."""


@cache
def _first_paragraph(docstring: str) -> str:
    return inspect.cleandoc(docstring).partition("\n\n")[0]


def _is_unnoted(node: Apply) -> bool:
    """Whether rewriting added a node to its graph, and no application has noted yet that it made the node."""
    if not node.has_tag:
        return False
    notes = vars(node.tag)
    return "made_by" not in notes and bool(notes.get("imported_by"))


class _Timer:
    def __init__(self, record: RewriteRecord, stage: str) -> None:
        self.record, self.name = record, stage
        self.outer = record.stage
        self.start = 0.0

    def __enter__(self) -> None:
        self.record.stage = f"{self.outer}/{self.name}" if self.outer else self.name
        self.start = perf_counter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        spent = self.record.stages.setdefault(self.record.stage, StageTime())
        spent.seconds += perf_counter() - self.start
        self.record.stage = self.outer


def chain_of(record: RewriteRecord, number: int) -> list[Application]:
    """The application of that number and all its ancestors (its parent, the parent's parent, ...), oldest first."""
    chain: list[Application] = []
    while number >= 0:
        chain.append(record.applications[number])
        number = chain[-1].parent
    return chain[::-1]
