"""`Arrays`, the interface for the array operations with which the lowerings for JAX and PyTorch compute.

`jax.arrays` and `torch.arrays` implement the interface. Lowerings find the implementation in ``tracer.arrays``. Shapes
and axes are static, so they are plain integers. An index ``key`` has an entry for each dimension: an integer, a slice
of integers, or an array of the library. The array contains positions that are in bounds and not negative.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from occelo_link.traced.scalars import Scalar as Scalar
from occelo_link.traced.scalars import registered_scalar
from occelo_link.traced.traced_values import Array, Entry
from occelo_link.withheld_lowerings import scalar_is_withheld

if TYPE_CHECKING:
    from occelo_graph import Apply
    from occelo_graph.ir.op import Kernel


class Arrays(ABC):
    """The array operations of a library. ``scalars`` maps names of scalar functions to functions of the library."""

    name: str
    scalars: Mapping[str, Scalar]
    compiles_apart: bool = False
    """Whether long graphs are divided into functions that are compiled separately (`apart`)."""

    @cached_property
    def interrupts(self) -> list[BaseException]:
        """The interrupts, such as KeyboardInterrupt, that callbacks have raised (`traced.fallback`).

        `occelo_link.traced.linker` raises them again, because the library may replace them by errors of its own.
        """
        return []

    def scalar(self, name: str) -> Scalar | None:
        """Return a scalar function by its name, with the rule for converting its arguments.

        Returns None if the library has no function of this name, or if the function is switched off
        (`without_lowering`).
        """
        return None if scalar_is_withheld(name) else self._known_scalar(name)

    def _known_scalar(self, name: str) -> Scalar | None:
        """Return a scalar function by its name like `scalar`, even if the function is switched off."""
        own = registered_scalar(self.name, name)
        return self.scalars.get(name) if own is None else (own[0], self._checked(name, own[1]))

    def _checked(self, name: str, function: Callable[..., Array]) -> Callable[..., Array]:
        """Return a registered scalar function with a check that its results have the shape of its arguments."""

        def applied(*operands: Array) -> Array:
            result = function(self, *operands)
            if not self.is_traced(result):
                raise TypeError(
                    f"The function of arrays for {name} must return an array of {self.name}, and gave {result!r}"
                )
            shape = np.broadcast_shapes(*(tuple(np.shape(x)) for x in operands))
            if tuple(result.shape) != shape:
                raise TypeError(
                    f"The function of arrays for {name} must return an array of shape {shape}, "
                    f"and gave one of shape {tuple(result.shape)}"
                )
            return result

        return applied

    def apply(self, name: str, *operands: Array) -> Array:
        """Apply a scalar function to arrays, which broadcast.

        Arrays and Python numbers are converted to the common dtype of the arrays. Raises ValueError if the library has
        no such function. Raises TypeError if no operand is an array of the library, and for numbers that the common
        dtype cannot represent, such as 0.5 for arrays of integers.
        """
        scalar = self._known_scalar(name)
        if scalar is None:
            raise ValueError(f"The backend {self.name} has no scalar function {name!r}")
        arrays = [
            x
            if self.is_traced(x) or isinstance(x, bool | int | float | complex)
            else self.constant(x)
            for x in operands
        ]
        dtypes = [self.dtype(x) for x in arrays if self.is_traced(x)]
        if not dtypes:
            raise TypeError(f"{name} takes an array at least, got {operands}")
        common = self.working(np.result_type(*map(np.dtype, dtypes)).name)
        function = self.working_function(name, np.result_type(*map(np.dtype, dtypes)).name)
        return (function or scalar[1])(
            *(
                self.cast(x, common) if self.is_traced(x) else self.constant(_number(x, common))
                for x in arrays
            )
        )

    @abstractmethod
    def constant(self, value: Array) -> Array:
        """Return an array of the library with the values of a NumPy array."""

    @abstractmethod
    def is_traced(self, value: Array) -> bool:
        """Whether a value is an array of the library. Its elements may be unknown while the library traces."""

    @abstractmethod
    def dtype(self, x: Array) -> str:
        """Return the name of an array's dtype."""

    @abstractmethod
    def cast(self, x: Array, dtype: str) -> Array:
        """Return an array converted to a dtype."""

    def working(self, dtype: str) -> str:
        """Return the dtype in which the library computes results of ``dtype``: the same, or one that has more
        functions.
        """
        return dtype

    def working_function(self, name: str, dtype: str) -> Callable[..., Array] | None:
        """Return a function that replaces the scalar function ``name`` for values of ``dtype``, held as
        ``working(dtype)``.

        Returns None if the library's own function is right for these values.
        """
        return None

    @abstractmethod
    def copy(self, x: Array) -> Array:
        """Return a copy of an array."""

    @abstractmethod
    def reshape(self, x: Array, shape: Sequence[int]) -> Array:
        """Return an array with the same elements, in C order, and another shape."""

    @abstractmethod
    def transpose(self, x: Array, axes: Sequence[int]) -> Array:
        """Return an array with its dimensions in another order."""

    @abstractmethod
    def broadcast(self, x: Array, shape: Sequence[int]) -> Array:
        """Return an array broadcast to a shape, like NumPy's ``broadcast_to``."""

    @abstractmethod
    def concatenate(self, parts: Sequence[Array], axis: int) -> Array:
        """Return the concatenation of arrays along an axis."""

    @abstractmethod
    def where(self, condition: Array, a: Array, b: Array) -> Array:
        """Return the elements of ``a`` where the condition holds, and elsewhere those of ``b``. All three have the same
        shape.
        """

    @abstractmethod
    def read(self, x: Array, key: Sequence[Entry]) -> Array:
        """Return ``x[key]``. The key contains only integers and slices."""

    @abstractmethod
    def pick(self, x: Array, axis: int, index: Array) -> Array:
        """Return the part of an array at one position of an axis. The result does not have this axis."""

    @abstractmethod
    def gather(self, x: Array, key: Sequence[Entry]) -> Array:
        """Return ``x[key]`` as in NumPy. The key contains arrays of positions."""

    @abstractmethod
    def write(self, x: Array, key: Sequence[Entry], y: Array, combine: str | None) -> Array:
        """Return a copy of ``x`` in which ``y`` is written to ``x[key]``.

        If ``combine`` is "sum", "prod", "max" or "min", ``x[key]`` is combined with ``y`` instead. Returns None if
        the library cannot combine these elements so.
        Scalar positions in the key may be traced.
        """

    @abstractmethod
    def reduce(self, name: str, x: Array, axes: Sequence[int]) -> Array:
        """Return a reduction over axes. ``name`` is the name of the reduction's scalar op, such as "add" or "maximum".

        Returns None if the library has no such reduction.
        """

    @abstractmethod
    def argmax(self, x: Array) -> Array:
        """Return the position of the largest element along the last axis, as int64."""

    @abstractmethod
    def accumulate(self, name: str, x: Array, axis: int) -> Array:
        """Return the running results of a reduction along an axis, or None if the library has no such function."""

    @abstractmethod
    def recurrence(self, a: Array, b: Array) -> Array:
        """Return the states ``s_k = a_k s_{k-1} + b_k`` along the first axis. The state before the first one is 0."""

    @abstractmethod
    def matmul(self, x: Array, y: Array) -> Array:
        """Return the product of stacks of matrices."""

    @abstractmethod
    def dot(self, x: Array, y: Array) -> Array:
        """Return the product of two vectors or matrices, like NumPy's ``dot``."""

    @abstractmethod
    def cholesky(self, x: Array) -> tuple[Array, Array]:
        """Return the Cholesky factors of matrices, and for each matrix whether it has a factor.

        Only the lower triangles of the matrices are read.
        """

    @abstractmethod
    def solve_triangular(self, a: Array, b: Array, lower: bool, unit_diagonal: bool) -> Array:
        """Return the solutions of triangular equations. Both arguments have the same batch dimensions."""

    @abstractmethod
    def lu(self, x: Array) -> tuple[Array, Array]:
        """Return the LU decompositions of matrices with partial pivoting.

        The first result has L and U in one array. The second result has the pivots as int32, counted from 0.
        """

    @abstractmethod
    def lu_solve(self, factors: Array, pivots: Array, b: Array) -> Array:
        """Return the solutions of equations from the results of `lu` for square matrices.

        All arguments have the same batch dimensions.
        """

    @abstractmethod
    def argsort(self, x: Array) -> Array:
        """Return the positions that sort an array along its last axis, as int64."""

    @abstractmethod
    def sort(self, x: Array) -> tuple[Array, Array] | None:
        """Return an array in ascending order along its last axis, and the positions of a stable sort, as int64.

        NaN comes last. Returns None if the library does not sort arrays of this dtype.
        """

    @abstractmethod
    def searchsorted(self, a: Array, v: Array, right: bool) -> Array | None:
        """Return for each element of ``v`` how many elements of a sorted row of ``a`` come before it, as int64.

        Both have the same dtype and the same leading lengths. Equal elements come before it if ``right`` is true.
        Returns None if the library does not search arrays of this dtype.
        """

    @abstractmethod
    def fft(self, x: Array, ndim: int, inverse: bool) -> Array:
        """Return the Fourier transform of the last ``ndim`` dimensions of a complex array, without a scale factor."""

    @abstractmethod
    def real_fft(self, x: Array, ndim: int) -> Array:
        """Return the half of the Fourier transform of a real array that determines the other half."""

    @abstractmethod
    def inverse_real_fft(self, x: Array, ndim: int, n: int) -> Array:
        """Return the real array with this half of a Fourier transform and ``n`` elements in the last dimension.

        It is multiplied by the number of elements in the last ``ndim`` dimensions.
        """

    @abstractmethod
    def correlate(
        self, x: Array, w: Array, strides: Sequence[int], dilations: Sequence[int], groups: int
    ) -> Array | None:
        """Return sums of products of kernels and the parts of images under them, at all places where they fit.

        ``x`` has the shape (batch, channels, lengths), and ``w`` (output channels, channels / groups, lengths of kernels).
        Kernels move by ``strides``, and their elements lie ``dilations`` apart. Returns None for more dimensions than the
        library knows.
        """

    @abstractmethod
    def spread(self, x: Array, axis: int, start: int, step: int, length: int) -> Array:
        """Return zeros with ``length`` elements along an axis, of which those from ``start`` on, ``step`` apart, are ``x``."""

    @abstractmethod
    def permutation(self, pivots: Array, n: int) -> Array:
        """Return the order of n rows, as int64, after the exchanges that the pivots of `lu` describe."""

    @abstractmethod
    def eigh(self, x: Array, lower: bool, vectors: bool) -> Sequence[Array]:
        """Return the eigenvalues of Hermitian matrices in ascending order, and, if ``vectors`` is true, their
        eigenvectors.

        Only one triangle of each matrix is read: the lower triangle if ``lower`` is true, and otherwise the upper.
        """

    @abstractmethod
    def eig(self, x: Array, vectors: bool) -> Sequence[Array] | None:
        """Return the complex eigenvalues of square matrices, and, if ``vectors`` is true, unit eigenvectors.

        Returns None if the library has no such function for the device.
        """

    @abstractmethod
    def svd(self, x: Array, full: bool, vectors: bool) -> Sequence[Array]:
        """Return U, the singular values and V^H, or, if ``vectors`` is false, only the singular values."""

    @abstractmethod
    def qr(self, x: Array, full: bool) -> Sequence[Array]:
        """Return Q and R of QR decompositions. If ``full`` is true, Q is square."""

    @abstractmethod
    def householder_product(self, vectors: Array, factors: Array) -> Array:
        """Return the first columns of products of Householder reflectors.

        Each reflector is given by a column of ``vectors`` and an element of ``factors``.
        """

    @abstractmethod
    def expm(self, x: Array) -> Array:
        """Return the matrix exponentials of finite matrices."""

    @abstractmethod
    def diagonal(self, x: Array, offset: int, axis1: int, axis2: int) -> Array:
        """Return diagonals of an array, like NumPy's ``diagonal``."""

    @abstractmethod
    def branch(
        self,
        condition: Array,
        then: Callable[[], Sequence[Array]],
        other: Callable[[], Sequence[Array]],
    ) -> Sequence[Array]:
        """Return the results of ``then`` if the condition holds, and otherwise those of ``other``.

        JAX runs only one of the two, and PyTorch runs both. Raises TypeError if the shapes of their results differ.
        """

    def repeat(
        self,
        count: Array,
        state: Sequence[Array],
        step: Callable[[Sequence[Array]], tuple[Sequence[Array], Array, Array]],
    ) -> tuple[Sequence[Array], Array]:
        """Call ``step`` on arrays up to ``count`` times. Returns the last arrays, and whether all checks held.

        ``step`` returns the next arrays and two truth values: whether to stop, and whether the checks of this step
        held. Raises TypeError if shapes change from step to step, and NotImplementedError if the library has no loops.
        """
        raise NotImplementedError

    def after(self, x: Array, others: Sequence[Array]) -> Array:
        """Return ``x`` as a value that the library computes after ``others``.

        Writes of rows in loops pass the rows that were read before, so that the library can write in place. By default
        the result is ``x`` itself, for libraries that need no such order.
        """
        return x

    def apart(self, function: Callable[[], Sequence[Array]]) -> Sequence[Array]:
        """Return the results of ``function``, which the library compiles separately from the code around it."""
        return function()

    def loop_kernel(self, node: Apply) -> Kernel | None:
        """Return a compiled function for a loop that cannot be traced. If the result is None, the loop runs in Python."""
        return None

    @abstractmethod
    def callback(
        self,
        function: Callable[..., Sequence[Array]],
        inputs: Sequence[Array],
        results: Sequence[tuple[str, tuple[int, ...]]],
    ) -> Sequence[Array]:
        """Return the results of a function of NumPy arrays that is called when the compiled graph runs.

        ``results`` are the static dtypes and shapes of the results.
        """


def _number(value: complex, dtype: str) -> Array:
    """Return a number as an array of a dtype.

    TypeError for a complex number if the dtype is real, and for a fraction or a number out of range if it is an integer
    dtype.
    """
    kind = np.dtype(dtype).kind
    if isinstance(value, complex) and kind != "c":
        raise TypeError(f"{value} is no number of {dtype}; convert the arrays first")
    with np.errstate(all="ignore"):
        number = np.asarray(value).astype(dtype)
    if kind in "biu" and number != value:
        raise TypeError(f"{value} is no number of {dtype}; convert the arrays first")
    return number
