"""The linker ``numba``: the loop program as Python, compiled by Numba."""
