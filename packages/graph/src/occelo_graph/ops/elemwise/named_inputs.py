"""The signatures of elementwise functions, for ``help`` and editors."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from types import FunctionType
from typing import Any


class SignatureOfInputs:
    """The signature that ``help`` shows for an elementwise function: the inputs of its scalar op, by position.

    They have the names that the NumPy code gives them, or the derivatives, or the formula; else x, y and z.
    """

    def __get__(self, instance: Any | None, _: type) -> inspect.Signature | None:
        if instance is None:
            return None
        count = getattr(instance.scalar_op, "nin", None)
        if count is None:
            inputs = [inspect.Parameter("inputs", inspect.Parameter.VAR_POSITIONAL)]
        else:
            names = _names_of(instance.scalar_op, count)
            inputs = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_ONLY) for n in names]
        return inspect.Signature(inputs, return_annotation="TensorVariable")


def _names_of(scalar_op: Any, count: int) -> Sequence[str]:
    """The names of the inputs, in the first code that names as many."""
    derivatives = getattr(scalar_op, "partials", ())
    names = _names_in(getattr(scalar_op, "function", None), slice(None), count)
    for each in derivatives:  # of the cotangent, the inputs and the output
        names = names or _names_in(each, slice(1, -1), count)
    names = names or _names_in(getattr(scalar_op, "formula", None), slice(None), count)
    return names or (list("xyz"[:count]) if count <= 3 else [f"x{i + 1}" for i in range(count)])


def _names_in(code: Any, part: slice, count: int) -> Sequence[str]:
    """The names of a part of the arguments of code, if they are as many and for users; else none."""
    if isinstance(code, FunctionType) and not code.__code__.co_flags & inspect.CO_VARARGS:
        names = code.__code__.co_varnames[: code.__code__.co_argcount][part]
        if len(names) == count and not any(name.startswith("_") for name in names):
            return names
    return ()
