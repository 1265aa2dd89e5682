"""`DeferredGraph`, an op that stands for a graph which is built only if it must be read.

A function that is found in the cache needs no graph. A client that makes graphs from something else, such as graphs of
another library, applies this op to the roots of the graph, with a text that names the graph. `FunctionMaker` builds
the graph before it rewrites, and when a call fails and is replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from occelo_graph import Op, Variable, clone_replace, toposort
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir.pickling import NodeTable


@frozen_dataclass
class Built:
    """A graph from ``inputs`` to ``outputs``. Functions with it are kept in the cache if ``is_named`` is true."""

    inputs: Sequence[Variable]
    outputs: Sequence[Variable]
    is_named: bool = True


class DeferredGraph(Op):
    """Stands for the graph that ``build`` returns, at its first use.

    ``digest`` is a text that says everything on which the graph depends, also the code that builds it and the code of all
    packages whose ops it may contain: ops with one digest are equal. ``kinds`` are the types of the graph's outputs.
    """

    __props__ = ("digest",)

    def __init__(self, digest: str, kinds: Sequence[Any], build: Callable[[], Built]) -> None:
        self.digest = digest
        self.kinds = tuple(kinds)
        self._build = build
        self._built: Built | None = None

    @property
    def built(self) -> Built:
        """The graph. It is built at the first use."""
        if self._built is None:
            self._built = self._build()
            del self._build  # and what it holds
        return self._built

    @property
    def is_unnamed(self) -> bool:
        """Whether the graph was built and has parts that the digest does not name."""
        return self._built is not None and not self._built.is_named

    def infer(self, *_types: Any, **_: Any) -> Any:
        return self.kinds

    def opened(self, inputs: Sequence[Variable]) -> list[Variable]:
        """The outputs of the graph, with ``inputs`` as its inputs."""
        graph = self.built
        pairs = {a: b for a, b in zip(graph.inputs, inputs, strict=True) if a is not b}
        return list(clone_replace(list(graph.outputs), pairs) if pairs else graph.outputs)

    def __reduce__(self) -> tuple[Any, ...]:
        graph = self.built
        variables = [*graph.inputs, *graph.outputs]
        return _restored, (NodeTable.of(variables), self.digest, self.kinds, graph)

    def __str__(self) -> str:
        return f"DeferredGraph{{{self.digest[:8]}}}"


def _restored(_table: NodeTable, digest: str, kinds: Sequence[Any], graph: Built) -> DeferredGraph:
    return DeferredGraph(digest, kinds, lambda: graph)


def opened(outputs: Sequence[Variable]) -> list[Variable]:
    """The outputs of a graph in which each node of a `DeferredGraph` is replaced by its graph."""
    replaced = dict[Variable, Variable]()
    for node in toposort(outputs):
        if isinstance(node.op, DeferredGraph):
            inputs = clone_replace(list(node.inputs), replaced) if replaced else node.inputs
            replaced.update(zip(node.outputs, node.op.opened(inputs), strict=True))
    if all(v in replaced or v.owner is None for v in outputs):
        return [replaced.get(v, v) for v in outputs]
    return list(clone_replace(list(outputs), replaced)) if replaced else list(outputs)


def has_unnamed(outputs: Sequence[Variable]) -> bool:
    """Whether a `DeferredGraph` that was built has parts that its digest does not name."""
    ops = [node.op for node in toposort(outputs)]
    return any(isinstance(op, DeferredGraph) and op.is_unnamed for op in ops)
