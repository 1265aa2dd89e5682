"""Linkers, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.link import basic as basic
from occelo.link import vm as vm
from occelo.places import hints_about as _hints_about
from occelo_link import Linker as Linker
from occelo_link import register_linker as register_linker

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
