"""`run`, the engine: it tries rules at the nodes of a graph and makes their replacements, until no rule applies.

The rewriters in `rewriter` choose the rules and the order of nodes, and call `run`. `fusion` finds its replacements
itself, and makes them with `replace`. If a rule replaces several variables, the engine replaces all of them or none.
"""

from __future__ import annotations

import importlib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any

from occelo_graph import (
    Apply,
    Constant,
    FunctionGraph,
    InconsistencyError,
    OcceloError,
    Op,
    Variable,
)
from occelo_graph.fgraph.features import Feature
from occelo_graph.ir.nodes import AtomicVariable
from occelo_graph.narrowing import is_dict
from occelo_graph.provenance import warn_user
from occelo_rewrite import options
from occelo_rewrite.constants import plain_number_of
from occelo_rewrite.limits import Budget, stop_at
from occelo_rewrite.merge import MergeFeature
from occelo_rewrite.patterns.node_rule import NodeRewriter, OpPattern
from occelo_rewrite.records.record import RewriteRecord, RuleCount


class RewriteError(OcceloError, RuntimeError, explained=True):
    """A rule failed."""


def report(error: Exception, what: str, node: Apply | None) -> None:
    """Handle the failure of the rewrite ``what`` as the option ``on_opt_error`` says.

    The choices are to raise `RewriteError`, to warn, to start the debugger, or to ignore the failure.
    """
    where = "" if node is None else f" at {node}"
    if node is not None and node.source is not None:
        where += f", made at {node.source}"
    message = f"The rewrite {what} failed{where}: {type(error).__name__}: {error}"
    chosen = options.ON_OPT_ERROR.get()
    if chosen == "raise":
        raise RewriteError(message) from error
    if chosen == "warn":
        warn_user(message)
    elif chosen == "pdb":
        importlib.import_module("pdb").post_mortem(error.__traceback__)


class OpRules:
    """The rules to try at nodes of one op, in order: those of ``rules`` that may fit the inputs (`NodeRewriter.below`).

    The rules that kinds of inputs leave are known by a mask with a bit for each rule, so that no rule is tested alone.
    """

    __slots__ = ("_always", "_left", "_needing", "rules")

    def __init__(self, rules: list[NodeRewriter]) -> None:
        self.rules = rules
        self._left: dict[int, list[tuple[NodeRewriter, Callable[..., Any]]]] = {}
        always, bit = 0, 1
        needing: dict[Any, int] = {}
        for rule in rules:
            below = rule.below
            if below:
                for kind in below:
                    needing[kind] = needing.get(kind, 0) | bit
            else:
                always |= bit
            bit <<= 1
        self._always, self._needing = always, needing

    def at(self, node: Apply) -> list[tuple[NodeRewriter, Callable[..., Any]]]:
        """The rules to try at a node, each with the function to call.

        The kinds of an input that a node computes are the class of the node's op and its scalar op. Those of a constant
        are `Constant` and the number that its elements equal.
        """
        mask, needing = self._always, self._needing
        for v in node.inputs if needing else ():
            if v.owner is not None:
                for kind in v.owner.op.rule_keys:
                    if kind in needing:
                        mask |= needing[kind]
            elif isinstance(v, Constant):
                mask |= needing.get(Constant, 0)
                number = plain_number_of(v)
                if number is not None:
                    mask |= needing.get(number, 0)
        pairs = self._left.get(mask)
        if pairs is None:
            if len(self._left) >= RuleIndex.LIMIT:
                self._left.clear()
            chosen = [rule for i, rule in enumerate(self.rules) if mask >> i & 1]
            pairs = self._left[mask] = [(rule, rule.called) for rule in chosen]
        return pairs


