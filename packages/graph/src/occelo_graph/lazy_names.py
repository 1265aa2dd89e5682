"""`deferred`: lets a package import the modules that define its names on first use.

`occelo` and the packages rewrite, link and compile use it, so that importing them takes little time.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["deferred"]


def deferred(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package; ``modules`` maps each name to its module."""
    namespace = vars(sys.modules[package])

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = namespace[name] = getattr(importlib.import_module(modules[name]), name)
        return found

    def names() -> list[str]:
        return sorted({*namespace, *modules})

    return find, names
