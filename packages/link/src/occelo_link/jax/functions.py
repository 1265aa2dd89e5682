"""JAX's functions by the names of scalar ops, from the table in `traced.functions`.

`jax.arrays` applies scalar ops with these functions, and `capabilities` reads their names.
"""

from __future__ import annotations

from types import SimpleNamespace

from occelo_link.jax.library import jax, jnp, lax, nn, special
from occelo_link.traced.functions import JAX, functions_of
from occelo_link.traced.scalars import Scalar

SCALARS: dict[str, Scalar] = functions_of(
    SimpleNamespace(jax=jax, jnp=jnp, lax=lax, nn=nn, special=special), JAX
)
