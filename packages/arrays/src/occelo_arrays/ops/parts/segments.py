"""Reductions of segments, with the names and arguments of JAX: `segment_sum`, `segment_max`, `segment_logsumexp`, ...

A segment consists of the rows of a tensor that have the same id. Sorted or not, ids are positions of rows in the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.errors import describe
from occelo_graph.gradient.barriers import disconnected_grad
from occelo_graph.ops.arguments import real_tensor
from occelo_graph.ops.length_inputs import integer_length
from occelo_graph.ops.shape.reading import lengths_by_variables

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "segment_logsumexp",
    "segment_max",
    "segment_min",
    "segment_prod",
    "segment_softmax",
    "segment_sum",
]


class _Segments:
    """Rows of ``data`` with their ids, where rows of no segment have the id ``count``, that of a further segment."""

    def __init__(self, data: Any, segment_ids: Any, num_segments: Any) -> None:
        self.data = x = ot.as_tensor_variable(data)
        ids = ot.as_tensor_variable(segment_ids)
        if ids.type.ndim != 1 or np.dtype(ids.dtype).kind not in "iu":
            raise TypeError(f"segment_ids must be a vector of integers, got {describe(ids)}")
        if not x.type.ndim:
            raise ValueError(f"Segments consist of rows, got {x.type}")
        if None not in (*ids.type.shape, x.type.shape[0]) and ids.type.shape != x.type.shape[:1]:
            raise ValueError(
                f"segment_ids has an id for each row of {describe(x)}, got {describe(ids)}"
            )
        ids = ot.cast(ids, "int64")
        if num_segments is None:
            num_segments = ot.max(ids, initial=-1) + 1
        count = integer_length(num_segments)
        if isinstance(count, int) and count < 0:
            raise ValueError(f"num_segments must not be negative, got {count}")
        self.count = ot.cast(ot.as_tensor_variable(count), "int64")
        self.ids = ot.switch(ot.and_(ot.ge(ids, 0), ot.lt(ids, self.count)), ids, self.count)

    def filled(self, value: Any) -> Any:
        """A row of ``value`` for each segment and the further one."""
        number = ot.constant(np.asarray(value, self.data.dtype))
        return ot.alloc(number, self.count + 1, *lengths_by_variables(self.data)[1:])

    def own(self, results: Any) -> Any:
        """The results of the segments, without that of the further one."""
        return results[: self.count]


def segment_sum(data: Any, segment_ids: Any, num_segments: Any = None) -> TensorVariable:
    """The sums of the segments of ``data``: row ``k`` of the result is the sum of the rows whose id is ``k``.

    ``segment_ids`` is a vector of integers, one for each row. ``num_segments``, the number of rows of the result, may
    be a variable. None means one more than the largest id, also if the function is not compiled for these ids. Rows
    with other ids, negative ones too, are left out, as in JAX. A segment without rows is 0. The dtype is that of
    ``data``. TypeError if ``segment_ids`` is not a vector of integers. ValueError if ``data`` is a scalar.
    """
    segments = _Segments(data, segment_ids, num_segments)
    return segments.own(segments.filled(0).at[segments.ids].add(segments.data))


def segment_prod(data: Any, segment_ids: Any, num_segments: Any = None) -> TensorVariable:
    """The products of the segments of ``data``, by ``segment_ids`` and ``num_segments`` of `segment_sum`; 1 without rows."""
    segments = _Segments(data, segment_ids, num_segments)
    return segments.own(segments.filled(1).at[segments.ids].multiply(segments.data))


def segment_max(data: Any, segment_ids: Any, num_segments: Any = None) -> TensorVariable:
    """The maxima of the segments of ``data``, by ``segment_ids`` and ``num_segments`` of `segment_sum`.

    A segment without rows is -inf, or the least integer of the dtype. Equal elements share the derivative. TypeError for
    complex numbers.
    """
    segments = _Segments(real_tensor(data, "segment_max"), segment_ids, num_segments)
    return segments.own(_maxima(segments))


def segment_min(data: Any, segment_ids: Any, num_segments: Any = None) -> TensorVariable:
    """The minima of the segments of ``data``, by ``segment_ids`` and ``num_segments``, as in `segment_max`.

    A segment without rows is inf, or the largest integer of the dtype.
    """
    segments = _Segments(real_tensor(data, "segment_min"), segment_ids, num_segments)
    largest = _bound(segments.data.dtype, largest=True)
    return segments.own(segments.filled(largest).at[segments.ids].min(segments.data))


def segment_logsumexp(data: Any, segment_ids: Any, num_segments: Any = None) -> TensorVariable:
    """``log(segment_sum(exp(data), segment_ids, num_segments))``, without overflow; -inf for a segment without rows.

    Integers become floats. TypeError for complex numbers.
    """
    segments = _Segments(_as_float(data, "segment_logsumexp"), segment_ids, num_segments)
    shift = _shift(segments)
    return segments.own(ot.log(_sums_of_exp(segments, shift)) + shift)


def segment_softmax(data: Any, segment_ids: Any, num_segments: Any = None) -> TensorVariable:
    """``exp(data)`` divided by its sum over the own segment, without overflow; a tensor of the shape of ``data``.

    ``segment_ids`` and ``num_segments`` are those of `segment_sum`; the rows that it leaves out are 0. Integers become
    floats. TypeError for complex numbers.
    """
    segments = _Segments(_as_float(data, "segment_softmax"), segment_ids, num_segments)
    shift = _shift(segments)
    total = _sums_of_exp(segments, shift)[segments.ids]
    shares = ot.exp(segments.data - shift[segments.ids]) / total
    inside = ot.lt(segments.ids, segments.count)
    return ot.switch(ot.shape_padright(inside, segments.data.type.ndim - 1), shares, 0)


def _as_float(data: Any, name: str) -> Any:
    data = real_tensor(data, name)
    return data if np.dtype(data.dtype).kind == "f" else ot.cast(data, "float64")


def _bound(dtype: str, largest: bool) -> Any:
    if dtype == "bool":
        return largest
    if np.dtype(dtype).kind in "iu":
        return np.iinfo(dtype).max if largest else np.iinfo(dtype).min
    return np.inf if largest else -np.inf


def _maxima(segments: _Segments) -> Any:
    least = _bound(segments.data.dtype, largest=False)
    return segments.filled(least).at[segments.ids].max(segments.data)


def _shift(segments: _Segments) -> Any:
    """The maxima of all segments where they are finite, else 0. They are constants in derivatives."""
    largest = disconnected_grad(_maxima(segments))
    return ot.switch(ot.isfinite(largest), largest, 0)


def _sums_of_exp(segments: _Segments, shift: Any) -> Any:
    exponentials = ot.exp(segments.data - shift[segments.ids])
    return segments.filled(0).at[segments.ids].add(exponentials)