class RuleIndex:
    """An index from ops and classes of ops to the rules that track them.

    The rules of the index ``first`` come before ``rules``. The index is built at the first look-up, since many indices
    are never used.
    """

    LIMIT = 4096

    def __init__(self, rules: Sequence[NodeRewriter], first: RuleIndex | None = None) -> None:
        self.rules = rules
        self._first = first
        self._of_op: dict[Op, OpRules] = {}
        self._made: dict[tuple[OpRules | None, tuple[int, ...]], OpRules] = {}
        """By the rules of ``first`` and the positions of others: many ops have the same rules."""
        self._tables: tuple[dict[Any, list[int]], list[int], set[int]] | None = None
        """Positions in ``rules``: of rules for each op or class, of rules for all ops, of rules with `OpPattern`s."""

    def _make_tables(self) -> tuple[dict[Any, list[int]], list[int], set[int]]:
        of: dict[Any, list[int]] = {}
        always: list[int] = []
        with_patterns: set[int] = set()
        for number, rule in enumerate(self.rules):
            tracked = rule.tracks()
            if tracked is None:
                always.append(number)
                continue
            for each in tracked:
                keys: tuple[Any, ...] = (each,)
                if isinstance(each, OpPattern):
                    keys = each.op_types
                    with_patterns.add(number)
                for key in keys:
                    if key is Op:
                        always.append(number)
                    else:
                        of.setdefault(key, []).append(number)
        self._tables = of, always, with_patterns
        return self._tables

    def of(self, node: Apply) -> OpRules:
        """The rules for the op of a node."""
        rules = self._of_op.get(node.op)
        return self._find(node.op) if rules is None else rules

    def _find(self, op: Op) -> OpRules:
        of, always, with_patterns = self._tables or self._make_tables()
        numbers = {*always, *of.get(op, ())}
        for cls in op.computes_as:
            numbers.update(of.get(cls, ()))
        rules, first = self.rules, self._first
        before = None if first is None else first._of_op.get(op) or first._find(op)
        fitting = [i for i in sorted(numbers) if i not in with_patterns or rules[i].applies_to(op)]
        key = before, tuple(fitting)
        op_rules = self._made.get(key)
        if op_rules is None:
            earlier = [] if before is None else before.rules
            combined = [*earlier, *[rules[i] for i in fitting if rules[i] not in earlier]]
            op_rules = self._made[key] = OpRules(combined)
        if len(self._of_op) >= self.LIMIT:
            self._of_op.clear()
        self._of_op[op] = op_rules
        return op_rules


