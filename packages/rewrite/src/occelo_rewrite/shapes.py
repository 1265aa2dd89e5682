"""`ShapeFeature`: the lengths of the variables of a graph, as expressions of the graph's inputs.

Rules get the feature from `shapes_of`, to prove that shapes are equal, and to replace a length by an expression of the
inputs. `assumptions.feature` proves with it that matrices are square.
"""

from __future__ import annotations

import warnings
from typing import cast

from occelo_graph import Apply, FunctionGraph, TensorVariable, Type, Variable, ancestors
from occelo_graph import tensor as ot
from occelo_graph.errors import MethodNotDefined
from occelo_graph.fgraph.features import AlreadyThere, Feature
from occelo_graph.ir.clone import clone_replace
from occelo_graph.ops.shape.reading import length_op, length_read
from occelo_rewrite.constants import number_of

Length = int | TensorVariable
"""The length of an axis: an integer, or a scalar variable that is computed from lengths of inputs."""
Lengths = tuple[Length, ...]
"""The lengths of all axes of a tensor."""


class ShapeFeature(Feature):
    """The lengths of a graph's variables, as expressions of the graph's inputs.

    The ``infer_shape`` of ops infers a length when a rule first reads it. The expressions are not part of the graph, so
    they do not count as users of the graph's variables. Equal lengths are one object, so shapes can be compared by
    identity. TypeError if it is given arguments.
    """

    provides = ("shape_of", "same_shape")

    def __init__(self) -> None:
        self._known: dict[Variable, Lengths] = {}
        self._expressions: dict[tuple[object, ...], Variable] = {}
        self._unified: set[Variable] = set()
        self._read: set[Variable] = set()
        self._replaced: dict[Variable, Variable] = {}
        self._current: set[Variable] = set()

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if "shape_feature" in fgraph.__dict__:
            raise AlreadyThere("The graph knows its shapes already")
        fgraph.__dict__["shape_feature"] = self

    def on_detach(self, fgraph: FunctionGraph) -> None:
        fgraph.__dict__.pop("shape_feature", None)

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        for out in node.outputs:
            self._known.pop(out, None)

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        i: int,
        var: Variable,
        new_var: Variable,
        reason: object = None,
    ) -> None:
        if var in self._read and self._replaced.get(var) is not new_var:
            self._replaced[var] = new_var
            self._current.clear()

    def shape_of(self, fgraph: FunctionGraph | None, variable: Variable) -> Lengths:
        """The lengths of all axes of a variable; an empty tuple for a variable that is not a tensor."""
        lengths = self._found(variable)
        if not self._replaced or variable in self._current:
            return lengths
        # a length that refers to a variable of a removed node would bring the node back into the
        # graph
        lengths = self._known[variable] = tuple(map(self._without_replaced, lengths))
        self._current.add(variable)
        return lengths

    def _without_replaced(self, length: Length) -> Length:
        """``length`` as an expression without variables that other variables have replaced in the graph."""
        if not isinstance(length, Variable):
            return length
        changed: dict[Variable, Variable] = {}
        for each in ancestors([length], self._read):
            read = length_read(each)
            if read is not None and read[0] in self._replaced:
                x, seen = read[0], set[Variable]()
                while x in self._replaced and x not in seen:
                    seen.add(x)
                    x = self._replaced[x]
                changed[each] = ot.as_tensor_variable(self._found(x)[read[1]])
        if not changed:
            return length
        new = changed.get(length)
        if new is None:
            (new,) = clone_replace([length], list(changed.items()))
        return self._one(cast("TensorVariable", new))

    def _found(self, variable: Variable) -> Lengths:
        """The lengths as they were first inferred, without later replacements in the graph."""
        lengths = self._known.get(variable)
        if lengths is not None:
            return lengths
        stack = [variable]
        while stack:
            each = stack[-1]
            if each in self._known:
                stack.pop()
                continue
            owner = each.owner
            kind = each.type
            if (
                kind.shape is None
                or None not in kind.shape
                or owner is None
                or not owner.op.has_infer_shape
            ):
                self._known[each] = self._own_lengths(each)
                continue
            waiting = [v for v in owner.inputs if v not in self._known]
            if waiting:
                stack.extend(waiting)
                continue
            self._infer(owner)
        return self._known[variable]

    def _own_lengths(self, variable: Variable) -> Lengths:
        kind = variable.type
        if kind.shape is None:
            return ()
        return tuple(
            self._one(length_op(i)(variable)) if n is None else n for i, n in enumerate(kind.shape)
        )

    def _infer(self, node: Apply) -> None:
        try:
            shapes = node.op.shapes(node, [self._known[v] for v in node.inputs])
        except MethodNotDefined:
            shapes = [None] * len(node.outputs)
        except Exception as error:
            # if the ``infer_shape`` of a user's op fails, lengths are read from the values instead
            shapes = [None] * len(node.outputs)
            place = "" if node.source is None else f", made at {node.source},"
            warnings.warn(
                f"The infer_shape of {node.op}{place} failed, and lengths are computed without it: "
                f"{type(error).__name__}: {error}",
                stacklevel=2,
            )
        for out, lengths in zip(node.outputs, shapes, strict=True):
            kind = out.type
            if lengths is None or kind.shape is None:
                self._known[out] = self._own_lengths(out)
                continue
            self._known[out] = tuple(
                static if static is not None else self._one(n)
                for static, n in zip(kind.shape, lengths, strict=True)
            )

    def _one(self, length: Length) -> Length:
        """The one object that represents all lengths equal to ``length``."""
        if not isinstance(length, Variable):
            return int(length)
        constant = number_of(length)
        if constant is not None:
            return int(constant)
        owner = length.owner
        if owner is None:
            return length
        done: dict[Variable, Variable] = {}
        stack: list[Variable] = [length]
        while stack:
            each = stack[-1]
            node = each.owner
            if each in done or node is None or each in self._unified:
                done.setdefault(each, each)
                stack.pop()
                continue
            read = length_read(each)
            if read is not None:
                x, axis = read
                op = length_op(axis)
                key = (op, x)
                if key not in self._expressions:
                    self._expressions[key] = each if node.op == op else op(x)
                    if x.owner is not None:
                        self._read.add(x)
                done[each] = self._expressions[key]
                continue
            waiting = [v for v in node.inputs if v not in done]
            if waiting:
                stack.extend(waiting)
                continue
            done[each] = self._expression(node, [done[v] for v in node.inputs], each)
        # what stands for others stands for itself: a long expression is not searched again for each that contains it
        self._unified.update(v for v in done.values() if v.owner is not None)
        # the cast is right, since a length that is a variable is a tensor
        return cast("TensorVariable", done[length])

    def _expression(self, node: Apply, inputs: list[Variable], variable: Variable) -> Variable:
        parts: list[Variable | tuple[Type, object]] = []
        for v in inputs:
            value = number_of(v)
            parts.append(v if value is None else (v.type, value))
        if node.op.commutative:
            parts.sort(key=lambda v: id(v) if isinstance(v, Variable) else 0)
        key = (node.op, variable.index, *parts)
        expression = self._expressions.get(key)
        if expression is None:
            same = all(a is b for a, b in zip(inputs, node.inputs, strict=True))
            expression = (
                variable
                if same
                else node.clone_with_new_inputs(inputs).outputs[variable.index or 0]
            )
            self._expressions[key] = expression
        return expression

    def same_shape(self, fgraph: FunctionGraph | None, a: Variable, b: Variable) -> bool:
        """Whether two tensors provably have the same shape."""
        if a.type == b.type and a.type.shape is not None and None not in a.type.shape:
            return True
        first, second = self.shape_of(fgraph, a), self.shape_of(fgraph, b)
        return len(first) == len(second) and all(
            m is n or (isinstance(m, int) and m == n) for m, n in zip(first, second, strict=True)
        )

    def is_length(
        self, fgraph: FunctionGraph | None, length: Length, of: Variable, axis: int
    ) -> bool:
        """Whether ``length`` is provably the length of the tensor ``of`` along ``axis``."""
        own = self.shape_of(fgraph, of)[axis]
        if isinstance(length, Variable):
            read = length_read(length)
            if read is not None:
                length = self.shape_of(fgraph, read[0])[read[1]]
            else:
                length = self._one(length)
        return length is own or (isinstance(own, int) and own == length)


def shapes_of(fgraph: FunctionGraph) -> ShapeFeature:
    """The `ShapeFeature` of a graph. A new one is attached if the graph has none."""
    feature: ShapeFeature | None = fgraph.__dict__.get("shape_feature")
    if feature is None:
        feature = ShapeFeature()
        fgraph.attach_feature(feature)
    return feature


def as_variable(length: Length) -> TensorVariable:
    """A length as an int64 scalar variable."""
    return (
        ot.cast(length, "int64")
        if isinstance(length, Variable)
        else ot.constant(length, dtype="int64")
    )
