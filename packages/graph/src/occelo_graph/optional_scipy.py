"""SciPy, which the graph package can do without: imported by what needs it, when that is computed."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["scipy_module"]


def scipy_module(name: str, what: str) -> Any:
    """A module of SciPy; ModuleNotFoundError that says what to install where SciPy is missing.

    ``what`` names the function that is computed by it.
    """
    try:
        importlib.import_module("scipy")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"{what} is computed by SciPy, which is not installed: pip install 'occelo-graph[special]'",
            name="scipy",
        ) from None
    return importlib.import_module(f"scipy.{name}")
