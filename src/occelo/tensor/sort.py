"""Sorting, at PyTensor's place. In every order of imports `occelo.tensor.sort` is the function."""

from occelo.places import stands_at as _stands_at
from occelo_sorting.functions import ArgSortOp as ArgSortOp
from occelo_sorting.functions import SortOp as SortOp
from occelo_sorting.functions import argsort as argsort
from occelo_sorting.functions import sort as sort

_stands_at(__name__, sort)
