"""The linker ``jax``, which compiles whole graphs with JAX.

A function is compiled by it if the function's mode names this linker.
"""
