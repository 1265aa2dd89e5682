"""JAX's scalar functions by name.

`jax.arrays` applies scalar ops by them, and `capabilities` reads their names. The table in `traced.functions` lists
them.
"""

from __future__ import annotations

from types import SimpleNamespace

from occelo_link.jax.library import jnp, lax, nn, special
from occelo_link.traced.functions import JAX, functions_of
from occelo_link.traced.scalars import Scalar

__all__ = ["SCALARS"]

SCALARS: dict[str, Scalar] = functions_of(
    SimpleNamespace(jnp=jnp, lax=lax, nn=nn, special=special), JAX
)
