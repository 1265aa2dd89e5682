"""Checks of ops from outside this package: their declarations, arguments, shape rules and results.

`Op` and `wrap_py` call the checks when such an op is declared, applied or run, and when its shape rule is called.
Decompositions that run in Python (`ir.decomposing`, `occelo_link.withheld_lowerings`) call `owning_kernel`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import numpy as np

from occelo_graph.errors import WrongResultError, lines
from occelo_graph.ir.nodes import AnyApply, Variable
from occelo_graph.ir.types import Type

__all__ = [
    "call_shape_rule",
    "declared_types",
    "owning_kernel",
    "refuse_arguments",
    "results_of",
    "stored_results",
    "undecorated_fields",
]


def declared_types(given: Any, what: str) -> tuple[Type, ...]:
    """One type or several, each given as a type or as a function that makes a variable, such as ``dmatrix``.

    Anything else is a TypeError, whose message begins with ``what``.
    """
    several: Sequence[Any] = given
    listed = several if isinstance(given, list | tuple) else [given]
    types: list[Type] = []
    for each in listed:
        if isinstance(each, Type):
            types.append(each)
            continue
        made: Any = None
        if callable(each) and not isinstance(each, type):
            try:
                made = each()
            except Exception:
                made = None
        kind = getattr(made, "type", None)
        if not isinstance(kind, Type):
            raise TypeError(f"{what} must be types, got {each!r}")
        types.append(kind)
    return tuple(types)


def call_shape_rule(rule: Callable[..., Any], node: AnyApply, shapes: Sequence[Any]) -> Any:
    """Call a shape rule with a node and the shapes of its inputs.

    A rule of three arguments is of the older protocol: it first gets None, in place of a graph.
    """
    method = getattr(rule, "__func__", None)
    # inspect.signature is slow
    takes_graph = None if method is None else _takes_graph.get(method)
    if takes_graph is None:
        takes_graph = _is_of_three(rule)
        if method is not None:
            _takes_graph[method] = takes_graph
    return rule(None, node, shapes) if takes_graph else rule(node, shapes)


_takes_graph: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
"""For shape rules that are methods: whether they take a graph as first argument."""


def _is_of_three(rule: Callable[..., Any]) -> bool:
    """Whether a function has three positional parameters without defaults."""
    try:
        parameters = inspect.signature(rule).parameters.values()
    except ValueError:
        return False
    placed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len([p for p in placed if p.default is p.empty]) == 3


def undecorated_fields(cls: type, known: type) -> list[str]:
    """The annotated attributes of an undecorated class that ``@op`` would make fields."""
    if "__init__" in cls.__dict__ or "__props__" in cls.__dict__:
        return []
    own = inspect.get_annotations(cls)
    return [
        name
        for name, annotation in own.items()
        if "ClassVar" not in str(annotation) and not hasattr(known, name)
    ]


def refuse_arguments(cls: type, known: type, args: Sequence[Any], options: Any) -> None:
    """TypeError for arguments to a class of ops without a constructor, and for fields that are not decorated."""
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
    """The result of an op as a tuple with a value for each output, of the output's type.

    A single output may be returned alone or in a sequence of length one; several must be in a tuple or list. ValueError
    for a wrong number of results, `WrongResultError` for one that is not of its type. With ``convert``, arrays of
    another dtype are converted where that is safe.
    """
    several = isinstance(result, tuple | list)
    results: Sequence[Any] = result
    count = len(results) if several else 1
    if len(kinds) != 1:
        if not several or count != len(kinds):
            _refuse_count(kinds, result, who)
        return tuple(
            _filtered(kind, value, i, who, convert)
            for i, (kind, value) in enumerate(zip(kinds, results, strict=True))
        )
    kind = kinds[0]
    if several and count == 1 and kind.is_valid_value(results[0], strict=False):
        return (_filtered(kind, results[0], 0, who, convert),)
    if isinstance(result, tuple) and count != 1:
        # a tuple is one result only if the values of the type are tuples
        try:
            value = kind.accept(result)
        except (TypeError, ValueError):
            value = None
        if value is not result:
            _refuse_count(kinds, result, who)
        return (value,)
    return (_filtered(kind, result, 0, who, convert),)


def _refuse_count(kinds: Sequence[Type], result: Any, who: str) -> NoReturn:
    results: Sequence[Any] = result
    is_sequence = isinstance(result, tuple | list)
    got = f"{len(results)}" if is_sequence else f"one {type(results).__name__}"
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
        return kind.accept(value)
    except (TypeError, ValueError) as error:
        context = [f"Output {position} of {who} is of type {kind}:"]
        raise WrongResultError(lines(context, str(error))) from None


def stored_results(
    cells: Sequence[Sequence[Any]], outputs: Sequence[Variable], who: object
) -> list[Any]:
    """The values that ``perform`` stored in the cells of its storage, as values of the outputs' types.

    `WrongResultError`, which names the output and its cell, for a value that is not of its type.
    """
    values: list[Any] = []
    for i, (out, cell) in enumerate(zip(outputs, cells, strict=True)):
        where = f"output_storage[{i}][0]"
        if not isinstance(cell, list):
            raise WrongResultError(
                f"perform of {who} must set {where}, and replaced output_storage[{i}]"
            )
        try:
            values.append(out.type.accept(cell[0]))
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


def owning_kernel(node: AnyApply) -> Callable[..., Sequence[Any]]:
    """The kernel of a node, which copies results that share memory contrary to ``view_map`` and ``destroy_map``.

    In-place ops and the memory contract rely on these maps, which the author of an op may have forgotten to declare. So
    a result of code from outside this package is copied in two cases: if it shares memory with an input or with another
    result, or if the code keeps a reference to it.
    """
    op = node.op
    kernel: Callable[..., Sequence[Any]] = op.kernel(node)
    if not op.external_code or op.observes or op.lazy or op.loops:
        return kernel
    free = [
        i for i in range(len(node.outputs)) if not (op.view_map.get(i) or op.destroy_map.get(i))
    ]
    kinds = [v.type for v in node.outputs]

    def owning(*arrays: Any) -> Sequence[Any]:
        results = kernel(*arrays)
        others = list(arrays)
        for i in free:
            kind = kinds[i]
            if any([_share(kind, results[i], other) for other in others]) or (
                kind.is_array and _is_kept(results, i)
            ):
                results = [*results[:i], kind.copy(results[i]), *results[i + 1 :]]
            others.append(results[i])
        return results

    return owning


def _is_kept(results: Sequence[Any], i: int) -> bool:
    """Whether anything else may refer to a result, or to the array of which the result is a view."""
    result = results[i]
    if not isinstance(result, np.ndarray):
        return False
    if sys.getrefcount(result) > _REFERENCES:
        return True
    owner = result.base
    return owner is not None and (
        type(owner) is not np.ndarray or sys.getrefcount(owner) > _REFERENCES
    )


def _references() -> int:
    results = [np.empty(0)]
    result = results[0]
    return sys.getrefcount(result)


_REFERENCES = _references()
"""The reference count that `_is_kept` finds for an array to which nothing else refers."""


def _share(kind: Type, a: Any, b: Any) -> bool:
    if kind.is_array:
        return hasattr(b, "__array_interface__") and np.may_share_memory(a, b)
    # objects that are not made of arrays are never copied
    return type(a) is type(b) and kind.parts() is not None and kind.may_share_memory(a, b)