class Worklist(Feature):
    """The list of the nodes at which rules are still to be tried, each once.

    Nodes that enter the graph or change are added at once. When the list is empty, `next_round` returns the nodes that
    use a changed node, directly or through a few other nodes, and were last tried before the change.
    """

    REACH = 3

    def __init__(self, order: Iterable[Apply], from_end: bool, include_new: bool) -> None:
        self.pending = deque(order)
        self.waiting = set(self.pending)
        self.from_end = from_end
        self.include_new = include_new
        self.fresh: set[Apply] = set()
        """Nodes that entered the graph or changed, and the nodes that `next_round` returned."""
        self._clock = 0
        self._tried: dict[Apply, int] = {}
        self._touched: dict[Apply, int] = {}

    def push(self, node: Apply) -> None:
        """Add a node to the list, if it is not there."""
        if node not in self.waiting:
            self.waiting.add(node)
            self.pending.append(node)

    def pop(self) -> Apply | None:
        """Remove and return the node to try next; None if the list is empty."""
        while self.pending:
            node = self.pending.pop() if self.from_end else self.pending.popleft()
            if node in self.waiting:
                self.waiting.discard(node)
                self._clock += 1
                self._tried[node] = self._clock
                return node
        return None

    def _enter(self, node: Apply) -> None:
        self.push(node)
        self._touched[node] = self._clock
        self.fresh.add(node)

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        if self.include_new:
            self._enter(node)

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self.waiting.discard(node)
        self.fresh.discard(node)
        self._touched.pop(node, None)
        self._tried.pop(node, None)
        if self.include_new:
            for variable in node.inputs:
                self._try_others(fgraph, variable, node)

    def _try_others(self, fgraph: FunctionGraph, variable: Variable, gone: Any) -> None:
        """Have the next round try nodes for which it matters that ``gone`` no longer uses ``variable``.

        If ``variable`` had one more user, this is the other user, since some rules require that a variable has only one. If
        it had none, this is the node that computes it and whose other outputs are used: a rule may drop the unused output.
        Some rules for loops do so.
        """
        uses = fgraph.clients.get(variable, ())
        if len(uses) == 2:
            for user, _ in uses:
                if user is not gone and user in fgraph.apply_nodes:
                    self._touched[user] = self._clock
        owner = variable.owner
        if owner is None or len(owner.outputs) == 1 or owner not in fgraph.apply_nodes:
            return
        if all(user is gone for user, _ in uses):
            self._touched[owner] = self._clock

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        i: int,
        var: Variable,
        new_var: Variable,
        reason: Any = None,
    ) -> None:
        if self.include_new:
            self._try_others(fgraph, var, node)
            if node in fgraph.apply_nodes:
                self._enter(node)

    def next_round(self, fgraph: FunctionGraph) -> list[Apply]:
        """The nodes to try again: those that use a node that changed since their last try.

        A node may use the changed node through at most `REACH` steps, the depth that rules examine. A step
        from an arithmetic node (`Op.arithmetic`) to its only user does not count if the user is arithmetic, too, since
        rules match a nested sum or product as a whole.
        """
        level = [(n, time) for n, time in self._touched.items() if n in fgraph.apply_nodes]
        self._touched.clear()
        nodes: dict[Apply, None] = {}
        # for each node, the time of the latest change that it can reach; older changes need no
        # second visit
        seen: dict[Apply, int] = {}
        for _ in range(self.REACH + 1):
            following: list[tuple[Apply, int]] = []
            while level:
                node, time = level.pop()
                if seen.get(node, -1) >= time:
                    continue
                seen[node] = time
                if self._tried.get(node, 0) <= time:
                    nodes[node] = None
                for out in node.outputs:
                    uses = fgraph.clients.get(out, ())
                    inner = len(uses) == 1 and node.op.arithmetic
                    for user, _ in uses:
                        if user in fgraph.apply_nodes:
                            (level if inner and user.op.arithmetic else following).append(
                                (user, time)
                            )
            level = following
        return list(nodes)


def _pairs_of(
    rule: NodeRewriter, node: Apply, result: Any
) -> tuple[list[tuple[Variable, Variable]], Sequence[Apply]]:
    """The ``result`` of a rule, as pairs of an old and a new variable, and the nodes to remove."""
    if isinstance(result, Variable):
        result = [result]
    if is_dict(result):
        by_variable = dict(result)
        remove = by_variable.pop("remove", ())
        return list(by_variable.items()), remove
    if len(result) != len(node.outputs):
        raise ValueError(f"it gave {len(result)} replacements for {len(node.outputs)} outputs")
    return [(v, new) for v, new in zip(node.outputs, result, strict=True) if new is not None], ()


def _carry_source(fgraph: FunctionGraph, old: Variable, new: Variable) -> None:
    """Copy the mark of the user's source line from the variable ``old`` to the new nodes that replace it."""
    mark = old.mark
    nodes = fgraph.apply_nodes
    pending = [new]
    while pending:
        owner = pending.pop().owner
        if owner is not None and owner not in nodes and owner.mark != mark:
            owner.mark = mark
            pending.extend(owner.inputs)


def _same_expression(old: Variable, new: Variable) -> bool:
    """Whether the expressions of ``old`` and ``new`` are equal: the same ops, types, constants and inputs."""
    pending = [(old, new)]
    compared: set[tuple[Variable, Variable]] = set()
    while pending:
        a, b = pending.pop()
        if a is b or (a, b) in compared:
            continue
        compared.add((a, b))
        if a.type != b.type:
            return False
        first, second = a.owner, b.owner
        if first is None or second is None:
            if not isinstance(a, AtomicVariable) or not a.equals(b):
                return False
        elif first.op != second.op or a.index != b.index or len(first.inputs) != len(second.inputs):
            return False
        else:
            pending.extend(zip(first.inputs, second.inputs, strict=True))
    return True


