"""The type of random generators, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_random.functions import RandomGeneratorType as RandomGeneratorType
from occelo_random.functions import random_generator_type as random_generator_type

RandomType = RandomGeneratorType

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
