"""Lowerings of functions of arrays for JAX and PyTorch. `occelo_link.traced.linker` imports them when these are used."""

from occelo_arrays.traced import indexing as indexing
from occelo_arrays.traced import scalars as scalars
