"""Lowerings of sorting to loops. The linkers ``native``, ``c``, ``c|py`` and ``numba`` use them."""

from occelo_sorting.lowerings import bisection as bisection
from occelo_sorting.lowerings import networks as networks
