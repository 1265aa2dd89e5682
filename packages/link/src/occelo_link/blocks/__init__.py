"""What the linkers that compile blocks have in common: the base class, the partition of a graph into blocks, and the
VM.

Such a linker compiles blocks of nodes and runs all other nodes as Python thunks: ``native``, ``c``, ``c|py`` and
``numba``.
"""
