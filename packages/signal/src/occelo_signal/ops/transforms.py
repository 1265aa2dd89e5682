"""The ops of discrete Fourier transforms: `FFT`, `RealFFT` and `InverseRealFFT`.

They transform the last dimensions of a tensor, and leave out all scale factors. The functions in `fourier` move axes,
cut or pad them, and scale.

The kernels are those of pocketfft: SciPy's, which transform several rows at a time, if SciPy is installed, else NumPy's.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import Cotangents, Op, op
from occelo_graph.ops.batched_lengths import common_lengths
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import arange
from occelo_graph.ops.elemwise.arithmetic import eq, switch
from occelo_graph.ops.length_inputs import FollowsLengths, check_length_types
from occelo_graph.ops.linear import LinearInFirst
from occelo_graph.ops.shape.reading import length_read, lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors, computed_by
from occelo_graph.tensors.type import TensorType

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

COMPLEX = {"float32": "complex64", "float64": "complex128"}
REAL = {c: r for r, c in COMPLEX.items()}


@functools.cache
def _library() -> Any:
    """The module of Fourier transforms: SciPy's, or NumPy's if there is no SciPy."""
    try:
        return importlib.import_module("scipy.fft")
    except ModuleNotFoundError as error:
        if error.name not in ("scipy", "scipy.fft"):
            raise
        return importlib.import_module("numpy.fft")


def check_dimensions(op_: Op, ndim: int, x: TensorType, dtypes: Sequence[str]) -> None:
    """Raise TypeError or ValueError unless ``op_`` can transform the last ``ndim`` dimensions of tensors of type ``x``."""
    if x.dtype not in dtypes:
        raise TypeError(f"{op_} takes tensors of {' or '.join(dtypes)}, got {x}")
    if not 1 <= ndim <= x.ndim:
        raise ValueError(f"{op_} transforms {ndim} dimensions at least, got {x}")
    check_lengths(x.shape[x.ndim - ndim :])


def check_lengths(lengths: Sequence[int | None]) -> None:
    """Raise ValueError if a length is zero, since there is no transform of no elements."""
    if 0 in lengths:
        raise ValueError(f"There is no Fourier transform of no elements, along axes of {lengths}")


@op
class FFT(LinearInFirst):
    """The discrete Fourier transform of the last ``ndim`` dimensions of a complex tensor, without a scale factor.

    Along one dimension, element k is the sum of ``x[j] * exp(-2j * pi * j * k / n)`` over j. If ``inverse`` is true, the
    exponent has the other sign.
    """

    ndim: int
    inverse: bool = False

    def infer(self, x: TensorType) -> TensorType:
        check_dimensions(self, self.ndim, x, [*REAL])
        return x

    def evaluate(self, x: Any) -> Any:
        check_lengths(x.shape[-self.ndim :])
        library, norm = _library(), "forward" if self.inverse else "backward"
        # functions of one axis take half as long for a short row
        if self.ndim == 1:
            return np.asarray((library.ifft if self.inverse else library.fft)(x, norm=norm))
        transform = library.ifftn if self.inverse else library.fftn
        return np.asarray(transform(x, axes=range(-self.ndim, 0), norm=norm))

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [FFT(self.ndim, not self.inverse)(cast(cotangents[0], inputs[0].dtype))]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [self(inputs[0])]


@op
class RealFFT(LinearInFirst):
    """The Fourier transform of the last ``ndim`` dimensions of a real tensor, as `FFT` computes it.

    The last dimension of n elements has only the first n // 2 + 1 elements of the transform. The others follow from
    these, by symmetry.
    """

    ndim: int

    def infer(self, x: TensorType) -> TensorType:
        check_dimensions(self, self.ndim, x, [*COMPLEX])
        return TensorType(COMPLEX[x.dtype], [*x.shape[:-1], half_length(x.shape[-1])])

    def evaluate(self, x: Any) -> Any:
        check_lengths(x.shape[-self.ndim :])
        if self.ndim == 1:
            return np.asarray(_library().rfft(x))
        return np.asarray(_library().rfftn(x, axes=range(-self.ndim, 0)))

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        # the real part of the inverse transform of the cotangent, which has zeros where the result has no elements.
        # `InverseRealFFT` counts all elements twice that have a twin
        n = lengths_by_variables(inputs[0])[-1]
        ct = cast(cotangents[0], outputs[0].dtype)
        return [inverse_real(ct / _counts(n, ct), n, self.ndim)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        *lead, n = input_shapes[0]
        return [(*lead, half_length(n))]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [self(inputs[0])]


@op
class InverseRealFFT(FollowsLengths, LinearInFirst):
    """The real tensor with the Fourier transform that `RealFFT` computes, times the number of its elements.

    Its last dimension has ``n`` elements. If ``n`` is None, it is dynamic, and an integer scalar is the second input.
    The last dimension of the first input has n // 2 + 1 elements. Of those that symmetry makes real, the imaginary
    parts are ignored.
    """

    ndim: int
    n: int | None

    def static_inputs(self, node: Apply) -> Sequence[int]:
        return range(1, len(node.inputs))

    def infer(self, x: TensorType, *n: Any) -> TensorType:
        check_dimensions(self, self.ndim, x, [*REAL])
        check_length_types(self, n)
        self.check_last(x.shape[-1], self.n)
        return TensorType(REAL[x.dtype], [*x.shape[:-1], self.n])

    def check_last(self, given: int | None, n: int | None) -> None:
        """Raise ValueError if the length of the last dimension does not fit the length ``n`` of the result."""
        if n is not None and n < 1:
            raise ValueError(f"There is no Fourier transform of {n} elements")
        if None not in (given, n) and given != half_length(n):
            raise ValueError(
                f"A real tensor of {n} elements along the last axis has {half_length(n)} elements of its transform "
                f"there, got {given}"
            )

    def evaluate(self, x: Any, *lengths: Any) -> Any:
        n = self.n if self.n is not None else int(lengths[0])
        check_lengths(x.shape[-self.ndim :])
        self.check_last(x.shape[-1], n)
        if self.ndim == 1:
            return np.asarray(_library().irfft(x, n, norm="forward"))
        shape = (*x.shape[x.ndim - self.ndim : -1], n)
        return np.asarray(_library().irfftn(x, shape, axes=range(-self.ndim, 0), norm="forward"))

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        spectrum = RealFFT(self.ndim)(cotangents[0])
        n = self.n if self.n is not None else inputs[1]
        return [spectrum * _counts(n, spectrum), *[None] * (len(inputs) - 1)]

    def specialized(self, inputs: Sequence[Variable]) -> tuple[Op, Sequence[Variable]]:
        n = known_integer(inputs[1]) if self.n is None else None
        return (self, inputs) if n is None else (InverseRealFFT(self.ndim, n), inputs[:1])

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        n = self.n if self.n is not None else node.inputs[1]
        return [(*input_shapes[0][:-1], n)]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [self(*common_lengths(self, inputs, batch_ndims, range(1, len(inputs))))]


def half_length(n: Any) -> Any:
    """The length n // 2 + 1 of the transform of n real numbers. ``n`` is a number, a variable, or None."""
    return None if n is None else n // 2 + 1


