"""Operations on JAX's arrays; see `occelo_link.traced.arrays`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from occelo_link.jax.functions import SCALARS
from occelo_link.jax.library import jax, jnp, lax
from occelo_link.traced.arrays import Arrays

__all__ = ["JaxArrays"]

_REDUCTIONS: dict[str, Any] = {
    "add": jnp.sum,
    "mul": jnp.prod,
    "maximum": jnp.max,
    "minimum": jnp.min,
}
_LOGICAL = {"and": (jnp.all, lax.bitwise_and, -1), "or": (jnp.any, lax.bitwise_or, 0)}


class JaxArrays(Arrays):
    """`Arrays` by ``jax.numpy``."""

    name = "jax"
    scalars = SCALARS

    def constant(self, value: Any) -> Any:
        return jnp.asarray(value)

    def is_traced(self, value: Any) -> bool:
        return isinstance(value, jax.Array)

    def dtype(self, x: Any) -> str:
        return str(x.dtype)

    def cast(self, x: Any, dtype: str) -> Any:
        return x if str(x.dtype) == dtype else jnp.asarray(x).astype(dtype)

    def copy(self, x: Any) -> Any:
        return jnp.array(x, copy=True)

    def reshape(self, x: Any, shape: Sequence[int]) -> Any:
        return jnp.reshape(x, tuple(shape))

    def transpose(self, x: Any, axes: Sequence[int]) -> Any:
        return jnp.transpose(x, tuple(axes))

    def broadcast(self, x: Any, shape: Sequence[int]) -> Any:
        return jnp.broadcast_to(x, tuple(shape))

    def concatenate(self, parts: Sequence[Any], axis: int) -> Any:
        return jnp.concatenate(list(parts), axis=axis)

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        return jnp.where(condition, a, b)

    def read(self, x: Any, key: Sequence[Any]) -> Any:
        return x[tuple(key)]

    def pick(self, x: Any, axis: int, index: Any) -> Any:
        return lax.dynamic_index_in_dim(x, index, axis, keepdims=False)

    def gather(self, x: Any, key: Sequence[Any]) -> Any:
        return x[tuple(key)]

    def write(self, x: Any, key: Sequence[Any], y: Any, add: bool) -> Any:
        at = x.at[tuple(key)]
        return at.add(y) if add else at.set(y)

    def reduce(self, name: str, x: Any, axes: Sequence[int]) -> Any:
        axes = tuple(axes)
        if name in _REDUCTIONS:
            # sums and products keep the dtype that they are asked to work in
            extra = {"dtype": x.dtype} if name in ("add", "mul") else {}
            return _REDUCTIONS[name](x, axis=axes, **extra)
        if name in _LOGICAL:
            of_truth, of_bits, neutral = _LOGICAL[name]
            if x.dtype == bool:
                return of_truth(x, axis=axes)
            start = np.array(neutral, "int64").astype(str(x.dtype))
            return lax.reduce(x, start, of_bits, axes)
        start = np.zeros((), str(x.dtype))
        return lax.reduce(x, start, lax.bitwise_xor, axes)

    def argmax(self, x: Any) -> Any:
        return jnp.argmax(x, axis=-1).astype("int64")

    def accumulate(self, name: str, x: Any, axis: int) -> Any:
        return (jnp.cumsum if name == "add" else jnp.cumprod)(x, axis=axis, dtype=x.dtype)

    def recurrence(self, a: Any, b: Any) -> Any:
        def step(state: Any, pair: Any) -> Any:
            factor, term = pair
            state = factor * state + term
            return state, state

        a = jnp.broadcast_to(a, b.shape)
        return lax.scan(step, jnp.zeros(b.shape[1:], b.dtype), (a, b))[1]

    def matmul(self, x: Any, y: Any) -> Any:
        return jnp.matmul(x, y, precision="highest")

    def dot(self, x: Any, y: Any) -> Any:
        return jnp.dot(x, y, precision="highest")

    def diagonal(self, x: Any, offset: int, axis1: int, axis2: int) -> Any:
        return jnp.diagonal(x, offset, axis1, axis2)

    def branch(
        self,
        condition: Any,
        then: Callable[[], Sequence[Any]],
        other: Callable[[], Sequence[Any]],
    ) -> Sequence[Any]:
        return lax.cond(condition.astype(bool), lambda: list(then()), lambda: list(other()))  # type: ignore[no-any-return]

    def repeat(
        self,
        count: Any,
        state: Sequence[Any],
        step: Callable[[Sequence[Any]], tuple[Sequence[Any], Any, Any]],
    ) -> tuple[Sequence[Any], Any]:
        def more(carried: Any) -> Any:
            number, stopped, _, _ = carried
            return jnp.logical_and(number < count, jnp.logical_not(stopped))

        def body(carried: Any) -> Any:
            number, _, held, values = carried
            following, stops, fine = step(values)
            return number + 1, stops, jnp.logical_and(held, fine), tuple(following)

        start = jnp.int64(0), jnp.array(False), jnp.array(True), tuple(state)
        _, _, held, values = lax.while_loop(more, body, start)
        return values, held

    def callback(
        self,
        function: Callable[..., Sequence[Any]],
        inputs: Sequence[Any],
        results: Sequence[tuple[str, tuple[int, ...]]],
    ) -> Sequence[Any]:
        kinds = [jax.ShapeDtypeStruct(shape, np.dtype(dtype)) for dtype, shape in results]
        return jax.pure_callback(lambda *x: list(function(*x)), kinds, *inputs)  # type: ignore[no-any-return]  # pyright: ignore[reportUnknownLambdaType]
