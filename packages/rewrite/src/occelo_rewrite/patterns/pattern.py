"""Patterns of rules: expressions with wildcards, and `match`, which finds them at a node.

    x, y = wild("x y")
    p.log(1 + p.exp(x))                   # written as the expression itself
    call(CAReduce, p.exp(x), name="s")    # any reduction, over any axes; the node is bound to ``s``

A `Wild` matches any variable; if it occurs twice, it must match the same variable twice. A `Number` matches a constant
with equal elements. `p` has a function for each elementwise function, which builds a pattern. `call` builds a pattern
of an op, of all ops of a class, or of those that an `OpPattern` describes (such as all sums). Operators build what graphs
have once they are canonical: ``x ** 2`` and ``x * x`` are ``p.sqr(x)``, and ``1 / x`` is ``p.reciprocal(x)``.

Sums and products match in any order, and may have more operands than the pattern. At the root of a pattern, left-over
operands are added to the replacement (in a product: multiplied with it). Below the root, the last wildcard of a sum or
product takes all operands that no other part of the pattern matches. If they are several, it binds a new variable, their
sum or product.

Most rules for elementwise functions, and some for reductions, consist of a pattern and the decorator of `pattern_rule`.
`tuple_patterns` translates nested tuples to patterns.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from occelo_graph import Apply, Constant, Op, Variable
from occelo_graph.applicable import check_classes
from occelo_graph.errors import explained, explained_by
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_rewrite.constants import plain_number_of
from occelo_rewrite.patterns.node_rule import OpPattern, Wildcard, is_op_pattern

Bindings = dict[str, Any]
REST = "*rest"
"""The key, in the dict of a match, of the left-over operands of a sum or product at the root."""


class Pattern:
    """Base class of patterns. Python's operators combine patterns into larger patterns."""

    def __add__(self, other: Any) -> Call:
        return p.add(self, other)

    def __radd__(self, other: Any) -> Call:
        return p.add(other, self)

    def __sub__(self, other: Any) -> Call:
        return p.sub(self, other)

    def __rsub__(self, other: Any) -> Call:
        return p.sub(other, self)

    def __mul__(self, other: Any) -> Call:
        return p.sqr(self) if other is self else p.mul(self, other)

    def __rmul__(self, other: Any) -> Call:
        return p.mul(other, self)

    def __truediv__(self, other: Any) -> Call:
        return p.true_div(self, other)

    def __rtruediv__(self, other: Any) -> Call:
        return p.reciprocal(self) if _is_number(other, 1) else p.true_div(other, self)

    def __pow__(self, other: Any) -> Call:
        return p.sqr(self) if _is_number(other, 2) else p.pow(self, other)

    def __rpow__(self, other: Any) -> Call:
        return p.pow(other, self)

    def __neg__(self) -> Call:
        return p.neg(self)


@frozen_dataclass(eq=False)
class Wild(Pattern, Wildcard):
    """A wildcard: it matches every variable that satisfies ``where``, or, if ``where`` is None, every variable."""

    name: str
    where: Callable[[Any], bool] | None = None

    def __str__(self) -> str:
        return self.name


@frozen_dataclass(eq=False)
class Number(Pattern):
    """A pattern of constants with equal elements.

    The elements equal ``value``, unless it is None, and satisfy ``where``, unless it is None. A match binds the number
    to ``name``, as a Python number.
    """

    value: Any = None
    name: str = ""
    where: Callable[[Any], bool] | None = None

    def __str__(self) -> str:
        return self.name or str(self.value)


@frozen_dataclass(eq=False)
class Rest(Pattern):
    """The last argument of a pattern, which binds a tuple of the inputs that the other arguments leave over."""

    name: str

    def __str__(self) -> str:
        return f"*{self.name}"


