"""`as_jax` turns a compiled function into a function of JAX arrays. JAX is imported when `as_jax` is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from occelo_link.linker import check_compiled
from occelo_link.traced.calling import traced_function


def as_jax(function: Any) -> Callable[..., Any]:
    """Return a compiled function as a function of JAX arrays, for ``jax.jit``, ``jax.grad`` and ``jax.vmap``.

    The JAX function accepts the same arguments in order, and returns a single output or a list of outputs. JAX reads
    the values of shared variables when it traces the function. Nothing is updated, and checks are left out. 64-bit
    dtypes must be enabled in JAX.

    Raises ModuleNotFoundError if JAX is not installed, and TypeError if an input or output is not an array.
    """
    check_compiled(function, "as_jax")
    # JAX is slow to import, and may not be installed
    from occelo_link.jax.arrays import JaxArrays
    from occelo_link.jax.library import jnp

    return traced_function(function, JaxArrays(), jnp.asarray, "as_jax")
