"""The signatures of elementwise functions, for ``help`` and editors."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from types import FunctionType
from typing import Any

__all__ = ["SignatureOfInputs"]


class SignatureOfInputs:
    """The signature that ``help`` shows for an elementwise function: the inputs of its scalar op, by position.

    They have the names that the NumPy code gives them, or x, or x1, x2, ...
    """

    def __get__(self, instance: Any | None, _: type) -> inspect.Signature | None:
        if instance is None:
            return None
        count = getattr(instance.scalar_op, "nin", None)
        if count is None:
            inputs = [inspect.Parameter("inputs", inspect.Parameter.VAR_POSITIONAL)]
        else:
            names = _names_in(getattr(instance.scalar_op, "function", None), count)
            inputs = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_ONLY) for n in names]
        return inspect.Signature(inputs, return_annotation="TensorVariable")


def _names_in(code: Any, count: int) -> Sequence[str]:
    """The names of the arguments of NumPy code."""
    if isinstance(code, FunctionType) and not code.__code__.co_flags & inspect.CO_VARARGS:
        names = code.__code__.co_varnames[: code.__code__.co_argcount]
        if len(names) == count and not any(name.startswith("_") for name in names):
            return names
    return ["x"] if count == 1 else [f"x{i + 1}" for i in range(count)]