@frozen_dataclass(eq=False)
class Call(Pattern):
    """A pattern of an op, or of any op of a class, applied to patterns.

    A match binds the node to ``name``, if there is one.
    """

    op: Any
    args: tuple[Pattern, ...]
    name: str = ""

    @functools.cached_property
    def is_variadic(self) -> bool:
        """Whether the op is a sum or product of any number of operands, which match in any order."""
        op = self.op
        return isinstance(op, Elemwise) and op.commutative and op.scalar_op.nin is None

    @functools.cached_property
    def rest(self) -> Rest | None:
        """The argument for the inputs that are left over, if there is one."""
        last = self.args[-1] if self.args else None
        return last if isinstance(last, Rest) else None

    @functools.cached_property
    def _least(self) -> tuple[tuple[Pattern, int], ...]:
        """For each kind of argument: one argument of this kind, and the number of arguments of this kind.

        All arguments with the same op are of one kind, and so are all `Number` patterns. Wildcards are left out. A node
        can match only if at least that number of its operands may match the argument.
        """
        kinds: dict[Any, list[Pattern]] = {}
        for part in self.args:
            if not isinstance(part, Wild | Rest):
                kinds.setdefault(part.op if isinstance(part, Call) else Number, []).append(part)
        return tuple([(parts[0], len(parts)) for parts in kinds.values()])

    @functools.cached_property
    def _repeats(self) -> bool:
        """Whether a wildcard occurs twice among the arguments, so that two operands must be the same variable."""
        names = [part.name for part in self.args if isinstance(part, Wild)]
        return len(set(names)) < len(names)

    def may_match(self, node: Apply) -> bool:
        """A quick test of a node's inputs. False means that the pattern cannot match."""
        inputs = node.inputs
        if self.rest is not None:
            return len(inputs) >= len(self.args) - 1
        if self.is_variadic:
            if len(inputs) < len(self.args) or (self._repeats and len({*inputs}) == len(inputs)):
                return False
            for part, least in self._least:
                if len([v for v in inputs if _may_be(part, v)]) < least:
                    return False
            return True
        if len(inputs) != len(self.args) or (self._repeats and len({*inputs}) == len(inputs)):
            return False
        if len(inputs) == 2 and node.op.commutative:
            return True
        for part, v in zip(self.args, inputs, strict=True):
            if not _may_be(part, v):
                return False
        return True

    def applies_to(self, op: Op) -> bool:
        """Whether nodes of ``op`` may match the pattern."""
        expected = self.op
        if isinstance(expected, OpPattern):
            return expected.matches(op)
        if isinstance(expected, type):
            return expected in op.computes_as
        if isinstance(expected, Elemwise):
            # there is one scalar op for each name
            return (
                isinstance(op, Elemwise)
                and op.scalar_op is expected.scalar_op
                and op.inplace == expected.inplace
            )
        return expected is op or bool(expected == op)

    def __str__(self) -> str:
        named = getattr(self.op, "op_type", self.op)
        name = getattr(named, "__name__", named)
        return f"{name}({', '.join(str(a) for a in self.args)})"


def _may_be(part: Pattern, variable: Variable) -> bool:
    if isinstance(part, Call):
        return variable.owner is not None and part.applies_to(variable.owner.op)
    return isinstance(variable, Constant) or not isinstance(part, Number)


@explained_by("rules")
def wild(names: str, where: Callable[[Any], bool] | None = None) -> Any:
    """Wildcards with the names in ``names``, which are separated by spaces: a tuple, or one wildcard for one name.

    ``where`` is a condition on the variables that they match.
    """
    if not isinstance(cast("object", names), str) or not names.split():
        raise TypeError(f"Wildcards have names, as in wild('x y'), got {names!r}")
    wildcards = [Wild(n, where) for n in names.split()]
    return tuple(wildcards) if len(wildcards) > 1 else wildcards[0]


@explained_by("rules")
def number(name: str, where: Callable[[Any], bool] | None = None) -> Number:
    """A pattern of any constant with equal elements, under ``name``.

    ``where`` is a condition on the Python number that they equal.
    """
    if not isinstance(cast("object", name), str):
        raise TypeError(
            f"A number of a pattern has a name, got {name!r}; a fixed one is written as it is"
        )
    return Number(None, name, where)


def _is_number(value: object, number: int) -> bool:
    return isinstance(value, int | float) and value == number


def _as_pattern(value: Any) -> Pattern:
    if isinstance(value, Pattern):
        return value
    if isinstance(value, bool | int | float | complex):
        return Number(value)
    raise explained(
        TypeError(f"A pattern consists of wildcards, numbers and calls, got {value!r}"), "rules"
    )


def call(op: Op | OpPattern | type[Op], *args: Any, name: str = "") -> Call:
    """A pattern of ``op``, or of any op of a class, applied to the patterns ``args``. A match binds ``name`` to the result."""
    if not isinstance(op, Op | OpPattern):
        check_classes("A pattern", [op], "p")
    return Call(op, tuple(_as_pattern(a) for a in args), name)


class _Functions:
    """A namespace with a function for each elementwise function, which builds a pattern, as in ``p.exp(x)``."""

    def __getattr__(self, name: str) -> Callable[..., Call]:
        if name.startswith("__"):
            raise AttributeError(name)
        op = Elemwise(ScalarFunction(name))

        def make(*args: Any, name: str = "") -> Call:
            return call(op, *args, name=name)

        self.__dict__[name] = make
        return make


p: Any = _Functions()
p.__doc__ = "Builds patterns of elementwise functions, as in ``p.exp(x)``."


def names_of(pattern: Pattern) -> dict[str, type[Pattern]]:
    """The names that a match of a pattern binds, each with the class of its pattern: `Wild`, `Number` or `Call`."""
    bound: dict[str, type[Pattern]] = {}
    _add_names(pattern, bound)
    return bound


def _add_names(pattern: Any, bound: dict[str, type[Pattern]]) -> None:
    name: str = pattern.name
    own: type[Pattern] = pattern.__class__
    if name:
        if name in bound and (own is Call or bound[name] is not own):
            raise ValueError(f"{name} stands for two things in the pattern")
        bound[name] = own
    if own is Call:
        for part in pattern.args:
            _add_names(part, bound)


def match(
    pattern: Call, node: Apply, known: Mapping[str, Any] = MappingProxyType({})
) -> Iterator[Bindings]:
    """All ways in which a pattern matches a node. Each is a dict from names to variables, numbers and nodes.

    ``known`` has what some names must stand for.
    """
    if pattern.applies_to(node.op) and pattern.may_match(node):
        yield from _match_node(pattern, node, dict(known), True)


