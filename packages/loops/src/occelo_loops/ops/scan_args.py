"""`ScanArgs`: takes a node of `Scan` apart into lists of variables, and makes a new node from changed lists.

It is for other libraries that rewrite loops. They call `ScanArgs.of` for a node, change the lists, and call
`ScanArgs.node`. No other module of Occelo uses it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from occelo_graph.errors import MissingInputError, describe
from occelo_graph.fgraph.frozen import freeze
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.traversal import ancestors
from occelo_loops.ops.scan_op import Scan

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass
class ScanArgs:
    """The inputs and outputs of a node of `Scan`, and the inputs and outputs of its body.

    Lists with ``outer`` in their names have variables of the graph that contains the node. Lists with ``inner`` have
    variables of a copy of the body. Corresponding lists, such as ``outer_carried``, ``inner_carried`` and
    ``inner_following``, have the same order and length.
    """

    steps: Variable
    """The number of steps, an int64 scalar."""
    outer_carried: list[Variable]
    """The initial carried values."""
    inner_carried: list[Variable]
    """The carried values before a step."""
    inner_following: list[Variable]
    """The carried values after a step."""
    outer_sequences: list[Variable]
    inner_elements: list[Variable]
    """The elements of the sequences that a step reads."""
    outer_constants: list[Variable]
    inner_constants: list[Variable]
    inner_traces: list[Variable]
    """The elements that a step puts into traces."""
    inner_stop: Variable | None = None
    """The condition that a step is the last one. None if all steps run."""
    outer_final: list[Variable] = field(default_factory=lambda: list[Variable]())
    """The carried values after the last step, which are outputs of the node that was passed to `of`."""
    outer_traces: list[Variable] = field(default_factory=lambda: list[Variable]())
    outer_done: Variable | None = None
    """The number of steps that ran. None if there is no ``inner_stop``."""
    reverse: bool = False
    truncate: int | None = None
    bounded: bool = True
    name: str | None = None

    @classmethod
    def of(cls, node: Apply) -> ScanArgs:
        """Take a node apart into lists. TypeError if its op is not `Scan`."""
        if not isinstance(node.op, Scan):
            raise TypeError(f"ScanArgs needs a node of Scan, and {node.op} is none")
        op_ = cast("Apply[Scan]", node).op
        arguments = [v.type.make_variable(v.name) for v in op_.body.inputs]
        results = op_.body.bind(arguments)
        outer, inner = op_.parts(node.inputs[1:]), op_.parts(arguments)
        first, last = op_.carried, op_.carried + op_.traces
        return cls(
            node.inputs[0],
            outer.carried,
            inner.carried,
            list(results[:first]),
            outer.sequences,
            inner.sequences,
            outer.constants,
            inner.constants,
            list(results[first:last]),
            results[-1] if op_.stops else None,
            list(node.outputs[:first]),
            list(node.outputs[first:last]),
            node.outputs[-1] if op_.stops else None,
            op_.reverse,
            op_.truncate,
            op_.bounded,
            op_.name,
        )

    @property
    def op(self) -> Scan:
        """The op `Scan` that the lists describe.

        ValueError if corresponding lists differ in length. `MissingInputError` if the body reads a variable that is in
        no list.
        """
        pairs: list[tuple[str, Sequence[Variable], Sequence[Variable]]] = [
            ("outer_carried and inner_carried", self.outer_carried, self.inner_carried),
            ("inner_carried and inner_following", self.inner_carried, self.inner_following),
            ("outer_sequences and inner_elements", self.outer_sequences, self.inner_elements),
            ("outer_constants and inner_constants", self.outer_constants, self.inner_constants),
        ]
        for names, outer, inner in pairs:
            if len(outer) != len(inner):
                raise ValueError(f"{names} differ in length: {len(outer)} and {len(inner)}")
        stop = [] if self.inner_stop is None else [self.inner_stop]
        arguments = [*self.inner_carried, *self.inner_elements, *self.inner_constants]
        results = [*self.inner_following, *self.inner_traces, *stop]
        own = set(arguments)
        for v in ancestors(results, arguments):
            if v.owner is None and v not in own and not isinstance(v, Constant):
                raise MissingInputError(
                    f"The body reads {describe(v)}, which is none of its arguments: add it to the constants"
                )
        body = freeze(arguments, results)
        return Scan(
            body,
            len(self.inner_carried),
            len(self.inner_elements),
            bool(stop),
            self.reverse,
            self.truncate,
            self.bounded,
            self.name,
        )

    def node(self) -> Apply[Scan]:
        """Make a new node with the op and the inputs that the lists describe. TypeError if the types do not match."""
        node = self.op.make_node(
            self.steps, *self.outer_carried, *self.outer_sequences, *self.outer_constants
        )
        return cast("Apply[Scan]", node)
