"""Checks of the rules, facts and lowerings that other packages register.

The decorators that register a rule, fact or lowering call these checks: `occelo_rewrite.node_rewriter`, for instance,
and the decorators for lowerings in `occelo_link`.

A check refuses a registration that could never apply, or a function that cannot be called with the arguments it will
get. Without the checks, a rule that is registered for ``np.exp``, for instance, would be ignored without an error.
Occelo's own registrations are not checked here, since tests cover each of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from occelo_graph.errors import explained_by
from occelo_graph.ir.op import Op
from occelo_graph.narrowing import is_class
from occelo_graph.ops.elemwise.scalar import ScalarFunction, ScalarOp

_VARARGS = inspect.CO_VARARGS


@explained_by("rules")
def check_classes(what: str, classes: Iterable[object], of_elements: str = "") -> None:
    """TypeError if ``classes`` is empty, or has an element that is not a class of ops.

    ``what`` names the registration in messages. ``of_elements`` is the decorator that is to be used for elementwise
    functions instead. The message suggests it if one of the ``classes`` is such a function.
    """
    all_classes = list(classes)
    if not all_classes:
        raise TypeError(f"{what} is for classes of ops, and none is given")
    for each in all_classes:
        if is_class(each) and issubclass(each, Op):
            continue
        hint = ""
        if of_elements and (isinstance(each, ScalarOp) or getattr(each, "elementwise", False)):
            hint = f"; for elementwise functions use {of_elements}"
        raise TypeError(f"{what} is for classes of ops, not for {each!r}{hint}")


@explained_by("rules")
def check_arguments(what: str, function: Callable[..., Any], *names: str) -> None:
    """TypeError if a function cannot be called with one positional argument for each name in ``names``."""
    if isinstance(function, FunctionType) and not hasattr(function, "__wrapped__"):
        code = function.__code__
        most = code.co_argcount
        least = most - len(function.__defaults__ or ())
        if least <= len(names) and not code.co_kwonlyargcount:
            if len(names) <= most or code.co_flags & _VARARGS:
                return
    try:
        inspect.signature(function).bind(*names)
    except TypeError as error:
        name = getattr(function, "__qualname__", type(function).__name__)
        raise TypeError(
            f"{what} is called with {', '.join(names) or 'no arguments'}, which {name} cannot take: {error}"
        ) from None
    except ValueError:
        return  # code in C without a signature


@explained_by("rules")
def check_scalar_names(what: str, names: Iterable[str]) -> None:
    """TypeError if ``names`` is empty. ValueError if there is no elementwise function with one of the names."""
    all_names = list(names)
    if not all_names:
        raise TypeError(f"{what} is for elementwise functions by name, and none is given")
    for name in all_names:
        if ScalarFunction.named(name) is None:
            raise ValueError(
                f"There is no scalar function {name!r} for {what.lower()}; define it first"
            )
