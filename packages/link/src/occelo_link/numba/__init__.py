"""The linker ``numba``: loop programs as Python code that Numba compiles.

A mode of that name chooses it.
"""
