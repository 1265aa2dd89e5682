"""JAX's functions by the names of scalar ops, from the table in `traced.functions`. `jax.arrays` applies them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from occelo_link.jax.library import jax, jnp, lax, nn, special
from occelo_link.traced.functions import JAX, functions_of
from occelo_link.traced.scalars import Scalar


def _differentiable(
    name: str, count: int, function: Callable[..., Any], slopes: Callable[..., Sequence[Any]]
) -> Callable[..., Any]:
    """Return a function of arrays with derivatives for ``jax.grad``. `traced.functions` describes the arguments."""
    wrapped = jax.custom_jvp(function)

    def derivative(given: Any, tangents: Any) -> Any:
        moves = [type(t) is not jax.custom_derivatives.SymbolicZero for t in tangents]
        partials = slopes(moves, *given)
        value = wrapped(*given)
        terms = [s * t for s, t, moved in zip(partials, tangents, moves, strict=True) if moved]
        return value, sum(terms, jnp.zeros_like(value))

    wrapped.defjvp(derivative, symbolic_zeros=True)
    return wrapped


SCALARS: dict[str, Scalar] = functions_of(
    SimpleNamespace(
        jax=jax,
        jnp=jnp,
        lax=lax,
        nn=nn,
        special=special,
        xp=jnp,
        loop=lax.while_loop,
        broadcast=jnp.broadcast_arrays,
        igamma_grad_a=lax.igamma_grad_a,
        differentiable=_differentiable,
    ),
    JAX,
)
