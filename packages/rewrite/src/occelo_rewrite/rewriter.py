"""Rewriters: objects that change a whole graph, for instance by trying rules at every node.

`WalkingGraphRewriter` tries rules once at each node, and `EquilibriumGraphRewriter` tries rules until none applies.
`SequentialGraphRewriter` runs rewriters in sequence, and `MergeOptimizer` merges equal nodes. The classes in `database`
combine rules into rewriters of these classes, which are the stages of `pipeline`. The rewriters in `fusion`, `inplace`
and `occelo_loops.rules.bodies` are subclasses of `RecordingRewriter`.
"""

from __future__ import annotations

import functools
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from occelo_graph import Apply, FunctionGraph, Variable
from occelo_graph.config import config
from occelo_graph.errors import ConflictingAssumptionsError, errors_are_caught, explained_by
from occelo_graph.fgraph.features import Feature, ReplaceValidate
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.provenance import at_line, user_frame
from occelo_rewrite.engine import RewriteError, RuleIndex, report, run
from occelo_rewrite.limits import LimitReached, NotConvergedError, stop_at
from occelo_rewrite.merge import MergeFeature
from occelo_rewrite.patterns.node_rule import NodeRewriter
from occelo_rewrite.records.record import RECORDS, RewriteRecord


class GraphRewriter:
    """Base class of rewriters. Subclasses override `apply`, and `add_requirements` if `apply` needs features.

    TypeError if it is given arguments.
    """

    name: str = ""

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach the features that `apply` needs."""

    def apply(self, fgraph: FunctionGraph) -> None:
        """Change the graph."""
        raise NotImplementedError(f"{type(self).__name__} has no apply")

    def apply_noted(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        """Change the graph. Subclasses may override this method instead of `apply`, to record their changes."""
        self.apply(fgraph)

    def rewrite(self, fgraph: FunctionGraph, record: RewriteRecord | None = None) -> RewriteRecord:
        """Attach the required features, change the graph, and return the record of all changes."""
        noted = RewriteRecord.configured() if record is None else record
        outermost = not noted.stage
        RECORDS[fgraph] = noted
        fgraph.attach_feature(ReplaceValidate())
        self.add_requirements(fgraph)
        # new nodes take the line of the node that they replace, so there is no need to look for one
        with errors_are_caught(), at_line(user_frame(2)), noted.entering(str(self)):
            self.apply_noted(fgraph, noted)
        if outermost:
            noted.finish()
        return noted

    def __call__(self, fgraph: FunctionGraph) -> RewriteRecord:
        return self.rewrite(fgraph)

    def print_summary(self, stream: Any = None, level: int = 0) -> None:
        """Print the names of the rewriter and of the rules and rewriters that it consists of."""
        print(" " * level * 2 + str(self), file=stream or sys.stdout)

    def __str__(self) -> str:
        return self.name or type(self).__name__


class LateRewriter(GraphRewriter):
    """A rewriter that ``make`` makes when it is first needed, so that modes that leave it out do not import its module."""

    def __init__(self, name: str, make: Callable[[], GraphRewriter]) -> None:
        self.name = name
        self._make = make

    @functools.cached_property
    def _made(self) -> GraphRewriter:
        return self._make()

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        self._made.add_requirements(fgraph)

    def apply(self, fgraph: FunctionGraph) -> None:
        self._made.apply(fgraph)

    def apply_noted(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        self._made.apply_noted(fgraph, record)


class RecordingRewriter(GraphRewriter):
    """Base class of rewriters that record every replacement. Subclasses override `run` instead of `apply`."""

    def run(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        """Change the graph and record every replacement."""
        raise NotImplementedError(f"{type(self).__name__} has no run")

    def apply(self, fgraph: FunctionGraph) -> None:
        fgraph.attach_feature(ReplaceValidate())
        self.add_requirements(fgraph)
        record, outer = RewriteRecord.configured(), RECORDS.get(fgraph)
        if outer is not None and outer.stage:  # the graph is being rewritten
            record.enclosing = outer
        self.run(fgraph, record)
        record.finish()

    def apply_noted(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        if type(self).apply is RecordingRewriter.apply:
            self.run(fgraph, record)
        else:
            # a subclass overrides `apply`; its method may call the `apply` of this class
            self.apply(fgraph)


@explained_by("rules")
def check_rewriters(rewriters: Iterable[Any], *kinds: type, where: str) -> None:
    """Raise TypeError unless all ``rewriters`` are instances of the classes ``kinds``.

    ``where`` says in the message what the rewriters are for, such as "A sequence".
    """
    for each in rewriters:
        if isinstance(each, kinds):
            continue
        if isinstance(each, type):
            hint = "give an object of the class"
        elif callable(each):
            hint = "make a rule of a function with node_rewriter or rule, a rewriter with graph_rewriter"
        else:
            hint = f"a {type(each).__name__}"
        allowed = " or ".join(f"a {kind.__name__}" for kind in kinds)
        raise TypeError(f"{where} takes {allowed}, not {each!r}: {hint}")


def check_extra(rewriters: Iterable[Any]) -> None:
    """Raise TypeError unless all ``rewriters``, the extra ones of a query, are rules or rewriters."""
    check_rewriters(rewriters, NodeRewriter, GraphRewriter, where="A query")


class _Changes(Feature):
    """A feature that counts the changes of a graph."""

    def __init__(self) -> None:
        self.count = 0

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        i: int,
        var: Variable,
        new_var: Variable,
        reason: Any = None,
    ) -> None:
        self.count += 1


class MergeOptimizer(RecordingRewriter):
    """Common subexpression elimination.

    Constants with equal types and bits become one variable. Then nodes with equal ops and the same inputs become one
    node. (For commutative ops, the order of inputs does not matter.) The graph keeps a `MergeFeature`, so that the
    engine merges later nodes as they appear. TypeError for unknown arguments.
    """

    def __init__(self, name: str = "merge") -> None:
        self.name = name

    def run(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        if getattr(fgraph, "has_destroyers", None) is not None:
            return
        fgraph.attach_feature(MergeFeature())
        feature: MergeFeature = fgraph.merge_feature
        feature.merge_constants(fgraph)
        feature.settle(fgraph, record)


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

    def apply(self, fgraph: FunctionGraph) -> None:
        self.function(fgraph)


@explained_by("rules")
def graph_rewriter(
    function: Callable[[FunctionGraph], Any], requirements: Sequence[Callable[[], Feature]] = ()
) -> GraphRewriter:
    """Turn a ``function`` that changes a function graph into a rewriter. It can be used as a decorator.

    ``requirements`` create features, which are attached to a graph before.
    """
    if not callable(function):
        raise TypeError(f"A rewriter is made of a function of a graph, got {function!r}")
    return _FunctionRewriter(function, requirements)


class SequentialGraphRewriter(RecordingRewriter):
    """Runs ``rewriters``, or those of one list, in order. If one fails, the option ``on_opt_error`` says what happens.

    TypeError for what is no rewriter.
    """

    def __init__(self, *rewriters: Any, name: str = "") -> None:
        listed = is_list_or_tuple(rewriters[0]) if len(rewriters) == 1 else False
        self.rewriters: list[GraphRewriter] = list(rewriters[0] if listed else rewriters)
        check_rewriters(self.rewriters, GraphRewriter, where="A sequence")
        self.name = name

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        for rewriter in self.rewriters:
            rewriter.add_requirements(fgraph)

    def run(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        for rewriter in self.rewriters:
            try:
                with record.entering(str(rewriter)):
                    rewriter.apply_noted(fgraph, record)
            except (RewriteError, NotConvergedError, ConflictingAssumptionsError):
                raise
            except Exception as error:
                report(error, str(rewriter), None)

    def print_summary(self, stream: Any = None, level: int = 0) -> None:
        super().print_summary(stream, level)
        for rewriter in self.rewriters:
            rewriter.print_summary(stream, level + 1)


class WalkingGraphRewriter(RecordingRewriter):
    """Tries rules once at every node, and also at new nodes unless ``ignore_newtrees`` is True.

    ``order`` is "in_to_out" (from the inputs of the graph to its outputs), "out_to_in" or "dfs" (the same as
    "in_to_out"). ValueError for another ``order``.
    """

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
        check_rewriters(self.rules, NodeRewriter, where="A walk")
        self._index = RuleIndex(self.rules)
        self.order = order
        self.ignore_newtrees = ignore_newtrees
        self.name = name or "+".join(str(r) for r in self.rules)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        for rule in self.rules:
            rule.add_requirements(fgraph)

    def run(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        order = fgraph.toposort()
        from_end = self.order == "out_to_in"
        run(self, self._index, order, fgraph, record, from_end, not self.ignore_newtrees)

    def print_summary(self, stream: Any = None, level: int = 0) -> None:
        super().print_summary(stream, level)
        for rule in self.rules:
            print(" " * (level + 1) * 2 + str(rule), file=stream or sys.stdout)


def _adds_requirements(rule: NodeRewriter) -> bool:
    return type(rule).add_requirements is not NodeRewriter.add_requirements


class EquilibriumGraphRewriter(RecordingRewriter):
    """Applies rules and rewriters in rounds, until a round changes nothing. TypeError for what is no rule and no rewriter.

    In each round the graph rewriters run first, then the rules, then the ``final_rewriters``. If the round changed
    anything, the ``cleanup_rewriters`` run next. After ``max_rounds`` rounds the rewriter stops (`limits`).
    ``max_use_ratio`` is the value of the option ``optdb__max_use_ratio`` for this rewriter.
    """

    def __init__(
        self,
        rewriters: Sequence[NodeRewriter | GraphRewriter],
        final_rewriters: Sequence[GraphRewriter] = (),
        cleanup_rewriters: Sequence[GraphRewriter] = (),
        name: str = "",
        max_rounds: int = 50,
        max_use_ratio: float | None = None,
    ) -> None:
        check_rewriters(rewriters, NodeRewriter, GraphRewriter, where="An equilibrium")
        check_rewriters((*final_rewriters, *cleanup_rewriters), GraphRewriter, where="Tidying up")
        self.rules = [r for r in rewriters if isinstance(r, NodeRewriter)]
        self._index = RuleIndex([r for r in self.rules if not r.only_new])
        self._index_of_new = RuleIndex(self.rules)
        self.globals = [r for r in rewriters if isinstance(r, GraphRewriter)]
        self.final_rewriters = list(final_rewriters)
        self.cleanup_rewriters = list(cleanup_rewriters)
        self._demanding = [r for r in self.rules if r.requirements or _adds_requirements(r)]
        self.name = name
        self.max_rounds = max_rounds
        self.max_use_ratio = max_use_ratio

    def set_rules_for_new(self, rules: RuleIndex) -> None:
        """Also try these rules at nodes that enter or change, before the rules of this rewriter."""
        self._index_of_new = RuleIndex(self.rules, rules)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        for rule in self._demanding:
            rule.add_requirements(fgraph)
        for rewriter in (*self.globals, *self.final_rewriters, *self.cleanup_rewriters):
            rewriter.add_requirements(fgraph)

    def run(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        if self.max_use_ratio is None:
            self._run_all(fgraph, record)
            return
        with config.change_flags(optdb__max_use_ratio=self.max_use_ratio):
            self._run_all(fgraph, record)

    def _run_all(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        if not (self.globals or self.final_rewriters or self.cleanup_rewriters):
            self._run_rules(fgraph, record)
            return
        changes = _Changes()
        fgraph.attach_feature(changes)
        try:
            self._run_rounds(fgraph, record, changes)
        finally:
            fgraph.remove_feature(changes)

    def _run_rules(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        run(
            self,
            self._index,
            list(fgraph.apply_nodes),
            fgraph,
            record,
            rules_for_new=self._index_of_new,
            until_stable=True,
        )

    def _run_rounds(self, fgraph: FunctionGraph, record: RewriteRecord, changes: _Changes) -> None:
        first, stopped = len(record.applications), len(record.limits)
        for _ in range(self.max_rounds):
            before = changes.count
            for rewriter in self.globals:
                rewriter.apply_noted(fgraph, record)
            self._run_rules(fgraph, record)
            for rewriter in self.final_rewriters:
                rewriter.apply_noted(fgraph, record)
            if changes.count == before or len(record.limits) > stopped:
                return
            for rewriter in self.cleanup_rewriters:
                rewriter.apply_noted(fgraph, record)
        where = record.stage or str(self)
        rewriters = (*self.globals, *self.final_rewriters, *self.cleanup_rewriters)
        names = dict.fromkeys([*(a.rule for a in record.applications[-8:]), *map(str, rewriters)])
        used = Counter(a.rule for a in record.applications[first:])
        stop_at(record, LimitReached(where, f"{self.max_rounds} rounds", used, tuple(names)))

    def print_summary(self, stream: Any = None, level: int = 0) -> None:
        super().print_summary(stream, level)
        for part in (*self.globals, *self.rules, *self.final_rewriters, *self.cleanup_rewriters):
            print(" " * (level + 1) * 2 + str(part), file=stream or sys.stdout)


@explained_by("rules")
def in2out(*rules: NodeRewriter, **named: Any) -> WalkingGraphRewriter:
    """A rewriter that tries ``rules`` once at each node, from the inputs to the outputs.

    ``named`` are further arguments of `WalkingGraphRewriter`.
    """
    return WalkingGraphRewriter(list(rules), "in_to_out", **named)


@explained_by("rules")
def out2in(*rules: NodeRewriter, **named: Any) -> WalkingGraphRewriter:
    """A rewriter that tries ``rules`` once at each node, from the outputs to the inputs. ``named`` is as in `in2out`."""
    return WalkingGraphRewriter(list(rules), "out_to_in", **named)
