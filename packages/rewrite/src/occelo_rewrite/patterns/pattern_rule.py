"""`rule`: a decorator that makes a rule (`PatternRule`) from patterns and a function.

The function gets what a match binds, and returns the replacement. Users find the decorator in `occelo_rewrite`.
`rules.reduce` and the modules of `rules.elemwise` use `rules.matching.rule_of_floats`, the same decorator with other
defaults. `pattern` has the functions that build patterns.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any, Literal

import numpy as np

from occelo_graph import Apply, Constant, FunctionGraph, Op, Variable
from occelo_graph.errors import explained, explained_by
from occelo_graph.extensions import is_external
from occelo_graph.fgraph.features import Feature
from occelo_graph.narrowing import is_class
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.tensor import cast
from occelo_graph.tensors.type import is_complex, is_float
from occelo_rewrite.patterns.node_rule import NodeRewriter
from occelo_rewrite.patterns.pattern import REST, Bindings, Call, Number, Wild, match, names_of
from occelo_rewrite.shaped_like import shaped_like

LawFunction = Callable[..., Variable | Sequence[Variable | None] | Literal[False] | None]
"""The function of a rule: it gets the bindings of a match as keyword arguments, and returns the replacement."""

_KINDS: dict[str, Callable[[str], bool]] = {
    "float": is_float,
    "inexact": lambda dtype: is_float(dtype) or is_complex(dtype),
    "any": lambda dtype: True,
}


_GIVEN = frozenset(("node", "fgraph"))
"""The parameters of rules that are not bound by a pattern."""


def _parameters(function: Callable[..., Any]) -> tuple[tuple[str, ...], set[str]]:
    """The names of a function's parameters, and the names of those without a default."""
    if isinstance(function, FunctionType) and not hasattr(function, "__wrapped__"):
        code = function.__code__  # `inspect.signature` would be slow for so many rules
        if not (code.co_posonlyargcount or code.co_kwonlyargcount):
            names = code.co_varnames[: code.co_argcount]
            return names, {*names[: len(names) - len(function.__defaults__ or ())]}
    declared = inspect.signature(function).parameters.values()
    if only := [each.name for each in declared if each.kind is each.POSITIONAL_ONLY]:
        raise TypeError(
            f"Rules take what is bound by name, but {only[0]} can only be given in order"
        )
    named = [each for each in declared if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    return tuple([e.name for e in named]), {e.name for e in named if e.default is e.empty}


def _wanted(function: Callable[..., Any], patterns: Sequence[Call]) -> list[tuple[str, ...]]:
    """For each pattern, the parameters of a rule's function that get an argument: what the pattern binds, and `_GIVEN`.

    ValueError if a pattern does not bind a parameter without a default.
    """
    names, needed = _parameters(function)
    parameters: list[tuple[str, ...]] = []
    for pattern in patterns:
        bound = names_of(pattern)
        if any(n in bound for n in _GIVEN):
            raise explained(
                ValueError(
                    f"node and fgraph are what a rule is tried at, so {pattern} may not bind them"
                ),
                "rules",
            )
        if not (lacking := needed - bound.keys() - _GIVEN):
            parameters.append(tuple([n for n in names if n in bound or n in _GIVEN]))
            continue
        first = next(n for n in names if n in lacking)
        raise explained(
            ValueError(
                f"The rule {getattr(function, '__name__', function)} takes {first}, which the pattern {pattern} "
                f"does not bind; it binds {', '.join(sorted(bound)) or 'nothing'}, and node and fgraph can be taken"
            ),
            "rules",
        )
    return parameters


def _needed_below(patterns: Sequence[Call]) -> set[Any]:
    """The ``below`` of the rule (see `NodeRewriter`): a quick test of a node's inputs.

    If no input of a node fits the set, none of the patterns can match at the node. An empty set tests nothing.
    """
    needed: set[Any] = set()
    for pattern in patterns:
        calls = [a.op for a in pattern.args if isinstance(a, Call)]
        if calls:
            op = calls[0]
            if isinstance(op, Elemwise):
                needed.add(op.scalar_op)
                continue
            own: type[Any] = op.__class__
            cls = op if is_class(op) else getattr(op, "op_type", own)
            if not is_class(cls):
                return set()
            if issubclass(Elemwise, cls) and cls is not Elemwise:
                return set()
            needed.add(cls)
        elif numbers := [a.value for a in pattern.args if isinstance(a, Number)]:
            needed.add(Constant if numbers[0] is None else numbers[0])
        else:
            return set()
    return needed


def _named(pattern: Any, count: Iterator[int]) -> Any:
    """A copy of the pattern in which every `Call` has a name, so that a match binds all nodes."""
    if not isinstance(pattern, Call):
        return pattern
    args = tuple(_named(a, count) for a in pattern.args)
    return Call(pattern.op, args, pattern.name or f"*{next(count)}")


def _arguments(pattern: Call, bound: Bindings) -> Iterator[tuple[str, Apply]]:
    """The names of wildcards that are arguments of elementwise functions, each with the node of the function."""
    for position, arg in enumerate(pattern.args):
        if isinstance(arg, Call):
            yield from _arguments(arg, bound)
        elif isinstance(arg, Wild) and isinstance(pattern.op, Elemwise):
            if position or pattern.op.scalar_op.name != "switch":
                yield arg.name, bound[pattern.name]


def _as_computed(pattern: Call, bound: Bindings) -> None:
    """Cast the variables bound to arguments of elementwise functions to the dtype that the function computes in.

    A variable stays as it is if this dtype cannot hold all values of the variable's dtype.
    """
    for name, node in _arguments(pattern, bound):
        own: Any = bound[name].type
        target: Any = node.outputs[0].type
        if not own.is_array or target.dtype in ("bool", own.dtype):
            continue
        if np.can_cast(own.dtype, target.dtype, "safe"):
            bound[name] = cast(bound[name], target.dtype)


def _fitted(new: Any, old: Any) -> Any:
    """The replacement ``new``, cast and broadcast to the dtype and shape of ``old`` if ``old`` is a tensor."""
    return shaped_like(new, old) if old.type.is_array else new


class PatternRule(NodeRewriter):
    """A rule with patterns. Its function is called for one match after the other, until it returns a replacement.

    The bindings of the match are passed to the function's parameters of the same names. The function may also have the
    parameters ``node``, the matched node, and ``fgraph``, the function graph. If a pattern does not bind a parameter,
    the parameter keeps its default; ValueError if it has no default. The function returns the replacement, or None if
    the rule does not apply. For a node with several outputs it returns a list. Each replacement is cast and broadcast
    to the dtype and shape of the variable that it replaces.

    ``on`` is a condition on the dtype of the result: "float", "inexact" (floats and complex numbers) or "any", which is
    the default. Rules for results that are not tensors need "any".

    By default, arguments of elementwise functions are passed in the dtype that the function computes in. So x in the
    pattern ``exp(x)`` is a float even for exp of an integer. If ``same_dtype`` is True, the rule is tried only if all
    wildcards have the dtype of the result. If it is False, variables are passed without a cast.
    """

    @explained_by("rules")
    def __init__(
        self,
        function: LawFunction,
        patterns: Sequence[Call],
        on: str = "any",
        same_dtype: bool | None = None,
        tags: Sequence[str] = (),
        name: str | None = None,
        requirements: Sequence[Callable[[], Feature]] = (),
    ) -> None:
        if on not in _KINDS:
            raise ValueError(f"A rule is on {', '.join(map(repr, _KINDS))}, not on {on!r}")
        super().__init__(
            self._apply,
            [a.op for a in patterns],
            name or str(getattr(function, "__name__", type(function).__name__)),
            tags=tags,
            requirements=requirements,
            below=_needed_below(patterns),
        )
        self.law = function
        self._given = tuple(patterns)
        self.on = on
        self._fits = _KINDS[on]
        self.same_dtype = same_dtype
        self.__doc__ = function.__doc__
        if is_external(function):
            _ = self._wanted  # so that a wrong parameter raises an error when the rule is defined

    @functools.cached_property
    def _wanted(self) -> list[tuple[str, ...]]:
        """For each pattern, the names of the arguments to pass to the function.

        They are computed when the rule is first tried, since most rules are never tried.
        """
        return _wanted(self.law, self._given)

    @functools.cached_property
    def patterns(self) -> tuple[Call, ...]:
        """The patterns to match. If arguments are to be cast, each `Call` has a name, so that its node is bound."""
        count = itertools.count()
        return tuple([_named(a, count) if self.same_dtype is None else a for a in self._given])

    def _apply(self, fgraph: FunctionGraph, node: Apply) -> Any:
        kind = node.outputs[0].type
        dtype = kind.dtype or ""
        if not self._fits(dtype):
            return None
        for pattern, names in zip(self.patterns, self._wanted, strict=True):
            if not pattern.may_match(node):
                continue
            for bound in match(pattern, node):
                if self.same_dtype is None:
                    _as_computed(pattern, bound)
                elif self.same_dtype and not _one_dtype(bound, dtype):
                    continue
                result = self._result(fgraph, node, bound, names)
                if result is not None:
                    return result
        return None

    def _result(
        self, fgraph: FunctionGraph, node: Apply, bound: Bindings, names: tuple[str, ...]
    ) -> Any:
        rest = bound.pop(REST, None)
        if "node" in names:
            bound["node"] = node
        if "fgraph" in names:
            bound["fgraph"] = fgraph
        replacement = self.law(**{name: bound[name] for name in names})
        if replacement is None or replacement is False:
            return None
        if isinstance(replacement, list | tuple):
            results: Any = replacement
            return [
                None if new is None else _fitted(new, old)
                for new, old in zip(results, node.outputs, strict=True)
            ]
        if rest:
            operator: Op = node.op
            replacement = operator(*rest, replacement)
        return [_fitted(replacement, node.outputs[0])]


def _one_dtype(bound: dict[str, Any], dtype: str) -> bool:
    for name, value in bound.items():
        if name != REST and isinstance(value, Variable) and value.type.dtype not in (None, dtype):
            return False
    return True


def _check_root(pattern: object) -> None:
    if not isinstance(pattern, Call):
        kind = "a wildcard" if isinstance(pattern, Wild) else repr(pattern)
        raise TypeError(f"The root of a pattern is an op applied to something, not {kind}")


@explained_by("rules")
def rule(
    *patterns: Call,
    on: str = "any",
    same_dtype: bool | None = None,
    tags: Sequence[str] = (),
    name: str | None = None,
    requirements: Sequence[Callable[[], Feature]] = (),
) -> Callable[[LawFunction], PatternRule]:
    """Decorator that turns a function into a rule, which is tried where one of ``patterns`` matches.

    ``on``, ``same_dtype``, ``tags``, ``name`` and ``requirements`` are those of `PatternRule`.
    """
    if not patterns:
        raise TypeError("A rule needs at least one pattern")
    for pattern in patterns:
        _check_root(pattern)

    def decorate(function: LawFunction) -> PatternRule:
        return PatternRule(function, patterns, on, same_dtype, tags, name, requirements)

    return decorate
