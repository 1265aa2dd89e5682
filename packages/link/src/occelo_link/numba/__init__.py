"""The linker ``numba``, which prints loop programs as Python code and lets Numba compile it.

It is used by functions whose mode names it.
"""
