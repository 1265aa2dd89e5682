"""Compiled functions as files for other programs: StableHLO, ONNX, and machine code that needs no compiler. The names of the package `occelo_export`."""

from typing import TYPE_CHECKING

from occelo.places import names_of as _names_of
from occelo_export import __all__ as __all__

if TYPE_CHECKING:
    from occelo_export import *
else:  # type checkers know what is here without it
    __getattr__ = _names_of(__name__, "occelo_export")
