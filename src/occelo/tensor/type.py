"""Types of tensors and the functions that make variables, at PyTensor's place: all names of `occelo.tensor`, and kinds."""

from typing import TYPE_CHECKING

from occelo.places import names_of as _names_of
from occelo.tensor import *
from occelo.tensor.kinds import *

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _names_of(__name__, "occelo.tensor")
