"""Arguments in whose place NumPy's functions have others: checks, so that none is taken for something else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from occelo_graph.ir.nodes import Variable

__all__ = ["NUMPY", "keeps", "known_mode", "plain_number", "refuse_out", "stands_for"]

NUMPY: dict[str, tuple[Callable[..., Any], str]] = {}
"""What stands for functions of NumPy that are given a symbolic tensor, with the parameters that those have."""
_F = TypeVar("_F", bound=Callable[..., Any])


def stands_for(name: str, parameters: str) -> Callable[[_F], _F]:
    """Say which function of NumPy a function stands for, and which parameters that has, as rows of `numpy_functions` do."""

    def register(function: _F) -> _F:
        NUMPY[name] = (function, parameters)
        return function

    return register


def keeps(keepdims: Any, lacking: str = "out") -> bool:
    """``keepdims`` of a reduction; TypeError for what is no truth value, such as NumPy's ``out`` in its place."""
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


def known_mode(mode: Any, function: str) -> str:
    """The ``mode`` of an indexing function; TypeError for what is no text, such as NumPy's ``out`` in its place."""
    if isinstance(mode, str):
        return mode
    raise TypeError(
        f"The mode of {function} must be text, got {mode!r}; a symbolic result fills no array, so there is no out"
    )


def refuse_out(name: str, terms: Sequence[Any]) -> None:
    """TypeError for an array as third of any number of terms, where NumPy's function has ``out``."""
    if len(terms) > 2 and (terms[2] is None or isinstance(terms[2], np.ndarray)):
        raise TypeError(
            f"The third argument of NumPy's {name} is out, an array for the result, which a symbolic result cannot fill; "
            "to take an array as a further term, write as_tensor(array)"
        )
