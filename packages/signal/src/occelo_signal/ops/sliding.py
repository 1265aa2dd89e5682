"""The ops `Windows` and `OverlapAdd`, of which convolutions of networks and pooling consist. Each is the adjoint of the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import ZERO, Cotangents, Op, op
from occelo_graph.ir.traits import FIRST
from occelo_graph.ops.batched_lengths import common_lengths
from occelo_graph.ops.create import arange, zeros
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.length_inputs import (
    FollowsLengths,
    check_length_types,
    fill_static,
    specialize_lengths,
    split_static,
)
from occelo_graph.ops.linear import LinearInFirst
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import StaticShape, TensorType, is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable


def extents(windows: Sequence[int], dilations: Sequence[int]) -> list[int]:
    """How many elements lie between the first and the last element of a window, both included."""
    return [(w - 1) * d + 1 for w, d in zip(windows, dilations, strict=True)]


def place_keys(
    windows: Sequence[int], strides: Sequence[int], dilations: Sequence[int], places: Sequence[Any]
) -> list[Any]:
    """For each axis, the positions of all elements of all windows, to index with: windows come before places."""
    ndim = len(windows)
    keys: list[Any] = []
    for i, (w, s, d, count) in enumerate(zip(windows, strides, dilations, places, strict=True)):
        within = expand_dims(arange(w) * d, [j for j in range(2 * ndim) if j != i])
        at = expand_dims(arange(count) * s, [j for j in range(2 * ndim) if j != ndim + i])
        keys.append(within + at)
    return keys


@op
class Windows(LinearInFirst):
    """The elements of windows that slide over the last dimensions of a tensor, by ``strides``.

    There are as many of these dimensions as ``windows``, which has the lengths of a window. Its elements lie
    ``dilations`` apart. In the result, they lie along new dimensions before those of the places of the window.
    """

    windows: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    moves = FIRST

    def places(self, lengths: Sequence[Any]) -> list[Any]:
        """The numbers of places of the window. ValueError if it does not fit."""
        counts: list[Any] = []
        for n, extent, stride in zip(
            lengths, extents(self.windows, self.dilations), self.strides, strict=True
        ):
            if isinstance(n, int | np.integer) and n < extent:
                raise ValueError(
                    f"A window of {self.windows} elements, {self.dilations} apart, does not fit in a tensor of shape "
                    f"{tuple(lengths)}"
                )
            counts.append(None if n is None else (n - extent) // stride + 1)
        return counts

    def infer(self, x: TensorType) -> TensorType:
        split = x.ndim - len(self.windows)
        if split < 0:
            raise ValueError(f"{self} slides over {len(self.windows)} dimensions, got {x}")
        return TensorType(x.dtype, [*x.shape[:split], *self.windows, *self.places(x.shape[split:])])

    def evaluate(self, x: Any) -> Any:
        ndim = len(self.windows)
        split = x.ndim - ndim
        self.places(x.shape[split:])
        view = np.lib.stride_tricks.sliding_window_view(
            x, extents(self.windows, self.dilations), tuple(range(split, x.ndim))
        )
        steps = [slice(None, None, n) for n in (*self.strides, *self.dilations)]
        part = view[(..., *steps)]
        order = [*range(split), *range(split + ndim, split + 2 * ndim), *range(split, split + ndim)]
        # a single window or windows of one element would be a view
        return np.array(part.transpose(order), order="C")

    def decompose(self, x: Any) -> Sequence[Any]:
        split = x.type.ndim - len(self.windows)
        places = self.places(lengths_by_variables(x)[split:])
        keys = place_keys(self.windows, self.strides, self.dilations, places)
        return [getitem(x, (*[slice(None)] * split, *keys))]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        if is_discrete(inputs[0].dtype):
            return [ZERO]
        lengths = lengths_by_variables(inputs[0])[-len(self.windows) :]
        return [overlap_added(cotangents[0], self.strides, self.dilations, lengths)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        split = len(input_shapes[0]) - len(self.windows)
        lead, rest = input_shapes[0][:split], input_shapes[0][split:]
        return [(*lead, *self.windows, *self.places(rest))]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [self(inputs[0])]


@op
class OverlapAdd(FollowsLengths, LinearInFirst):
    """The tensor to which the windows that `Windows` reads are added, at their places: zeros where there are none.

    ``lengths`` are the lengths of its last dimensions. Each None is a dynamic length, which is a further input.
    """

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    lengths: StaticShape

    def static_inputs(self, node: Apply) -> Sequence[int]:
        return range(1, len(node.inputs))

    def check_fit(
        self, windows: Sequence[int | None], places: Sequence[int | None], lengths: Sequence[Any]
    ) -> None:
        """Raise ValueError if windows reach beyond the result, as far as the lengths are known."""
        for w, p, n, s, d in zip(
            windows, places, lengths, self.strides, self.dilations, strict=True
        ):
            if (
                w is not None
                and p is not None
                and n is not None
                and w
                and p
                and (w - 1) * d + (p - 1) * s >= n
            ):
                raise ValueError(
                    f"Windows of {tuple(windows)} elements at {tuple(places)} places, {self.strides} apart, do not fit in "
                    f"the lengths {tuple(lengths)}"
                )

    def infer(self, x: TensorType, *lengths: Any) -> TensorType:
        check_length_types(self, lengths)
        ndim = len(self.lengths)
        if x.ndim < 2 * ndim:
            raise ValueError(f"{self} takes windows and places of {ndim} dimensions, got {x}")
        self.check_fit(
            x.shape[x.ndim - 2 * ndim : x.ndim - ndim], x.shape[x.ndim - ndim :], self.lengths
        )
        return TensorType(x.dtype, [*x.shape[: x.ndim - 2 * ndim], *self.lengths])

    def evaluate(self, x: Any, *lengths: Any) -> Any:
        full = [int(n) for n in fill_static(self.lengths, lengths)]
        ndim = len(full)
        split = x.ndim - 2 * ndim
        windows, places = x.shape[split : split + ndim], x.shape[split + ndim :]
        self.check_fit(windows, places, full)
        total = np.zeros((*x.shape[:split], *full), x.dtype)
        if 0 in places:
            return total
        for at in np.ndindex(*windows):
            key = [
                slice(j * d, j * d + (p - 1) * s + 1, s)
                for j, d, p, s in zip(at, self.dilations, places, self.strides, strict=True)
            ]
            total[(..., *key)] += x[(slice(None),) * split + at]
        return total

    def decompose(self, x: Any, *lengths: Any) -> Sequence[Any]:
        ndim = len(self.lengths)
        split = x.type.ndim - 2 * ndim
        own = lengths_by_variables(x)
        windows, places = own[split : split + ndim], own[split + ndim :]
        keys = place_keys(windows, self.strides, self.dilations, places)
        room = zeros([*own[:split], *fill_static(self.lengths, lengths)], x.dtype)
        return [getitem(room, (*[slice(None)] * split, *keys)).inc(x)]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        rest = [None] * (len(inputs) - 1)
        if is_discrete(inputs[0].dtype):
            return [ZERO, *rest]
        ndim, x = len(self.lengths), inputs[0]
        split = x.type.ndim - 2 * ndim
        windows = x.type.shape[split : split + ndim]
        if None in windows:
            own = lengths_by_variables(x)[split:]
            keys = place_keys(own[:ndim], self.strides, self.dilations, own[ndim:])
            return [getitem(cotangents[0], (*[slice(None)] * split, *keys)), *rest]
        slopes = Windows(tuple(n or 0 for n in windows), self.strides, self.dilations)(
            cotangents[0]
        )
        # there may be room for further windows at the end
        places = lengths_by_variables(x)[x.type.ndim - ndim :]
        return [getitem(slopes, (..., *(slice(0, n) for n in places))), *rest]

    def specialized(self, inputs: Sequence[Variable]) -> tuple[Op, Sequence[Variable]]:
        lengths, rest = specialize_lengths(self.lengths, inputs[1:])
        if lengths == self.lengths:
            return self, inputs
        return OverlapAdd(self.strides, self.dilations, lengths), (inputs[0], *rest)

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        split = len(input_shapes[0]) - 2 * len(self.lengths)
        return [(*input_shapes[0][:split], *fill_static(self.lengths, node.inputs[1:]))]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [self(*common_lengths(self, inputs, batch_ndims, range(1, len(inputs))))]


def overlap_added(
    x: TensorVariable, strides: Sequence[int], dilations: Sequence[int], lengths: Sequence[Any]
) -> TensorVariable:
    """Apply `OverlapAdd`. ``lengths`` are integers or variables."""
    static, dynamic = split_static(lengths)
    total: TensorVariable = OverlapAdd(tuple(strides), tuple(dilations), static)(x, *dynamic)
    return total
