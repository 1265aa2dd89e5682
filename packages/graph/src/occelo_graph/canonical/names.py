"""What saved graphs may name: classes of ops and types, and the functions and exceptions that ops have as parameters.

A function that a file names is called later, for instance when the graph is differentiated. So a file may not name just
any object of the process. It may name what is registered (`register_loadable`), what is defined in the body of a class
of ops, and what the user of `load` trusts (`trusting`).
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import FunctionType
from typing import Any, TypeVar

from occelo_graph.errors import SavedGraphError
from occelo_graph.ir.op import Op

__all__ = [
    "Trust",
    "class_name",
    "import_own",
    "loaded",
    "named",
    "register_loadable",
    "subclass",
    "trusting",
]

Trust = bool | Collection[str]
"""True: a file may name any object of the imported modules. A collection: it may name these, like "module:name"."""

_Part = TypeVar("_Part", bound=Callable[..., Any])
_registered: dict[str, Any] = {}
_trusted: ContextVar[bool | frozenset[str]] = ContextVar("_trusted", default=False)
_OWN = f"{__name__.partition('.')[0]}."
_TESTS = f"{_OWN}testing"


def class_name(cls: type | Callable[..., Any]) -> str:
    """The name under which a class or a function is saved, such as "module:Class"."""
    return f"{cls.__module__}:{cls.__qualname__}"


def loaded(name: str) -> Any:
    """The object with the name "module:name". None if its module is not imported, or has no such name."""
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def _attributes(part: Any) -> dict[str, Any]:
    found: Any = getattr(part, "__dict__", None)
    return found or {}


def register_loadable(part: _Part) -> _Part:
    """Let saved graphs name a function (a derivative of `OpFromGraph`) or an exception class. Returns it.

    May be used as a decorator. A graph that names the function or class loads without ``trust``. Its code then runs
    when a graph of a file is differentiated or evaluated, so it must do no harm with any arguments.
    """
    _registered[class_name(part)] = part
    return part


@contextmanager
def trusting(trust: Trust) -> Generator[None]:
    """A context in which files may also name what ``trust`` says. TypeError for a string in place of a collection."""
    if isinstance(trust, str):
        raise TypeError(f"trust is True, False or a collection of names, such as [{trust!r}]")
    token = _trusted.set(trust if isinstance(trust, bool) else frozenset(trust))
    try:
        yield
    finally:
        _trusted.reset(token)


def named(name: object, what: str) -> Any:
    """The function or class that a file names. ``what`` says what it is for, for messages.

    `SavedGraphError` if it does not exist, or if it is neither registered nor trusted nor part of a class of ops.
    """
    if not isinstance(name, str):
        raise SavedGraphError(f"The name of the {what} is no text")
    trust = _trusted.get()
    found = _registered.get(name) or _part_of_op(name)
    if found is None and (trust is True or (trust and name in trust)):
        found = loaded(name)
        if found is None:
            raise SavedGraphError(f"The graph uses the {what} {name}, which is not known here")
    if found is None:
        raise SavedGraphError(
            f"The graph uses the {what} {name}, which is neither registered (register_loadable) nor part of a class of "
            f"ops. If it does no harm whatever the file contains, load with trust=[{name!r}]"
        )
    return found


def _part_of_op(name: str) -> Any:
    """The static function or the exception that is defined in the body of a class of ops; None if there is none."""
    outer, _, last = name.rpartition(".")
    cls = _found_class(Op, outer)
    found: Any = _attributes(cls).get(last)
    if isinstance(found, staticmethod):
        found = found.__func__
    # not what the class merely refers to, such as a function of another module
    return found if isinstance(found, FunctionType | type) and class_name(found) == name else None


def subclass(base: type, name: object) -> Any:
    """The imported subclass of ``base`` with this name, as `class_name` gives it. `SavedGraphError` if there is none.

    A module of this package is imported if it is needed.
    """
    if not isinstance(name, str):
        raise SavedGraphError("The name of a class is no text")
    found = _found_class(base, name)
    if found is None:
        module = name.partition(":")[0]
        raise SavedGraphError(f"The graph uses {name}; import {module} before loading it")
    return found


def _found_class(base: type, name: str) -> Any:
    module, _, path = name.partition(":")
    import_own(name)
    # looked up in dictionaries: attributes of modules and classes may run code
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = _attributes(found).get(part)
    if isinstance(found, type) and issubclass(found, base) and class_name(found) == name:
        return found
    pending = [base]  # classes inside of functions, and classes whose names have other values now
    while pending:
        cls = pending.pop()
        if class_name(cls) == name:
            return cls
        pending.extend(cls.__subclasses__())
    return None


def import_own(name: str) -> None:
    """Import the module of this package that defines the class with this name, if there is one."""
    module = name.partition(":")[0]
    if module in sys.modules or not module.startswith(_OWN) or module.startswith(_TESTS):
        return
    with suppress(ModuleNotFoundError):
        importlib.import_module(module)
