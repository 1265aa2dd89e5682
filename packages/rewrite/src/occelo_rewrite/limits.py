"""Limits of rewriting: how often rules may apply before a rewriter stops, and what happens then.

`engine` counts the applications of rules in a `Budget`, and `rewriter` counts rounds. At a limit they call `stop_at`. A
replacement keeps the values of the graph, so the graph is right at every moment: the rewriter stops, the next rewriters
go on with the graph, and `RewriteRecord.finish` warns once for the whole compilation. With the option
``optdb__on_limit=raise``, which all of Occelo's own tests set, `stop_at` raises `NotConvergedError` instead.
"""

from __future__ import annotations

import platform
from collections import deque
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from occelo_graph import Apply, FrozenFunctionGraph, FunctionGraph, OcceloError, Op
from occelo_graph.fgraph.features import Feature
from occelo_graph.fgraph.frozen import inner_graphs
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.provenance import warn_user
from occelo_rewrite import options

if TYPE_CHECKING:
    from occelo_rewrite.records.record import RewriteRecord

LEAST = 100
"""The number of applications of one rule that are allowed for every graph, however small."""
GENERATIONS = 2
"""How many replacements away from the first graph the nodes are that enlarge a budget."""


class NotConvergedError(OcceloError, RuntimeError, explained=True):
    """A rewriter reached its limit, perhaps because rules undo each other. Only with ``optdb__on_limit=raise``."""


class RewriteLimitWarning(UserWarning):
    """A rewriter reached its limit, and the graph was compiled as it was then: right, but perhaps slow."""


@frozen_dataclass
class LimitReached:
    """A rewriter that stopped at its limit.

    ``rewriter`` is its path in the pipeline, such as "optdb/canonicalize". ``limit`` says which limit it was. ``used``
    has the number of applications of each rule, and ``recent`` the last rules in order.
    """

    rewriter: str
    limit: str
    used: Mapping[str, int]
    recent: tuple[str, ...]

    def __str__(self) -> str:
        order = sorted(self.used.items(), key=lambda pair: -pair[1])
        counts = ", ".join(f"{name} {count}" for name, count in order)
        lines = [
            f"{self.rewriter} does not converge: {' <-> '.join(self.recent)}",
            f"  limit: {self.limit}",
            f"  applied: {counts or 'no rule'}",
        ]
        return "\n".join(lines)


def stop_at(record: RewriteRecord, reached: LimitReached) -> None:
    """Note in ``record`` that a rewriter stops at its limit; `NotConvergedError` if the option says so."""
    if options.ON_LIMIT.get() == "raise":
        raise NotConvergedError(str(reached))
    record.limits[reached.rewriter] = reached


def warn_of(limits: Iterable[LimitReached]) -> None:
    """Warn once that rewriters stopped, in a text that can be reported."""
    from occelo_rewrite import __version__  # the package imports this module

    warn_user(
        "Rewriting stopped at a limit. The function is right, but it may be slower than it could be, and it is not "
        "kept in the cache. Please report this text, with the file that occelo.save(file, outputs, inputs) writes for "
        "the outputs and inputs of the function; compiling the loaded graph shows the same.\n"
        + "\n".join(map(str, limits))
        + f"\n  occelo-rewrite {__version__}, Python {platform.python_version()}",
        RewriteLimitWarning,
    )


class Budget(Feature):
    """Counts how often each rule applied, and how often it may apply in this graph.

    Each rule may apply ``optdb__max_use_ratio`` times for each node: each node that was in the graph at first, and each
    node that enters it and makes progress. Counting all new nodes would let rules that undo each other go on for ever,
    and counting none would stop rules that open inner graphs: a node may stand for a program of thousands of nodes, such
    as four nested loops of four steps. So each node has a generation:

    - The generation of a node that was in the graph at first is 0.
    - A node that replaces others has the generation of the node at which the rule applied if it is less nested, as the
      nodes of an inner graph that take the place of the op with this graph. Otherwise it is the next generation.
      (An op without inner graphs has the nesting 0, others one more than the most nested node of their inner graphs.)
    - A node that stays where a rule applied becomes older by one generation, too.

    Nodes up to `GENERATIONS` enlarge the budget. There is no endless sequence of these: with each replacement nodes come
    closer to this limit, or are less nested. So every budget is finite, whatever the rules do.
    """

    def __init__(self, size: int) -> None:
        self.ratio = options.MAX_USE_RATIO.get()
        self.counted = size
        self.used: dict[Any, int] = {}
        self.recent: deque[str] = deque(maxlen=8)
        self._at: Apply | None = None
        self._nesting_at: int | None = None
        self._generations: dict[Apply, int] = {}
        self._nestings: dict[FrozenFunctionGraph, int] = {}

    @property
    def most(self) -> int:
        """How often each rule may apply."""
        return max(LEAST, int(self.ratio * self.counted))

    def begin(self, node: Apply) -> None:
        """Note that rules are tried at ``node``: nodes that enter the graph from now on take its place."""
        self._at, self._nesting_at = node, None

    def spend(self, rule: Any, fgraph: FunctionGraph) -> bool:
        """Note that ``rule`` applied at the node of `begin`. Returns whether the budget is spent."""
        node = self._at
        if node is not None:
            if node in fgraph.apply_nodes:
                self._generations[node] = self._generations.get(node, 0) + 1
            else:
                self._generations.pop(node, None)
        self.recent.append(str(rule))
        used = self.used[rule] = self.used.get(rule, 0) + 1
        return used > LEAST and used > self.most

    def reached(self, rewriter: str) -> LimitReached:
        """The report of a spent budget."""
        limit = f"{self.most} applications of a rule, for {self.counted} nodes"
        used: dict[str, int] = {}
        for rule, count in self.used.items():
            used[str(rule)] = used.get(str(rule), 0) + count
        return LimitReached(rewriter, limit, used, tuple(dict.fromkeys(self.recent)))

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        at = self._at
        if at is None:
            return
        if self._nesting_at is None:
            self._nesting_at = self._nesting(at.op)
        generation = self._generations.get(at, 0)
        if not self._nesting_at or self._nesting(node.op) >= self._nesting_at:
            generation += 1
        if generation:
            self._generations[node] = generation
        self.counted += generation <= GENERATIONS

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        if (
            node is not self._at
        ):  # the generation of this node is needed for those that take its place
            self._generations.pop(node, None)

    def _nesting(self, op: Op) -> int:
        """How deeply inner graphs are nested in an op: 0 for an op without inner graphs."""
        depths, graphs = self._nestings, inner_graphs(op)
        pending = list(graphs)
        while pending:
            graph = pending[-1]
            below = [g for node in graph.nodes for g in inner_graphs(node.op)]
            waiting = [g for g in below if g not in depths]
            if waiting:
                pending += waiting
                continue
            depths[graph] = 1 + max((depths[g] for g in below), default=0)
            pending.pop()
        return max((depths[g] for g in graphs), default=0)
