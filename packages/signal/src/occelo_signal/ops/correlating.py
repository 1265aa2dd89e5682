"""The op `Correlate`: the sums of products of a kernel and the part of a tensor under it, at each place where it fits.

Convolutions and correlations of `convolving` are this op, applied to a tensor with padding, or that of `beyond`. Its
derivatives are this op again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_arrays.ops.padding import pad
from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import ZERO, Cotangents, op
from occelo_graph.ir.traits import FIRST, SECOND
from occelo_graph.ops.batching import BatchedOp, align
from occelo_graph.ops.create import arange
from occelo_graph.ops.elemwise.op import unbroadcast
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.join import flip
from occelo_graph.ops.reduce import sum as sum_
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors, tensors
from occelo_graph.tensors.type import TensorType, is_complex

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable


@op
class Correlate(BatchedOp):
    """Element i of the result is the sum of ``x[i + j] * k[j]`` over j, where i and j have ``ndim`` numbers.

    They count along the last ``ndim`` dimensions of ``x`` and of the kernel ``k``. The kernel fits into x, so the result
    has n - m + 1 elements for n and m of them. The dimensions in front are the same, or of static length 1, which
    broadcasts. Complex kernels are not conjugated.
    """

    ndim: int

    @property
    def core_op(self) -> Correlate:
        """The op itself: it takes a batch as it is."""
        return self

    @property
    def signature(self) -> str:
        lengths = [",".join(f"{name}{i}" for i in range(self.ndim)) for name in "nmp"]
        return "({}),({})->({})".format(*lengths)

    def linear_in(self, node: Apply) -> Sequence[slice]:
        return FIRST, SECOND

    def infer(self, x: TensorType, k: TensorType) -> TensorType:
        if x.dtype != k.dtype or x.dtype == "bool":
            raise TypeError(f"{self} takes numbers of one dtype, got {x} and {k}")
        if x.ndim != k.ndim or x.ndim < self.ndim:
            raise ValueError(f"{self} takes two tensors of as many dimensions, got {x} and {k}")
        split = x.ndim - self.ndim
        lead: list[int | None] = []
        for n, m in zip(x.shape[:split], k.shape[:split], strict=True):
            if n != m and None not in (n, m) and 1 not in (n, m):
                raise ValueError(
                    f"The shapes of {x} and {k} do not broadcast in front of the last {self.ndim} dimensions"
                )
            lead.append(m if n == 1 else n if m in (1, None) else m)
        self.check_fit(x.shape[split:], k.shape[split:])
        return TensorType(x.dtype, [*lead, *self.places(x.shape[split:], k.shape[split:])])

    def places(self, lengths: Sequence[Any], kernel: Sequence[Any]) -> list[Any]:
        """The numbers of places where the kernel fits. A number is an integer, a variable, or None if it is dynamic."""
        return [
            None if n is None or m is None else n - m + 1
            for n, m in zip(lengths, kernel, strict=True)
        ]

    def check_fit(self, lengths: Sequence[Any], kernel: Sequence[Any]) -> None:
        """Raise ValueError unless the kernel has elements and fits, as far as the lengths are known."""
        if 0 in kernel or any(
            None not in (n, m) and n < m for n, m in zip(lengths, kernel, strict=True)
        ):
            raise ValueError(
                f"A kernel of shape {tuple(kernel)} does not fit in a tensor of shape {tuple(lengths)}"
            )

    def evaluate(self, x: Any, k: Any) -> Any:
        split = x.ndim - self.ndim
        shape, kernel = x.shape[split:], k.shape[split:]
        self.check_fit(shape, kernel)
        if x.ndim == self.ndim == 1:
            return np.asarray(np.correlate(x, k.conj(), "valid"))
        if k.shape[:split] != x.shape[:split]:
            lead = np.broadcast_shapes(x.shape[:split], k.shape[:split])
            x, k = np.broadcast_to(x, (*lead, *shape)), np.broadcast_to(k, (*lead, *kernel))
        windows: Any = np.lib.stride_tricks.sliding_window_view(
            x, kernel, tuple(range(split, x.ndim))
        )
        at, within = "abcdefg"[: self.ndim], "nopqrst"[: self.ndim]
        sums = np.einsum(f"...{at}{within},...{within}->...{at}", windows, k, dtype=x.dtype)
        return np.asarray(sums)

    def kernel(self, node: Apply) -> Any:
        run, fitting = super().kernel(node), self.lead_check(node)

        def running(x: Any, k: Any) -> Sequence[Any]:
            fitting(x, k)
            return run(x, k)

        return running

    def lead_check(self, node: Apply) -> Callable[[Any, Any], None]:
        """A function that raises ValueError for two arrays whose dimensions in front do not broadcast in ``node``."""
        x, k = tensors(node.inputs[:2])
        split = x.type.ndim - self.ndim
        ones = [1 in pair for pair in zip(x.type.shape[:split], k.type.shape[:split], strict=True)]

        def fitting(x: Any, k: Any) -> None:
            for i, broadcasts in enumerate(ones):
                if x.shape[i] != k.shape[i] and not broadcasts:
                    raise ValueError(
                        f"The shapes {x.shape} and {k.shape} differ in dimension {i}; a length broadcasts only if it is "
                        "known to be 1 when the graph is built"
                    )

        return fitting

    def decompose(self, x: Any, k: Any) -> Sequence[Any]:
        split = x.type.ndim - self.ndim
        places = self.places(lengths_by_variables(x)[split:], lengths_by_variables(k)[split:])
        widths = lengths_by_variables(k)[split:]
        key: list[Any] = [slice(None)] * split
        for i, (count, width) in enumerate(zip(places, widths, strict=True)):
            at = expand_dims(arange(count), [j for j in range(2 * self.ndim) if j != i])
            within = expand_dims(
                arange(width), [j for j in range(2 * self.ndim) if j != self.ndim + i]
            )
            key.append(at + within)
        windows = getitem(x, tuple(key))
        spread = expand_dims(k, range(split, split + self.ndim))
        last = range(split + self.ndim, split + 2 * self.ndim)
        return [sum_(windows * spread, axis=tuple(last), dtype=x.dtype)]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        (x, k), ct, out = inputs, cotangents[0], outputs[0]
        if out.type.is_discrete:
            return [ZERO, ZERO]
        split = x.type.ndim - self.ndim
        widths = [(0, 0)] * split + [(m - 1, m - 1) for m in lengths_by_variables(k)[split:]]
        turned = flip(conjugate(k), tuple(range(split, k.type.ndim)))
        of_x = Correlate(self.ndim)(pad(ct, widths), turned)
        of_k = Correlate(self.ndim)(conjugate(x), ct)
        return [summed(of_x, out, x, self.ndim), summed(of_k, out, k, self.ndim)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        x, k = input_shapes
        split = len(x) - self.ndim
        static = tensors(node.inputs)[0].type.shape
        lead = [
            m if static[i] == 1 else n
            for i, (n, m) in enumerate(zip(x[:split], k[:split], strict=True))
        ]
        return [(*lead, *self.places(x[split:], k[split:]))]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        ndim = max(batch_ndims)
        return [self(*(align(v, n, ndim) for v, n in zip(inputs, batch_ndims, strict=True)))]


def conjugate(x: TensorVariable) -> TensorVariable:
    """The conjugate of a tensor, itself if it is real."""
    return x.conj() if is_complex(x.dtype) else x


def summed(ct: TensorVariable, out: TensorVariable, own: TensorVariable, ndim: int) -> Any:
    """The sum of a cotangent of ``own`` over the dimensions in front of the last ``ndim`` that were broadcast in ``out``."""
    split = own.type.ndim - ndim
    full = own.type.clone(shape=(*out.type.shape[:split], *own.type.shape[split:]))
    return unbroadcast(ct, full, own.type)


def correlated(x: Any, k: Any, ndim: int) -> TensorVariable:
    """Apply `Correlate`, with dimensions of length 1 in front of the tensor that has fewer."""
    x, k = as_tensor_variable(x), as_tensor_variable(k)
    widest = max(x.type.ndim, k.type.ndim)
    sums: TensorVariable = Correlate(ndim)(*(align(v, v.type.ndim, widest) for v in (x, k)))
    return sums
