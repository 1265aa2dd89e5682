"""Lowerings of functions of arrays to loops. The linkers ``native``, ``c``, ``c|py`` and ``numba`` use them."""

from occelo_arrays.lowerings import scalars, scatter, windows

__all__ = ["scalars", "scatter", "windows"]
