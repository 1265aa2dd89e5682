"""Names whose modules are imported at their first use, so that Occelo's packages are imported quickly.

With `deferred`, the packages export names of their modules. With `at_first_call`, `wiring` fills fields of `facade`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["at_first_call", "deferred"]


def deferred(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` for a package. ``modules`` maps each exported name to its module."""
    namespace = vars(sys.modules[package])

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = namespace[name] = getattr(importlib.import_module(modules[name]), name)
        return found

    def names() -> list[str]:
        return sorted({*namespace, *modules})

    return find, names


def at_first_call(module: str, name: str) -> Callable[..., Any]:
    """A function that calls the function ``name`` of ``module``, which is imported at the first call."""

    def call(*args: Any, **options: Any) -> Any:
        return getattr(importlib.import_module(module), name)(*args, **options)

    return call
