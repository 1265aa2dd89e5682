"""Lowerings of indexing ops: reading and writing of elements, `Nonzero`, diagonals, sliding windows.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use these lowerings; `loops.build` imports the modules of this
folder to register them.
"""
