"""`FunctionWithNames`: a function that stands where PyTensor has a module, such as `occelo.scan`."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from types import MethodType
from typing import Any

from occelo_graph.errors import explained
from occelo_graph.missing_names import name_error

_made: dict[str, FunctionWithNames] = {}


class FunctionWithNames:
    """A function at the place of a module, whose names are its attributes; it is called, pickled and shown as the function is.

    Python's functions cannot say what is meant by a name that they lack. The module is imported at the first use of such a name.
    """

    def __init__(self, function: Callable[..., Any], place: str) -> None:
        functools.update_wrapper(self, function)
        self._place = place

    def __call__(self, *args: Any, **options: Any) -> Any:
        function: Callable[..., Any] = self.__dict__["__wrapped__"]
        return function(*args, **options)

    def __get__(self, owner: object, kind: object = None) -> Any:
        """As a method in the class of a user. With this method, `help` shows it like a function."""
        return self if owner is None else MethodType(self, owner)

    def __getattr__(self, name: str) -> Any:
        place: str = self.__dict__.get("_place", "")
        if not name.startswith("_"):
            importlib.import_module(place)
            if name in self.__dict__:
                return self.__dict__[name]
        error = name_error(place, name, f"function {place!r} has no attribute {name!r}")
        asking = inspect.currentframe()
        asking = asking.f_back if asking else None
        if asking and asking.f_code.co_name == "_handle_fromlist" and not name.startswith("_"):
            # Python would look for a module below the function's name
            text = f"cannot import name {name!r}: {error}"
            raise explained(ImportError(text, name=place), "names")
        raise error

    def __eq__(self, other: object) -> bool:
        """Whether ``other`` is the same function, also one without names."""
        return other is self or other is self.__dict__["__wrapped__"]

    def __hash__(self) -> int:
        return hash(self.__dict__["__wrapped__"])

    def __repr__(self) -> str:
        return repr(self.__dict__["__wrapped__"])

    def __reduce__(self) -> Any:
        return _at_place, (self._place,)


def with_names(function: Callable[..., Any], place: str) -> FunctionWithNames:
    """The function at the place of a module, of which there is one."""
    return _made.get(place) or _made.setdefault(place, FunctionWithNames(function, place))


def _at_place(place: str) -> FunctionWithNames:
    if place not in _made:
        importlib.import_module(place)
    return _made[place]
