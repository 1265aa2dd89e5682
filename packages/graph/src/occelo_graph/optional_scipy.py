"""`scipy_module`: imports a module of SciPy, which is an optional dependency, when a value is computed with it.

The NumPy code of special functions (`ops.elemwise.special`) and of linear algebra (`ops.linalg`) calls it.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["scipy_module"]


def scipy_module(name: str, what: str) -> Any:
    """The module ``scipy.<name>``. ModuleNotFoundError, with the command that installs SciPy, if SciPy is missing.

    ``what`` is the name of the function that needs SciPy, for the message.
    """
    try:
        importlib.import_module("scipy")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"{what} is computed by SciPy, which is not installed: pip install 'occelo-graph[special]'",
            name="scipy",
        ) from None
    return importlib.import_module(f"scipy.{name}")
