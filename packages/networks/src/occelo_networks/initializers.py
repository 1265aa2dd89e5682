"""First values of parameters, as in ``jax.nn.initializers``: functions of a key, a shape and a dtype.

``he_normal()(key, (3, 4))`` is a matrix of random numbers. All but `zeros` and `ones` are made by a call with options. Users
reach them as ``occelo.nn.initializers``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph import tensor as ot
from occelo_graph.errors import explain_errors, explained_by
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
    """Zeros of a ``shape`` and a ``dtype``; the ``key`` is not used."""
    return ot.zeros(_lengths(shape), dtype=dtype)


def ones(key: Any, shape: Sequence[int], dtype: Any = None) -> TensorVariable:
    """Ones of a ``shape`` and a ``dtype``; the ``key`` is not used."""
    return ot.ones(_lengths(shape), dtype=dtype)


def constant(value: Any, dtype: Any = None) -> Initializer:
    """Copies of ``value``, a number or an array that broadcasts to the shape, as ``dtype``; the key is not used."""
    return _with_dtype(lambda key, shape, dtype: ot.full(shape, value, dtype=dtype), dtype, False)


def uniform(scale: Any = 0.01, dtype: Any = None) -> Initializer:
    """Random numbers of ``dtype``, distributed evenly between 0 and ``scale``."""
    return _with_dtype(
        lambda key, shape, dtype: random.uniform(key, 0.0, scale, shape, dtype=dtype), dtype
    )


def normal(stddev: Any = 0.01, dtype: Any = None) -> Initializer:
    """Normal random numbers of ``dtype`` with mean 0 and standard deviation ``stddev``."""
    return _with_dtype(
        lambda key, shape, dtype: random.normal(key, 0.0, stddev, shape, dtype=dtype), dtype
    )


def truncated_normal(
    stddev: Any = 0.01, dtype: Any = None, lower: Any = -2.0, upper: Any = 2.0
) -> Initializer:
    """``stddev`` times numbers of the standard normal distribution between ``lower`` and ``upper``, as ``dtype``."""
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
    those of a filter, count for both, and those of ``batch_axis`` for none: ``in_axis`` those of inputs, ``out_axis`` those of
    outputs. ``distribution`` is "normal", "uniform" or "truncated_normal", ``dtype`` that of the numbers. ValueError for other
    words, and for fewer than 2 dimensions.
    """
    if mode not in ("fan_in", "fan_out", "fan_avg", "fan_geo_avg"):
        raise ValueError(f"mode is fan_in, fan_out, fan_avg or fan_geo_avg, not {mode!r}")
    if distribution not in ("normal", "uniform", "truncated_normal"):
        raise ValueError(
            f"distribution is normal, uniform or truncated_normal, not {distribution!r}"
        )

    def draw(key: Any, shape: tuple[int, ...], dtype: Any) -> TensorVariable:
        if len(shape) < 2:
            raise ValueError(
                f"Inputs and outputs are counted of at least 2 dimensions, got {shape}"
            )
        axes = {"in_axis": in_axis, "out_axis": out_axis, "batch_axis": batch_axis}
        of_in, of_out, of_batch = (_product(shape, a, name) for name, a in axes.items())
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


def _product(shape: Sequence[int], axes: int | Sequence[int], name: str) -> int:
    return math.prod(
        _length_at(shape, a, name) for a in ([axes] if isinstance(axes, int) else axes)
    )


def _length_at(shape: Sequence[int], axis: int, name: str) -> int:
    if not -len(shape) <= axis < len(shape):
        raise ValueError(
            f"{name} of an initializer is a dimension of the shape {shape}, got {axis}"
        )
    return shape[axis]


def _with_dtype(
    draw: Callable[[Any, tuple[int, ...], Any], Any], default: Any, random_numbers: bool = True
) -> Initializer:
    @explained_by("arguments")
    def initialize(key: Any, shape: Sequence[int], dtype: Any = None) -> TensorVariable:
        lengths = _lengths(shape)
        key = as_key(key) if random_numbers else key
        return draw(key, lengths, default if dtype is None else dtype)

    return initialize


def _lengths(shape: Sequence[int]) -> tuple[int, ...]:
    if not is_list_or_tuple(shape):
        raise TypeError(f"The shape of an initializer is a tuple of integers, got {shape!r}")
    return tuple(shape)


