"""Patterns in the form of nested tuples, as similar libraries have them: converted to patterns, matched, and built again.

`convert_strs_to_vars` makes a `Pattern` of a tuple, `match_pattern` finds what its wildcards stand for at a node, and
`reify_pattern` builds an expression of what was found. All matching is that of `pattern.match`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from occelo_graph import Apply, Constant, Op, Variable
from occelo_graph import tensor as ot
from occelo_graph.errors import explained_by
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.narrowing import is_array, is_dict, is_tuple
from occelo_rewrite.constants import number_of
from occelo_rewrite.patterns.node_rule import OpPattern, is_op_pattern
from occelo_rewrite.patterns.pattern import (
    REST,
    Call,
    Number,
    Pattern,
    Rest,
    Wild,
    match,
    match_variable,
)


@frozen_dataclass
class LiteralString:
    """A text that is the value of an op's field in a pattern, and no wildcard. ``value`` is the text."""

    value: str


class PatternVar(Wild):
    """A wildcard with the name ``token``, for what satisfies ``constraint``. Wildcards of one name are equal."""

    def __init__(self, token: str, constraint: Callable[[Any], bool] | None = None) -> None:
        super().__init__(token, constraint)

    @property
    def token(self) -> str:
        """The name."""
        return self.name

    @property
    def constraint(self) -> Callable[[Any], bool] | None:
        """The condition, or None."""
        return self.where

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PatternVar) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"PatternVar({self.name!r}{', constraint=...' if self.where else ''})"


class ConstrainedVar(PatternVar):
    """A `PatternVar` whose ``constraint`` comes first. Without a ``token``, its name is made from ``prefix``."""

    def __init__(
        self, constraint: Callable[[Any], bool], token: str | None = None, prefix: str = ""
    ) -> None:
        super().__init__(f"{prefix}_constrained" if token is None else token, constraint)


class Asterisk(Rest):
    """The last argument of a pattern: all inputs that the arguments before it leave over, as a tuple named ``token``."""

    def __init__(self, token: str) -> None:
        super().__init__(token)

    @property
    def token(self) -> str:
        """The name."""
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Asterisk) and other.name == self.name

    def __hash__(self) -> int:
        return hash((Asterisk, self.name))

    def __repr__(self) -> str:
        return f"Asterisk({self.name!r})"


class _Given(Wild):
    """A pattern of one variable, or of constants with the elements of one."""

    def __init__(self, label: str, variable: Variable) -> None:
        super().__init__(label, self._is_it)
        object.__setattr__(self, "variable", variable)

    def _is_it(self, other: Variable) -> bool:
        own: Any = vars(self)["variable"]
        if not isinstance(own, Constant) or not isinstance(other, Constant):
            return other is own
        value = number_of(own)
        return own.equals(other) or (value is not None and number_of(other) == value)


class Conversion:
    """Converts tuples to patterns.

    ``variables`` maps names to their wildcards. ``inner`` lists the labels of all nodes of converted patterns, the root
    last, and ``constraints`` pairs labels of nodes with the conditions on their results.
    """

    def __init__(self, variables: dict[str, Any] | None = None) -> None:
        self.variables: dict[str, Any] = {} if variables is None else variables
        self.inner: list[str] = []
        self.constraints: list[tuple[str, Callable[[Any], bool]]] = []
        self._numbers = itertools.count()

    def pattern(self, given: Any) -> Any:
        """The pattern for ``given``: a tuple, text, number, constant, dict with a condition, or what is one already."""
        if is_tuple(given):
            return self._call(given)
        if isinstance(given, str):
            return self._named(PatternVar(given))
        if isinstance(given, Wild | Rest):
            return self._named(given)
        if isinstance(given, Pattern):
            return given
        if is_dict(given):
            return self._constrained(given["pattern"], given["constraint"])
        if is_op_pattern(given):
            return self._op(given)
        if isinstance(given, Variable):
            return _Given(self._label(), given)
        if isinstance(given, int | float | complex):
            return Number(given)
        if is_array(given):
            return self.pattern(ot.constant(np.asarray(given)))
        raise TypeError(f"A pattern consists of tuples, strings and numbers, got {given!r}")

    def _call(self, given: tuple[Any, ...]) -> Call:
        head: Any = given[0] if given else None
        if not isinstance(head, Op | type) and not is_op_pattern(head):
            raise TypeError(f"A pattern is a tuple of an op and arguments, got {given!r}")
        args = tuple(map(self.pattern, given[1:]))
        if any(isinstance(each, Rest) for each in args[:-1]):
            raise TypeError(f"An Asterisk must be the last argument of a pattern, got {given!r}")
        self.inner.append(self._label())
        return Call(self._op(head) if is_op_pattern(head) else head, args, self.inner[-1])

    def _op(self, given: OpPattern[Any]) -> OpPattern[Any]:
        def field(value: Any) -> Any:
            if isinstance(value, LiteralString):
                return value.value
            return self.pattern(value) if isinstance(value, str | OpPattern | dict) else value

        return OpPattern(given.op_type, tuple((k, field(v)) for k, v in given.parameters))

    def _named(self, wildcard: Any) -> Any:
        earlier = self.variables.setdefault(wildcard.name, wildcard)
        if isinstance(earlier, Rest) != isinstance(wildcard, Rest):
            raise TypeError(f"{wildcard.name} is an Asterisk and a wildcard in the pattern")
        if isinstance(wildcard, Wild) and wildcard.where not in (None, earlier.where):
            if earlier.where is not None:
                raise ValueError(f"{wildcard.name} has two constraints in the pattern")
            self.variables[wildcard.name] = wildcard
            return wildcard
        return earlier

    def _constrained(self, given: Any, constraint: Callable[[Any], bool]) -> Any:
        inner = self.pattern(given)
        if isinstance(inner, Wild):
            return self._named(PatternVar(inner.name, constraint))
        if isinstance(inner, Call):
            self.constraints.append((inner.name, constraint))
        return inner

    def _label(self) -> str:
        return f"*{next(self._numbers)}"


