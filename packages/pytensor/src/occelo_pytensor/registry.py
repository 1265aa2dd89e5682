"""The registry of conversions: for each class of PyTensor's ops, the function that applies Occelo's op.

Packages with ops of their own call `register_conversion`. The modules in `conversions` register those of PyTensor.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any, TypeVar

Convert = Callable[..., Any]
"""``convert(node, *inputs)``: the outputs of PyTensor's ``node``, from Occelo's variables for its inputs."""

_ConvertT = TypeVar("_ConvertT", bound=Convert)
_conversions: dict[type, Convert] = {}
_SPARSE = "occelo_pytensor.conversions.sparse"
"""The conversions of ops on sparse matrices, imported with the first such op: PyMC imports PyTensor's for dense models, too."""


def register_conversion(*op_classes: type) -> Callable[[_ConvertT], _ConvertT]:
    """Decorator that registers the conversion of nodes whose op is an instance of one of ``op_classes``.

    The decorated function gets PyTensor's node, and an Occelo variable for each of its inputs (None for a constant
    None). It returns a variable for each output: one variable, or a list. Subclasses of ``op_classes`` are converted in the
    same way, unless they are registered themselves. A later registration of a class replaces an earlier one. TypeError
    if something else than a class is given.
    """
    classes: tuple[Any, ...] = op_classes
    for each in classes:
        if not isinstance(each, type):
            raise TypeError(f"register_conversion takes classes of ops, got {each!r}")

    def register(convert: _ConvertT) -> _ConvertT:
        _conversions.update(dict.fromkeys(op_classes, convert))
        return convert

    return register


def conversion_of(op: Any) -> Convert | None:
    """The conversion of nodes with the op ``op``. None if its class, and the classes that it inherits from, have none."""
    classes = type(op).__mro__
    if _SPARSE not in sys.modules and any(
        c.__module__.startswith("pytensor.sparse.") for c in classes
    ):
        importlib.import_module(_SPARSE)
    return next((_conversions[c] for c in classes if c in _conversions), None)
