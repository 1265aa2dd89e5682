"""Scans with the arguments of Python's functions on lists, at PyTensor's place."""

from occelo_loops.ops.building.classic import filter as filter
from occelo_loops.ops.building.classic import foldl as foldl
from occelo_loops.ops.building.classic import foldr as foldr
from occelo_loops.ops.building.classic import map as map
from occelo_loops.ops.building.classic import reduce as reduce
