"""Modes, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_compile import Mode as Mode
from occelo_compile import get_default_mode as get_default_mode
from occelo_compile import get_mode as get_mode
from occelo_compile import register_mode as register_mode
from occelo_link import VM as VM
from occelo_link import register_linker as register_linker
from occelo_rewrite import optdb as optdb
from occelo_rewrite import register_optimizer as register_optimizer

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
