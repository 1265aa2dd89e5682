"""`scipy_module`: imports modules of SciPy, an optional dependency, when a function that needs them is computed.

Special functions (`ops.elemwise.special`) and linear algebra (`ops.linalg`) use it.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["scipy_module"]


def scipy_module(name: str, what: str) -> Any:
    """A module of SciPy; ModuleNotFoundError, with the command that installs it, if SciPy is missing.

    ``what`` names the function that needs SciPy, for the message.
    """
    try:
        importlib.import_module("scipy")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"{what} is computed by SciPy, which is not installed: pip install 'occelo-graph[special]'",
            name="scipy",
        ) from None
    return importlib.import_module(f"scipy.{name}")
