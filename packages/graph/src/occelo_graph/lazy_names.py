"""Names whose modules are imported at their first use, so that Occelo's packages are imported quickly.

With `deferred`, the packages export names of their modules. With `at_first_call`, lower modules call
functions of higher ones (`upward`).
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

from occelo_graph.missing_names import name_error


def deferred(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` for a package. ``modules`` maps each exported name to its module.

    A name whose module is ``package.name``, or has the same name, is this module.

    If a module needs a library that is not installed, its names are still there, for ``help`` and ``import *``: as
    classes that raise the ModuleNotFoundError when they are called.
    """
    namespace = vars(sys.modules[package])

    def find(name: str) -> Any:
        if name not in modules:
            text = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(text) if name.startswith("_") else name_error(package, name, text)
        try:
            module = importlib.import_module(modules[name])
            is_module = modules[name] in (name, f"{package}.{name}")
            attribute = module if is_module else getattr(module, name)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("occelo"):
                raise
            return _stand_in(package, name, error)
        namespace[name] = attribute
        return attribute

    def names() -> list[str]:
        return sorted({*namespace, *modules})

    return find, names


def _stand_in(package: str, name: str, error: ModuleNotFoundError) -> type[Any]:
    def fail(*_args: Any, **_options: Any) -> Any:
        raise ModuleNotFoundError(error.msg, name=error.name)

    return type(name, (), {"__new__": fail, "__doc__": error.msg, "__module__": package})


_MISSING = object()


def namespace_of(package: str, module: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` for a package whose names are those of ``module``, imported at the first use."""

    def find(name: str) -> Any:
        text = f"module {package!r} has no attribute {name!r}"
        if name.startswith("__"):
            raise AttributeError(text)
        attribute = getattr(importlib.import_module(module), name, _MISSING)
        if attribute is _MISSING:
            raise AttributeError(text) if name.startswith("_") else name_error(package, name, text)
        return attribute

    def names() -> list[str]:
        namespace = vars(importlib.import_module(module))
        return sorted(each for each in namespace if not each.startswith("_"))

    return find, names


def at_first_call(module: str, name: str) -> Callable[..., Any]:
    """A function that calls the function ``name`` of ``module``, which is imported at the first call."""

    def call(*args: Any, **options: Any) -> Any:
        return getattr(importlib.import_module(module), name)(*args, **options)

    return call
