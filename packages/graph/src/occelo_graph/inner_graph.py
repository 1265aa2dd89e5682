"""`OpFromGraph`: an op that computes an inner graph. Users make such ops from graphs, and may define their derivatives.

While the outer graph is built, differentiated and canonicalized, the op is one node. Then the rewriting stage
``expand_graphs`` replaces the node by the inner graph. With ``inline=True`` the node is replaced before all other
rewriting. If the mode excludes ``expand_graphs``, linkers run the inner graph as a loop of one iteration (`Op.loop`).

The inner graph is a frozen graph, so two ops with equal graphs are equal. The other ops of control flow are in
`ops.control`. This op cannot be there, since it needs `gradient`, and `gradient` imports `ops`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

from occelo_graph.canonical.encoding import Arrays, decode, encode, register_coder
from occelo_graph.canonical.names import class_name, loaded, named
from occelo_graph.errors import MethodNotDefined, MissingInputError, describe, explained
from occelo_graph.families import Family
from occelo_graph.fgraph.frozen import FrozenFunctionGraph, freeze
from occelo_graph.gradient.forward import pushforward
from occelo_graph.gradient.reverse import pullback
from occelo_graph.interpret import evaluate
from occelo_graph.ir.nodes import Apply, AtomicVariable, Variable
from occelo_graph.ir.op import ZERO, Cotangents, Op, Tangents
from occelo_graph.ir.op_caches import cache_of
from occelo_graph.ir.regions import Loop
from occelo_graph.ir.shared import SharedVariable
from occelo_graph.ir.taken_constants import held_by, take_all
from occelo_graph.ir.terms import Term, called
from occelo_graph.ir.traits import trait
from occelo_graph.ir.traversal import ancestors, toposort
from occelo_graph.ir.types import NullType, Type
from occelo_graph.narrowing import is_list, is_list_or_tuple, is_tuple
from occelo_graph.ops.batched_lengths import (
    LengthsVary,
    is_refused_where_lengths_vary,
    refused_where_lengths_vary,
)
from occelo_graph.ops.create import zeros_like
from occelo_graph.provenance import at_line
from occelo_graph.tensors.nodes import is_tensor
from occelo_graph.upward import repeated
from occelo_graph.vectorize import vectorize_graph

Family("inner_graph", "occelo_graph", ops=()).register()

Rule: TypeAlias = "Callable[..., Any] | OpFromGraph | None"
"""A function or an `OpFromGraph` that computes derivatives. None: the derivative of the inner graph is used."""
Derivative: TypeAlias = "Rule | list[Rule] | tuple[Rule, ...]"
"""One rule that computes all derivatives, or a list with a rule for each of them."""
Derived: TypeAlias = "tuple[OpFromGraph | None, list[Any], list[bool]]"
"""An op that computes derivatives, the other derivatives, and for each derivative whether the op computes it."""
_RECURSION = 12
"""So many levels of nested ops are differentiated by recursion."""
Pattern: TypeAlias = tuple[tuple[bool, ...], ...] | None
"""The user's ``connection_pattern``: a row for each input, with an entry for each output.