def glorot_normal(
    in_axis: int | Sequence[int] = -2,
    out_axis: int | Sequence[int] = -1,
    batch_axis: int | Sequence[int] = (),
    dtype: Any = None,
) -> Initializer:
    """Numbers of the normal distribution, none further from 0 than two standard deviations, whose variance is 1 over the mean of the numbers of inputs and outputs.

    ``in_axis``, ``out_axis``, ``batch_axis`` and ``dtype`` are those of `variance_scaling`.
    """
    return variance_scaling(
        1.0, "fan_avg", "truncated_normal", in_axis, out_axis, batch_axis, dtype
    )


def glorot_uniform(
    in_axis: int | Sequence[int] = -2,
    out_axis: int | Sequence[int] = -1,
    batch_axis: int | Sequence[int] = (),
    dtype: Any = None,
) -> Initializer:
    """Numbers distributed evenly around 0, whose variance is 1 over the mean of the numbers of inputs and outputs.

    ``in_axis``, ``out_axis``, ``batch_axis`` and ``dtype`` are those of `variance_scaling`.
    """
    return variance_scaling(1.0, "fan_avg", "uniform", in_axis, out_axis, batch_axis, dtype)


def lecun_normal(
    in_axis: int | Sequence[int] = -2,
    out_axis: int | Sequence[int] = -1,
    batch_axis: int | Sequence[int] = (),
    dtype: Any = None,
) -> Initializer:
    """Numbers of the normal distribution, none further from 0 than two standard deviations, whose variance is 1 over the number of inputs.

    ``in_axis``, ``out_axis``, ``batch_axis`` and ``dtype`` are those of `variance_scaling`.
    """
    return variance_scaling(1.0, "fan_in", "truncated_normal", in_axis, out_axis, batch_axis, dtype)


def lecun_uniform(
    in_axis: int | Sequence[int] = -2,
    out_axis: int | Sequence[int] = -1,
    batch_axis: int | Sequence[int] = (),
    dtype: Any = None,
) -> Initializer:
    """Numbers distributed evenly around 0, whose variance is 1 over the number of inputs.

    ``in_axis``, ``out_axis``, ``batch_axis`` and ``dtype`` are those of `variance_scaling`.
    """
    return variance_scaling(1.0, "fan_in", "uniform", in_axis, out_axis, batch_axis, dtype)


def he_normal(
    in_axis: int | Sequence[int] = -2,
    out_axis: int | Sequence[int] = -1,
    batch_axis: int | Sequence[int] = (),
    dtype: Any = None,
) -> Initializer:
    """Numbers of the normal distribution, none further from 0 than two standard deviations, whose variance is 1 over half the number of inputs.

    ``in_axis``, ``out_axis``, ``batch_axis`` and ``dtype`` are those of `variance_scaling`.
    """
    return variance_scaling(2.0, "fan_in", "truncated_normal", in_axis, out_axis, batch_axis, dtype)


def he_uniform(
    in_axis: int | Sequence[int] = -2,
    out_axis: int | Sequence[int] = -1,
    batch_axis: int | Sequence[int] = (),
    dtype: Any = None,
) -> Initializer:
    """Numbers distributed evenly around 0, whose variance is 1 over half the number of inputs.

    ``in_axis``, ``out_axis``, ``batch_axis`` and ``dtype`` are those of `variance_scaling`.
    """
    return variance_scaling(2.0, "fan_in", "uniform", in_axis, out_axis, batch_axis, dtype)


def orthogonal(scale: float = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """``scale`` times a random tensor whose rows, or columns if there are fewer, are orthogonal and of length 1.

    The rows are along ``column_axis``; the other axes count as one. The numbers are of ``dtype``. ValueError for fewer than 2 dimensions.
    """

    def draw(key: Any, shape: tuple[int, ...], dtype: Any) -> TensorVariable:
        if len(shape) < 2:
            raise ValueError(f"An orthogonal tensor has at least 2 dimensions, got {shape}")
        rows = _length_at(shape, column_axis, "column_axis")
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

    ``scale``, ``column_axis`` and ``dtype`` are those of `orthogonal`. ValueError for other numbers of axes, and for more inputs than outputs.
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


explain_errors(globals(), "arguments")
xavier_normal, xavier_uniform = glorot_normal, glorot_uniform
kaiming_normal, kaiming_uniform = he_normal, he_uniform
if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = missing_name_hints("occelo.nn.initializers")
