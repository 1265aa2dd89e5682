"""Update rules for gradient descent, such as `adam`, schedules of learning rates, and clipping of gradients."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_networks.updates import *

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
