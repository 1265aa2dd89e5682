"""Checks of arguments that NumPy's functions have and ours lack, and the registry `NUMPY` for NumPy's dispatch.

The functions of `occelo.tensor` that are named as in NumPy use the checks. So a call in NumPy's order of arguments raises a
TypeError instead of taking one parameter, such as ``out``, for another. Functions that are imported at their first use
register by `stands_for`; `tensors.numpy_functions` reads the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from occelo_graph.ir.nodes import Variable

__all__ = ["NUMPY", "checked_keepdims", "known_mode", "plain_number", "refuse_out", "stands_for"]

NUMPY: dict[str, tuple[Callable[..., Any], str]] = {}
"""Functions that NumPy's dispatch calls for symbolic tensors, by NumPy's name, each with the parameters of NumPy's function."""
_F = TypeVar("_F", bound=Callable[..., Any])


def stands_for(name: str, parameters: str) -> Callable[[_F], _F]:
    """Decorator: the function implements NumPy's function ``name``, whose parameters are written as in `numpy_functions`."""

    def register(function: _F) -> _F:
        NUMPY[name] = (function, parameters)
        return function

    return register


def checked_keepdims(keepdims: Any, lacking: str = "out") -> bool:
    """``keepdims`` of a reduction as a bool; TypeError for anything else, such as an array meant for NumPy's ``out``."""
    if isinstance(keepdims, bool | int):
        return bool(keepdims)
    if isinstance(keepdims, np.bool_):
        return keepdims is np.True_
    raise TypeError(
        f"keepdims must be True or False, got {keepdims!r}; there is no parameter {lacking} here"
    )


def plain_number(value: Any, name: str, lacking: str) -> Any:
    """A number or a variable for the parameter ``name``; TypeError for anything else, naming what is ``lacking``."""
    given: object = value
    numbers = (int, float, np.number, np.ndarray, Variable)
    if isinstance(given, numbers) and not isinstance(given, bool):
        return value
    raise TypeError(f"{name} must be a number, got {value!r}; {lacking}")


_T = TypeVar("_T")


def known_mode(mode: _T, function: str) -> _T:
    """The ``mode`` of an indexing function; TypeError unless it is a string, such as for an array meant for NumPy's ``out``."""
    if isinstance(mode, str):
        return mode
    raise TypeError(
        f"The mode of {function} must be text, got {mode!r}; a symbolic result fills no array, so there is no out"
    )


def refuse_out(name: str, terms: Sequence[Any]) -> None:
    """TypeError for an array or None as third argument of an n-ary function, where NumPy's binary function has ``out``."""
    if len(terms) > 2 and (terms[2] is None or isinstance(terms[2], np.ndarray)):
        raise TypeError(
            f"The third argument of NumPy's {name} is out, an array for the result, which a symbolic result cannot fill; "
            "to take an array as a further term, write as_tensor(array)"
        )
