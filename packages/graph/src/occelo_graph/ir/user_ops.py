"""Checks of ops that users define: of their declarations, arguments, shape rules and results.

`Op` and `wrap_py` call the checks when such an op is declared, applied or run, and when its shape rule is called.

The module also has `owning_kernel`, with which a user's op runs in Python: its results share memory only as the op
declares. `ir.decomposing` calls it for the nodes of decompositions, and `occelo_link.withheld_lowerings` for all other
nodes that linkers run in Python.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import numpy as np

from occelo_graph.errors import WrongResultError, explained_by, lines
from occelo_graph.ir.nodes import AnyApply, Variable
from occelo_graph.ir.types import Type


@explained_by("arguments")
def declared_types(declared: Any, what: str) -> tuple[Type, ...]:
    """A tuple of types, from the types of inputs or outputs that a user declares.

    ``declared`` is a declaration or a list of them. A declaration is a type, or a function that makes a variable, such as
    ``dmatrix``. TypeError for anything else; ``what`` names the declaration in the message.
    """
    several: Sequence[Any] = declared
    listed = several if isinstance(declared, list | tuple) else [declared]
    types: list[Type] = []
    for each in listed:
        if isinstance(each, Type):
            types.append(each)
            continue
        variable: Any = None
        if callable(each) and not isinstance(each, type):
            try:
                variable = each()
            except Exception:
                variable = None
        kind = getattr(variable, "type", None)
        if not isinstance(kind, Type):
            raise TypeError(f"{what} must be types, got {each!r}")
        types.append(kind)
    return tuple(types)


def call_shape_rule(rule: Callable[..., Any], node: AnyApply, shapes: Sequence[Any]) -> Any:
    """Call a shape rule (`Op.infer_shape`) with a node and the shapes of its inputs.

    In the older protocol of similar libraries, a rule has three arguments: a graph, the node and the shapes. Then None
    is passed for the graph.
    """
    method = getattr(rule, "__func__", None)
    # the answer is kept for each method, since inspect.signature is slow
    takes_graph = None if method is None else _takes_graph.get(method)
    if takes_graph is None:
        takes_graph = _is_of_three(rule)
        if method is not None:
            _takes_graph[method] = takes_graph
    return rule(None, node, shapes) if takes_graph else rule(node, shapes)


_takes_graph: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
"""Maps a method that is a shape rule to whether its first argument is a graph, as in the older protocol."""


def _is_of_three(rule: Callable[..., Any]) -> bool:
    """Whether a function has three positional parameters without defaults."""
    try:
        parameters = inspect.signature(rule).parameters.values()
    except ValueError:
        return False
    placed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len([p for p in placed if p.default is p.empty]) == 3


def undecorated_fields(cls: type, base: type) -> list[str]:
    """The attributes of the class ``cls`` that ``@op`` would have made fields, if its author forgot this decorator.

    ``base`` is the base class, whose attributes are left out.
    """
    if "__init__" in cls.__dict__ or "__props__" in cls.__dict__:
        return []
    own = inspect.get_annotations(cls)
    return [
        name
        for name, annotation in own.items()
        if "ClassVar" not in str(annotation) and not hasattr(base, name)
    ]


def refuse_arguments(cls: type, base: type, args: Sequence[Any], options: Any) -> None:
    """TypeError if a class of ops without an ``__init__`` gets arguments, or has fields but not the decorator ``@op``.

    ``base`` is the base class, `Op`.
    """
    name = cls.__name__
    fields = undecorated_fields(cls, base)
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
    """Check what the NumPy code of an op returned, and return it as a tuple with a value for each output.

    ``kinds`` are the types of the outputs, and ``who`` names the op in messages. A single value may be returned as it
    is, or in a sequence of length one. Several values must be in a tuple or list. With ``convert``, arrays of other
    dtypes are converted if this is safe.

    ValueError for a wrong number of values. `WrongResultError` for a value that does not have the type of its output.
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
        # a tuple can be the value of one output, if the values of its type are tuples
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
    """Check the values that ``perform`` of a user's op stored in ``cells``, and return them.

    ``who`` names the op in messages. `WrongResultError` for a missing value, or a value that does not have the type of
    its output.
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
    """The function that computes a node in Python (`Op.kernel`). For a user's op it also copies some of the results.

    In-place ops and the memory contract rely on ``view_map`` and ``destroy_map``, but the author of an op may have
    forgotten to declare them. So a result that these maps do not mention is copied in two cases: if it shares memory
    with an input or another result, or if the user's code keeps a reference to it.
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
    """Whether any other code may still refer to result ``i``, or to the array of which it is a view."""
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
"""The reference count that `_is_kept` reads for an array if no other code refers to it."""


def _share(kind: Type, a: Any, b: Any) -> bool:
    if kind.is_array:
        return hasattr(b, "__array_interface__") and np.may_share_memory(a, b)
    # objects that are not made of arrays are never copied
    return type(a) is type(b) and kind.parts() is not None and kind.may_share_memory(a, b)
