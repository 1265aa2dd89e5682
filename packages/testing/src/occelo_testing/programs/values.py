"""Random values and memory layouts for the inputs of random programs.

`drawing` calls these functions to make inputs. `generating` draws dtypes from `DTYPES`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_testing.programs.program import Input

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES = ("bool", *INTEGERS, *FLOATS, "complex64", "complex128")


def numbers(random: np.random.Generator, dtype: str, shape: tuple[int, ...], special: bool) -> Any:
    """Small numbers of a dtype, often multiples of 1/2, so that ties and exact zeros occur.

    With ``special`` some elements are NaN, infinite, -0.0, or the extremes of the dtype.
    """
    kind = np.dtype(dtype).kind
    extremes: list[Any]
    if kind == "b":
        return random.random(shape) < 0.5
    if kind in "iu":
        low = -4 if kind == "i" else 0
        drawn = random.integers(low, 6, shape).astype(dtype)
        extremes = [np.iinfo(dtype).min, np.iinfo(dtype).max]
    elif kind == "f":
        drawn = _floats(random, shape).astype(dtype)
        info = np.finfo(dtype)
        extremes = [np.nan, np.inf, -np.inf, -0.0, info.max, info.tiny, 0.0]
    else:
        drawn = (_floats(random, shape) + 1j * _floats(random, shape)).astype(dtype)
        extremes = [complex(np.nan, 0), complex(np.inf, 1), complex(0.0, -0.0)]
    drawn = np.asarray(drawn)
    if special:
        chosen = random.random(shape) < 0.3
        drawn = np.asarray(
            np.where(
                chosen, np.array(extremes, dtype)[random.integers(len(extremes), size=shape)], drawn
            )
        )
    return drawn


def _floats(random: np.random.Generator, shape: tuple[int, ...]) -> Any:
    style = random.integers(4)
    if style == 0:
        return random.integers(-4, 5, shape).astype("float64")
    if style == 1:
        return random.integers(-6, 7, shape) / 2
    if style == 2:
        return random.random(shape) + 0.5
    return np.round(random.normal(size=shape) * 2, 3)


def laid_out(random: np.random.Generator, value: Any, static: tuple[int | None, ...]) -> Input:
    """An input with the given value, in a random memory layout."""
    dtype = value.dtype.name
    layouts = ["plain"] * 4
    if value.ndim:
        layouts += ["reversed", "thinned", "cut", "repeated"]
    if value.ndim > 1:
        layouts += ["transposed", "transposed"]
    layout = layouts[random.integers(len(layouts))]
    axis = int(random.integers(int(value.ndim))) if value.ndim else 0
    lead = ":, " * axis
    if layout == "reversed":
        return Input(
            dtype, static, np.ascontiguousarray(np.flip(value, axis)), f"{{0}}[{lead}::-1]"
        )
    if layout == "thinned":
        return Input(dtype, static, np.repeat(value, 2, axis), f"{{0}}[{lead}::2]")
    if layout == "cut":
        first = np.take(value, [0], axis) if value.shape[axis] else np.zeros_like(_one(value, axis))
        return Input(
            dtype, static, np.concatenate([first, value, first], axis), f"{{0}}[{lead}1:-1]"
        )
    if layout == "repeated" and value.shape[axis] > 1:
        first = np.take(value, [0], axis)
        return Input(dtype, static, first, f"np.broadcast_to({{0}}, {value.shape})")
    if layout == "transposed":
        return Input(dtype, static, np.ascontiguousarray(value.T), "{0}.T")
    return Input(dtype, static, value)


def _one(value: Any, axis: int) -> Any:
    shape = list(value.shape)
    shape[axis] = 1
    return np.zeros(shape, value.dtype)