def _replace_all(
    fgraph: FunctionGraph, pairs: Sequence[tuple[Variable, Variable]], rule: Any
) -> None:
    """Replace all variables or none, without validating the graph: it is validated at the end of the stage."""
    token = fgraph.checkpoint()
    try:
        fgraph.replace_all(pairs, reason=rule)
    except BaseException:
        fgraph.revert(token)
        raise
    fgraph.release(token)


def replace(
    rule: Any,
    fgraph: FunctionGraph,
    node: Apply,
    pairs: list[tuple[Variable, Variable]],
    record: RewriteRecord,
    remove: Sequence[Apply] = (),
) -> bool:
    """Replace old variables by new ones, all or none, and record the replacement. Returns whether the graph changed.

    If a new node equals a node of the graph, the node of the graph is used instead. ``rule`` is the rule, or the name
    of the rewriter, for the record.
    """
    if record.is_full:
        return False
    # a result without users needs no replacement
    pairs = [(old, new) for old, new in pairs if fgraph.clients.get(old)]
    merging: MergeFeature | None = getattr(fgraph, "merge_feature", None)
    if merging is not None:
        done: dict[Apply, Apply] = {}
        pairs = [(old, merging.intern(fgraph, new, done)) for old, new in pairs]
    else:
        pairs = [(old, new) for old, new in pairs if not _same_expression(old, new)]
    pairs = [(old, new) for old, new in pairs if old is not new]
    if not pairs:
        return False
    for old, new in pairs:
        _carry_source(fgraph, old, new)
    before = str(node)
    number = record.start(node)
    try:
        if remove:
            fgraph.replace_all_validate_remove(pairs, remove, reason=rule)
        elif not record.validates:
            _replace_all(fgraph, pairs, rule)
        else:
            fgraph.replace_all_validate(pairs, reason=rule)
    except InconsistencyError:
        # the replacement was reverted, so the rule must not be tried at this node again
        record.refused.add((rule, node))
        return False
    except Exception as error:
        report(error, str(rule), node)
        record.refused.add((rule, node))
        return False
    after = ", ".join(map(str, dict.fromkeys([new.owner or new for _, new in pairs])))
    law = None if isinstance(rule, str) else rule.__doc__
    record.add(number, str(rule), before, after, node, [new for _, new in pairs], law)
    if options.VERBOSE.get() and str(rule) not in options.VERBOSE_IGNORE.get().split(":"):
        print(f"rewriting: {record.stage}: {rule} replaces {before} with {after}")
    return True


def _apply(
    rule: NodeRewriter, fgraph: FunctionGraph, node: Apply, result: Any, record: RewriteRecord
) -> bool:
    """Replace variables as the ``result`` of a rule says. Returns whether the graph changed."""
    try:
        pairs, remove = _pairs_of(rule, node, result)
    except Exception as error:
        report(error, str(rule), node)
        return False
    return replace(rule, fgraph, node, pairs, record, remove)


def _try_rules(
    rules: Iterable[tuple[NodeRewriter, Callable[..., Any]]],
    fgraph: FunctionGraph,
    node: Apply,
    record: RewriteRecord,
) -> NodeRewriter | None:
    """Try rules at one node until one applies, and return that rule; None if none applies."""
    refused = record.refused
    for rule, called in rules:
        if refused and (rule, node) in refused:
            continue
        try:
            result = called(fgraph, node)
        except Exception as error:
            report(error, str(rule), node)
            continue
        if result is None or result is False:
            continue
        if _apply(rule, fgraph, node, result, record):
            return rule
    return None


