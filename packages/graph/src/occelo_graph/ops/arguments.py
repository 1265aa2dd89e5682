"""Checks that catch calls in NumPy's order of arguments, and the registry `NUMPY` for NumPy's dispatch.

Some functions of NumPy have a parameter, such as ``out``, that the function of the same name in `occelo.tensor` lacks.
A positional argument for this parameter would be taken for the next one. Reductions, `var`, `take`, `maximum` and
others use the checks to raise a TypeError instead. Functions in modules that are imported at their first use register
in `NUMPY` by `stands_for`; `tensors.numpy_functions` reads the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from occelo_graph.ir.nodes import Variable

__all__ = ["NUMPY", "checked_keepdims", "known_mode", "plain_number", "refuse_out", "stands_for"]

NUMPY: dict[str, tuple[Callable[..., Any], str]] = {}
"""Functions that NumPy's dispatch calls for symbolic tensors, by NumPy's name, each with NumPy's parameters."""
_F = TypeVar("_F", bound=Callable[..., Any])


def stands_for(name: str, parameters: str) -> Callable[[_F], _F]:
    """Decorator: the function implements NumPy's function ``name``, whose parameters are written as in `numpy_functions`."""

    def register(function: _F) -> _F:
        NUMPY[name] = (function, parameters)
        return function

    return register


def checked_keepdims(keepdims: Any, lacking: str = "out") -> bool:
    """``keepdims`` of a reduction as a bool; TypeError unless it is a bool or an integer.

    The message names the parameter ``lacking`` of NumPy's function, for which the argument may have been meant.
    """
    if isinstance(keepdims, bool | int):
        return bool(keepdims)
    if isinstance(keepdims, np.bool_):
        return keepdims is np.True_
    raise TypeError(
        f"keepdims must be True or False, got {keepdims!r}; there is no parameter {lacking} here"
    )


def plain_number(value: Any, name: str, lacking: str) -> Any:
    """``value`` if it is a number, an array or a variable; TypeError for anything else, also for a bool.

    The message names the parameter ``name`` and ends with ``lacking``, which says what Occelo's function lacks.
    """
    given: object = value
    numbers = (int, float, np.number, np.ndarray, Variable)
    if isinstance(given, numbers) and not isinstance(given, bool):
        return value
    raise TypeError(f"{name} must be a number, got {value!r}; {lacking}")


_T = TypeVar("_T")


def known_mode(mode: _T, function: str) -> _T:
    """``mode`` of an indexing function if it is a string; else TypeError.

    An array in its place may have been meant as NumPy's ``out``.
    """
    if isinstance(mode, str):
        return mode
    raise TypeError(
        f"The mode of {function} must be text, got {mode!r}; a symbolic result fills no array, so there is no out"
    )


def refuse_out(name: str, terms: Sequence[Any]) -> None:
    """TypeError if the third argument of an n-ary function is an array or None, as for ``out`` of NumPy's function."""
    if len(terms) > 2 and (terms[2] is None or isinstance(terms[2], np.ndarray)):
        raise TypeError(
            f"The third argument of NumPy's {name} is out, an array for the result, which a symbolic result cannot fill; "
            "to take an array as a further term, write as_tensor(array)"
        )
