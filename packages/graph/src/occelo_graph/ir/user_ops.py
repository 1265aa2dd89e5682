"""What is checked of ops that users write: their declarations, how they are made, what they compute."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

from occelo_graph.errors import WrongResultError, lines
from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.types import Type

__all__ = [
    "call_shape_rule",
    "declared_types",
    "refuse_arguments",
    "results_of",
    "stored_results",
    "undecorated_fields",
]


def declared_types(given: Any, what: str) -> tuple[Type, ...]:
    """Types from types, or from what makes variables of them, such as ``dmatrix``; one or several.

    TypeError, which begins with ``what``, for anything else.
    """
    listed: Sequence[Any] = given if isinstance(given, list | tuple) else [given]  # pyright: ignore[reportUnknownVariableType]
    types: list[Type] = []
    for each in listed:  # pyright: ignore[reportUnknownVariableType]
        if isinstance(each, Type):
            types.append(each)
            continue
        made: Any = None
        if callable(each) and not isinstance(each, type):  # pyright: ignore[reportUnknownArgumentType]
            try:
                made = each()
            except Exception:
                made = None
        kind = getattr(made, "type", None)
        if not isinstance(kind, Type):
            raise TypeError(f"{what} must be types, got {each!r}")
        types.append(kind)
    return tuple(types)


def call_shape_rule(rule: Callable[..., Any], node: Any, shapes: Sequence[Any]) -> Any:
    """The shapes that a rule gives, which takes a node and the shapes of its inputs, or a graph before them."""
    method = getattr(rule, "__func__", None)
    # signatures are slow to find
    takes_graph = None if method is None else _takes_graph.get(method)
    if takes_graph is None:
        takes_graph = _is_of_three(rule)
        if method is not None:
            _takes_graph[method] = takes_graph
    return rule(None, node, shapes) if takes_graph else rule(node, shapes)


_takes_graph: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
"""Whether methods that are rules of shapes take a graph first."""


def _is_of_three(rule: Callable[..., Any]) -> bool:
    """Whether a function needs three arguments in their places."""
    try:
        parameters = inspect.signature(rule).parameters.values()
    except ValueError:
        return False
    placed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len([p for p in placed if p.default is p.empty]) == 3


def undecorated_fields(cls: type, known: type) -> list[str]:
    """The annotated attributes of a class that would be fields if it were decorated with ``@op``."""
    if "__init__" in cls.__dict__ or "__props__" in cls.__dict__:
        return []
    own = inspect.get_annotations(cls)
    return [
        name
        for name, annotation in own.items()
        if "ClassVar" not in str(annotation) and not hasattr(known, name)
    ]


def refuse_arguments(cls: type, known: type, args: Sequence[Any], options: Any) -> None:
    """TypeError for arguments (or fields) of an op's class that has no constructor to take them."""
    name = cls.__name__
    fields = undecorated_fields(cls, known)
    if fields:
        raise TypeError(
            f"{name} has the field{'s' if len(fields) > 1 else ''} {', '.join(fields)} but is not decorated: "
            f"write @op above the class {name}"
        )
    if not args and not options:
        return
    if any(isinstance(value, Variable) for value in args):
        raise TypeError(
            f"{name} is a class of ops, and only an op is applied to variables: write {name}()(...)"
        )
    raise TypeError(
        f"{name} takes no parameters; they are its fields (x: int) under the decorator @op, or the "
        "arguments of an __init__ of its own"
    )


def results_of(
    result: Any, kinds: Sequence[Type], who: str, convert: bool = False
) -> tuple[Any, ...]:
    """What an op computed, as one value of each output's type.

    One output may come bare or in a sequence of one, several come in a tuple or list. ValueError
    for a wrong number of results, `WrongResultError` for one that is not of its type; arrays of another
    dtype are converted only if ``convert`` says so, and safely.
    """
    several = isinstance(result, tuple | list)
    count: int = len(result) if several else 1  # pyright: ignore[reportUnknownArgumentType]
    if len(kinds) != 1:
        if not several or count != len(kinds):
            _refuse_count(kinds, result, who)
        return tuple(
            _filtered(kind, value, i, who, convert)
            for i, (kind, value) in enumerate(zip(kinds, result, strict=True))
        )
    kind = kinds[0]
    if several and count == 1 and kind.is_valid_value(result[0], strict=False):
        return (_filtered(kind, result[0], 0, who, convert),)
    if isinstance(result, tuple) and count != 1:
        # a tuple is a value only of types whose values are tuples
        try:
            value = kind.filter(result)
        except (TypeError, ValueError):
            value = None
        if value is not result:
            _refuse_count(kinds, result, who)
        return (value,)
    return (_filtered(kind, result, 0, who, convert),)


def _refuse_count(kinds: Sequence[Type], result: Any, who: str) -> NoReturn:
    got = f"{len(result)}" if isinstance(result, tuple | list) else f"one {type(result).__name__}"  # pyright: ignore[reportUnknownArgumentType]
    several = "results, one for each output" if len(kinds) != 1 else "result"
    raise ValueError(f"{who} must give {len(kinds)} {several}, and gave {got}")


def _filtered(kind: Type, value: Any, position: int, who: str, convert: bool) -> Any:
    dtype = kind.dtype
    own = getattr(value, "dtype", None)
    if own is not None and dtype is not None and not convert and own != dtype:
        raise WrongResultError(
            f"Output {position} of {who} is {own} {value.shape}, and its type is {kind}"
        )
    try:
        return kind.filter(value)
    except (TypeError, ValueError) as error:
        context = [f"Output {position} of {who} is of type {kind}:"]
        raise WrongResultError(lines(context, str(error))) from None


def stored_results(
    cells: Sequence[list[Any]], outputs: Sequence[Variable], who: object
) -> list[Any]:
    """What ``perform`` left in the cells of its storage, as values of the outputs' types.

    `WrongResultError`, which names the output and what is to be set, for one that is not of its type.
    """
    values: list[Any] = []
    for i, (out, cell) in enumerate(zip(outputs, cells, strict=True)):
        where = f"output_storage[{i}][0]"
        if not isinstance(cell, list):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise WrongResultError(
                f"perform of {who} must set {where}, and replaced output_storage[{i}]"
            )
        try:
            values.append(out.type.filter(cell[0]))
        except TypeError as error:
            if cell[0] is None:
                raise WrongResultError(
                    f"perform of {who} must set {where}, and left it None"
                ) from None
            raise WrongResultError(
                lines(
                    [f"perform of {who} set {where} to what is not of type {out.type}:"], str(error)
                )
            ) from None
    return values
