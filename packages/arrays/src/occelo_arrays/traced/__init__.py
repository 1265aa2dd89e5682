"""Lowerings of functions of arrays for JAX and PyTorch. `occelo_link.traced.linker` imports them when these are used."""

from occelo_arrays.traced import indexing, scalars

__all__ = ["indexing", "scalars"]
