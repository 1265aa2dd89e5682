"""The linker ``numba``: loop programs as Python code that Numba compiles."""
