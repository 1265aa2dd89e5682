"""`FrozenFunctionGraph`: the class of inner graphs of ops. A frozen graph never changes, and equal ones are one object.

The inner graphs of `OpFromGraph` and `Composite`, and the bodies of loops (`ir.regions.Loop`), are frozen graphs.
Fusion (`occelo_rewrite.fusion`) freezes the graphs of the nodes that it fuses.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph.canonical.document import Numbering, canonical_bytes, digest_of_bytes
from occelo_graph.canonical.encoding import (
    Arrays,
    GraphTable,
    HashedGraphs,
    NoCanonicalForm,
    decode,
    decode_value,
    encode,
    encode_value,
    position_in,
    register_coder,
)
from occelo_graph.canonical.names import saved_name
from occelo_graph.errors import SavedGraphError
from occelo_graph.ir.clone import clone_replace
from occelo_graph.ir.nodes import Apply, Constant, NominalVariable, Variable
from occelo_graph.ir.traversal import toposort

if TYPE_CHECKING:
    from occelo_graph.fgraph.graph import FunctionGraph
    from occelo_graph.ir.op import Op


class FrozenFunctionGraph:
    """A graph that never changes. Equal graphs are one object, so they are compared by identity.

    Its inputs are objects of `NominalVariable`, which have only a position and a type. `freeze` and
    `FunctionGraph.freeze` make frozen graphs. TypeError if a part is missing.
    """

    __slots__ = (
        "__weakref__",
        "_digest",
        "_form",
        "depth",
        "inner",
        "inputs",
        "nodes",
        "outputs",
        "pure",
    )

    def __init__(
        self,
        inputs: tuple[Variable, ...],
        outputs: tuple[Variable, ...],
        form: bytes | NoCanonicalForm,
    ) -> None:
        self.inputs = inputs
        self.outputs = outputs
        self.nodes: tuple[Apply, ...] = tuple(toposort(outputs))
        self._form = form
        self._digest = ""
        ops = dict.fromkeys([node.op for node in self.nodes])
        self.inner = tuple(dict.fromkeys([graph for op in ops for graph in inner_graphs(op)]))
        """The inner graphs of the ops."""
        self.depth: int = 1 + max((graph.depth for graph in self.inner), default=0)
        """How many graphs stand inside of one another, this one included."""
        self.pure: bool = all(node.op.pure for node in self.nodes)
        """Whether all nodes are pure. They are examined now, so that inner graphs were examined before outer ones."""

    @property
    def canonical(self) -> bytes:
        """The canonical form of the graph. TypeError if the graph has an op that is equal only to itself."""
        if isinstance(self._form, NoCanonicalForm):
            raise self._form
        return self._form

    @property
    def digest(self) -> str:
        """The hash of the canonical form. TypeError if the graph has no canonical form."""
        if not self._digest:
            self._digest = digest_of_bytes(self.canonical)
        return self._digest

    def toposort(self) -> list[Apply]:
        """The nodes in topological order."""
        return list(self.nodes)

    def bind(self, values: Sequence[Variable]) -> list[Variable]:
        """A copy of the graph with ``values`` in place of its inputs. Returns the outputs of the copy."""
        pairs = list(zip(self.inputs, values, strict=True))
        bound: list[Variable] = clone_replace(list(self.outputs), pairs)
        return bound

    def unfreeze(self) -> FunctionGraph:
        """A `FunctionGraph` with a copy of this graph and new inputs."""
        from occelo_graph.fgraph.graph import FunctionGraph

        inputs = [v.type.make_variable() for v in self.inputs]
        return FunctionGraph(inputs, self.bind(inputs), clone=False)

    def nested(self) -> list[FrozenFunctionGraph]:
        """All graphs inside of this one, each once, and inner graphs before those that contain them."""
        graphs: dict[FrozenFunctionGraph, None] = {}
        pending = list(self.inner)
        while pending:
            graph = pending.pop()
            if graph not in graphs:
                graphs[graph] = None
                pending += graph.inner
        return sorted(graphs, key=lambda graph: graph.depth)

    def __reduce__(self) -> tuple[Any, ...]:
        # some inner graphs come first, so that picklers do not recurse over the depth of nesting
        few = self.depth <= _RECURSION
        first = [] if few else [g for g in self.nested() if g.depth % _RECURSION == 0]
        return _freeze_after, (first, self.inputs, self.outputs)

    def __str__(self) -> str:
        return f"FrozenFunctionGraph({len(self.inputs)} inputs, {len(self.nodes)} nodes)"

    __repr__ = __str__


_RECURSION = 12
"""So many levels of nested graphs a pickler goes down at once."""
_interned: weakref.WeakValueDictionary[Any, FrozenFunctionGraph] = weakref.WeakValueDictionary()
"""The frozen graphs by their canonical forms, ops and types.

