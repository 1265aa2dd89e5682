"""The base of linkers that compile blocks of nodes, and run other nodes as Python thunks.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` build on it.
"""
