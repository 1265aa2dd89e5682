"""Tensors with named dimensions, with the names of PyTensor's module of this name and the behaviour of xarray; see docs/dims.md."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_dims import *

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
