"""The feature that allows ops to overwrite inputs, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_rewrite.features.protection import DestroyHandler as DestroyHandler
from occelo_rewrite.features.protection import inplace_candidates as inplace_candidates

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
