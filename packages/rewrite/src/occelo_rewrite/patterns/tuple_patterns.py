"""`PatternNodeRewriter`: rules with patterns in the form of nested tuples, as in Theano and its successors.

The class is for users who bring rules from those libraries. The standard rules do not use this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occelo_graph import Apply, FunctionGraph, Op
from occelo_rewrite.patterns.node_rule import NodeRewriter
from occelo_rewrite.patterns.pattern import Bindings, Call, match
from occelo_rewrite.patterns.unifying import Conversion, convert_strs_to_vars, reify_pattern


class PatternNodeRewriter(NodeRewriter):
    """A rule that replaces matches of ``in_pattern`` by ``out_pattern``, for instance ``(exp, (log, "x"))`` by ``"x"``.

    In ``in_pattern`` a tuple is an op (or an `OpPattern`, or a class of ops) with its arguments. A string matches every
    variable; if it occurs twice, it must match the same variable twice. A number or a constant matches an equal
    constant. A dict has a ``"pattern"`` and a ``"constraint"``, a function that accepts or rejects the matched
    variable. ``out_pattern`` has the same form. It may also be a function of the graph, the node, and a dict from
    strings to the variables that they matched. Nodes matched below the root must have no other users, unless
    ``allow_multiple_clients`` is True. TypeError if ``in_pattern`` is no tuple.
    """

    def __init__(
        self,
        in_pattern: tuple[Any, ...],
        out_pattern: Any,
        allow_multiple_clients: bool = False,
        name: str | None = None,
        tracks: Sequence[Any] = (),
    ) -> None:
        self.in_pattern = in_pattern
        self.out_pattern = out_pattern
        self.allow_multiple_clients = allow_multiple_clients
        conversion = Conversion()
        root = conversion.pattern(in_pattern)
        if not isinstance(root, Call):
            raise TypeError(f"A pattern is a tuple of an op and arguments, got {in_pattern!r}")
        self._root = root
        self._variables = conversion.variables
        self._inner = [label for label in conversion.inner if label != root.name]
        self._constraints = conversion.constraints
        shown = name or f"{in_pattern} -> {out_pattern}"
        super().__init__(self._apply, list(tracks) or [root.op], shown)
        self.__doc__ = f"{in_pattern} = {out_pattern}."

    def _apply(self, fgraph: FunctionGraph, node: Apply) -> Any:
        for bound in match(self._root, node):
            if "*rest" in bound or not self._accepts(fgraph, bound):
                continue
            result = self._result(fgraph, node, bound)
            if result is not None and node.outputs[0].type.is_super(result.type):
                return [result]
        return None

    def _accepts(self, fgraph: FunctionGraph, bound: Bindings) -> bool:
        for label, constraint in self._constraints:
            if not constraint(bound[label].outputs[0]):
                return False
        if self.allow_multiple_clients:
            return True
        return all(len(fgraph.clients[bound[label].outputs[0]]) == 1 for label in self._inner)

    def _result(self, fgraph: FunctionGraph, node: Apply, bound: Bindings) -> Any:
        matched = {k: v for k, v in bound.items() if not k.startswith("*")}
        if callable(self.out_pattern) and not isinstance(self.out_pattern, Op):
            return self.out_pattern(fgraph, node, matched)
        built = convert_strs_to_vars(self.out_pattern, dict(self._variables))
        return reify_pattern(built, {v: matched[k] for k, v in self._variables.items()})


class SubstitutionNodeRewriter(NodeRewriter):
    """A rule that replaces every node of the op ``op1`` by a node of ``op2`` with the same inputs. TypeError if an op is missing."""

    def __init__(self, op1: Op, op2: Op, name: str | None = None) -> None:
        self.op1, self.op2 = op1, op2
        super().__init__(self._apply, [op1], name or f"{op1} -> {op2}")
        self.__doc__ = f"{op1}(...) = {op2}(...)."

    def _apply(self, fgraph: FunctionGraph, node: Apply) -> Any:
        new = self.op2.make_node(*node.inputs)
        if all(a.type.is_super(b.type) for a, b in zip(node.outputs, new.outputs, strict=True)):
            return list(new.outputs)
        return None
