"""Graphs of PyTensor, models of PyMC and samplers of nutpie on Occelo: the names of the package `occelo_pytensor`.

The package is an extra, ``occelo[pytensor]``. It needs Python 3.12. Importing this module registers the mode "OCCELO".
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

_NAMES = (
    "LogDensity",
    "doctor",
    "from_pytensor",
    "log_density",
    "nutpie_model",
    "register_conversion",
    "register_equal",
    "to_pytensor",
    "use",
)


def __getattr__(name: str) -> Any:
    if name not in _NAMES:  # also for `hasattr` where the package is not installed
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_package(), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES})


def _package() -> Any:
    try:
        return importlib.import_module("occelo_pytensor")
    except ModuleNotFoundError as error:
        if error.name != "occelo_pytensor":
            raise
        raise ModuleNotFoundError(
            "occelo.pytensor needs the extra occelo[pytensor], and Python 3.12 or later",
            name=error.name,
        ) from None


if importlib.util.find_spec("occelo_pytensor") is not None:
    _package()  # without it, only the use of a name fails
