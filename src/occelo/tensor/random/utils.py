"""Streams of random numbers and lengths of draws, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_random.functions import RandomStream as RandomStream
from occelo_random.functions import normalize_size_param as normalize_size_param

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
