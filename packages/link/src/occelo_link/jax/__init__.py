"""The linker ``jax``, which compiles whole graphs with JAX.

It is used by functions whose mode names it.
"""
