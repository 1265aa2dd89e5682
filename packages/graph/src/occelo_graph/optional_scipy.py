"""`scipy_module`: imports a module of SciPy, which is an optional dependency, when a value is computed with it.

The NumPy code of special functions (`ops.elemwise`), linear algebra (`occelo_linalg.ops`) and random numbers (`occelo_random.ops`)
calls this function. So do tables of examples in `testing`.
"""

from __future__ import annotations

import importlib
from typing import Any


def scipy_module(name: str, what: str) -> Any:
    """The module ``scipy.<name>``.

    ModuleNotFoundError if SciPy is missing. The message has the command that installs SciPy, and ``what``, the name of
    the function that needs SciPy.
    """
    try:
        importlib.import_module("scipy")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"{what} is computed by SciPy, which is not installed: pip install 'occelo-graph[special]'",
            name="scipy",
        ) from None
    return importlib.import_module(f"scipy.{name}")
