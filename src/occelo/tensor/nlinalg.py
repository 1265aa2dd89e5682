"""Linear algebra, at PyTensor's older place: all names of `occelo.tensor.linalg`."""

from typing import TYPE_CHECKING

from occelo.places import names_of as _names_of
from occelo.tensor.linalg import *

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _names_of(__name__, "occelo.tensor.linalg")
