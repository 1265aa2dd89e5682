"""What saved graphs may name: classes of ops and types, and the functions and exceptions that ops have as parameters.

A function that a file names is called later, for instance when the graph is differentiated. So a file may not name just
any object of the process. It may name what is registered (`register_loadable`), what is defined in the body of a class
of ops, and what the user of `load` trusts (`trusting`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FunctionType
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from occelo_graph.errors import SavedGraphError, explained_by
from occelo_graph.families import broken, declared, family_of_module, import_ops, installed
from occelo_graph.ir.op import Op
from occelo_graph.provenance import is_own

Trust = bool | Collection[str]
"""True: a file may name any object of the imported modules. A collection: it may name these, like "module:name"."""

_Part = TypeVar("_Part", bound=Callable[..., Any])
_registered: dict[str, Any] = {}
_trusted: ContextVar[bool | frozenset[str]] = ContextVar("_trusted", default=False)
_saved: WeakKeyDictionary[type, str] = WeakKeyDictionary()
_found: dict[tuple[type, str], type] = {}
"""Classes of families that were looked up."""


def saved_name(cls: type) -> str:
    """The name of a class of ops, types or parameters in a saved graph and in digests.

    It is "family:Class" for a class of a family ("graph:Class" for the graph package), so that modules of a family may be
    moved, and classes to other families. For all other classes, and for classes that functions make, it is the `class_name`.
    """
    name = _saved.get(cls)
    if name is None:
        family = None if "<locals>" in cls.__qualname__ else family_of_module(cls.__module__)
        name = class_name(cls) if family is None else f"{family.name}:{cls.__qualname__}"
        _saved[cls] = name
    return name


def class_name(cls: type | Callable[..., Any]) -> str:
    """The name under which a class or a function is saved, such as "module:Class"."""
    return f"{cls.__module__}:{cls.__qualname__}"


def loaded(name: str) -> Any:
    """The object with the name "module:name". None if its module is not imported, or has no such name."""
    module, _, path = name.partition(":")
    target: Any = sys.modules.get(module)
    for part in path.split("."):
        target = getattr(target, part, None)
    return target


def _attributes(part: Any) -> dict[str, Any]:
    attributes: Any = getattr(part, "__dict__", None)
    return attributes or {}


@explained_by("rules")
def register_loadable(part: _Part) -> _Part:
    """Let saved graphs name ``part``, a function (a derivative of `OpFromGraph`) or an exception class. Returns it.

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
    target = _registered.get(name) or _part_of_op(name)
    if target is None and (trust is True or (trust and name in trust)):
        target = loaded(name)
        if target is None:
            raise SavedGraphError(f"The graph uses the {what} {name}, which is not known here")
    if target is None:
        raise SavedGraphError(
            f"The graph uses the {what} {name}, which is neither registered (register_loadable) nor part of a class of "
            f"ops. If it does no harm whatever the file contains, load with trust=[{name!r}]"
        )
    return target


def _part_of_op(name: str) -> Any:
    """The static function or the exception that is defined in the body of a class of ops; None if there is none."""
    outer, _, last = name.rpartition(".")
    cls = _found_class(Op, outer)
    inner: Any = _attributes(cls).get(last)
    if isinstance(inner, staticmethod):
        inner = inner.__func__
    # not what the class merely refers to, such as a function of another module
    return inner if isinstance(inner, FunctionType | type) and class_name(inner) == name else None


def subclass(base: type, name: object) -> Any:
    """The subclass of ``base`` with this name, as `saved_name` gives it. `SavedGraphError` if there is none.

    The ops of the family that the name begins with are imported if they are needed. Other packages must be imported.
    """
    if not isinstance(name, str):
        raise SavedGraphError("The name of a class is no text")
    cls = _found_class(base, name)
    if cls is None:
        first = name.partition(":")[0]
        if first in broken:
            raise SavedGraphError(
                f"The graph uses {name}, whose package cannot be imported: {broken[first]}"
            ) from broken[first]
        raise SavedGraphError(
            f"The graph uses {name}; import {first}, or the package of the family of this name, before loading it"
        )
    return cls


def _found_class(base: type, name: str) -> Any:
    cls = _subclass_named(base, name)
    if cls is None and import_own(name):
        cls = _subclass_named(base, name)
    first, _, last = name.partition(":")
    if cls is None and any(is_own(first) or each.name == first for each in declared()):
        # a file of an earlier version, which names modules, or the family that had the class then
        for family in installed():
            import_ops(family)
            cls = cls or _subclass_named(base, f"{family.name}:{last}")
    return cls


def _subclass_named(base: type, name: str) -> Any:
    module, _, path = name.partition(":")
    # looked up in dictionaries: attributes of modules and classes may run code
    target: Any = sys.modules.get(module)
    for part in path.split("."):
        target = _attributes(target).get(part)
    if isinstance(target, type) and issubclass(target, base) and class_name(target) == name:
        return target
    cached = _found.get((base, name))
    if cached is not None:
        return cached
    pending = [
        base
    ]  # classes of families, inside of functions, and classes whose names have other values now
    while pending:
        cls = pending.pop()
        if saved_name(cls) == name:
            if family_of_module(cls.__module__) is not None:
                _found[base, name] = cls
            return cls
        pending.extend(cls.__subclasses__())
    return None


def import_own(name: str) -> bool:
    """Import the ops of the family that a name begins with, or of all families for a name of an earlier version.

    Returns whether anything was to be imported.
    """
    first = name.partition(":")[0]
    old = is_own(first)
    families = [each for each in installed() if old or each.name == first]
    for family in families:
        import_ops(family)
    return bool(families)
