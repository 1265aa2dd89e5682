"""JAX's implementation of the interface `occelo_link.traced.arrays`.

The lowerings that JAX and PyTorch share compute with a `JaxArrays` object while a graph is traced for the linker
``jax``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from occelo_graph.ir.container import register_external_array
from occelo_graph.narrowing import is_slice
from occelo_graph.ops.reductions import reduction_of
from occelo_link.jax.functions import SCALARS
from occelo_link.jax.library import jax, jnp, lax, set_xla_metadata
from occelo_link.traced.arrays import Arrays


def to_numpy(value: Any) -> Any:
    """Return a copy of a JAX array as a NumPy array, all of it if other processes hold parts."""
    if not value.is_fully_addressable:
        # parts of the array are in other processes
        multihost: Any = importlib.import_module("jax.experimental.multihost_utils")
        return np.array(multihost.process_allgather(value, tiled=True))
    return np.array(value)


ARRAY: type[Any] = jnp.zeros(()).__class__
register_external_array(ARRAY, to_numpy)


class JaxArrays(Arrays):
    """`Arrays` for JAX's arrays."""

    name = "jax"
    scalars = SCALARS
    compiles_apart = True

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
        if not x.shape[axis]:
            # no index is in bounds; if this code runs, the check of the index fails; but code that never runs is
            # traced, too
            return jnp.zeros(x.shape[:axis] + x.shape[axis + 1 :], x.dtype)
        return lax.dynamic_index_in_dim(x, index, axis, keepdims=False)

    def gather(self, x: Any, key: Sequence[Any]) -> Any:
        return x[tuple(key)]

    def write(self, x: Any, key: Sequence[Any], y: Any, combine: str | None) -> Any:
        if not x.size:
            return x  # JAX does not trace a position in an axis of length 0
        block = _block(key, x.shape)
        if block is not None and combine in ("sum", None):
            # several times as fast as a scatter in a loop
            starts, sizes = block
            lengths = [n for n, entry in zip(sizes, key, strict=True) if is_slice(entry)]
            part = jnp.broadcast_to(y, lengths).reshape(sizes)
            if combine == "sum":
                part = lax.dynamic_slice(x, starts, sizes) + part
            return lax.dynamic_update_slice(x, part, starts)
        at = x.at[tuple(key)]
        write = {None: at.set, "sum": at.add, "prod": at.multiply, "max": at.max, "min": at.min}
        return write[combine](y)

    def reduce(self, name: str, x: Any, axes: Sequence[int]) -> Any:
        reduction, dtype = reduction_of(name), self.dtype(x)
        called = reduction.called("jax", dtype)
        if called is not None:
            # sums and products are computed in the dtype of their argument
            extra = {"dtype": x.dtype} if reduction.accumulates else {}
            reduced = getattr(jnp, called)(x, axis=tuple(axes), **extra)
            if (
                reduction.accumulates
                or not jnp.iscomplexobj(x)
                or name not in ("maximum", "minimum")
            ):
                return reduced
            # JAX leaves out NaN among complex numbers
            return jnp.where(jnp.isnan(x).any(axis=tuple(axes)), jnp.nan, reduced).astype(x.dtype)
        scalar = self.scalar(name)
        if scalar is None or reduction.identity is None:
            return None
        start = np.array(reduction.start(dtype)).astype(dtype)
        return lax.reduce(x, start, scalar[1], tuple(axes))

    def argmax(self, x: Any) -> Any:
        return jnp.argmax(x, axis=-1).astype("int64")

    def accumulate(self, name: str, x: Any, axis: int) -> Any:
        called = reduction_of(name).called("jax running", self.dtype(x))
        return None if called is None else getattr(jnp, called)(x, axis=axis, dtype=x.dtype)

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

    def cholesky(self, x: Any) -> tuple[Any, Any]:
        factor = jnp.linalg.cholesky(x, symmetrize_input=False)
        return factor, jnp.logical_not(jnp.any(jnp.isnan(factor), axis=(-2, -1)))

    def solve_triangular(self, a: Any, b: Any, lower: bool, unit_diagonal: bool) -> Any:
        return lax.linalg.triangular_solve(
            a, b, left_side=True, lower=lower, unit_diagonal=unit_diagonal
        )

    def lu(self, x: Any) -> tuple[Any, Any]:
        factors, pivots, _ = lax.linalg.lu(x)
        return factors, pivots

    def lu_solve(self, factors: Any, pivots: Any, b: Any) -> Any:
        order = self.permutation(pivots, factors.shape[-1])
        right = jnp.take_along_axis(b, order[..., None], axis=-2)
        half = self.solve_triangular(factors, right, lower=True, unit_diagonal=True)
        return self.solve_triangular(factors, half, lower=False, unit_diagonal=False)

    def argsort(self, x: Any) -> Any:
        return jnp.argsort(x, axis=-1).astype(jnp.int64)

    def sort(self, x: Any) -> tuple[Any, Any] | None:
        # the one that is not used is not compiled
        return jnp.sort(x, axis=-1), jnp.argsort(x, axis=-1, stable=True).astype(jnp.int64)

    def searchsorted(self, a: Any, v: Any, right: bool) -> Any | None:
        def search(row: Any, values: Any) -> Any:
            return jnp.searchsorted(row, values, side="right" if right else "left")

        if a.ndim == 1:
            return search(a, v).astype(jnp.int64)
        return jnp.vectorize(search, signature="(n),(m)->(m)")(a, v).astype(jnp.int64)

    def fft(self, x: Any, ndim: int, inverse: bool) -> Any:
        axes = range(-ndim, 0)
        return (
            jnp.fft.ifftn(x, axes=axes, norm="forward") if inverse else jnp.fft.fftn(x, axes=axes)
        )

    def real_fft(self, x: Any, ndim: int) -> Any:
        return jnp.fft.rfftn(x, axes=range(-ndim, 0))

    def inverse_real_fft(self, x: Any, ndim: int, n: int) -> Any:
        shape = (*x.shape[x.ndim - ndim : -1], n)
        return jnp.fft.irfftn(x, shape, axes=range(-ndim, 0), norm="forward")

    def correlate(
        self, x: Any, w: Any, strides: Sequence[int], dilations: Sequence[int], groups: int
    ) -> Any:
        return lax.conv_general_dilated(
            x,
            w,
            tuple(strides),
            "VALID",
            rhs_dilation=tuple(dilations),
            feature_group_count=groups,
            precision="highest",
        )

    def spread(self, x: Any, axis: int, start: int, step: int, length: int) -> Any:
        after = length - start - max(step * (x.shape[axis] - 1) + 1, 0)
        if not x.shape[axis]:
            after = length - start
        widths = [(0, 0, 0)] * x.ndim
        widths[axis] = (start, after, step - 1)
        return lax.pad(x, np.zeros((), x.dtype), widths)

    def permutation(self, pivots: Any, n: int) -> Any:
        return lax.linalg.lu_pivots_to_permutation(pivots, n).astype(jnp.int64)

    def eigh(self, x: Any, lower: bool, vectors: bool) -> Sequence[Any]:
        columns, values = lax.linalg.eigh(x, lower=lower, symmetrize_input=False)
        return [values, columns] if vectors else [values]

    def eig(self, x: Any, vectors: bool) -> Sequence[Any] | None:
        if jax.default_backend() != "cpu":
            return None
        return list(
            lax.linalg.eig(x, compute_left_eigenvectors=False, compute_right_eigenvectors=vectors)
        )

    def svd(self, x: Any, full: bool, vectors: bool) -> Sequence[Any]:
        parts = jnp.linalg.svd(x, full_matrices=full, compute_uv=vectors)
        return list(parts) if vectors else [parts]

    def qr(self, x: Any, full: bool) -> Sequence[Any]:
        return list(jnp.linalg.qr(x, "complete" if full else "reduced"))

    def householder_product(self, vectors: Any, factors: Any) -> Any:
        return lax.linalg.householder_product(vectors, factors)

    def expm(self, x: Any) -> Any:
        # all matrices of a batch are squared 40 times; a matrix with a norm above 5e12 gives NaN
        return jax.scipy.linalg.expm(x, max_squarings=40)

    def diagonal(self, x: Any, offset: int, axis1: int, axis2: int) -> Any:
        return jnp.diagonal(x, offset, axis1, axis2)

    def branch(
        self, condition: Any, then: Callable[[], Sequence[Any]], other: Callable[[], Sequence[Any]]
    ) -> Sequence[Any]:
        return lax.cond(condition.astype(bool), lambda: list(then()), lambda: list(other()))

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

    def after(self, x: Any, others: Sequence[Any]) -> Any:
        # XLA removes barriers early, but not from a function that is compiled apart
        barrier = lax.optimization_barrier
        return self.apart(lambda: [barrier((x, *others))[0]])[0] if others else x

    def apart(self, function: Callable[[], Sequence[Any]]) -> Sequence[Any]:
        with set_xla_metadata(inlineable="false"):
            return jax.jit(function)()

    def callback(
        self,
        function: Callable[..., Sequence[Any]],
        inputs: Sequence[Any],
        results: Sequence[tuple[str, tuple[int, ...]]],
    ) -> Sequence[Any]:
        ins = [(np.dtype(x.dtype), x.shape) for x in inputs]
        outs = [(np.dtype(dtype), shape) for dtype, shape in results]

        def call(*arrays: Any) -> list[Any]:
            values = [_words_to_numpy(np.asarray(a), *k) for a, k in zip(arrays, ins, strict=True)]
            return [_numpy_to_words(r, *k) for r, k in zip(function(*values), outs, strict=True)]

        kinds = [jax.ShapeDtypeStruct(*_words(*kind)) for kind in outs]
        words = jax.pure_callback(call, kinds, *map(_jax_to_words, inputs))
        return [_words_to_jax(x, *kind) for x, kind in zip(words, outs, strict=True)]


