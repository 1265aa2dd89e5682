"""Convolutions, with the names and arguments of `scipy.signal`.

Users import it as `occelo.tensor.signal`. The names come from `occelo_signal.functions`.
"""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_signal.functions import *

__path__: list[str] = []  # PyTensor has modules below this one, which `occelo.places` makes

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
