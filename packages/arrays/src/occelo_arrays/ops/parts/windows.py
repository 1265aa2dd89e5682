"""Sliding windows over a tensor: the function `sliding_window_view` and its op `SlidingWindow`.

Users call the function from `occelo.tensor`. NumPy's function of this name calls it for symbolic tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import ZERO, Cotangents, op
from occelo_graph.ir.terms import Term, called
from occelo_graph.ir.traits import FIRST
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.create import arange, zeros_like
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.linear import LinearInFirst
from occelo_graph.ops.shape.axes import normalize_axis
from occelo_graph.ops.shape.dimensions import moveaxis
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import TensorType, is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["SlidingWindow", "sliding_window_view"]


@op
class SlidingWindow(LinearInFirst):
    """Copies the contents of all windows of lengths ``windows`` along ``axes``, which are not negative.

    In the result, an index along one of ``axes`` is the position of a window. New dimensions at the end, one for each
    window length, hold the elements of the window.

    An axis may occur several times in ``axes``. Then each further window slides over the positions of the window before
    it.
    """

    windows: tuple[int, ...]
    axes: tuple[int, ...]
    moves = FIRST

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        return called("sliding_window_view", operands[0].text, repr(self.windows), repr(self.axes))

    def places(self, lengths: Sequence[Any]) -> list[Any]:
        """The number of window positions along each axis of a tensor. ValueError if a window is longer than its axis.

        A length in ``lengths`` is a number, a variable, or None if it is dynamic.
        """
        counts = list(lengths)
        for window, axis in zip(self.windows, self.axes, strict=True):
            if isinstance(counts[axis], int) and counts[axis] < window:
                raise ValueError(
                    f"A window of {window} does not fit in axis {axis}, "
                    f"of which {counts[axis]} elements are left of {lengths[axis]}"
                )
            if counts[axis] is not None:
                counts[axis] = counts[axis] - (window - 1)
        return counts

    def infer(self, x: TensorType) -> TensorType:
        if self.axes and max(self.axes) >= x.ndim:
            raise np.exceptions.AxisError(max(self.axes), x.ndim)
        return TensorType(x.dtype, [*self.places(x.shape), *self.windows])

    def evaluate(self, x: Any) -> Any:
        self.places(x.shape)
        # copied, since windows of the view share memory
        return np.array(np.lib.stride_tricks.sliding_window_view(x, self.windows, self.axes))

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        x, ct = inputs[0], cotangents[0]
        if is_discrete(x.dtype):
            return [ZERO]
        # an element is in several windows, and its cotangent is the sum of their cotangents
        axes = sorted(set(self.axes))
        lengths = lengths_by_variables(ct)
        new = [x.type.ndim + i for i in range(len(self.windows))]
        count = len(axes) + len(new)
        key: list[Any] = []
        for place, axis in enumerate(axes):
            terms = [(place, lengths[axis])]
            terms += [
                (len(axes) + i, n) for i, n in enumerate(self.windows) if self.axes[i] == axis
            ]
            key.append(
                sum(
                    (_along(arange(n), at, count) for at, n in terms[1:]),
                    _along(arange(terms[0][1]), place, count),
                )
            )
        zeros = moveaxis(zeros_like(x, dtype=ct.dtype), axes, range(len(axes)))
        written = getitem(zeros, tuple(key)).inc(moveaxis(ct, [*axes, *new], range(count)))
        return [moveaxis(written, range(len(axes)), axes)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [(*self.places(input_shapes[0]), *self.windows)]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [
            SlidingWindow(self.windows, tuple(a + batch_ndims[0] for a in self.axes))(inputs[0])
        ]


def _along(vector: Any, at: int, count: int) -> Any:
    """Reshape a vector to ``count`` dimensions. Its elements lie along dimension ``at``; the other lengths are 1."""
    return vector.dimshuffle(["x"] * at + [0] + ["x"] * (count - at - 1))


@stands_for("sliding_window_view", "x window_shape axis -subok=False -writeable=False")
def sliding_window_view(x: Any, window_shape: Any, axis: Any = None) -> TensorVariable:
    """The contents of a window at all positions in ``x``. The last dimensions of the result are those of the window.

    ``window_shape`` is one or several integers, and ``axis`` has an axis of ``x`` for each. ``axis`` None means all
    axes in order. A dimension of n elements has n - w + 1 positions for a window of length w. Window lengths are
    static; lengths of ``x`` may be dynamic. The result is a copy, not a view.

    ValueError if a window length is negative, if a window is longer than its axis, or if the numbers of window lengths
    and axes differ. TypeError if a window length is a variable.
    """
    x = as_tensor_variable(x)
    windows = _numbers(window_shape, "window_shape")
    axes = tuple(range(x.type.ndim)) if axis is None else _numbers(axis, "axis")
    if len(windows) != len(axes):
        raise ValueError(
            f"sliding_window_view got {len(windows)} lengths of windows for {len(axes)} axes"
        )
    if any(n < 0 for n in windows):
        raise ValueError(f"Lengths of windows cannot be negative, got {windows}")
    view: TensorVariable = SlidingWindow(windows, tuple(normalize_axis(a, x) for a in axes))(x)
    return view


def _numbers(lengths: Any, name: str) -> tuple[int, ...]:
    try:
        listed = [*lengths]
    except TypeError:
        listed = [lengths]
    for value in listed:
        if isinstance(value, Variable) or not isinstance(value, int | np.integer):
            raise TypeError(
                f"{name} must be whole numbers that are known when the graph is built, got {value!r}"
            )
    return tuple(int(n) for n in listed)