# A callback may run in another thread, where 64-bit dtypes are not enabled. JAX would round its arguments and results
# to 32 bits there. So they are passed as words of 32 bits.


def _block(key: Sequence[Any], shape: Sequence[int]) -> tuple[list[Any], list[int]] | None:
    """Return the start and the lengths of the block that an index key selects.

    Returns None if the selected elements are not a block of adjacent elements, or if a slice selects no element.
    """
    starts: list[Any] = []
    sizes: list[int] = []
    for entry, n in zip(key, shape, strict=True):
        if is_slice(entry):
            start, stop, step = entry.indices(n)
            if step != 1 or stop <= start:
                return None
            starts.append(jnp.int64(start))
            sizes.append(stop - start)
        elif np.ndim(entry):
            return None
        else:
            starts.append(jnp.asarray(entry, "int64"))
            sizes.append(1)
    return starts, sizes


def _words(dtype: np.dtype[Any], shape: Sequence[int]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and the dtype with which an array is passed to a callback.

    Integers and floats of 64 bits are passed as two words of 32 bits each, and complex numbers of 128 bits as four
    words. The words lie along a new last axis. Arrays of other dtypes are passed as they are.
    """
    count = dtype.itemsize // 4
    wide = dtype.itemsize == 16 or (dtype.itemsize == 8 and dtype.kind != "c")
    return ((*shape, count), np.dtype("uint32")) if wide else (tuple(shape), dtype)


def _jax_to_words(x: Any) -> Any:
    """Return the words of a JAX array."""
    dtype = np.dtype(x.dtype)
    shape, words = _words(dtype, x.shape)
    if words == dtype:
        return x
    parts = jnp.stack([x.real, x.imag], -1) if dtype.kind == "c" else x
    return lax.bitcast_convert_type(parts, jnp.uint32).reshape(shape)


def _words_to_jax(x: Any, dtype: np.dtype[Any], shape: Sequence[int]) -> Any:
    """Return the JAX array that has these words."""
    if _words(dtype, shape)[1] == dtype:
        return x
    if dtype.kind != "c":
        return lax.bitcast_convert_type(x, dtype)
    parts = lax.bitcast_convert_type(x.reshape(*shape, 2, 2), jnp.float64)
    return lax.complex(parts[..., 0], parts[..., 1])


def _numpy_to_words(value: Any, dtype: np.dtype[Any], shape: Sequence[int]) -> Any:
    """Return the words of a NumPy array."""
    array = np.asarray(value)
    size, words = _words(dtype, shape)
    if words == dtype or array.dtype != dtype or array.shape != tuple(shape):
        return array  # JAX raises an error if the dtype or the shape is wrong
    return np.ascontiguousarray(array).reshape(-1).view(words).reshape(size)


def _words_to_numpy(array: Any, dtype: np.dtype[Any], shape: Sequence[int]) -> Any:
    """Return the NumPy array that has these words."""
    if _words(dtype, shape)[1] == dtype:
        return array
    return np.ascontiguousarray(array).reshape(-1).view(dtype).reshape(shape)
