"""The op `ChannelCorrelate`: convolutions of networks, with channels, strides, dilations and groups.

It is one op, so that each backend can take its own way: matrix products of the kernels and the windows under them, loops
without windows, or the function of another library.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_arrays.ops.padding import pad
from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import ZERO, Cotangents, Op, op
from occelo_graph.ir.traits import FIRST, SECOND
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.elemwise.complex import conj
from occelo_graph.ops.join import flip
from occelo_graph.ops.reduce import sum as sum_
from occelo_graph.ops.shape.dimensions import swapaxes
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.nodes import Tensors, tensors
from occelo_graph.tensors.type import TensorType, is_complex
from occelo_signal.ops.sliding import Windows, extents, overlap_added

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable


@op
class ChannelCorrelate(Op):
    """Element (b, o, i) is the sum of ``x[b, c, i * strides + j * dilations] * w[o, c, j]`` over c and j.

    ``x`` has the shape (batch, channels, lengths), and ``w`` (output channels, channels / groups, lengths of the kernel),
    which are static. The channels c are those of the group of o: there are ``groups`` of them, one after the other. There
    are as many places i as the kernel fits at. Complex kernels are not conjugated.
    """

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    groups: int

    def linear_in(self, node: Apply) -> Sequence[slice]:
        return FIRST, SECOND

    def windows(self, kernel: Sequence[Any]) -> Windows:
        """The op of the windows that a kernel of such lengths reads."""
        return Windows(tuple(int(n) for n in kernel), self.strides, self.dilations)

    def infer(self, x: TensorType, w: TensorType) -> TensorType:
        if x.dtype != w.dtype or x.dtype == "bool":
            raise TypeError(f"{self} takes numbers of one dtype, got {x} and {w}")
        ndim = len(self.strides)
        if x.ndim != ndim + 2 or w.ndim != ndim + 2:
            raise ValueError(f"{self} takes two tensors of {ndim + 2} dimensions, got {x} and {w}")
        if None in w.shape[2:]:
            raise ValueError(f"{self} takes kernels of static lengths, got {w}")
        self.check_channels(x.shape[1], w.shape[0], w.shape[1])
        places = self.windows(w.shape[2:]).places(x.shape[2:])
        return TensorType(x.dtype, [x.shape[0], w.shape[0], *places])

    def check_channels(self, channels: int | None, out: int | None, own: int | None) -> None:
        """Raise ValueError unless the channels fit, as far as their numbers are known."""
        wrong = None not in (channels, own) and channels != (own or 0) * self.groups
        if wrong or (out is not None and out % self.groups):
            raise ValueError(
                f"Kernels of {own} channels for {out} channels do not fit to {channels} channels in {self.groups} groups"
            )

    def evaluate(self, x: Any, w: Any) -> Any:
        self.check_channels(x.shape[1], *w.shape[:2])
        windows = self.windows(w.shape[2:]).evaluate(x)
        out, own, *kernel = w.shape
        places: Sequence[int] = windows.shape[2 + len(kernel) :]
        terms = own * int(np.prod(kernel))
        columns = windows.reshape(x.shape[0], self.groups, terms, int(np.prod(places)))
        product = np.matmul(w.reshape(self.groups, out // self.groups, terms), columns)
        return np.asarray(product.reshape(x.shape[0], out, *places))

    def decompose(self, x: Any, w: Any) -> Sequence[Any]:
        ndim = len(self.strides)
        windows = self.windows(w.type.shape[2:])(x)
        batch, out = lengths_by_variables(x)[0], lengths_by_variables(w)[0]
        places = lengths_by_variables(windows)[2 + ndim :]
        product = matmul(self._rows(w), self._columns(windows, ndim))
        return [reshape(product, [batch, out, *places], 2 + ndim)]

    def _rows(self, w: TensorVariable) -> TensorVariable:
        """The kernels as rows of a matrix, or of one for each group."""
        out, own, *kernel = lengths_by_variables(w)
        terms = length_product([own, *kernel])
        rows = reshape(w, [self.groups, out // self.groups, terms], 3)
        return rows if self.groups > 1 else rows[0]

    def _columns(self, x: TensorVariable, ndim: int) -> TensorVariable:
        """Windows, or results, as columns of matrices: all but the batch and the last ``ndim`` dimensions is one."""
        batch, channels, *rest = lengths_by_variables(x)
        split = len(rest) - ndim
        terms = length_product([channels // self.groups, *rest[:split]])
        columns = reshape(x, [batch, self.groups, terms, length_product(rest[split:])], 4)
        return columns if self.groups > 1 else columns[:, 0]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        (x, w), ct = inputs, cotangents[0]
        if outputs[0].type.is_discrete:
            return [ZERO, ZERO]
        return [self._of_input(x, w, ct), self._of_kernels(x, w, ct)]

    def _of_input(self, x: TensorVariable, w: TensorVariable, ct: TensorVariable) -> Any:
        kernel = tuple(n or 0 for n in w.type.shape[2:])
        own = _conjugate(w)
        if all(s == 1 for s in self.strides):
            widths = [(n - 1, n - 1) for n in extents(kernel, self.dilations)]
            out, within, *lengths = lengths_by_variables(w)
            split = [self.groups, out // self.groups, within, *lengths]
            turned = swapaxes(reshape(own, split, len(split)), 1, 2)
            turned = reshape(
                turned, [self.groups * within, out // self.groups, *lengths], w.type.ndim
            )
            turned = flip(turned, tuple(range(2, w.type.ndim)))
            adjoint = ChannelCorrelate(self.strides, self.dilations, self.groups)
            return adjoint(pad(ct, [(0, 0), (0, 0), *widths]), turned)
        batch, channels, *lengths = lengths_by_variables(x)
        places = lengths_by_variables(ct)[2:]
        columns = matmul(swapaxes(self._rows(own), -1, -2), self._columns(ct, len(places)))
        windows = reshape(columns, [batch, channels, *kernel, *places], 2 + 2 * len(places))
        return overlap_added(windows, self.strides, self.dilations, lengths)

    def _of_kernels(self, x: TensorVariable, w: TensorVariable, ct: TensorVariable) -> Any:
        ndim = len(self.strides)
        windows = _conjugate(self.windows(w.type.shape[2:])(x))
        columns = swapaxes(self._columns(windows, ndim), -1, -2)
        kernels = sum_(matmul(self._columns(ct, ndim), columns), axis=0)
        return reshape(kernels, lengths_by_variables(w), w.type.ndim)

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        x, w = input_shapes
        kernel = tensors(node.inputs)[1].type.shape[2:]
        return [(x[0], w[0], *self.windows(kernel).places(x[2:]))]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        x, w = inputs
        if batch_ndims[1]:
            return super().batch(node, inputs, batch_ndims)
        lead = lengths_by_variables(x)[: batch_ndims[0] + 1]
        rest = lengths_by_variables(x)[batch_ndims[0] + 1 :]
        flat: Any = self(reshape(x, [length_product(lead), *rest], 1 + len(rest)), w)
        results = lengths_by_variables(flat)[1:]
        return [reshape(flat, [*lead, *results], len(lead) + len(results))]


def _conjugate(x: TensorVariable) -> TensorVariable:
    return conj(x) if is_complex(x.dtype) else x
