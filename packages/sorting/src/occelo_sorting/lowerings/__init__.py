"""Lowerings of sorting to loops. The linkers ``native``, ``c``, ``c|py`` and ``numba`` use them."""

from occelo_sorting.lowerings import bisection, networks

__all__ = ["bisection", "networks"]
