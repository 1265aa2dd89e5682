"""Lowerings of indexing ops.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use them; `loops.build` imports these modules to register them.
"""