def is_half_of_transform(x: TensorVariable, axis: int, n: Any) -> bool:
    """Whether the axis of ``x`` surely has the half of the transform of ``n`` real numbers."""
    node = computed_by(x, RealFFT)
    return node is not None and axis == x.type.ndim - 1 and length_read(n) == (node.inputs[0], axis)


def inverse_real(x: Any, n: Any, ndim: int) -> TensorVariable:
    """Apply `InverseRealFFT`. ``n`` is an integer or a scalar variable."""
    if isinstance(n, int):
        signal: TensorVariable = InverseRealFFT(ndim, n)(x)
    else:
        signal = InverseRealFFT(ndim, None)(x, n)
    return signal


def _counts(n: Any, half: TensorVariable) -> Any:
    """How many elements of the transform of ``n`` real numbers each element of ``half`` stands for: 1 or 2.

    The first element has no twin, and for an even ``n`` neither has the last.
    """
    dtype = REAL[half.dtype]
    if isinstance(n, int):
        twice = 2 * np.arange(n // 2 + 1)
        return as_tensor_variable(np.where(twice % n == 0, 1, 2).astype(dtype))
    twice = 2 * arange(lengths_by_variables(half)[-1])
    return cast(switch(eq(twice % n, 0), 1, 2), dtype)
