"""Functions of networks: activations, losses, normalization, attention, dropout, embedding; named as in ``jax.nn``."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_networks import initializers as initializers
from occelo_networks.functions import *

__path__: list[str] = []  # `occelo.places` makes `occelo.nn.initializers`

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
