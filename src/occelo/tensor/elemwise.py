"""Ops that apply a function to each element, reduce or move axes, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo.tensor import CAReduce as CAReduce
from occelo.tensor import DimShuffle as DimShuffle
from occelo.tensor import Elemwise as Elemwise

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
