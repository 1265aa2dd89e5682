"""`graph_to_rewrite` makes the function graph that `maker` rewrites. A function from the cache needs none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from occelo_compile.specialization import copy_specialized
from occelo_graph import Apply, FunctionGraph, ReplaceValidate, Variable
from occelo_graph.fgraph.frozen import FrozenFunctionGraph
from occelo_rewrite.features.observers import PreserveVariableAttributes
from occelo_rewrite.features.protection import DestroyHandler, InputsAt, Supervisor

if TYPE_CHECKING:
    from occelo_compile.maker import FunctionMaker


def graph_to_rewrite(maker: FunctionMaker) -> FunctionGraph:
    """Return the graph to rewrite. It has outputs for updates, and features that protect inputs."""
    updated = [(i, each.update) for i, each in enumerate(maker.inputs) if each.update is not None]
    count = len(maker.outputs)
    mapping = {count + k: i for k, (i, _) in enumerate(updated)}
    if maker.given_fgraph is None:
        variables = [each.variable for each in maker.inputs]
        outputs = [*maker.opened_outputs(), *(update for _, update in updated)]
        memo: dict[Any, Any] = {v: _fresh_root(v) for v in variables}
        copy_specialized(outputs, memo)
        fgraph = FunctionGraph(
            [memo[v] for v in variables],
            [memo[v] for v in outputs],
            clone=False,
            update_mapping=mapping,
        )
    else:
        fgraph = maker.given_fgraph
        if not fgraph.update_mapping and mapping:
            for _, update in updated:
                assert update is not None
                fgraph.add_output(update, reason="update")
            fgraph.update_mapping = mapping
    _check_inplace(fgraph, maker.accept_inplace)
    move_observers_to_outputs(fgraph)
    protected = [i for i, each in enumerate(maker.inputs) if not each.mutable]
    fgraph.attach_feature(ReplaceValidate())
    positions = [i for i, each in enumerate(maker.inputs) if each.update is not None]
    fgraph.attach_feature(
        Supervisor(
            InputsAt(protected),
            # updated inputs: a call that fails must leave their values unchanged
            InputsAt(positions),
        )
    )
    fgraph.attach_feature(PreserveVariableAttributes())
    if maker.accept_inplace:
        fgraph.attach_feature(DestroyHandler())
        fgraph.validate()
    return fgraph


def _check_inplace(fgraph: FunctionGraph, accept_inplace: bool) -> None:
    for node in fgraph.apply_nodes:
        if node.op.destroy_map and not accept_inplace:
            source = f", made at {node.source}" if node.source is not None else ""
            raise TypeError(
                f"The graph has the in-place op {node.op}{source}; pass accept_inplace=True to allow it"
            )
    _refuse_inner_inplace(node for node in fgraph.apply_nodes if node.op.loops)


def move_observers_to_outputs(fgraph: FunctionGraph) -> None:
    """Make each observer, such as `Print`, a hidden output. Nodes that used its result use its input instead.

    Otherwise rules would not match expressions that contain an observer. In graphs with lazy branches observers stay in
    place.
    """
    nodes = [node for node in fgraph.toposort() if node.op.observes]
    if not nodes or any(node.op.lazy for node in fgraph.apply_nodes):
        return
    for node in nodes:
        pairs = [(node.outputs[k], node.inputs[i]) for k, (i,) in node.op.view_map.items()]
        fgraph.add_output(node.outputs[0], reason="observer")
        shown = fgraph.output_node(len(fgraph.outputs) - 1)
        for seen, plain in pairs:
            for user, position in list(fgraph.clients[seen]):
                if user is not shown:
                    fgraph.change_node_input(user, position, plain, reason="observer", check=False)


def _fresh_root(variable: Variable) -> Variable:
    """Return a new root of the same type and name, for the compiled graph."""
    root: Variable = variable.type.make_variable(variable.name)
    root.set_mark(variable.mark)
    root.tag.__dict__.update(vars(variable.tag))
    return root


def _refuse_inner_inplace(nodes: Iterable[Apply]) -> None:
    """Raise TypeError if an inner graph of a loop, at any depth, has an in-place op.

    The op could overwrite values that later iterations need. Equal inner graphs are searched once.
    """
    pending, seen = list(nodes), set[FrozenFunctionGraph]()
    while pending:
        node = pending.pop()
        body = node.op.loop(node).body
        if body in seen:
            continue
        seen.add(body)
        for inner in body.nodes:
            if inner.op.destroy_map:
                source = f", made at {node.source}" if node.source is not None else ""
                raise TypeError(
                    f"The inner graph of {node.op}{source} has the in-place op {inner.op}; use the op that gives a new result"
                )
            if inner.op.loops:
                pending.append(inner)
