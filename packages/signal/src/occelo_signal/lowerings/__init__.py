"""Lowerings of signal processing to loops. The linkers ``native``, ``c``, ``c|py`` and ``numba`` use them."""

from occelo_signal.lowerings import correlating, sliding, transforms

__all__ = ["correlating", "sliding", "transforms"]