@explained_by("rules")
def convert_strs_to_vars(x: Any, var_map: dict[str, Any] | None = None) -> Any:
    """Convert ``x``, nested tuples, to a pattern. Texts become wildcards, which ``var_map`` collects by name.

    A tuple is an op, a class of ops or an `OpPattern` with its arguments; a dict has a ``"pattern"`` and a
    ``"constraint"``. TypeError for anything that cannot be a part of a pattern, ValueError for two conditions on one name.
    """
    return Conversion(var_map).pattern(x)


@explained_by("rules")
def match_pattern(
    pattern: Any, node: Apply, subs: Mapping[Any, Any] | None = None
) -> dict[Any, Any] | None:
    """What the wildcards of ``pattern`` stand for at ``node``, by wildcard; None if there is no match.

    ``subs`` has what some wildcards must stand for. Sums and products match in any order of their operands.
    """
    given: Any = node
    if not isinstance(given, Apply):
        raise TypeError(f"A pattern is matched at an apply node, such as y.owner, got {node!r}")
    pattern = pattern if isinstance(pattern, Pattern) else convert_strs_to_vars(pattern)
    for bound in match(pattern, node, _by_name(subs)):
        if REST not in bound:
            return _by_wildcard(pattern, bound, subs)
    return None


def _by_name(subs: Mapping[Any, Any] | None) -> dict[str, Any]:
    try:
        return {each.name: value for each, value in (subs or {}).items()}
    except AttributeError:  # of what is no dict, and of a key that is no wildcard
        text = f"The values of wildcards are a dict by wildcards, got {subs!r}"
        raise TypeError(text) from None


def _by_wildcard(
    pattern: Any, bound: Mapping[str, Any], subs: Mapping[Any, Any] | None
) -> dict[Any, Any]:
    substitution = dict(subs or {})
    for each in _wildcards(pattern):
        if not each.name.startswith("*"):
            substitution[each] = bound[each.name]
    return substitution


def _wildcards(pattern: Any) -> list[Any]:
    if isinstance(pattern, Call):
        fields = [v for _, v in pattern.op.parameters] if is_op_pattern(pattern.op) else []
        return [each for part in (*fields, *pattern.args) for each in _wildcards(part)]
    if is_op_pattern(pattern):
        return [each for _, part in pattern.parameters for each in _wildcards(part)]
    return [pattern] if isinstance(pattern, Wild | Rest) else []


@explained_by("rules")
def reify_pattern(pattern: Any, subs: Mapping[Any, Any]) -> Any:
    """The expression that ``pattern`` describes, with the values of ``subs`` for its wildcards.

    An `OpPattern` becomes the op of its class with its fields. ValueError for a wildcard that has no value.
    """
    if isinstance(pattern, _Given):
        return vars(pattern)["variable"]
    if isinstance(pattern, Wild | Rest):
        if pattern not in subs:
            raise ValueError(f"The pattern has a wildcard without a value: {pattern.name}")
        return subs[pattern]
    if isinstance(pattern, LiteralString):
        return pattern.value
    if isinstance(pattern, Number):
        return ot.constant(pattern.value)
    if is_op_pattern(pattern):
        return pattern.op_type(**{k: reify_pattern(v, subs) for k, v in pattern.parameters})
    if not isinstance(pattern, Call):
        return pattern
    inputs: list[Any] = []
    for part in pattern.args:
        built = reify_pattern(part, subs)
        inputs += built if isinstance(part, Rest) else [built]
    op: Any = reify_pattern(pattern.op, subs)
    return op(*inputs)


@explained_by("rules")
def unify(u: Any, v: Any, s: Mapping[Any, Any] | None = None) -> Any:
    """The smallest extension of ``s`` by which the pattern ``u`` becomes the variable ``v``; False if there is none.

    ``u`` is a pattern, or tuples that `convert_strs_to_vars` takes. The result maps wildcards to what they stand for.
    """
    pattern = u if isinstance(u, Pattern) else convert_strs_to_vars(u)
    for bound in match_variable(pattern, v, _by_name(s)):
        if REST not in bound:
            return _by_wildcard(pattern, bound, s)
    return False


@explained_by("rules")
def reify(e: Any, s: Mapping[Any, Any]) -> Any:
    """The pattern ``e``, or tuples, with the values of ``s`` for its wildcards: the inverse of `unify`."""
    return reify_pattern(e if isinstance(e, Pattern) else convert_strs_to_vars(e), s)
