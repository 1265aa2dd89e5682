"""`MergeFeature`: common subexpression elimination in a function graph.

The stage ``merge1`` (`rewriter.MergeOptimizer`) attaches the feature to a graph and merges equal nodes. From then on,
`engine` merges every new node with an equal node of the graph, which the feature finds. The stage
``add_destroy_handler`` removes the feature, since nodes that overwrite inputs must not be merged.
"""

from __future__ import annotations

import itertools
from typing import Any

from occelo_graph import Apply, FunctionGraph, InconsistencyError, Variable
from occelo_graph.fgraph.features import AlreadyThere, Feature
from occelo_graph.ir.nodes import AtomicVariable, NominalVariable
from occelo_rewrite.records.record import RewriteRecord


def constant_key(variable: Variable) -> Any:
    """A key that is equal for constants with equal values; None for other variables."""
    if isinstance(variable, AtomicVariable) and not isinstance(variable, NominalVariable):
        try:
            key = variable.signature()
            hash(key)
        except (TypeError, NotImplementedError):
            return None
        return key
    return None


def _node_key(node: Apply) -> tuple[Any, ...] | None:
    """A key that is equal for nodes with equal ops and the same inputs; None for a node that must not be merged.

    The key begins with a hash of the inputs. It is a sum over inputs, so that a change of one input of a sum of
    thousands of terms changes the key in constant time.
    """
    op = node.op
    if not op.pure or op.destroy_map:
        return None
    # the position of an input counts unless the op is commutative
    positions = itertools.repeat(0) if op.commutative else itertools.count()
    inputs = sum(map(_hash_of_input, positions, node.inputs))
    if op.types_follow_values:
        # the op may have inferred its types from values of inputs that have changed since, so the
        # types are part of the key
        return (inputs, op, len(node.inputs), *[v.type for v in node.outputs])
    return (inputs, op, len(node.inputs))


def _hash_of_input(position: int, variable: Variable) -> int:
    """A hash of text: that of a tuple is nearly linear in addresses, and addresses at equal distances gave equal sums."""
    return hash(f"{position} {id(variable)}")


def _same_inputs(a: Apply, b: Apply) -> bool:
    """Whether two nodes with equal keys have the same inputs; if not, the hashes of their inputs are equal by chance."""
    first, second = [id(v) for v in a.inputs], [id(v) for v in b.inputs]
    return first == second or (a.op.commutative and sorted(first) == sorted(second))


