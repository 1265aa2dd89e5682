"""Lowerings of functions of arrays to loops. The linkers ``native``, ``c``, ``c|py`` and ``numba`` use them."""

from occelo_arrays.lowerings import scalars, scatter, slice_values, windows

__all__ = ["scalars", "scatter", "slice_values", "windows"]
