"""The linker ``jax``: whole graphs compiled by JAX."""