class MergeFeature(Feature):
    """An index of the nodes of a graph by op and inputs, and of its constants by value.

    `intern` replaces nodes of a new expression by equal nodes of the graph. `settle` merges nodes that became equal
    because their inputs changed. Nodes that are not pure, or that overwrite an input, are never merged.
    """

    def __init__(self) -> None:
        self._nodes: dict[Any, Apply] = {}
        self._keys: dict[Apply, Any] = {}
        self._constants: dict[Any, Variable] = {}
        self._known: dict[Variable, Variable] = {}
        self._equal: dict[Apply, None] = {}
        self._interned: dict[Apply, tuple[Apply, Any]] = {}
        """Nodes outside of the graph, with the equal node of the graph and the key that this node had then."""

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if "merge_feature" in fgraph.__dict__:
            raise AlreadyThere("The graph merges equal nodes already")
        fgraph.__dict__["merge_feature"] = self
        for node in fgraph.apply_nodes:
            self.on_import(fgraph, node, "on_attach")

    def on_detach(self, fgraph: FunctionGraph) -> None:
        fgraph.__dict__.pop("merge_feature", None)

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        key = _node_key(node)
        if key is not None:
            self._add(node, key)

    def _add(self, node: Apply, key: Any) -> None:
        self._keys[node] = key
        if self._nodes.setdefault(key, node) is not node:
            self._equal[node] = None

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self._equal.pop(node, None)
        key = self._keys.pop(node, None)
        if key is not None and self._nodes.get(key) is node:
            del self._nodes[key]

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        i: int,
        var: Variable,
        new_var: Variable,
        reason: Any = None,
    ) -> None:
        key = self._keys.get(node)
        if key is not None:
            self.on_prune(fgraph, node, reason)
            position = 0 if node.op.commutative else i
            change = _hash_of_input(position, new_var) - _hash_of_input(position, var)
            types = [v.type for v in node.outputs] if len(key) > 3 else ()
            self._add(node, (key[0] + change, *key[1:3], *types))

    def constant(self, fgraph: FunctionGraph, variable: Variable) -> Variable:
        """The constant of the graph that equals ``variable``.

        If there is none, ``variable`` is added to the index and returned.
        """
        equal = self._known.get(variable)
        if equal is None:
            key = constant_key(variable)
            equal = variable if key is None else self._constants.setdefault(key, variable)
            self._known[variable] = equal
        return equal

    def merge_constants(self, fgraph: FunctionGraph) -> None:
        """Merge equal constants of the graph."""
        for variable in [v for v in fgraph.variables if isinstance(v, AtomicVariable)]:
            equal = self.constant(fgraph, variable)
            if equal is not variable and variable in fgraph.variables:
                if equal.name is None and variable.name is not None:
                    equal.name = variable.name
                fgraph.replace(variable, equal, reason="merge")

    def intern(
        self, fgraph: FunctionGraph, variable: Variable, done: dict[Apply, Apply]
    ) -> Variable:
        """A variable equal to ``variable``: each new node is replaced by an equal node of the graph, if there is one.

        ``done`` maps new nodes to the nodes that replace them.
        """
        owner = variable.owner
        if owner is None:
            return self.constant(fgraph, variable)
        if owner in fgraph.apply_nodes:
            return variable
        stack = [owner]
        while stack:
            node = stack[-1]
            if node in done:
                stack.pop()
                continue
            equal = self._interned.get(node)
            if equal is not None and self._keys.get(equal[0]) is equal[1]:
                # long expressions of lengths, which outlive a rule, come again and again
                done[stack.pop()] = equal[0]
                continue
            waiting = [
                v.owner
                for v in node.inputs
                if v.owner is not None and v.owner not in done and v.owner not in fgraph.apply_nodes
            ]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            interned = done[node] = self._intern_node(fgraph, node, done)
            key = self._keys.get(interned)
            if key is not None and interned is not node:
                self._interned[node] = interned, key
        return done[owner].outputs[variable.index or 0]

    def _intern_node(self, fgraph: FunctionGraph, node: Apply, done: dict[Apply, Apply]) -> Apply:
        inputs: list[Variable] = []
        changed = False
        for v in node.inputs:
            new = v
            if v.owner is None:
                if v not in fgraph.variables:
                    new = self.constant(fgraph, v)
            elif v.owner in done:
                new = done[v.owner].outputs[v.index or 0]
            changed = changed or new is not v
            inputs.append(new)
        if changed:
            node = node.clone_with_new_inputs(inputs)
        key = _node_key(node)
        equal = None if key is None else self._nodes.get(key)
        if equal is None or not _same_inputs(node, equal):
            return node
        if any(
            not a.type.is_super(b.type) for a, b in zip(node.outputs, equal.outputs, strict=True)
        ):
            return node
        return equal

    def settle(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        """Merge nodes that became equal to other nodes, and nodes that become equal by these merges."""
        while self._equal:
            node, _ = self._equal.popitem()
            if record.is_full:
                continue
            # the node that was first with this key may have changed or gone since
            equal = self._nodes.setdefault(self._keys[node], node)
            if equal is node:
                continue
            if _same_inputs(equal, node):
                self._merge(fgraph, equal, node, record)

    def _merge(
        self, fgraph: FunctionGraph, equal: Apply, node: Apply, record: RewriteRecord
    ) -> None:
        pairs = list(zip(node.outputs, equal.outputs, strict=True))
        for old, new in pairs:
            if not old.type.is_super(new.type):
                return
        before = str(node)
        number = record.start(node)
        try:
            if not record.validates:
                fgraph.replace_all(pairs, reason="merge")
            else:
                fgraph.replace_all_validate(pairs, reason="merge")
        except InconsistencyError:
            return
        for old, new in pairs:
            if new.name is None and old.name is not None:
                new.name = old.name
        record.add(number, "merge", before, "an equal node", node, [new for _, new in pairs])
