"""First values of parameters, as in ``jax.nn.initializers``: functions of a key, a shape and a dtype.

``he_normal()(key, (3, 4))`` is a matrix of random numbers. All but `zeros` and `ones` are made by a call with options. Users
reach them as ``occelo.nn.initializers``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.errors import explained
from occelo_graph.missing_names import missing_name_hints
from occelo_graph.narrowing import is_list_or_tuple
from occelo_linalg.functions import qr
from occelo_random import functions as random
from occelo_random.ops.keys import as_key

if TYPE_CHECKING:
    from occelo_graph.tensor import TensorVariable

__all__ = [
    "constant",
    "delta_orthogonal",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "kaiming_normal",
    "kaiming_uniform",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "truncated_normal",
    "uniform",
    "variance_scaling",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
]

Initializer = Callable[..., Any]
_OF_TRUNCATED = 0.87962566103423978
"""The standard deviation of the standard normal distribution between -2 and 2."""


def zeros(key: Any, shape: Sequence[int], dtype: Any = None) -> TensorVariable:
    """Zeros; the key is not used."""
    return ot.zeros(tuple(shape), dtype=dtype)


def ones(key: Any, shape: Sequence[int], dtype: Any = None) -> TensorVariable:
    """Ones; the key is not used."""
    return ot.ones(tuple(shape), dtype=dtype)


def constant(value: Any, dtype: Any = None) -> Initializer:
    """Equal numbers, or copies of an array that broadcasts to the shape; the key is not used."""
    return _with_dtype(lambda key, shape, dtype: ot.full(shape, value, dtype=dtype), dtype, False)


def uniform(scale: Any = 0.01, dtype: Any = None) -> Initializer:
    """Random numbers, distributed evenly between 0 and ``scale``."""
    return _with_dtype(
        lambda key, shape, dtype: random.uniform(key, 0.0, scale, shape, dtype=dtype), dtype
    )


def normal(stddev: Any = 0.01, dtype: Any = None) -> Initializer:
    """Normal random numbers with mean 0 and standard deviation ``stddev``."""
    return _with_dtype(
        lambda key, shape, dtype: random.normal(key, 0.0, stddev, shape, dtype=dtype), dtype
    )


def truncated_normal(
    stddev: Any = 0.01, dtype: Any = None, lower: Any = -2.0, upper: Any = 2.0
) -> Initializer:
    """``stddev`` times numbers of the standard normal distribution between ``lower`` and ``upper``."""
    return _with_dtype(
        lambda key, shape, dtype: random.truncnorm(
            key, lower, upper, 0.0, stddev, shape, dtype=dtype
        ),
        dtype,
    )


def variance_scaling(
    scale: float,
    mode: str,
    distribution: str,
    in_axis: int | Sequence[int] = -2,
    out_axis: int | Sequence[int] = -1,
    batch_axis: int | Sequence[int] = (),
    dtype: Any = None,
) -> Initializer:
    """Random numbers with mean 0 and the variance ``scale / n``.

    ``n`` is the number of inputs of a unit for the ``mode`` "fan_in", the number of outputs for "fan_out", their mean for
    "fan_avg" and their geometric mean for "fan_geo_avg". The axes say which lengths these are; lengths of other axes, such as
    those of a filter, count for both, and those of ``batch_axis`` for none. ``distribution`` is "normal", "uniform" or
    "truncated_normal". ValueError for other words, and for fewer than 2 dimensions.
    """
    if mode not in ("fan_in", "fan_out", "fan_avg", "fan_geo_avg"):
        raise explained(
            ValueError(f"mode is fan_in, fan_out, fan_avg or fan_geo_avg, not {mode!r}"),
            "arguments",
        )
    if distribution not in ("normal", "uniform", "truncated_normal"):
        raise ValueError(
            f"distribution is normal, uniform or truncated_normal, not {distribution!r}"
        )

    def draw(key: Any, shape: tuple[int, ...], dtype: Any) -> TensorVariable:
        if len(shape) < 2:
            raise explained(
                ValueError(f"Inputs and outputs are counted of at least 2 dimensions, got {shape}"),
                "arguments",
            )
        of_in, of_out, of_batch = (_product(shape, a) for a in (in_axis, out_axis, batch_axis))
        others = math.prod(shape) / (of_in * of_out * of_batch)
        inputs, outputs = of_in * others, of_out * others
        counts = {
            "fan_in": inputs,
            "fan_out": outputs,
            "fan_avg": (inputs + outputs) / 2,
            "fan_geo_avg": math.sqrt(inputs * outputs),
        }
        deviation = math.sqrt(scale / counts[mode])
        if distribution == "uniform":
            end = math.sqrt(3) * deviation
            return random.uniform(key, -end, end, shape, dtype=dtype)
        if distribution == "normal":
            return random.normal(key, 0.0, deviation, shape, dtype=dtype)
        within = deviation / _OF_TRUNCATED
        return random.truncnorm(key, -2.0, 2.0, 0.0, within, shape, dtype=dtype)

    return _with_dtype(draw, dtype)


def _product(shape: Sequence[int], axes: int | Sequence[int]) -> int:
    return math.prod(shape[a] for a in ([axes] if isinstance(axes, int) else axes))


def _with_dtype(
    draw: Callable[[Any, tuple[int, ...], Any], Any], default: Any, random_numbers: bool = True
) -> Initializer:
    def initialize(key: Any, shape: Sequence[int], dtype: Any = None) -> TensorVariable:
        if not is_list_or_tuple(shape):
            raise TypeError(f"The shape of an initializer is a tuple of integers, got {shape!r}")
        wanted: Any = default if dtype is None else dtype
        key = as_key(key) if random_numbers else key
        return draw(key, tuple(shape), None if wanted is None else np.dtype(wanted).name)

    return initialize


_of: Any = variance_scaling
glorot_normal = xavier_normal = partial(_of, 1.0, "fan_avg", "truncated_normal")
glorot_uniform = xavier_uniform = partial(_of, 1.0, "fan_avg", "uniform")
lecun_normal, lecun_uniform = (
    partial(_of, 1.0, "fan_in", d) for d in ("truncated_normal", "uniform")
)
he_normal = kaiming_normal = partial(_of, 2.0, "fan_in", "truncated_normal")
he_uniform = kaiming_uniform = partial(_of, 2.0, "fan_in", "uniform")


def orthogonal(scale: float = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """``scale`` times a random tensor whose rows, or columns if there are fewer, are orthogonal and of length 1.

    The rows are along ``column_axis``; the other axes count as one. ValueError for fewer than 2 dimensions.
    """

    def draw(key: Any, shape: tuple[int, ...], dtype: Any) -> TensorVariable:
        if len(shape) < 2:
            raise ValueError(f"An orthogonal tensor has at least 2 dimensions, got {shape}")
        rows = shape[column_axis]
        columns = math.prod(shape) // rows if rows else 0
        tall = (max(rows, columns), min(rows, columns))
        q, r = qr(random.normal(key, size=tall, dtype=dtype))
        q = q * ot.sign(ot.diag(r))  # so that all rotations are equally likely
        if rows < columns:
            q = q.T
        others = list(shape)
        del others[column_axis]
        return ot.moveaxis(ot.reshape(scale * q, (rows, *others)), 0, column_axis)

    return _with_dtype(draw, dtype)


def delta_orthogonal(scale: float = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Filters that are an `orthogonal` matrix at their middle and 0 elsewhere: shape (..., inputs, outputs), 3 to 5 axes.

    ValueError for other numbers of axes, and for more inputs than outputs.
    """

    def draw(key: Any, shape: tuple[int, ...], dtype: Any) -> TensorVariable:
        if len(shape) not in (3, 4, 5):
            raise ValueError(f"delta_orthogonal makes tensors of 3 to 5 dimensions, got {shape}")
        if shape[-1] < shape[-2]:
            raise ValueError(f"delta_orthogonal takes no more inputs than outputs, got {shape}")
        matrix = orthogonal(scale, column_axis, dtype)(key, (shape[-1], shape[-1]))
        middle = tuple((n - 1) // 2 for n in shape[:-2])
        empty = ot.zeros(shape, dtype=matrix.dtype)
        return empty[middle].set(matrix[: shape[-2]])

    return _with_dtype(draw, dtype)


if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = missing_name_hints("occelo.nn.initializers")
