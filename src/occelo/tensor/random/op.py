"""The op of draws, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_random.functions import RandomVariable as RandomVariable
from occelo_random.functions import default_rng as default_rng

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