def _try_timed(
    rules: Iterable[tuple[NodeRewriter, Callable[..., Any]]],
    fgraph: FunctionGraph,
    node: Apply,
    record: RewriteRecord,
    counts: dict[str, RuleCount],
) -> NodeRewriter | None:
    """Like `_try_rules`, but also count the calls, the hits and the seconds of each rule in ``counts``."""
    for each in rules:
        count = counts.setdefault(str(each[0]), RuleCount())
        start = perf_counter()
        done = _try_rules((each,), fgraph, node, record)
        count.seconds += perf_counter() - start
        count.calls += 1
        if done is not None:
            count.hits += 1
            return done
    return None


def _run(
    owner: Any,
    index: RuleIndex,
    order: Iterable[Apply],
    fgraph: FunctionGraph,
    record: RewriteRecord,
    from_end: bool = False,
    include_new: bool = True,
    until_stable: bool = False,
    rules_for_new: RuleIndex | None = None,
) -> int:
    work = Worklist([n for n in order if index.of(n).rules], from_end, include_new)
    if not work.pending:
        return 0
    later = index if rules_for_new is None else rules_for_new
    budget = Budget(len(fgraph.apply_nodes))
    counts = record.counts_of(record.stage)
    merging: MergeFeature | None = getattr(fgraph, "merge_feature", None)
    applied = 0
    fgraph.attach_feature(work)
    fgraph.attach_feature(budget)
    try:
        while True:
            node = work.pop()
            if node is None:
                again = work.next_round(fgraph) if until_stable else ()
                for each in again:
                    work.fresh.add(each)
                    if later.of(each).rules:
                        work.push(each)
                if not work.pending:
                    return applied
                continue
            if node not in fgraph.apply_nodes:
                continue
            budget.begin(node)
            rules = (later if node in work.fresh else index).of(node).at(node)
            rule = (
                _try_rules(rules, fgraph, node, record)
                if counts is None
                else _try_timed(rules, fgraph, node, record, counts)
            )
            if rule is not None:
                applied += 1
                spent = budget.spend(rule, fgraph)
                if merging is not None:
                    merging.settle(fgraph, record)
                if spent:
                    stop_at(record, budget.reached(record.stage or str(owner)))
                    return applied
                if node in fgraph.apply_nodes:
                    work.push(node)
    finally:
        record.refused.clear()
        fgraph.remove_feature(budget)
        fgraph.remove_feature(work)


def run(
    owner: Any,
    index: RuleIndex,
    order: Sequence[Apply],
    fgraph: FunctionGraph,
    record: RewriteRecord,
    from_end: bool = False,
    include_new: bool = True,
    until_stable: bool = False,
    rules_for_new: RuleIndex | None = None,
) -> int:
    """Try the rules of ``index`` at the nodes of ``order``, and at nodes that enter or change meanwhile.

    Returns the number of replacements. With ``until_stable``, the rules are tried again at users of changed nodes,
    until nothing changes. If ``rules_for_new`` is given, its rules are tried instead at nodes that enter or change, and
    at the users of these nodes. `NotConvergedError` if the rules do not terminate. ``owner`` is the rewriter, which the
    message names.

    If the graph has ops that overwrite inputs, each validation examines the whole graph. So such a graph is validated
    only once, at the end. If this validation fails, all replacements are reverted. Then the rules run again, with a
    validation after each replacement.
    """

    def once() -> int:
        return _run(
            owner, index, order, fgraph, record, from_end, include_new, until_stable, rules_for_new
        )

    handler: Any = getattr(fgraph, "destroy_handler", None)
    if handler is None or not handler().is_needed:
        return once()
    start = len(record.applications)
    token = fgraph.checkpoint()
    record.validates = False
    try:
        applied = once()
    except BaseException:
        fgraph.revert(token)
        record.forget(start)
        raise
    finally:
        record.validates = True
    try:
        fgraph.validate()
    except InconsistencyError:
        fgraph.revert(token)
        record.forget(start)
        return once()
    fgraph.release(token)
    return applied
