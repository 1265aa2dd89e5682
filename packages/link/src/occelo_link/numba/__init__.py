"""The linker ``numba``, which prints loop programs as Python code and lets Numba compile it.

A function is compiled by it if the function's mode names this linker.
"""
