"""Minima, roots and fixed points, with the names of `scipy.optimize`; PyTensor's place for them is `occelo.tensor.optimize`."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_optimize.functions import *

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