None: the pattern follows from the inner graph.
"""


class OpFromGraph(Op):
    """An op that computes the graph from ``inputs`` to ``outputs``.

    - ``inputs`` and ``outputs``: lists of variables. Shared variables of the outputs that are no inputs become further
      inputs at the end, `shared_inputs`; a call leaves them out. `MissingInputError` if another root of the outputs is
      neither an input nor a constant.
    - ``inline``: whether the op is replaced by its graph before all other rewriting.
    - ``pullback``: a function ``(inputs, outputs, cotangents)`` that returns a list with a cotangent for each input.
      None means that the pullback of the inner graph is used. Instead of one function, ``pullback`` may be a list with
      an entry for each input: a function that returns only the cotangent of this input, or None. An `OpFromGraph` may
      take the place of a function; its inputs are all inputs, outputs and cotangents. Shared inputs count as inputs.
    - ``pushforward``: like ``pullback``, with tangents instead of cotangents. The function returns a tangent for each
      output. A list has an entry for each output.
    - ``lop_overrides``, ``rop_overrides``: older names of ``pullback`` and ``pushforward``.
    - ``connection_pattern``: ``connection_pattern[i][k]`` is true if output ``k`` depends on input ``i``.
    - ``name``: the name in printed graphs. ``strict`` has no effect; other ``options`` are errors.

    TypeError for inputs or outputs that are not lists. ValueError for an input that is given twice. NotImplementedError
    for ``updates`` and ``givens``.
    """

    derived_class: ClassVar[Any]
    """The class of the ops that compute derivatives: `OpFromGraph`, if a subclass does not say otherwise."""
    loops: ClassVar[bool] = True
    __props__: ClassVar[tuple[str, ...]] = (
        "graph",
        "inline",
        "name",
        "pull_rule",
        "push_rule",
        "declared_pattern",
    )

    def __init__(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        *,
        inline: bool = False,
        pullback: Derivative = None,
        pushforward: Derivative = None,
        lop_overrides: Derivative = None,
        rop_overrides: Derivative = None,
        connection_pattern: Sequence[Sequence[bool]] | None = None,
        strict: bool = False,
        name: str | None = None,
        **options: Any,
    ) -> None:
        self.shared_inputs: list[SharedVariable] = _check(inputs, outputs, options)
        self._held = held_by(toposort(outputs), outputs)
        self.graph: FrozenFunctionGraph = freeze([*inputs, *self.shared_inputs], outputs)
        self.inline = inline
        self.name = name
        self.pull_rule = _chosen(pullback, lop_overrides, "lop_overrides", "pullback")
        self.push_rule = _chosen(pushforward, rop_overrides, "rop_overrides", "pushforward")
        self.declared_pattern: Pattern = (
            None
            if connection_pattern is None
            else tuple(tuple(map(bool, row)) for row in connection_pattern)
        )

    def python_fields(self) -> dict[str, Any]:
        """The arguments of `from_fields` that make an equal op, for printed Python source (`to_python`)."""
        return self.props() or {}

    @classmethod
    def from_fields(
        cls,
        graph: FrozenFunctionGraph,
        inline: bool,
        name: str | None,
        pull_rule: Derivative,
        push_rule: Derivative,
        declared_pattern: Pattern,
    ) -> OpFromGraph:
        """Make an op from a frozen graph and the rules of its derivatives. Printed Python source calls this method."""
        return cls(
            list(graph.inputs),
            list(graph.outputs),
            inline=inline,
            pullback=pull_rule,
            pushforward=push_rule,
            connection_pattern=declared_pattern,
            name=name,
        )

    @trait
    def pure(self) -> bool:
        """Whether all ops of the inner graph are pure."""
        return self.graph.pure

    @property
    def fgraph(self) -> FrozenFunctionGraph:
        """The inner graph."""
        return self.graph

    @property
    def inner_inputs(self) -> tuple[Variable, ...]:
        """The inputs of the inner graph."""
        return self.graph.inputs

    @property
    def inner_outputs(self) -> tuple[Variable, ...]:
        """The outputs of the inner graph."""
        return self.graph.outputs

    def infer(self, *types: Any) -> Any:
        parameters = self.graph.inputs
        if len(types) != len(parameters):
            raise ValueError(f"{self} takes {len(parameters)} inputs, got {len(types)}")
        for i, (variable, type_) in enumerate(zip(parameters, types, strict=True)):
            if not variable.type.is_super(type_):
                raise TypeError(f"Input {i} of {self} is of type {variable.type}, got {type_}")
        return tuple(v.type for v in self.graph.outputs)

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        """Apply the op to ``inputs``, without the shared variables of the graph, which it adds itself."""
        if self.shared_inputs:
            count = len(self.graph.inputs) - len(self.shared_inputs)
            if len(inputs) != count:
                text = f"{self} takes {count} inputs, got {len(inputs)}"
                raise explained(ValueError(text), "arguments")
            inputs = (*inputs, *self.shared_inputs)
        return super().__call__(*inputs, **options)

    def make_node(self, *inputs: Any) -> Apply:
        parameters = self.graph.inputs
        if len(inputs) != len(parameters):
            text = f"{self} takes {len(parameters)} inputs, got {len(inputs)}"
            raise explained(ValueError(text), "arguments")
        variables = [v.type.filter_variable(x) for v, x in zip(parameters, inputs, strict=True)]
        take_all(self._held)
        return Apply.of_types(self, variables, self.infer(*(v.type for v in variables)))

    def loop(self, node: Apply) -> Loop:
        return Loop(self.graph, None, (), tuple(range(len(node.inputs))))

    def inlined(self, node: Apply, every: bool = True) -> list[Variable]:
        """Copy the inner graph, with the inputs of ``node`` as its inputs, and return the outputs of the copy.

        Ops of this class in the inner graph are replaced by copies of their graphs, too, at any depth: rules then see a
        deeply nested graph at once, and not level by level. With ``every=False``, ops without the option ``inline`` stay.
        """
        return _opened(self.graph, node.inputs, every)

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        *inputs, function = operands
        return called(function.text, *(term.text for term in inputs))

    def evaluate(self, *arrays: Any) -> Any:
        return tuple(
            evaluate(list(self.graph.outputs), dict(zip(self.graph.inputs, arrays, strict=True)))
        )

    def decompose(self, *inputs: Any) -> Sequence[Any] | None:
        if not self.pure or any(node.op.lazy or node.op.destroy_map for node in self.graph.nodes):
            return None
        return self.graph.bind(inputs)

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        if not all(isinstance(n, int | Variable) for shape in input_shapes for n in shape):
            # what proofs about lengths ask with symbols: no length is just a copy of an input's
            raise MethodNotDefined(f"The lengths of {self} are lengths in its inner graph")
        # lengths of the inlined graph's variables; rules then infer these without computing values
        return [
            tuple(v.shape[i] for i in range(v.type.ndim)) if is_tensor(v) else ()
            for v in self.inlined(node)
        ]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        if self.declared_pattern is not None:
            return [list(row) for row in self.declared_pattern]
        cache = cache_of(self, "_pattern_cache")
        if None not in cache:
            for op in (*self._nested_ops(), self):
                cache_of(op, "_pattern_cache")[None] = op._inferred_pattern()
        pattern: list[list[bool]] = cache[None]
        return [list(row) for row in pattern]

    def _inferred_pattern(self) -> list[list[bool]]:
        reached: dict[Variable, set[int]] = {v: {i} for i, v in enumerate(self.graph.inputs)}
        for each in self.graph.nodes:
            pattern = each.op.connection_pattern(each)
            for k, out in enumerate(each.outputs):
                reached[out] = set().union(
                    *(
                        reached.get(v, set())
                        for v, row in zip(each.inputs, pattern, strict=True)
                        if row[k]
                    )
                )
        return [
            [i in reached.get(out, set()) for out in self.graph.outputs]
            for i in range(len(self.graph.inputs))
        ]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        """The inner graph, vectorized; or a loop over the batch, if lengths in the graph may differ between elements.

        With a loop, only the outputs must have the same shapes for all elements, which is checked at run time.
        """
        inner = [v.type.make_variable() for v in self.graph.inputs]
        within = is_refused_where_lengths_vary()
        try:
            with refused_where_lengths_vary():
                vectorized: list[Any] = vectorize_graph(
                    self.graph.bind(inner), dict(zip(inner, inputs, strict=True))
                )
        except LengthsVary:
            lengths = [n for v in node.outputs if is_tensor(v) for n in v.type.shape]
            # if outputs may differ as well, the outermost op that contains this one is repeated
            if within and None in lengths:
                raise
            return repeated(node, inputs)
        return vectorized

    # derivatives

    @property
    def external_derivative(self) -> bool:
        return self.pull_rule is not None or self.push_rule is not None

    def pullback(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Cotangents
    ) -> Cotangents:
        return self._derivative(
            self.pull_rule, self._pulled, len(inputs), inputs, outputs, cotangents, outputs
        )

    def pushforward(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], tangents: Tangents
    ) -> Tangents:
        return self._derivative(
            self.push_rule, self._pushed, len(outputs), inputs, outputs, tangents, inputs
        )

    def _derivative(
        self,
        rule: Rule | tuple[Rule, ...],
        default: Callable[..., Sequence[Any]],
        count: int,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        seeds: Sequence[Any],
        like: Sequence[Variable],
    ) -> Sequence[Any]:
        """The ``count`` derivatives by the user's ``rule``, or by ``default`` if the rule is None.

        ``seeds`` are the cotangents of the variables ``like``, or their tangents. A rule receives zeros in place of
        None and `ZERO`.
        """
        rules = rule if is_tuple(rule) else (rule,)
        usual: Sequence[Any] = ()
        if any(r is None for r in rules):
            usual = default(inputs, outputs, seeds)
        if rule is None:
            return usual
        filled = [
            zeros_like(v) if g is None or g is ZERO else g for v, g in zip(like, seeds, strict=True)
        ]
        if not is_tuple(rule):
            return _checked(self, _apply(rule, inputs, outputs, filled), count)
        if len(rule) != count:
            raise ValueError(f"{self} needs {count} rules for its derivative, got {len(rule)}")
        results: list[Any] = []
        for i, each in enumerate(rule):
            term = usual[i] if each is None else _apply(each, inputs, outputs, filled)
            results.append(term[0] if is_list(term) and len(term) == 1 else term)
        return results

    def _pulled(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        live = tuple(ct is not None for ct in cotangents)
        filled = [
            zeros_like(v) if ct is ZERO else ct
            for v, ct in zip(outputs, cotangents, strict=True)
            if ct is not None
        ]
        if not filled:
            return [None] * len(inputs)
        types = tuple([v.type for v in filled])
        if (live, types) not in cache_of(self, "_pullbacks_cache"):
            self._pull_inner_graphs()
        return _applied(self._pullback_op(live, types), [*inputs, *filled])

    def _nested_ops(self) -> list[OpFromGraph]:
        """The ops inside of a deeply nested op, the innermost first; none if recursion goes down as far.

        What is asked of all of them is asked in this order, so that outer ones need no recursion.
        """
        if self.graph.depth <= _RECURSION:
            return []
        ops = [node.op for graph in self.graph.nested() for node in graph.nodes]
        ops += [node.op for node in self.graph.nodes]
        nested = [op for op in dict.fromkeys(ops) if isinstance(op, OpFromGraph)]
        return sorted(nested, key=lambda op: op.graph.depth)

    def _pull_inner_graphs(self) -> None:
        """Make the pullbacks of deeply nested ops."""
        for op in self._nested_ops():
            if op.pull_rule is None:
                types = tuple([v.type for v in op.graph.outputs])
                op._pullback_op((True,) * len(types), types)

    def _pullback_op(self, live: tuple[bool, ...], types: tuple[Type, ...]) -> Derived:
        """The op that computes the cotangents of the inputs, for cotangents of these types of the ``live`` outputs."""
        cache = cache_of(self, "_pullbacks_cache")
        if (live, types) not in cache:
            fresh = [v.type.make_variable() for v in self.graph.inputs]
            bound = [v for v, use in zip(self.graph.bind(fresh), live, strict=True) if use]
            seeds = [type_.make_variable() for type_ in types]
            pulled = pullback(
                bound,
                fresh,
                seeds,
                disconnected_inputs="ignore",
                return_disconnected="none",
                null_gradients="return",
            )
            cache[live, types] = self._derived("pullback", [*fresh, *seeds], pulled)
        op: Derived = cache[live, types]
        return op

    def _pushed(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], tangents: Sequence[Any]
    ) -> Sequence[Any]:
        live = [i for i, t in enumerate(tangents) if t is not None]
        filled = [zeros_like(inputs[i]) if tangents[i] is ZERO else tangents[i] for i in live]
        if not filled:
            return [None] * len(outputs)
        key = tuple(live), tuple([v.type for v in filled])
        if key not in cache_of(self, "_pushforwards_cache"):
            for op in self._nested_ops():
                if op.push_rule is None:
                    types = tuple([v.type for v in op.graph.inputs])
                    op._pushforward_op(tuple(range(len(types))), types)
        return _applied(self._pushforward_op(*key), [*inputs, *filled])

    def _pushforward_op(self, live: tuple[int, ...], types: tuple[Type, ...]) -> Derived:
        """The op that computes the tangents of the outputs, for tangents of these types of the ``live`` inputs."""
        cache = cache_of(self, "_pushforwards_cache")
        if (live, types) not in cache:
            fresh = [v.type.make_variable() for v in self.graph.inputs]
            seeds = [type_.make_variable() for type_ in types]
            pushed = pushforward(
                self.graph.bind(fresh),
                [fresh[i] for i in live],
                seeds,
                disconnected_outputs="ignore",
                return_disconnected="none",
            )
            cache[live, types] = self._derived("pushforward", [*fresh, *seeds], pushed)
        op: Derived = cache[live, types]
        return op

    def _derived(self, what: str, variables: Sequence[Variable], terms: Sequence[Any]) -> Derived:
        """The derivatives ``terms``, which are graphs of ``variables``, as outputs of one new op.

        Entries that are None or undefined stay as they are.
        """
        usable = [isinstance(g, Variable) and not isinstance(g.type, NullType) for g in terms]
        outputs = [g for g, use in zip(terms, usable, strict=True) if use]
        if not outputs:
            return None, list(terms), usable
        name = f"{self.name or 'OpFromGraph'}_{what}"
        op = self.derived_class(variables, outputs, inline=self.inline, name=name)
        others = [None if use else g for g, use in zip(terms, usable, strict=True)]
        return op, others, usable

    def __str__(self) -> str:
        kind = type(self).__name__
        shown = f"{kind}{{{self.name}}}" if self.name else kind
        return f"{shown}{{inline}}" if self.inline else shown


OpFromGraph.derived_class = OpFromGraph


class _Copy:
    """The copy of a frozen graph with ``values`` in place of its inputs, which takes the place of ``node``."""

    def __init__(
        self, graph: FrozenFunctionGraph, values: Sequence[Variable], node: Apply | None = None
    ) -> None:
        self.graph = graph
        self.node = node
        self.remaining = iter(graph.nodes)
        self._copies: dict[Variable, Variable] = {
            v: v.type.filter_variable(value) for v, value in zip(graph.inputs, values, strict=True)
        }

    def copies(self, variables: Sequence[Variable]) -> list[Variable]:
        """The copies of variables of the graph. Constants, and what is computed from them, are not copied."""
        return [self._copies.get(v, v) for v in variables]

    def note(self, node: Apply, outputs: Sequence[Variable]) -> None:
        """Take ``outputs`` as the copies of the outputs of a node of the graph."""
        self._copies.update(zip(node.outputs, outputs, strict=True))


def _opened(graph: FrozenFunctionGraph, values: Sequence[Variable], every: bool) -> list[Variable]:
    """A copy of a graph, with nested ops replaced as `OpFromGraph.inlined` says. Deep nests need no recursion.

    Equal ops with the same inputs are opened once: the derivative of each graph computes the graph inside of it again.
    """
    done: dict[Any, list[Variable]] = {}
    stack = [_Copy(graph, values)]
    while True:
        copy = stack[-1]
        for node in copy.remaining:
            op, inputs = node.op, copy.copies(node.inputs)
            if isinstance(op, OpFromGraph) and OpFromGraph in op.computes_as:
                if every or op.inline:
                    results = done.get((op, *inputs)) if op.pure else None
                    if results is None:
                        stack.append(_Copy(op.graph, inputs, node))
                        break
                    copy.note(node, results)
                    continue
            if any(new is not old for new, old in zip(inputs, node.inputs, strict=True)):
                copy.note(node, node.clone_with_new_inputs(inputs).outputs)
        else:
            stack.pop()
            outputs = copy.copies(copy.graph.outputs)
            if copy.node is None:
                return outputs
            stack[-1].note(copy.node, outputs)
            done[copy.node.op, *stack[-1].copies(copy.node.inputs)] = outputs


def _applied(derived: Derived, arguments: Sequence[Variable]) -> list[Any]:
    op, others, usable = derived
    results = iter(() if op is None else op(*arguments, return_list=True))
    return [next(results) if use else g for g, use in zip(others, usable, strict=True)]


def _check(inputs: Any, outputs: Any, options: Mapping[str, Any]) -> list[SharedVariable]:
    """The shared variables that the outputs need besides the inputs. An error for bad arguments of `OpFromGraph`."""
    for what, argument in (("inputs", inputs), ("outputs", outputs)):
        if not is_list(argument):
            raise TypeError(f"The {what} of OpFromGraph must be a list, got {argument!r}")
        for each in argument:
            if not isinstance(each, Variable):
                raise TypeError(f"The {what} of OpFromGraph must be variables, got {each!r}")
    for option in ("updates", "givens"):
        if option in options:
            raise NotImplementedError(f"OpFromGraph has no {option}")
    if options:
        warnings.warn(
            f"OpFromGraph does not take {', '.join(sorted(options))}", FutureWarning, stacklevel=3
        )
    if len(set(inputs)) != len(inputs):
        twice = next(v for v in inputs if inputs.count(v) > 1)
        raise ValueError(f"{describe(twice)} is an input of OpFromGraph twice")
    input_set = set(inputs)
    shareds: list[SharedVariable] = []
    for variable in ancestors(outputs, input_set):
        if isinstance(variable, SharedVariable) and variable not in input_set:
            shareds.append(variable)
        elif (
            variable.owner is None
            and variable not in input_set
            and not isinstance(variable, AtomicVariable)
        ):
            raise explained(
                MissingInputError(
                    f"{describe(variable)} is needed for the outputs of OpFromGraph, and is no input"
                ),
                "MissingInputError",
            )
    return shareds


def _chosen(
    rule: Derivative, older: Derivative, old_name: str, name: str
) -> Rule | tuple[Rule, ...]:
    """The rule, or tuple of rules, that the user passed as argument ``name`` or under its older name ``old_name``."""
    if older is not None:
        if rule is not None:
            raise TypeError(f"{old_name} is the older name of {name}; give one of them")
        warnings.warn(f"{old_name} is now called {name}", DeprecationWarning, stacklevel=3)
        rule = older
    return tuple(rule) if is_list_or_tuple(rule) else rule


def _apply(
    rule: Callable[..., Any] | OpFromGraph,
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    seeds: Sequence[Any],
) -> Any:
    if isinstance(rule, OpFromGraph):
        return rule(*inputs, *outputs, *seeds, return_list=True)
    with at_line(None):  # a function of the user, whose lines are wanted
        return rule(list(inputs), list(outputs), list(seeds))


def _checked(op: OpFromGraph, derivative: Any, count: int) -> list[Any]:
    results = list(derivative) if is_list_or_tuple(derivative) else [derivative]
    if len(results) != count:
        raise ValueError(f"The derivative of {op} must have {count} parts, got {len(results)}")
    return results


# saving: the user's functions are saved by name


def _encode(op: OpFromGraph, arrays: Arrays) -> Any:
    return {
        "graph": encode(op.graph, arrays),
        "inline": op.inline,
        "name": op.name,
        "rules": [_encode_rule(r, arrays) for r in (op.pull_rule, op.push_rule)],
        "pattern": op.declared_pattern,
    }


def _encode_rule(rule: Rule | tuple[Rule, ...], arrays: Arrays) -> Any:
    if rule is None:
        return None
    if is_tuple(rule):
        return [_encode_rule(r, arrays) for r in rule]
    if isinstance(rule, OpFromGraph):
        return {"op": _encode(rule, arrays)}
    name = class_name(rule)
    if loaded(name) is rule:
        return {"function": name}
    # no function can be found by this name: the key identifies it in this process only
    return {"function": f"{name}@{id(rule)}"}


def _decode(plain: Any, arrays: Arrays) -> OpFromGraph:
    graph: FrozenFunctionGraph = decode(plain["graph"], arrays)
    pull, push = (_decode_rules(r, arrays) for r in plain["rules"])
    inputs = [v.type.make_variable() for v in graph.inputs]
    return OpFromGraph(
        inputs,
        graph.bind(inputs),
        inline=plain["inline"],
        name=plain["name"],
        pullback=pull,
        pushforward=push,
        # graphs that were saved by the first versions have no pattern
        connection_pattern=plain.get("pattern"),
    )


def _decode_rules(plain: Any, arrays: Arrays) -> Derivative:
    return (
        [_decode_rule(r, arrays) for r in plain] if is_list(plain) else _decode_rule(plain, arrays)
    )


def _decode_rule(plain: Any, arrays: Arrays) -> Rule:
    if plain is None:
        return None
    if "op" in plain:
        return _decode(plain["op"], arrays)
    return named(plain["function"], "derivative")


register_coder(OpFromGraph, _encode, _decode)
