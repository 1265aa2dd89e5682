"""Rewriters: what applies rules to a whole graph."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from occelo_graph import Apply, FunctionGraph, InconsistencyError, OcceloError, Variable
from occelo_graph.fgraph.features import Feature, ReplaceValidate
from occelo_rewrite import options
from occelo_rewrite.record import RewriteRecord
from occelo_rewrite.rule import NodeRewriter

__all__ = [
    "EquilibriumGraphRewriter",
    "GraphRewriter",
    "NotConvergedError",
    "RewriteError",
    "SequentialGraphRewriter",
    "WalkingGraphRewriter",
    "graph_rewriter",
    "in2out",
    "out2in",
]


class RewriteError(OcceloError, RuntimeError):
    """A rule failed."""


class NotConvergedError(OcceloError, RuntimeError):
    """Rules kept undoing each other."""


class GraphRewriter:
    """Something that changes a whole graph: override `apply`, and `add_requirements` if needed."""

    name: str = ""

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach the features that `apply` needs."""

    def apply(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        """Change the graph and note what was done."""
        raise NotImplementedError(f"{type(self).__name__} has no apply")

    def rewrite(self, fgraph: FunctionGraph, record: RewriteRecord | None = None) -> RewriteRecord:
        """Attach what is needed, `apply`, and return the record."""
        noted = RewriteRecord() if record is None else record
        fgraph.attach_feature(ReplaceValidate())
        self.add_requirements(fgraph)
        with noted.entering(str(self)):
            self.apply(fgraph, noted)
        return noted

    def __call__(self, fgraph: FunctionGraph) -> RewriteRecord:
        return self.rewrite(fgraph)

    def print_summary(self, stream: Any = None, level: int = 0) -> None:
        """Print what the rewriter consists of."""
        print(" " * level * 2 + str(self), file=stream or sys.stdout)

    def __str__(self) -> str:
        return self.name or type(self).__name__


class _FunctionRewriter(GraphRewriter):
    def __init__(
        self,
        function: Callable[[FunctionGraph], Any],
        requirements: Sequence[Callable[[], Feature]],
    ) -> None:
        self.function = function
        self.requirements = requirements
        self.name = function.__name__
        self.__doc__ = function.__doc__

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        for make in self.requirements:
            fgraph.attach_feature(make())

    def apply(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        self.function(fgraph)


def graph_rewriter(
    function: Callable[[FunctionGraph], Any], requirements: Sequence[Callable[[], Feature]] = ()
) -> GraphRewriter:
    """Make a function of a graph a rewriter."""
    return _FunctionRewriter(function, requirements)


def _report(error: Exception, what: str, node: Apply | None) -> None:
    """Do with a failure what ``on_opt_error`` says."""
    where = "" if node is None else f" at {node}"
    if node is not None and node.source is not None:
        where += f", made at {node.source}"
    message = f"The rewrite {what} failed{where}: {type(error).__name__}: {error}"
    chosen = options.ON_OPT_ERROR.get()
    if chosen == "raise":
        raise RewriteError(message) from error
    if chosen == "warn":
        warnings.warn(message, stacklevel=3)
    elif chosen == "pdb":
        importlib.import_module("pdb").post_mortem(error.__traceback__)


class SequentialGraphRewriter(GraphRewriter):
    """Rewriters one after the other; one that fails is handled as ``on_opt_error`` says."""

    def __init__(self, *rewriters: GraphRewriter, name: str = "") -> None:
        self.rewriters = list(rewriters)
        self.name = name

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        for rewriter in self.rewriters:
            rewriter.add_requirements(fgraph)

    def apply(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        for rewriter in self.rewriters:
            try:
                with record.entering(str(rewriter)):
                    rewriter.apply(fgraph, record)
            except (RewriteError, NotConvergedError):
                raise
            except Exception as error:
                _report(error, str(rewriter), None)

    def print_summary(self, stream: Any = None, level: int = 0) -> None:
        super().print_summary(stream, level)
        for rewriter in self.rewriters:
            rewriter.print_summary(stream, level + 1)


class _Worklist(Feature):
    """Nodes still to be tried, each once; nodes that change come back."""

    def __init__(self, order: Iterable[Apply], from_end: bool, include_new: bool) -> None:
        self.pending = deque(order)
        self.waiting = set(self.pending)
        self.from_end = from_end
        self.include_new = include_new

    def push(self, node: Apply) -> None:
        if node not in self.waiting:
            self.waiting.add(node)
            self.pending.append(node)

    def pop(self) -> Apply | None:
        while self.pending:
            node = self.pending.pop() if self.from_end else self.pending.popleft()
            if node in self.waiting:
                self.waiting.discard(node)
                return node
        return None

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        if self.include_new:
            self.push(node)

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self.waiting.discard(node)

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Any,
        i: int,
        var: Variable,
        new_var: Variable,
        reason: Any = None,
    ) -> None:
        if self.include_new and node in fgraph.apply_nodes:
            self.push(node)


class _RuleIndex:
    """The rules to try at each op, found once for each op."""

    def __init__(self, rules: Sequence[NodeRewriter]) -> None:
        self.rules = rules
        self._by_op: dict[Any, list[NodeRewriter]] = {}

    def of(self, node: Apply) -> list[NodeRewriter]:
        found = self._by_op.get(node.op)
        if found is None:
            found = self._by_op[node.op] = [r for r in self.rules if r.applies_to(node.op)]
        return found


def apply_rule(
    rule: NodeRewriter, fgraph: FunctionGraph, node: Apply, record: RewriteRecord
) -> bool:
    """Try one rule at one node; the replacement happens as a whole or not at all."""
    try:
        found = rule.transform(fgraph, node)
    except Exception as error:
        _report(error, str(rule), node)
        return False
    if found is None:
        return False
    remove: Sequence[Apply] = ()
    if isinstance(found, dict):
        remove = found.pop("remove", ())
        pairs: list[tuple[Variable, Variable]] = list(found.items())
    else:
        if len(found) != len(node.outputs):
            _report(
                ValueError(f"it gave {len(found)} replacements for {len(node.outputs)} outputs"),
                str(rule),
                node,
            )
            return False
        pairs = [
            (old, new) for old, new in zip(node.outputs, found, strict=True) if new is not None
        ]
    pairs = [(old, new) for old, new in pairs if old is not new and old in fgraph.variables]
    if not pairs:
        return False
    source = "" if node.source is None else str(node.source)
    before = str(node)
    for old, new in pairs:
        _carry_source(old, new)
    try:
        if remove:
            fgraph.replace_all_validate_remove(pairs, remove, reason=rule)
        else:
            fgraph.replace_all_validate(pairs, reason=rule)
    except InconsistencyError:
        return False
    except Exception as error:
        _report(error, str(rule), node)
        return False
    after = ", ".join(str(new.owner or new) for _, new in pairs)
    record.add(str(rule), before, after, source)
    if options.VERBOSE.get():
        print(f"rewriting: {record.stage}: {rule} replaces {before} with {after}")
    return True


def _carry_source(old: Variable, new: Variable) -> None:
    """Let new nodes count as made by the line that made what they replace."""
    mark = old.mark
    pending = [new]
    while pending:
        variable = pending.pop()
        owner = variable.owner
        if owner is not None and owner.mark is None:
            owner.mark = mark
            pending.extend(owner.inputs)


class WalkingGraphRewriter(GraphRewriter):
    """Rules tried once at every node, in an order; new nodes too unless ``ignore_newtrees``."""

    def __init__(
        self,
        node_rewriters: NodeRewriter | Sequence[NodeRewriter],
        order: str = "in_to_out",
        ignore_newtrees: bool = False,
        name: str = "",
    ) -> None:
        if order not in ("in_to_out", "out_to_in", "dfs"):
            raise ValueError(f"The order is in_to_out, out_to_in or dfs, not {order!r}")
        self.rules = (
            [node_rewriters] if isinstance(node_rewriters, NodeRewriter) else list(node_rewriters)
        )
        self.order = order
        self.ignore_newtrees = ignore_newtrees
        self.name = name or "+".join(str(r) for r in self.rules)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        for rule in self.rules:
            rule.add_requirements(fgraph)

    def apply(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        _run_worklist(
            self, self.rules, self.order == "out_to_in", not self.ignore_newtrees, fgraph, record
        )

    def print_summary(self, stream: Any = None, level: int = 0) -> None:
        super().print_summary(stream, level)
        for rule in self.rules:
            print(" " * (level + 1) * 2 + str(rule), file=stream or sys.stdout)


def _run_worklist(
    owner: GraphRewriter,
    rules: Sequence[NodeRewriter],
    from_end: bool,
    include_new: bool,
    fgraph: FunctionGraph,
    record: RewriteRecord,
) -> int:
    index = _RuleIndex(rules)
    order = [n for n in fgraph.toposort() if index.of(n)]
    if not order:
        return 0
    work = _Worklist(order, from_end, include_new)
    budget = max(100, int(options.MAX_USE_RATIO.get() * max(len(fgraph.apply_nodes), 1))) * max(
        1, len(rules)
    )
    recent: deque[str] = deque(maxlen=8)
    applied = 0
    fgraph.attach_feature(work)
    try:
        while (node := work.pop()) is not None:
            for rule in index.of(node):
                if node not in fgraph.apply_nodes:
                    break
                if apply_rule(rule, fgraph, node, record):
                    applied += 1
                    recent.append(str(rule))
                    if applied > budget:
                        names = " <-> ".join(dict.fromkeys(recent))
                        raise NotConvergedError(f"{owner} does not converge: {names}")
                    if node in fgraph.apply_nodes:
                        work.push(node)
                    break
    finally:
        fgraph.remove_feature(work)
    return applied


class EquilibriumGraphRewriter(GraphRewriter):
    """Rules and rewriters applied until none of them changes anything.

    Graph rewriters run first in each round, ``final_rewriters`` last; ``cleanup_rewriters`` run
    after each round that changed something.
    """

    def __init__(
        self,
        rewriters: Sequence[NodeRewriter | GraphRewriter],
        final_rewriters: Sequence[GraphRewriter] = (),
        cleanup_rewriters: Sequence[GraphRewriter] = (),
        name: str = "",
        max_rounds: int = 50,
    ) -> None:
        self.rules = [r for r in rewriters if isinstance(r, NodeRewriter)]
        self.globals = [r for r in rewriters if isinstance(r, GraphRewriter)]
        self.final_rewriters = list(final_rewriters)
        self.cleanup_rewriters = list(cleanup_rewriters)
        self.name = name
        self.max_rounds = max_rounds

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        for rule in self.rules:
            rule.add_requirements(fgraph)
        for rewriter in (*self.globals, *self.final_rewriters, *self.cleanup_rewriters):
            rewriter.add_requirements(fgraph)

    def apply(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        for _ in range(self.max_rounds):
            before = len(record.applications)
            for rewriter in self.globals:
                rewriter.apply(fgraph, record)
            _run_worklist(self, self.rules, False, True, fgraph, record)
            for rewriter in self.final_rewriters:
                rewriter.apply(fgraph, record)
            if len(record.applications) == before:
                return
            for rewriter in self.cleanup_rewriters:
                rewriter.apply(fgraph, record)
        names = " <-> ".join(dict.fromkeys(a.rule for a in record.applications[-8:]))
        raise NotConvergedError(f"{self} does not converge: {names}")

    def print_summary(self, stream: Any = None, level: int = 0) -> None:
        super().print_summary(stream, level)
        for part in (*self.globals, *self.rules, *self.final_rewriters, *self.cleanup_rewriters):
            print(" " * (level + 1) * 2 + str(part), file=stream or sys.stdout)


def in2out(*rules: NodeRewriter, **named: Any) -> WalkingGraphRewriter:
    """Rules tried from the inputs to the outputs."""
    return WalkingGraphRewriter(list(rules), "in_to_out", **named)


def out2in(*rules: NodeRewriter, **named: Any) -> WalkingGraphRewriter:
    """Rules tried from the outputs to the inputs."""
    return WalkingGraphRewriter(list(rules), "out_to_in", **named)
