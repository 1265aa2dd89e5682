"""Broadcasts index arrays and written values at run time, where their lengths are not known to fit.

`subtensor` calls these functions for the index and the value that a user writes. The ops that read and write take only
arrays and values that fit, so gradients and other functions that know the lengths apply the ops without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occelo_graph.ops.elemwise.arithmetic import eq, switch
from occelo_graph.ops.index.key import ARRAY, Key, marks_of
from occelo_graph.ops.lengths import KnownLengths, is_proved_equal
from occelo_graph.ops.shape.reading import length_op
from occelo_graph.ops.shape.stretching import Stretch


def fitted_arrays(key: Key, inputs: Sequence[Any]) -> list[Any]:
    """The inputs of a key, with index arrays stretched to their common lengths where these are not known to be equal.

    The key must not contain masks beside other arrays.
    """
    marks = marks_of(key)
    arrays = [v for v, mark in zip(inputs, marks, strict=True) if mark == ARRAY]
    if len(arrays) < 2:
        return list(inputs)
    cache = KnownLengths()
    targets: dict[Any, dict[int, Any]] = {}
    for axis in range(-max(a.type.ndim for a in arrays), 0):
        group = [a for a in arrays if -axis <= a.type.ndim and a.type.shape[axis] != 1]
        for array, length in _lengths_to_reach(group, axis, cache):
            targets.setdefault(array, {})[axis + array.type.ndim] = length
    return [
        _stretched(v, targets[v], of_index=True) if mark == ARRAY and v in targets else v
        for v, mark in zip(inputs, marks, strict=True)
    ]


def _lengths_to_reach(
    arrays: Sequence[Any], axis: int, cache: KnownLengths
) -> list[tuple[Any, Any]]:
    """The arrays to stretch along an axis, which counts from the end, each with the length that it gets."""
    different: list[Any] = []
    for a in sorted(arrays, key=lambda a: a.type.shape[axis] is None):
        if not any(_same_length(a, axis, b, axis, cache) for b in different):
            different.append(a)
    if len(different) < 2:
        return []
    first, *others = different
    length = length_op(axis + first.type.ndim)(first)
    if first.type.shape[axis] is not None:
        # an array of another static length cannot be stretched; the op that indexes raises the error
        return [(a, length) for a in others if a.type.shape[axis] is None]
    for other in others:
        length = switch(eq(length, 1), length_op(axis + other.type.ndim)(other), length)
    return [(a, length) for a in arrays]


def _same_length(a: Any, i: int, b: Any, j: int, cache: KnownLengths) -> bool:
    """Whether the lengths of two tensors along axes that count from the end are proved to be equal."""
    return is_proved_equal(a, i + a.type.ndim, b, j + b.type.ndim, cache)


def fitted_value(value: Any, part: Any) -> Any:
    """``value``, stretched to the lengths of ``part``, to which it is written, where it is not known to have them."""
    cache = KnownLengths()
    lengths: dict[int, Any] = {}
    if value.type.ndim > part.type.ndim:
        return value  # the op that writes raises the error
    for axis in range(-value.type.ndim, 0):
        is_open = value.type.shape[axis] is None and part.type.shape[axis] != 1
        if is_open and not _same_length(value, axis, part, axis, cache):
            lengths[axis + value.type.ndim] = length_op(axis + part.type.ndim)(part)
    return _stretched(value, lengths, more=value.type.ndim < part.type.ndim) if lengths else value


def _stretched(x: Any, lengths: dict[int, Any], **options: bool) -> Any:
    has_length = tuple(i in lengths for i in range(x.type.ndim))
    op = Stretch((None,) * x.type.ndim, has_length, **options)
    return op(x, *(lengths[i] for i in sorted(lengths)))
