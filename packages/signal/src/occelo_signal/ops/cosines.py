"""Cosine and sine transforms with the arguments of SciPy: `dct`, `dst`, their inverses, and those of several axes.

The op `RealTransform` leaves out all scale factors, as the ops of `transforms` do. The functions move axes, cut or pad
them, and scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import Cotangents, op
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import arange, zeros
from occelo_graph.ops.elemwise.arithmetic import eq, sqrt, switch
from occelo_graph.ops.elemwise.complex import complex_from_polar, imag, real
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.join import flip, join
from occelo_graph.ops.linear import LinearInFirst
from occelo_graph.ops.shape.axes import static_integer
from occelo_graph.ops.shape.dimensions import moveaxis
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import TensorType, is_complex
from occelo_signal.ops.fourier import NORMS, Norm, as_complex, as_numbers, chosen_axes, with_length
from occelo_signal.ops.transforms import COMPLEX, FFT, RealFFT, check_dimensions

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["dct", "dctn", "dst", "dstn", "idct", "idctn", "idst", "idstn"]

Family = Literal["dct", "dst"]


@op
class RealTransform(LinearInFirst):
    """A cosine ("dct") or sine transform ("dst") of the last dimension of a real tensor, of ``kind`` 1 to 4.

    It has no scale factor: element k of the second kind of cosine transform is the sum of
    ``2 * x[j] * cos(pi * k * (2 * j + 1) / (2 * n))`` over j.
    """

    family: Family
    kind: int

    def infer(self, x: TensorType) -> TensorType:
        check_dimensions(self, 1, x, [*COMPLEX])
        self.check_length(x.shape[-1])
        return x

    def check_length(self, n: int | None) -> None:
        """Raise ValueError if there are too few elements."""
        if n is not None and n < self.least:
            raise ValueError(
                f"A {self.family} of type {self.kind} takes {self.least} elements at least, got {n}"
            )

    @property
    def least(self) -> int:
        """The least number of elements."""
        return 2 if (self.family, self.kind) == ("dct", 1) else 1

    def evaluate(self, x: Any) -> Any:
        self.check_length(x.shape[-1])
        if not x.size:
            return x.copy()
        transform = getattr(scipy_module("fft", f"A {self.family}"), self.family)
        return np.asarray(transform(x, self.kind))

    def decompose(self, x: Any) -> Sequence[Any]:
        n = as_tensor_variable(lengths_by_variables(x)[-1])
        if self.kind == 1:
            return [self._by_symmetry(x, n)]
        steps = cast(arange(n), x.dtype)
        angle = -np.pi / (2 * cast(n, x.dtype))
        sine = self.family == "dst"
        if self.kind == 2:
            back = flip(x, -1)
            whole: Any = RealFFT(1)(join(-1, x, -back if sine else back))
            first = int(sine)
            part = getitem(whole, (..., slice(first, first + n)))
            return [self._part(part * _turn(angle * (steps + first)))]
        if self.kind == 3:
            shift, weights = float(sine), self.weights(n, x.dtype)
            z = x * weights * _turn(angle * (steps + shift))
            room = [*lengths_by_variables(x)[:-1], 1]
            parts = [zeros(room, z.dtype), z] if sine else [z]
        else:
            z = 2 * x * _turn(angle * steps)
            parts = [z]
        used = n + (len(parts) - 1)
        rest = zeros([*lengths_by_variables(x)[:-1], 2 * n - used], z.dtype)
        whole = getitem(FFT(1)(join(-1, *parts, rest)), (..., slice(0, n)))
        return [self._part(whole * _turn(angle * (steps + 0.5)) if self.kind == 4 else whole)]

    def _by_symmetry(self, x: Any, n: Any) -> TensorVariable:
        if self.family == "dct":
            inner = flip(getitem(x, (..., slice(1, -1))), -1)
            spectrum: Any = RealFFT(1)(join(-1, x, inner))
            return real(spectrum)
        zero = zeros([*lengths_by_variables(x)[:-1], 1], x.dtype)
        spectrum = RealFFT(1)(join(-1, zero, x, zero, -flip(x, -1)))
        return -imag(getitem(spectrum, (..., slice(1, n + 1))))

    def _part(self, z: Any) -> TensorVariable:
        return real(z) if self.family == "dct" else -imag(z)

    def weights(self, n: Any, dtype: str) -> Any:
        """2 for each element but the one that is its own mirror image, which has 1: the first, or for sines the last.

        For the first kind of cosine transform, both the first and the last.
        """
        steps = arange(n)
        if self.family == "dst":
            return cast(switch(eq(steps, n - 1), 1, 2), dtype)
        weights = switch(eq(steps, 0), 1, 2)
        return cast(switch(eq(steps, n - 1), 1, weights) if self.kind == 1 else weights, dtype)

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        x = inputs[0]
        ct = cast(cotangents[0], x.dtype)
        n = as_tensor_variable(lengths_by_variables(x)[-1])
        adjoint = RealTransform(self.family, {2: 3, 3: 2}.get(self.kind, self.kind))
        if self.kind == 4 or (self.family, self.kind) == ("dst", 1):
            return [adjoint(ct)]
        # the matrices of both are one matrix and its transpose, whose columns have these weights
        if self.kind == 1:
            weights = self.weights(n, x.dtype)
            return [adjoint(ct / weights) * weights]
        if self.kind == 2:
            return [adjoint(2 * ct / adjoint.weights(n, x.dtype))]
        return [adjoint(ct) * self.weights(n, x.dtype) / 2]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [self(inputs[0])]


def _turn(angle: Any) -> TensorVariable:
    """Complex numbers of absolute value 1."""
    return complex_from_polar(1.0, angle)


def _transform(
    family: Family,
    x: Any,
    type: Any,
    s: Any,
    axes: Any,
    norm: Any,
    orthogonalize: bool | None,
    inverse: bool,
    function: str,
) -> TensorVariable:
    kind = static_integer(type, f"type of {function}")
    if kind not in (1, 2, 3, 4):
        raise ValueError(f"The type of {function} is 1, 2, 3 or 4, got {type!r}")
    if norm is not None and norm not in NORMS:
        raise ValueError(f"norm must be one of {', '.join(NORMS)}, got {norm!r}")
    x = as_numbers(x, function)
    if is_complex(x.dtype):
        parts = [
            _transform(family, each, type, s, axes, norm, orthogonalize, inverse, function)
            for each in (real(x), imag(x))
        ]
        return as_complex(parts[0]) + cast(1j, x.dtype) * as_complex(parts[1])
    divides = {"forward": not inverse, "ortho": None}.get(norm or "backward", inverse)
    if inverse:
        kind = {2: 3, 3: 2}.get(kind, kind)
    orthogonal = norm == "ortho" if orthogonalize is None else orthogonalize
    chosen, lengths = chosen_axes(x, s, axes, function)
    for axis, n in zip(chosen, lengths, strict=True):
        rows = moveaxis(with_length(x, axis, n), axis, -1)
        transformed = _scaled(rows, RealTransform(family, kind), divides, orthogonal)
        x = moveaxis(transformed, -1, axis)
    return x


def _scaled(
    x: TensorVariable, transform: RealTransform, divides: bool | None, orthogonal: bool
) -> TensorVariable:
    """Apply a transform, divided by the product with its inverse, or with None by the root of that."""
    n = as_tensor_variable(lengths_by_variables(x)[-1])
    family, kind = transform.family, transform.kind
    ends: Any = None
    if orthogonal and kind != 4 and (family, kind) != ("dst", 1):
        weights = RealTransform(family, 1 if kind == 1 else 3).weights(n, x.dtype)
        ends = cast(switch(eq(weights, 1), math.sqrt(2), 1), x.dtype)
    y: Any = transform(x if ends is None or kind == 2 else x * ends)
    if ends is not None and kind != 3:
        y = y / ends
    if divides is False:
        return y
    shift = {("dct", 1): -1, ("dst", 1): 1}.get((family, kind), 0)
    total = cast(2 * (n + shift), x.dtype)
    return y / (sqrt(total) if divides is None else total)


def dct(
    x: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: Norm = None,
    *,
    orthogonalize: bool | None = None,
) -> TensorVariable:
    """The discrete cosine transform of ``type`` 1 to 4 along ``axis``, as SciPy's.

    Before, the axis is cut to its first ``n`` elements, or zeros are appended. ``norm`` divides the result by 2n
    ("forward"), by its root ("ortho"), or by nothing ("backward", or None), where n is one less for type 1.
    ``orthogonalize``, by default true for "ortho", scales the ends such that the matrix of the transform is orthogonal.

    Integers become float64; real and imaginary parts are transformed by themselves. ValueError for another type or norm, for
    a scalar, and for too few elements: type 1 takes two at least. ``x`` is a tensor or what can be converted to one.

    >>> from occelo_graph import evaluate
    >>> evaluate(dct([1.0, 2.0, 4.0])).round(3).tolist()
    [14.0, -5.196, 1.0]
    """
    s = None if n is None else [n]
    return _transform("dct", x, type, s, (axis,), norm, orthogonalize, False, "dct")


def idct(
    x: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: Norm = None,
    *,
    orthogonalize: bool | None = None,
) -> TensorVariable:
    """The inverse of `dct` with the same arguments.

    ``x`` is transformed along ``axis``, which is first cut or extended to ``n`` elements; ``type``, ``norm`` and
    ``orthogonalize`` are those of `dct`.

    >>> from occelo_graph import evaluate
    >>> evaluate(idct(dct([1.0, 2.0, 3.0]))).round(3).tolist()
    [1.0, 2.0, 3.0]
    """
    s = None if n is None else [n]
    return _transform("dct", x, type, s, (axis,), norm, orthogonalize, True, "idct")


def dst(
    x: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: Norm = None,
    *,
    orthogonalize: bool | None = None,
) -> TensorVariable:
    """The discrete sine transform of ``type`` 1 to 4 along ``axis``. Arguments are those of `dct`.

    ``x`` is transformed along ``axis``, which is first cut or extended to ``n`` elements; ``type``, ``norm`` and
    ``orthogonalize`` are those of `dct`. For type 1, ``norm`` divides by 2(n + 1).

    >>> from occelo_graph import evaluate
    >>> evaluate(dst([1.0, 2.0, 3.0])).round(3).tolist()
    [8.0, -3.464, 4.0]
    """
    s = None if n is None else [n]
    return _transform("dst", x, type, s, (axis,), norm, orthogonalize, False, "dst")


def idst(
    x: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: Norm = None,
    *,
    orthogonalize: bool | None = None,
) -> TensorVariable:
    """The inverse of `dst` with the same arguments.

    ``x`` is transformed along ``axis``, which is first cut or extended to ``n`` elements; ``type``, ``norm`` and
    ``orthogonalize`` are those of `dst`.

    >>> from occelo_graph import evaluate
    >>> evaluate(idst(dst([1.0, 2.0, 3.0]))).round(3).tolist()
    [1.0, 2.0, 3.0]
    """
    s = None if n is None else [n]
    return _transform("dst", x, type, s, (axis,), norm, orthogonalize, True, "idst")


def dctn(
    x: Any,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: Norm = None,
    *,
    orthogonalize: bool | None = None,
) -> TensorVariable:
    """`dct` along several axes, by default all. ``s`` has a length for each axis.

    ``x`` is transformed along ``axes``, which are first cut or extended to the lengths ``s``; ``type``, ``norm`` and
    ``orthogonalize`` are those of `dct`.

    >>> from occelo_graph import evaluate
    >>> evaluate(dctn([[1.0, 2.0], [3.0, 4.0]])).round(3).tolist()
    [[40.0, -5.657], [-11.314, 0.0]]
    """
    return _transform("dct", x, type, s, axes, norm, orthogonalize, False, "dctn")


def idctn(
    x: Any,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: Norm = None,
    *,
    orthogonalize: bool | None = None,
) -> TensorVariable:
    """The inverse of `dctn` with the same arguments.

    ``x`` is transformed along ``axes``, which are first cut or extended to the lengths ``s``; ``type``, ``norm`` and
    ``orthogonalize`` are those of `dct`.

    >>> from occelo_graph import evaluate
    >>> evaluate(idctn(dctn([[1.0, 2.0], [3.0, 4.0]]))).round(3).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    return _transform("dct", x, type, s, axes, norm, orthogonalize, True, "idctn")


