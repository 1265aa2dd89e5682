"""The linker ``numba``, which prints loop programs as Python code and lets Numba compile it.

A function is compiled by this linker if the function's mode names it.
"""
