"""Rules that are relations of miniKanren, between the variable that a node computes and its replacement.

Importing this module teaches the libraries ``logical-unification``, ``cons`` and ``etuples``, on which miniKanren rests,
what an expression is:

| object | first part | other parts |
|---|---|---|
| variable that a node computes, as the result of its op | the op | the inputs of the node |
| op, unless it is equal only to itself | its class | its static parameters |
| type of tensors | its class | its dtype and static shape |

Variables without a node, constants, and each of several results of one node have no parts. Constants are equal if their elements are, and a Python number is equal to
a constant of one number. These libraries are no requirement of the package: ``pip install 'occelo-rewrite[kanren]'``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

import numpy as np

from occelo_graph import Apply, Constant, FunctionGraph, Op, TensorType, Variable
from occelo_graph.narrowing import is_list
from occelo_rewrite.constants import number_of
from occelo_rewrite.patterns.node_rule import NodeRewriter, OpPattern
from occelo_rewrite.patterns.unifying import PatternVar

Goal = Callable[[Any], Iterator[Any]]


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"Relations in rules need {error.name}, which is not installed: pip install 'occelo-rewrite[kanren]'",
            name=error.name,
        ) from None


_cons, _etuples = _library("cons.core"), _library("etuples")
_unification = _library("unification.core")
_logic = _library("unification.variable")
_run = _library("kanren").run

ExpressionTuple = _library("etuples.core").ExpressionTuple


class KanrenRelationSub(NodeRewriter):
    """A rule that replaces the result of a node by what a relation finds for it.

    ``kanren_relation`` is called with the variable that a node computes (the list of all, if the node has several) and a logic
    variable for the replacement, and returns a goal. ``results_filter`` chooses from the iterator of all answers: by default the
    first. None, False or an empty list as answer means that the rule does not apply; a list is one answer for each output.
    ``node_filter`` says at which nodes the relation is tried; give it, since goals search, and may search without end.
    ValueError if an answer leaves a logic variable open.
    """

    def __init__(
        self,
        kanren_relation: Callable[[Any, Any], Goal],
        results_filter: Callable[[Iterator[Any]], Any] | None = None,
        node_filter: Callable[[Apply], bool] | None = None,
    ) -> None:
        self.kanren_relation = kanren_relation
        self.results_filter = results_filter or _first
        self.node_filter = node_filter
        super().__init__(self._apply, None, getattr(kanren_relation, "__name__", "relation"))
        self.__doc__ = kanren_relation.__doc__

    def _apply(self, fgraph: FunctionGraph, node: Apply) -> Any:
        if self.node_filter is not None and not self.node_filter(node):
            return None
        result = _result(node)
        new = _logic.var()
        answer = self.results_filter(_run(None, new, self.kanren_relation(result, new)))
        if answer is None or answer is False:
            return None
        if not is_list(answer):
            return [self._built(answer)]
        return [self._built(each) for each in answer] or None

    def _built(self, answer: Any) -> Any:
        if open_ := _unification.unground_lvars(answer, {}):
            names = ", ".join(sorted(map(str, open_)))
            raise ValueError(f"The relation {self.name} leaves {names} open in {answer}")
        return eval_if_etuple(answer)


def _first(answers: Iterator[Any]) -> Any:
    return next(answers, None)


def eval_if_etuple(x: Any) -> Any:
    """The variable that ``x``, an expression tuple, describes; anything else as it is."""
    return x.evaled_obj if isinstance(x, ExpressionTuple) else x


def _result(node: Apply) -> Any:
    """What a call of the op gives: a variable, or the list of all."""
    try:
        return node.default_output()
    except ValueError:
        return node.outputs


def _parts(x: Any) -> tuple[Any, ...]:
    """The parts of ``x`` by the table above. ConsError if it has none."""
    if isinstance(x, Variable):
        if x.owner is not None and _result(x.owner) is x:
            return (x.owner.op, *x.owner.inputs)
    elif isinstance(x, Op):
        props = x.props()
        if props is not None:
            return (type(x), *props.values())
    elif isinstance(x, TensorType):
        return (type(x), x.dtype, x.shape)
    raise _cons.ConsError(f"{x} has no parts")


def _head(x: Any) -> Any:
    return _parts(x)[0]


def _rest(x: Any) -> Any:
    return _etuples.etuple(*_parts(x), evaled_obj=x)[1:]


def _opened(x: Any) -> Any:
    """``x`` as an expression tuple of its parts, which remembers ``x``; False if it has none."""
    try:
        return _etuples.etuple(*_parts(x), evaled_obj=x)
    except _cons.ConsError:
        return False


# what unifies is a generator, whose last value is the answer: the library runs them on a stack of its own
Unified = Iterator[Any]


def _with_tuple(u: Any, v: Any, s: Any) -> Unified:
    x, other = (v, u) if isinstance(u, ExpressionTuple) else (u, v)
    opened = _opened(x)
    yield False if opened is False else _unification._unify(opened, other, s)


def _variables(u: Variable, v: Variable, s: Any) -> Unified:
    if u is v:
        yield s
    elif u.owner is None or v.owner is None or u.index != v.index:
        yield False
    else:
        first, second = ((n.op, *n.inputs) for n in (u.owner, v.owner))
        yield _unification._unify(first, second, s)


def _constants(u: Any, v: Any, s: Any) -> Unified:
    yield s if np.array_equiv(u.data, v.data) else False


def _number(u: Any, v: Any, s: Any) -> Unified:
    constant, number = (u, v) if isinstance(u, Constant) else (v, u)
    own = number_of(constant)
    yield s if own is not None and own == number else False


def _conditional(u: Any, v: Any, s: Any) -> Unified:
    """A `PatternVar`, which is a logic variable here, with anything: its condition must hold for what it stands for."""
    u, v = (_walked(each, s) for each in (u, v))
    if u == v:
        yield s
    elif not isinstance(u, PatternVar) and isinstance(v, PatternVar | _logic.Var):
        yield _conditional(v, u, s)
    elif not isinstance(u, PatternVar | _logic.Var):
        yield _unification._unify(u, v, s)
    else:
        condition = u.constraint if isinstance(u, PatternVar) else None
        is_open = isinstance(v, PatternVar | _logic.Var)
        fits = condition is None or is_open or condition(eval_if_etuple(v))
        yield _unification.assoc(s, u, v) if fits else False


def _walked(x: Any, s: Any) -> Any:
    while isinstance(x, PatternVar | _logic.Var) and x in s:
        x = s[x]
    return x


def _pattern_of_ops(u: Any, v: Any, s: Any) -> Generator[Any, Any, None]:
    op, pattern = (u, v) if isinstance(u, Op) else (v, u)
    if not isinstance(op, pattern.op_types):
        yield False
        return
    for name, expected in pattern.parameters:
        s = yield _unification._unify(getattr(op, name), expected, s)
        if s is False:
            return
    yield s


def _applied(op: Op, inputs: Any) -> Any:
    return op(*inputs)


def _register() -> None:
    for each in (Variable, Op, TensorType):
        _cons._car.add((each,), _head)
        _cons._cdr.add((each,), _rest)
        _with(_with_tuple, each, ExpressionTuple)
    _with(_variables, Variable, Variable)
    _with(_constants, Constant, Constant)
    for number in (bool, int, float, complex):
        _with(_number, Constant, number)
    _with(_pattern_of_ops, Op, OpPattern)
    _logic.Var.register(PatternVar)
    _with(_conditional, PatternVar, object)
    for each in (_logic.Var, PatternVar):
        _with(_conditional, PatternVar, each)
    _etuples.apply.add((Op, ExpressionTuple), _applied)


def _with(unify: Callable[[Any, Any, Any], Unified], one: type, other: type) -> None:
    _unification._unify.add((one, other, Mapping), unify)
    if one is not other:
        _unification._unify.add((other, one, Mapping), unify)


_register()
