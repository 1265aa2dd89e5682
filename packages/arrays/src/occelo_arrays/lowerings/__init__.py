"""Lowerings of functions of arrays to loops. The linkers ``native``, ``c``, ``c|py`` and ``numba`` use them."""

from occelo_arrays.lowerings import scalars as scalars
from occelo_arrays.lowerings import scatter as scatter
from occelo_arrays.lowerings import slice_values as slice_values
from occelo_arrays.lowerings import windows as windows
