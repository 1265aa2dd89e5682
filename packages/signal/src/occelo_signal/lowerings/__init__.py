"""Lowerings of signal processing to loops. The linkers ``native``, ``c``, ``c|py`` and ``numba`` use them."""

from occelo_signal.lowerings import channels, correlating, sliding, transforms

__all__ = ["channels", "correlating", "sliding", "transforms"]
