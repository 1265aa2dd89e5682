"""`Solver`: an op that computes a graph with loops, and whose derivatives do not go through these loops.

A subclass defines the derivatives of one problem by `pullback` and `pushforward`. `BatchedSolver` is the same for a batch
of problems: its graph and its derivatives are those of one problem, vectorized. Like any `OpFromGraph` the ops are replaced by their
graphs before linking, so backends know nothing of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

from occelo_graph.canonical.encoding import Arrays, decode, encode, register_coder
from occelo_graph.fgraph.frozen import FrozenFunctionGraph
from occelo_graph.gradient.forward import pushforward
from occelo_graph.gradient.reverse import pullback
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.ir.clone import rebuilt
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import ZERO, Cotangents, Tangents
from occelo_graph.ir.terms import Term, called
from occelo_graph.ir.types import NullType
from occelo_graph.ops.batching import align, batch_shape, materialize
from occelo_graph.ops.create import broadcast_to
from occelo_graph.ops.shape.reading import shape_tuple
from occelo_graph.tensors.nodes import is_tensor
from occelo_graph.vectorize import vectorize_graph


def _encode(op: Solver, arrays: Arrays) -> Any:
    fields = {name: encode(getattr(op, name), arrays) for name in op.further}
    return {"graph": encode(op.graph, arrays), "name": op.name, **fields}


def _decode(kind: type[Solver], plain: Any, arrays: Arrays) -> Solver:
    graph: FrozenFunctionGraph = decode(plain["graph"], arrays)
    inputs = [v.type.make_variable() for v in graph.inputs]
    fields = {name: decode(plain[name], arrays) for name in kind.further}
    return kind(inputs, graph.bind(inputs), plain["name"], **fields)


def pulled(
    graph: FrozenFunctionGraph, values: Sequence[Any], wrt: Sequence[int], weights: Any
) -> list[Any]:
    """The output of a graph at ``values``, and the cotangents of its inputs number ``wrt`` for ``weights`` of the output.

    It is differentiated with respect to new variables, since a value may depend on another one, or be the same.
    """
    own = [v.type.make_variable() for v in graph.inputs]
    seed = weights.type.make_variable()
    (output,) = graph.bind(own)
    slopes: Any = pullback(output, [own[i] for i in wrt], seed, disconnected_inputs="ignore")
    return with_values([output, *slopes], [*zip(own, values, strict=True), (seed, weights)])


def pushed(
    graph: FrozenFunctionGraph, values: Sequence[Any], wrt: Sequence[int], tangents: Sequence[Any]
) -> list[Any]:
    """The output of a graph at ``values``, and its tangent for ``tangents`` of the inputs number ``wrt``."""
    own = [v.type.make_variable() for v in graph.inputs]
    seeds = [t.type.make_variable() for t in tangents]
    (output,) = graph.bind(own)
    tangent = pushforward(output, [own[i] for i in wrt], seeds, disconnected_outputs="ignore")
    pairs = [*zip(own, values, strict=True), *zip(seeds, tangents, strict=True)]
    return with_values([output, tangent], pairs)


def with_values(values: Sequence[Any], pairs: Sequence[tuple[Variable, Any]]) -> list[Any]:
    """The graphs among ``values`` with variables replaced by their values; the rest as it is."""
    graphs = [v for v in values if isinstance(v, Variable)]
    copies = iter(rebuilt(graphs, pairs, rebuild_strict=False))
    return [next(copies) if isinstance(v, Variable) else v for v in values]


class Solver(OpFromGraph):
    """An op that computes a graph, of which a subclass knows the derivatives. See the module.

    ``class Name(Solver, further=("settings",))`` has the further field ``settings``, an argument of its constructor by keyword.
    """

    further: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, further: tuple[str, ...] = (), **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.further = (*cls.further, *further)
        cls.__props__ = (*OpFromGraph.__props__, *cls.further)

        # no `functools.partial`, which would count as code from outside the package in cache keys
        def decoded(plain: Any, arrays: Arrays) -> Solver:
            return _decode(cls, plain, arrays)

        register_coder(cls, _encode, decoded)

    def __init__(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        name: str | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(inputs, outputs, name=name)
        if fields.keys() != set(self.further):
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(self.further)}")
        vars(self).update(fields)

    @classmethod
    def from_fields(
        cls,
        graph: FrozenFunctionGraph,
        inline: bool,
        name: str | None,
        pull_rule: Any,
        push_rule: Any,
        declared_pattern: Any,
        **fields: Any,
    ) -> Self:
        """Make an op from its fields. Printed Python source calls this method."""
        return cls(list(graph.inputs), list(graph.outputs), name, **fields)

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        # the first of the inner graphs is the one that is computed; the others are for derivatives
        inputs, function = operands[: len(node.inputs)], operands[len(node.inputs)]
        return called(function.text, *(term.text for term in inputs))

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        chosen = [i for i, n in enumerate(batch_ndims) if n]
        arguments = list(inputs)
        whole = materialize([inputs[i] for i in chosen], [batch_ndims[i] for i in chosen])
        for i, variable in zip(chosen, whole, strict=True):
            arguments[i] = variable
        ndim = max(batch_ndims)
        inner = [v.type.make_variable() for v in arguments]
        own = [ndim if i in chosen else 0 for i in range(len(inner))]
        lengths = batch_shape(inner, own)
        outputs = [
            _whole(batched, out, lengths)
            for batched, out in zip(super().batch(node, inner, own), node.outputs, strict=True)
        ]
        has = tuple(i in chosen for i in range(len(inner)))
        op = BatchedSolver(inner, outputs, self.name, core=self, has=has)
        results: Sequence[Any] = op(*arguments, return_list=True)
        return results


def _whole(value: Any, out: Variable, lengths: Sequence[Any]) -> Any:
    """A result of a batch with all batch dimensions, also if it is the same for all elements."""
    assert is_tensor(out)
    if value.type.ndim == out.type.ndim + len(lengths):
        return value
    full = align(value, value.type.ndim - out.type.ndim, len(lengths))
    return broadcast_to(full, (*lengths, *shape_tuple(full)[len(lengths) :]))


class BatchedSolver(Solver, further=("core", "has")):
    """``core`` applied to each element of a batch. ``has`` says of each input whether it has batch dimensions."""

    core: Solver
    has: tuple[bool, ...]

    def _inferred_pattern(self) -> list[list[bool]]:
        return self.core._inferred_pattern()

    def pullback(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Cotangents
    ) -> Cotangents:
        slopes = self._vectorized(self.core.pullback, inputs, outputs, cotangents, outputs)
        results: list[Any] = []
        for ct, v, has in zip(slopes, self.core.graph.inputs, self.has, strict=True):
            if not _is_graph(ct) or has:
                results.append(ct)
                continue
            assert is_tensor(v)
            results.append(ct.sum(tuple(range(ct.type.ndim - v.type.ndim))))
        return results

    def pushforward(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], tangents: Tangents
    ) -> Tangents:
        batched = self._vectorized(self.core.pushforward, inputs, outputs, tangents, inputs)
        arguments = [v for v, has in zip(inputs, self.has, strict=True) if has]
        assert is_tensor(arguments[0])
        core = self.core.graph.inputs[self.has.index(True)]
        assert is_tensor(core)
        lengths = shape_tuple(arguments[0])[: arguments[0].type.ndim - core.type.ndim]
        return [
            _whole(t, v, lengths) if _is_graph(t) else t
            for t, v in zip(batched, self.core.graph.outputs, strict=True)
        ]

    def _vectorized(
        self,
        rule: Callable[..., Any],
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        directions: Sequence[Any],
        like: Sequence[Variable],
    ) -> list[Any]:
        """A derivative of the core, vectorized. ``directions`` are the cotangents or tangents of the variables ``like``."""
        graph = self.core.graph
        variables = [v.type.make_variable() for v in (*graph.inputs, *graph.outputs)]
        own_inputs, own_outputs = variables[: len(inputs)], variables[len(inputs) :]
        own_like = own_inputs if like is inputs else own_outputs
        seeds = [
            v.type.make_variable() if _is_graph(g) else g
            for v, g in zip(own_like, directions, strict=True)
        ]
        results = list(rule(own_inputs, own_outputs, seeds))
        replaced = dict(zip(variables, (*inputs, *outputs), strict=True))
        replaced.update((s, g) for s, g in zip(seeds, directions, strict=True) if _is_graph(g))
        places = [i for i, v in enumerate(results) if _is_graph(v)]
        for i, v in zip(
            places, vectorize_graph([results[i] for i in places], replaced), strict=True
        ):
            results[i] = v
        return results


def _is_graph(value: Any) -> bool:
    return isinstance(value, Variable) and not isinstance(value.type, NullType)


def connected(cotangent: Any) -> bool:
    """Whether a cotangent or tangent is a variable, and neither None nor `ZERO`."""
    return cotangent is not None and cotangent is not ZERO


def is_float(variable: Variable) -> bool:
    """Whether a variable is a tensor of floats."""
    return is_tensor(variable) and variable.type.numpy_dtype.kind == "f"
