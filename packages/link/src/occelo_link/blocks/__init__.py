"""Shared code of the linkers that compile a graph in blocks: ``native``, ``c``, ``c|py`` and ``numba``.

The modules contain the base class of these linkers, the partition of a graph into blocks, and the VM. The VM runs the
compiled blocks, and runs all other nodes as Python thunks.
"""
