"""The linker ``jax``, which compiles whole graphs with JAX.

A function is compiled by this linker if the function's mode names it.
"""