The ops and types are part of the key, since canonical forms do not distinguish two definitions of the same name: a
canonical form contains only names of classes and of elementwise functions. If a cell of a notebook ran again, for
example, there are two definitions of the same name. Their ops and types are not equal.
"""


def inner_graphs(op: Op) -> list[FrozenFunctionGraph]:
    """The inner graphs among the parameters of an op; an empty list for most ops."""
    return [v for v in (op.props() or {}).values() if isinstance(v, FrozenFunctionGraph)]


def freeze(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> FrozenFunctionGraph:
    """The frozen graph from ``inputs`` to ``outputs``. For equal graphs it is the same object.

    Some ops are equal only to themselves, such as the ops that `as_op` makes. A graph with such an op equals no other
    graph.
    """
    nominal = [NominalVariable(i, v.type) for i, v in enumerate(inputs)]
    same = all(a is b for a, b in zip(inputs, nominal, strict=True))
    bound = (
        list(outputs)
        if same
        else clone_replace(list(outputs), list(zip(inputs, nominal, strict=True)))
    )
    numbering = Numbering(nominal, bound)
    try:
        form = canonical_bytes(nominal, bound, numbering)
    except NoCanonicalForm as error:
        return FrozenFunctionGraph(tuple(nominal), tuple(bound), error)
    ops = tuple([node.op for node in numbering.nodes])
    types = tuple([v.type for v in numbering.variables if not v.type.is_array])
    key = form, ops, types
    frozen = _interned.get(key)
    if frozen is None:
        frozen = _interned[key] = FrozenFunctionGraph(tuple(nominal), tuple(bound), form)
    return frozen


def _freeze_after(
    first: list[FrozenFunctionGraph], inputs: Sequence[Variable], outputs: Sequence[Variable]
) -> FrozenFunctionGraph:
    return freeze(inputs, outputs)


def _encode_frozen(graph: FrozenFunctionGraph, arrays: Arrays) -> Any:
    if isinstance(arrays, HashedGraphs):
        return graph.digest
    if not isinstance(arrays, GraphTable):
        return _row(graph, arrays)
    if graph not in arrays.positions:
        name = saved_name(FrozenFunctionGraph)
        for each in (*graph.nested(), graph):
            if each not in arrays.positions:
                arrays.rows.append({"coded": name, "data": _row(each, arrays)})
                arrays.positions[each] = len(arrays.rows) - 1
    return arrays.positions[graph]


def _row(graph: FrozenFunctionGraph, arrays: Arrays) -> dict[str, Any]:
    numbers: dict[Variable, int] = {v: i for i, v in enumerate(graph.inputs)}
    constants: list[Any] = []
    nodes: list[Any] = []
    for node in graph.nodes:
        for variable in node.inputs:
            if variable not in numbers:
                numbers[variable] = len(numbers)
                constants.append(
                    [
                        numbers[variable],
                        encode(variable.type, arrays),
                        _encode_data(variable, arrays),
                    ]
                )
        for variable in node.outputs:
            numbers[variable] = len(numbers)
        nodes.append(
            [
                encode(node.op, arrays),
                [numbers[v] for v in node.inputs],
                [numbers[v] for v in node.outputs],
            ]
        )
    for variable in graph.outputs:
        if variable not in numbers:
            numbers[variable] = len(numbers)
            constants.append(
                [numbers[variable], encode(variable.type, arrays), _encode_data(variable, arrays)]
            )
    return {
        "inputs": [encode(v.type, arrays) for v in graph.inputs],
        "constants": constants,
        "nodes": nodes,
        "outputs": [numbers[v] for v in graph.outputs],
    }


def _encode_data(variable: Variable, arrays: Arrays) -> Any:
    if not isinstance(variable, Constant):
        raise TypeError(f"An inner graph may not use the outer variable {variable}")
    return encode_value(variable.type, variable.data, arrays)


def _decode_frozen(plain: Any, arrays: Arrays) -> FrozenFunctionGraph:
    if isinstance(arrays, GraphTable) and isinstance(plain, int):
        graph = arrays.graphs[position_in(plain, arrays.graphs)]
        if not isinstance(graph, FrozenFunctionGraph):
            raise SavedGraphError(f"The row {plain} of the table of graphs is none")
        return graph
    variables: dict[int, Variable] = {}
    inputs = [NominalVariable(i, decode(t, arrays)) for i, t in enumerate(plain["inputs"])]
    variables.update(enumerate(inputs))
    for number, type_, data in plain["constants"]:
        kind = decode(type_, arrays)
        variables[number] = kind.make_constant(decode_value(kind, data, arrays))
    for op_, ins, outs in plain["nodes"]:
        node = decode(op_, arrays).make_node(*(variables[i] for i in ins))
        variables.update(zip(outs, node.outputs, strict=True))
    return freeze(inputs, [variables[i] for i in plain["outputs"]])


register_coder(FrozenFunctionGraph, _encode_frozen, _decode_frozen)