def match_variable(pattern: Pattern, variable: Variable, known: Bindings) -> Iterator[Bindings]:
    """All ways in which a pattern matches a variable, as `match` yields them."""
    yield from _match(pattern, variable, dict(known))


def _match(pattern: Pattern, variable: Variable, bound: Bindings) -> Iterator[Bindings]:
    if isinstance(pattern, Call):
        owner = variable.owner
        if owner is not None and pattern.applies_to(owner.op) and pattern.may_match(owner):
            yield from _match_node(pattern, owner, bound, False)
    elif isinstance(pattern, Wild):
        value = bound.get(pattern.name)
        if value is not None:
            if value is variable or (isinstance(value, Constant) and value.equals(variable)):
                yield bound
        elif pattern.where is None or pattern.where(variable):
            yield {**bound, pattern.name: variable}
    elif isinstance(pattern, Number):
        number = plain_number_of(variable) if isinstance(variable, Constant) else None
        if number is None or (pattern.value is not None and number != pattern.value):
            return
        if pattern.where is not None and not pattern.where(number):
            return
        if pattern.name in bound:
            if bound[pattern.name] == number:
                yield bound
        else:
            yield {**bound, pattern.name: number} if pattern.name else bound


def _match_node(pattern: Call, node: Apply, bound: Bindings, root: bool) -> Iterator[Bindings]:
    if pattern.name:
        bound = {**bound, pattern.name: node}
    if is_op_pattern(pattern.op):
        fields = _with_fields(pattern.op, node.op, bound)
        if fields is None:
            return
        bound = fields
    if pattern.rest is not None:
        yield from _match_rest(pattern, node, bound)
        return
    if pattern.is_variadic:
        yield from _match_any_order(pattern, node, bound, root)
        return
    if len(node.inputs) != len(pattern.args):
        return
    yield from _match_all(pattern.args, node.inputs, bound)
    if getattr(node.op, "commutative", False) and len(node.inputs) == 2:
        yield from _match_all(pattern.args, node.inputs[::-1], bound)


def _with_fields(pattern: OpPattern[Any], op: Any, bound: Bindings) -> Bindings | None:
    """``bound``, and what the wildcards among the fields of a pattern of ops stand for; None if they do not match."""
    for name, field in pattern.parameters:
        value = getattr(op, name)
        if is_op_pattern(field):
            bindings = _with_fields(field, value, bound)
            if bindings is None:
                return None
            bound = bindings
        elif isinstance(field, Wild):
            if field.name in bound:
                if not bool(bound[field.name] == value):
                    return None
            elif field.where is not None and not field.where(value):
                return None
            bound = {**bound, field.name: value}
    return bound


def _match_rest(pattern: Call, node: Apply, bound: Bindings) -> Iterator[Bindings]:
    assert pattern.rest is not None
    fixed, name = pattern.args[:-1], pattern.rest.name
    if node.op.commutative:
        ways = _choose(fixed, list(node.inputs), bound)
    else:
        first, last = node.inputs[: len(fixed)], list(node.inputs[len(fixed) :])
        ways = ((f, last) for f in (_match_all(fixed, first, bound) if fixed else [bound]))
    for bindings, left in ways:
        if bindings.get(name, tuple(left)) == tuple(left):
            yield {**bindings, name: tuple(left)}


def _match_all(
    patterns: Sequence[Pattern], variables: Sequence[Variable], bound: Bindings
) -> Iterator[Bindings]:
    if len(patterns) == 1:
        yield from _match(patterns[0], variables[0], bound)
        return
    for bindings in _match(patterns[0], variables[0], bound):
        yield from _match_all(patterns[1:], variables[1:], bindings)


def _match_any_order(pattern: Call, node: Apply, bound: Bindings, root: bool) -> Iterator[Bindings]:
    operands = list(node.inputs)
    if len(operands) < len(pattern.args):
        return
    # the most specific patterns come first, so that wildcards match the remaining operands
    order = sorted(
        pattern.args, key=lambda a: 0 if isinstance(a, Call) else 1 if isinstance(a, Number) else 2
    )
    for bindings, rest in _choose(order, operands, bound):
        if not rest:
            yield bindings
        elif root:
            yield {**bindings, REST: rest}
        elif isinstance(order[-1], Wild) and order[-1].name not in bound:
            # the last wildcard also binds all remaining operands
            name = order[-1].name
            whole = pattern.op(bindings[name], *rest)
            if order[-1].where is None or order[-1].where(whole):
                yield {**bindings, name: whole}
            return


def _choose(
    patterns: Sequence[Pattern], operands: list[Variable], bound: Bindings
) -> Iterator[tuple[Bindings, list[Variable]]]:
    if not patterns:
        yield bound, operands
        return
    for position, operand in enumerate(operands):
        for merged in _match(patterns[0], operand, bound):
            yield from _choose(patterns[1:], operands[:position] + operands[position + 1 :], merged)