def dstn(
    x: Any,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: Norm = None,
    *,
    orthogonalize: bool | None = None,
) -> TensorVariable:
    """`dst` along several axes, by default all. ``s`` has a length for each axis.

    ``x`` is transformed along ``axes``, which are first cut or extended to the lengths ``s``; ``type``, ``norm`` and
    ``orthogonalize`` are those of `dst`.

    >>> from occelo_graph import evaluate
    >>> evaluate(dstn([[1.0, 2.0], [3.0, 4.0]])).round(3).tolist()
    [[20.0, -5.657], [-11.314, 0.0]]
    """
    return _transform("dst", x, type, s, axes, norm, orthogonalize, False, "dstn")


def idstn(
    x: Any,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: Norm = None,
    *,
    orthogonalize: bool | None = None,
) -> TensorVariable:
    """The inverse of `dstn` with the same arguments.

    ``x`` is transformed along ``axes``, which are first cut or extended to the lengths ``s``; ``type``, ``norm`` and
    ``orthogonalize`` are those of `dst`.

    >>> from occelo_graph import evaluate
    >>> evaluate(idstn(dstn([[1.0, 2.0], [3.0, 4.0]]))).round(3).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    return _transform("dst", x, type, s, axes, norm, orthogonalize, True, "idstn")
