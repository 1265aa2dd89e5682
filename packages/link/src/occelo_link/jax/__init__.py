"""The linker ``jax``: whole graphs compiled by JAX.

A mode of that name chooses it.
"""
