"""`FunctionGraph`: a graph that can be changed. It knows the clients of each variable, that is, the nodes that use it.

`occelo_compile.maker` copies the user's graph into a function graph. Rewriters change this graph, and linkers compile
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from occelo_graph.errors import InconsistencyError, MissingInputError, describe, explained, lines
from occelo_graph.fgraph.features import AlreadyThere, Feature, History, ReplaceValidate, Validator
from occelo_graph.fgraph.frozen import FrozenFunctionGraph, freeze
from occelo_graph.ir.clone import clone_get_equiv
from occelo_graph.ir.nodes import Apply, AtomicVariable, Variable
from occelo_graph.ir.op import Op, op
from occelo_graph.ir.pickling import NodeTable
from occelo_graph.ir.traversal import graph_inputs, toposort, toposort_with_orderings
from occelo_graph.notebook import Shown
from occelo_graph.upward import debugprint


@op
class Output(Op):
    """The op of a node without outputs that uses the ``index``-th output of a function graph.

    So every output has a client, like every other variable that is needed.
    """

    index: int

    def make_node(self, *inputs: Any) -> Apply:
        return Apply(self, inputs, [])


class Uses(dict[tuple[Apply, int], None]):
    """The uses of a variable: pairs of a node and a position, found at once, and by number, as in a list."""

    if TYPE_CHECKING:

        def __getitem__(self, key: Any, /) -> Any: ...

    def __missing__(self, key: Any) -> Any:
        uses: list[Any] = list(self)
        return uses[key]


class FunctionGraph(Shown):
    """A graph from ``inputs`` to ``outputs`` that can be changed.

    - ``inputs``: by default the roots that are not constants.
    - ``features``: features that are attached to the graph.
    - ``clone``: whether the nodes are copied, so that changes do not affect the user's graph. ``memo``,
      ``copy_inputs`` and ``copy_orphans`` are then the arguments of `clone_get_equiv`.
    - ``update_mapping``: maps the position of an output to the position of the input that it updates.

    ``clients`` maps each variable to its uses. A use is a pair of a node and the position of the variable among the
    inputs of this node.

    ValueError if ``outputs`` is None, or, without ``clone``, if a node computes one of the inputs. `MissingInputError`
    for a root that is not among the inputs.
    """

    def __init__(
        self,
        inputs: Sequence[Variable] | None = None,
        outputs: Sequence[Variable] | None = None,
        features: Sequence[Feature] | None = None,
        clone: bool = True,
        update_mapping: Mapping[int, int] | None = None,
        memo: dict[Any, Any] | None = None,
        copy_inputs: bool = True,
        copy_orphans: bool = False,
    ) -> None:
        if outputs is None:
            raise ValueError("A FunctionGraph needs a list of outputs")
        if inputs is None:
            inputs = [v for v in graph_inputs(outputs) if not isinstance(v, AtomicVariable)]
        if clone:
            memo = clone_get_equiv(inputs, outputs, copy_inputs, copy_orphans, memo)
            outputs = [memo[v] for v in outputs]
            inputs = [memo[v] for v in inputs]
        self.clients: dict[Variable, Uses] = {}
        self.variables: dict[Variable, None] = {}
        self.apply_nodes: dict[Apply, None] = {}
        self.inputs: list[Variable] = []
        self.outputs: list[Variable] = []
        self.update_mapping: dict[int, int] = dict(update_mapping or {})
        self.name: str | None = None
        self._input_set: set[Variable] = set()
        self._features: list[Feature] = []
        self._listeners: dict[str, list[Feature]] = {}
        self._bound: dict[str, list[Any]] = {}
        self._output_nodes: list[Apply] = []
        self.derived: dict[Any, Any] = {}
        """A cache for values that are computed from the graph. Each change of the graph empties it."""
        for variable in inputs:
            self.add_input(variable)
        for variable in outputs:
            self.add_output(variable, reason="init")
        for feature in features or ():
            self.attach_feature(feature)

    # structure

    def add_input(self, var: Variable, check: bool = True) -> None:
        """Add a root as the last input, unless it already is an input. ValueError if a node computes it."""
        if check and var in self._input_set:
            return
        if var.owner is not None:
            raise ValueError(f"An input cannot be computed by a node: {describe(var)}")
        self.inputs.append(var)
        self._input_set.add(var)
        self._add_variable(var)

    def add_output(self, var: Variable, reason: Any = None, import_missing: bool = False) -> None:
        """Add a variable as the last output, together with the nodes on which it depends."""
        self.import_var(var, reason, import_missing)
        node = Output(len(self.outputs)).make_node(var)
        self.outputs.append(var)
        self._output_nodes.append(node)
        self._add_client(var, (node, 0))

    def output_node(self, output_idx: int) -> Apply:
        """The node that uses the output at a position: a node of the op `Output`."""
        return self._output_nodes[output_idx]

    def remove_output(self, output_idx: int, reason: Any = None) -> None:
        """Remove the output at a position, and all nodes that are then not needed."""
        var = self.outputs.pop(output_idx)
        node = self._output_nodes.pop(output_idx)
        for position in range(output_idx, len(self.outputs)):
            self._output_nodes[position].op = Output(position)
        self.update_mapping = {
            out - (out > output_idx): inp
            for out, inp in self.update_mapping.items()
            if out != output_idx
        }
        self.remove_client(var, (node, 0), reason)

    def remove_input(self, input_idx: int, reason: Any = None) -> None:
        """Remove the input at a position. `InconsistencyError` if it has clients."""
        var = self.inputs[input_idx]
        if self.clients.get(var):
            raise InconsistencyError(f"The input {var} is in use")
        self.inputs.pop(input_idx)
        self._input_set.discard(var)
        self.variables.pop(var, None)
        self.clients.pop(var, None)
        self.update_mapping = {
            out: inp - (inp > input_idx)
            for out, inp in self.update_mapping.items()
            if inp != input_idx
        }

    def get_clients(self, var: Variable) -> list[tuple[Apply, int]]:
        """The uses of a variable: pairs of a node and the position of the variable among its inputs."""
        return list(self.clients.get(var, ()))

    def remove_node(self, node: Apply, reason: Any = None) -> None:
        """Remove a node, all nodes and outputs that depend on it, and all nodes that are then not needed."""
        pending, removed = [node], {node}
        while pending:
            for out in pending.pop().outputs:
                for user, _ in self.clients.get(out, ()):
                    if user not in removed and not isinstance(user.op, Output):
                        removed.add(user)
                        pending.append(user)
        for position in reversed(range(len(self.outputs))):
            if self.outputs[position].owner in removed:
                self.remove_output(position, reason)
        self._prune(
            [each for each in removed if not any(map(self.clients.get, each.outputs))], reason
        )

    def _add_variable(self, var: Variable) -> None:
        self.variables.setdefault(var)
        self.clients.setdefault(var, Uses())

    def _add_client(self, var: Variable, client: tuple[Apply, int]) -> None:
        (self.clients.get(var) or self.clients.setdefault(var, Uses()))[client] = None

    def remove_client(
        self,
        var: Variable,
        client: tuple[Apply, int],
        reason: Any = None,
        remove_if_empty: bool = True,
    ) -> None:
        """Remove a client of a variable, a pair of node and position, and all nodes that are then not needed."""
        uses = self.clients[var]
        del uses[client]
        if not uses and remove_if_empty and (owner := self._released(var)) is not None:
            self._prune([owner], reason)

    def _released(self, var: Variable) -> Apply | None:
        """After the last use of a variable: its node if nothing uses the node's outputs. A root leaves the graph."""
        owner = var.owner
        if owner is None:
            if var not in self._input_set:
                del self.clients[var]
                self.variables.pop(var, None)
        elif len(owner.outputs) == 1 or not any(map(self.clients.get, owner.outputs)):
            return owner
        return None

    def _prune(self, nodes: list[Apply], reason: Any) -> None:
        pending = list(nodes)
        while pending:
            node = pending.pop()
            if node not in self.apply_nodes:
                continue
            del self.apply_nodes[node]
            self.derived.clear()
            for out in node.outputs:
                self.variables.pop(out, None)
                self.clients.pop(out, None)
            tag = node.tag
            tag.removed_by = [*getattr(tag, "removed_by", ()), str(reason)]
            for hook in self._hooks("on_prune"):
                hook(self, node, reason)
            for position, var in enumerate(node.inputs):
                uses = self.clients[var]
                del uses[node, position]
                if not uses and (owner := self._released(var)) is not None:
                    pending.append(owner)

    def import_var(self, var: Variable, reason: Any = None, import_missing: bool = False) -> None:
        """Add a variable to the graph, together with the nodes on which it depends.

        With ``import_missing``, roots that are neither inputs nor constants become inputs. Without it, they raise
        `MissingInputError`.
        """
        if var in self.variables:
            return
        if var.owner is not None:
            self.import_node(var.owner, reason=reason, import_missing=import_missing)
        elif isinstance(var, AtomicVariable):
            self._add_variable(var)
        elif import_missing:
            self.add_input(var)
        else:
            raise self._missing(var, None)

    def _missing(self, var: Variable, node: Apply | None) -> MissingInputError:
        context = [] if node is None else [f"{node} needs it, and the graph has the inputs:"]
        context += [f"  {describe(v)}" for v in self.inputs]
        text = lines(context, f"The variable {describe(var)} is needed but is not an input")
        return explained(MissingInputError(text), "MissingInputError")

    def _nodes_to_import(self, apply_node: Apply) -> list[Apply]:
        """A node and all nodes on which it depends that are not yet in the graph, in topological order."""
        here = self.apply_nodes
        order: dict[Apply, None] = {}
        stack = [apply_node]
        open_: set[Apply] = set()
        while stack:
            node = stack[-1]
            if node in order or node in here:
                stack.pop()
                continue
            waiting = [
                v.owner
                for v in node.inputs
                if v.owner is not None and v.owner not in order and v.owner not in here
            ]
            if not waiting:
                stack.pop()
                order[node] = None
            elif node in open_:
                raise ValueError(f"The graph has a cycle through {node}")
            else:
                open_.add(node)
                stack.extend(reversed(waiting))
        return list(order)

    def import_node(
        self,
        apply_node: Apply,
        check: bool = True,
        reason: Any = None,
        import_missing: bool = False,
    ) -> None:
        """Add a node to the graph, together with the nodes on which it depends. After an error nothing has changed."""
        present = self.variables
        new = self._nodes_to_import(apply_node)
        for node in () if import_missing else new:
            for var in node.inputs:
                if var.owner is None and var not in present and not isinstance(var, AtomicVariable):
                    raise self._missing(var, node)
        name = None if reason is None or reason == "init" else str(reason)
        for node in new:
            self.apply_nodes[node] = None
            for out in node.outputs:
                self._add_variable(out)
            for position, var in enumerate(node.inputs):
                if var not in present:
                    if isinstance(var, AtomicVariable):
                        self._add_variable(var)
                    else:
                        self.add_input(var)
                self._add_client(var, (node, position))
            if name is not None:
                tag = node.tag
                tag.imported_by = [*getattr(tag, "imported_by", ()), name]
            for hook in self._hooks("on_import"):
                hook(self, node, reason)

    # changes

    def change_node_input(
        self,
        node: Apply,
        i: int,
        new_var: Variable,
        reason: Any = None,
        import_missing: bool = False,
        check: bool = True,
    ) -> None:
        """Make ``new_var`` the ``i``-th input of a node. The node may also be the client of an output (`Output`).

        With ``check``, TypeError if ``new_var`` may have values that the type of the old input does not contain.
        """
        old = node.inputs[i]
        if check and not old.type.is_super(new_var.type):
            raise TypeError(
                f"The type {new_var.type} of the replacement {new_var} does not fit "
                f"the type {old.type} of {old}"
            )
        if old is new_var:
            return
        if new_var not in self.variables:
            self.import_var(new_var, reason=reason, import_missing=import_missing)
        self.derived.clear()
        node.inputs[i] = new_var
        if isinstance(node.op, Output):
            self.outputs[node.op.index] = new_var
        self._add_client(new_var, (node, i))
        for hook in self._hooks("on_change_input"):
            hook(self, node, i, old, new_var, reason=reason)
        self.remove_client(old, (node, i), reason=reason)

    def replace(
        self,
        var: Variable,
        new_var: Variable,
        reason: Any = None,
        verbose: bool | None = None,
        import_missing: bool = False,
    ) -> None:
        """Replace ``var`` by ``new_var`` in all its clients. Nothing happens if ``var`` is not in the graph.

        ``reason``, which is usually the name of a rewrite, is stored in `Apply.tag` of nodes that enter or leave the
        graph.
        """
        if var not in self.variables:
            return
        if verbose:
            print(f"rewriting: rewrite {reason} replaces {var} with {new_var}")
        new_var = var.type.filter_variable(new_var)
        if new_var is var:
            return
        self.import_var(new_var, reason=reason, import_missing=import_missing)
        for node, i in list(self.clients[var]):
            if node is not new_var.owner or isinstance(node.op, Output):
                self.change_node_input(node, i, new_var, reason, import_missing, check=False)
        if var in self.clients and not self.clients[var] and var.owner is not None:
            owner = var.owner
            # from the last, since those before it are usually replaced first: a scan may have hundreds of outputs
            used = any(self.clients.get(o) for o in reversed(owner.outputs))
            if owner in self.apply_nodes and not used:
                self._prune([owner], reason)

    def replace_all(self, pairs: Iterable[tuple[Variable, Variable]], **options: Any) -> None:
        """Call `replace` for each pair, one after the other."""
        for var, new_var in pairs:
            self.replace(var, new_var, **options)

    # features

    def attach_feature(self, feature: Feature) -> None:
        """Attach a feature. Nothing happens if its ``on_attach`` raises `AlreadyThere`."""
        if feature in self._features:
            return
        if any(name in self.__dict__ for name in feature.provides):
            return
        try:
            feature.on_attach(self)
        except AlreadyThere:
            return
        for name in feature.provides:
            self.__dict__[name] = partial(getattr(feature, name), self)
        self._features.append(feature)
        self._listeners.clear()
        self._bound.clear()

    @property
    def features(self) -> list[Feature]:
        """The attached features, in the order in which they were attached."""
        return list(self._features)

    def remove_feature(self, feature: Feature) -> None:
        """Detach a feature. Nothing happens if it is not attached."""
        if feature not in self._features:
            return
        self._features.remove(feature)
        self._listeners.clear()
        self._bound.clear()
        for name in feature.provides:
            self.__dict__.pop(name, None)
        feature.on_detach(self)

    def _interested(self, hook: str) -> list[Feature]:
        features = self._listeners.get(hook)
        if features is None:
            default = getattr(Feature, hook, None)
            features = [f for f in self._features if getattr(type(f), hook, None) is not default]
            self._listeners[hook] = features
        return features

    def execute_callbacks(self, name: str, *args: Any, **options: Any) -> None:
        """Call the hook ``name``, such as "on_import", of every feature that overrides it."""
        for hook in self._hooks(name):
            hook(self, *args, **options)

    def _hooks(self, name: str) -> list[Any]:
        hooks = self._bound.get(name)
        if hooks is None:
            hooks = self._bound[name] = [getattr(f, name) for f in self._interested(name)]
        return hooks

    def collect_callbacks(self, name: str, *args: Any) -> dict[Feature, Any]:
        """Call the hook ``name`` of every feature that overrides it, and return the results by feature."""
        return {f: getattr(f, name)(self, *args) for f in self._interested(name)}

    def __getattr__(self, name: str) -> Any:
        if name in (*ReplaceValidate.provides, *History.provides, *Validator.provides):
            # nothing is recorded before the first checkpoint
            self.attach_feature(ReplaceValidate())
            return self.__dict__[name]
        raise AttributeError(f"This FunctionGraph has no {name!r}; a feature may provide it")

    # order and checks

    def orderings(self) -> dict[Apply, list[Apply]]:
        """The constraints of all features on the order of nodes: maps a node to nodes that must run before it."""
        merged: dict[Apply, list[Apply]] = {}
        for constraints in self.collect_callbacks("orderings").values():
            for node, before in constraints.items():
                merged.setdefault(node, []).extend(before)
        return merged

    def toposort(self) -> list[Apply]:
        """The nodes in a topological order that satisfies `orderings`. Equal graphs have the same order.

        `InconsistencyError` if there is no such order.
        """
        orderings = self.orderings()
        if orderings:
            try:
                return toposort_with_orderings(self.outputs, orderings=orderings)
            except ValueError as error:
                raise InconsistencyError(str(error)) from None
        order = toposort(self.outputs)
        if len(order) != len(self.apply_nodes):
            # adds the nodes on which no output depends; a feature or an unfinished change keeps them in the graph
            seen = set(order)
            order += [
                n
                for n in toposort([o for a in self.apply_nodes for o in a.outputs])
                if n not in seen
            ]
        return order

    def check_integrity(self) -> None:
        """AssertionError if the recorded variables, nodes or clients are not those of the graph."""
        reached = set(toposort(self.outputs))
        missing = reached - self.apply_nodes.keys()
        assert not missing, f"nodes in use that are not recorded: {missing}"
        for node in self.apply_nodes:
            for i, var in enumerate(node.inputs):
                assert var in self.variables, f"{var} is used by {node} but is not recorded"
                assert (node, i) in self.clients[var], f"{var} does not know its use by {node}"
        for index, (var, node) in enumerate(zip(self.outputs, self._output_nodes, strict=True)):
            assert node.op == Output(index), f"output {index} is recorded as {node.op}"
            assert (node, 0) in self.clients[var], f"{var} does not know that it is an output"
        for var, uses in self.clients.items():
            for node, i in uses:
                assert node.inputs[i] is var, f"{node} no longer uses {var} as input {i}"
            if var.owner is None:
                is_root = var in self._input_set or isinstance(var, AtomicVariable)
                assert is_root, f"the root {var} is not an input"
            else:
                assert var.owner in self.apply_nodes, f"the owner of {var} is not recorded"

    # copies

    def clone(self, check_integrity: bool = True, attach_feature: bool = True) -> FunctionGraph:
        """A copy of the graph, with copies of its features."""
        return self.clone_get_equiv(check_integrity, attach_feature)[0]

    def clone_get_equiv(
        self, check_integrity: bool = True, attach_feature: bool = True, inputs: Any = None
    ) -> tuple[FunctionGraph, dict[Any, Any]]:
        """A copy of the graph, and a mapping from old nodes and variables to new ones."""
        if check_integrity:
            self.check_integrity()
        memo: dict[Any, Any] = {}
        clone_get_equiv(self.inputs, self.outputs, True, False, memo)
        copy = FunctionGraph(
            [memo[v] for v in self.inputs],
            [memo[v] for v in self.outputs],
            clone=False,
            update_mapping=self.update_mapping,
        )
        copy.name = self.name
        if attach_feature:
            for feature in self._features:
                copy.attach_feature(feature.clone())
        return copy, memo

    def freeze(self) -> FrozenFunctionGraph:
        """The frozen graph with the inputs, nodes and outputs of this graph."""
        return freeze(self.inputs, self.outputs)

    def __reduce__(self) -> tuple[Any, ...]:
        # features are copied without their state, as in `clone`
        features = [feature.clone() for feature in self._features]
        table = NodeTable.of(self.outputs)  # so the outputs need no tables of their own
        parts = (table, self.inputs, self.outputs, self.update_mapping, self.name, features)
        return _rebuild, parts

    def __contains__(self, item: Any) -> bool:
        if isinstance(item, Variable):
            return item in self.variables
        return item in self.apply_nodes

    def dprint(self, **options: Any) -> Any:
        """Print the graph. See `debugprint`."""
        return debugprint(self, **options)

    def __str__(self) -> str:
        inputs = ", ".join(str(v) for v in self.inputs)
        return f"FunctionGraph({inputs} -> {', '.join(str(v) for v in self.outputs)})"

    def __repr__(self) -> str:
        return str(self)


def _rebuild(
    table: NodeTable,
    inputs: list[Variable],
    outputs: list[Variable],
    updates: dict[int, int],
    name: str | None,
    features: Sequence[Feature] = (),
) -> FunctionGraph:
    graph = FunctionGraph(inputs, outputs, features, clone=False, update_mapping=updates)
    graph.name = name
    return graph
