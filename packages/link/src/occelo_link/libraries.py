"""The libraries that linkers need and that are optional: each is an extra of the package.

The linkers ``numba``, ``jax`` and ``pytorch`` import their library with `library`. `capabilities` asks which are there.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any

LIBRARIES = {"numba": "numba", "jax": "jax", "pytorch": "torch"}
"""The library that each backend needs. Its name is also that of the extra."""


def is_installed(backend: str) -> bool:
    """Whether the library of a backend is installed. True for a backend that needs no library."""
    name = LIBRARIES.get(backend)
    return name is None or _found(name)


def _found(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ImportError:  # a finder of the user's forbids the import
        return False


def require(name: str) -> None:
    """Raise ModuleNotFoundError, with the command that installs it, if the library ``name`` is not installed."""
    if not _found(name):
        raise ModuleNotFoundError(
            f"This needs {name}, which is not installed: pip install 'occelo-link[{name}]'",
            name=name,
        )


def library(name: str) -> Any:
    """Import the library ``name``. Raises ModuleNotFoundError as `require` does."""
    require(name)
    return importlib.import_module(name)
