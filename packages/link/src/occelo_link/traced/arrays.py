"""`Arrays`: base class of the array operations that lowerings use, which JAX and PyTorch implement.

`jax.arrays` and `torch.arrays` derive from it, and every lowering calls it through its tracer. Shapes and keys are
plain Python values, since they are static. Entries of a ``key`` are integers, slices with integer parts, or arrays of
the library (of integers that are not negative and in bounds).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from occelo_link.traced.scalars import Scalar, registered_scalar
from occelo_link.traced.traced_values import Array, Entry
from occelo_link.withheld_lowerings import scalar_is_withheld

if TYPE_CHECKING:
    from occelo_graph import Apply
    from occelo_graph.ir.op import Kernel

__all__ = ["Arrays", "Scalar"]


class Arrays(ABC):
    """The array operations of a library; ``scalars`` maps names of scalar functions to functions of the library."""

    name: str
    scalars: Mapping[str, Scalar]

    def scalar(self, name: str) -> Scalar | None:
        """A scalar function by its name, with the rule by which its arguments are converted; None if there is none of
        this name.
        """
        return None if scalar_is_withheld(name) else self._known_scalar(name)

    def _known_scalar(self, name: str) -> Scalar | None:
        """A scalar function by its name, even if its lowering is switched off (`without_lowering`)."""
        own = registered_scalar(self.name, name)
        return self.scalars.get(name) if own is None else (own[0], partial(own[1], self))

    def apply(self, name: str, *operands: Array) -> Array:
        """Apply a scalar function to arrays, which broadcast.

        They are converted to their common dtype, and so are Python numbers.

        ValueError if the library has no such function, TypeError if no operand is an array of the library.
        """
        found = self._known_scalar(name)
        if found is None:
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
        return (function or found[1])(
            *(
                self.cast(x, common) if self.is_traced(x) else self.constant(np.asarray(x, common))
                for x in arrays
            )
        )

    @abstractmethod
    def constant(self, value: Array) -> Array:
        """An array of the library with the values of a NumPy array."""

    @abstractmethod
    def is_traced(self, value: Array) -> bool:
        """Whether a value is an array of the library, whose elements may be unknown while tracing."""

    @abstractmethod
    def dtype(self, x: Array) -> str:
        """The name of the dtype."""

    @abstractmethod
    def cast(self, x: Array, dtype: str) -> Array:
        """The array converted to a dtype."""

    def working(self, dtype: str) -> str:
        """The dtype in which the library computes results of ``dtype``: the same or a wider one."""
        return dtype

    def working_function(self, name: str, dtype: str) -> Callable[..., Array] | None:
        """A function to use for the scalar function ``name`` on arrays of ``working(dtype)``; None if the library's own
        function can be used.
        """
        return None

    @abstractmethod
    def copy(self, x: Array) -> Array:
        """A copy of the array."""

    @abstractmethod
    def reshape(self, x: Array, shape: Sequence[int]) -> Array:
        """The elements, in C order, in another shape."""

    @abstractmethod
    def transpose(self, x: Array, axes: Sequence[int]) -> Array:
        """The dimensions in another order."""

    @abstractmethod
    def broadcast(self, x: Array, shape: Sequence[int]) -> Array:
        """NumPy's ``broadcast_to``."""

    @abstractmethod
    def concatenate(self, parts: Sequence[Array], axis: int) -> Array:
        """The concatenation of arrays along an axis."""

    @abstractmethod
    def where(self, condition: Array, a: Array, b: Array) -> Array:
        """The elements of ``a`` where the condition holds, else those of ``b``; all three have the same shape."""

    @abstractmethod
    def read(self, x: Array, key: Sequence[Entry]) -> Array:
        """``x[key]`` by integers and slices alone."""

    @abstractmethod
    def pick(self, x: Array, axis: int, index: Array) -> Array:
        """The part at a scalar position of an axis, without that axis."""

    @abstractmethod
    def gather(self, x: Array, key: Sequence[Entry]) -> Array:
        """``x[key]`` with arrays of positions in the key, as NumPy does."""

    @abstractmethod
    def write(self, x: Array, key: Sequence[Entry], y: Array, add: bool) -> Array:
        """A copy of ``x`` with ``y`` written, or added, at ``x[key]``; scalar positions may be traced."""

    @abstractmethod
    def reduce(self, name: str, x: Array, axes: Sequence[int]) -> Array:
        """A reduction over axes by the name of its scalar op: add, mul, maximum, ...; None if the library has none."""

    @abstractmethod
    def argmax(self, x: Array) -> Array:
        """The position of the largest element along the last axis, as int64."""

    @abstractmethod
    def accumulate(self, name: str, x: Array, axis: int) -> Array:
        """Running results of a reduction by its name; None if the library has none."""

    @abstractmethod
    def recurrence(self, a: Array, b: Array) -> Array:
        """``s_k = a_k s_{k-1} + b_k`` along the first axis, from 0."""

    @abstractmethod
    def matmul(self, x: Array, y: Array) -> Array:
        """The product of stacks of matrices."""

    @abstractmethod
    def dot(self, x: Array, y: Array) -> Array:
        """NumPy's ``dot`` of vectors and matrices."""

    @abstractmethod
    def cholesky(self, x: Array) -> tuple[Array, Array]:
        """The Cholesky factors of matrices whose lower triangles are read, and for each matrix whether it has such a
        factor.
        """

    @abstractmethod
    def solve_triangular(self, a: Array, b: Array, lower: bool, unit_diagonal: bool) -> Array:
        """The solutions of triangular equations; both arguments have the same batch dimensions."""

    @abstractmethod
    def lu(self, x: Array) -> tuple[Array, Array]:
        """L and U with partial pivoting in one array, and int32 pivots counted from 0, of stacks of matrices."""

    @abstractmethod
    def lu_solve(self, factors: Array, pivots: Array, b: Array) -> Array:
        """The solutions of equations from the results of `lu` for square matrices.

        All arguments have the same batch dimensions.
        """

    @abstractmethod
    def argsort(self, x: Array) -> Array:
        """The order that sorts along the last axis, as int64."""

    @abstractmethod
    def permutation(self, pivots: Array, n: int) -> Array:
        """The order of n rows, as int64, after they were exchanged as the pivots of `lu` say."""

    @abstractmethod
    def eigh(self, x: Array, lower: bool, vectors: bool) -> Sequence[Array]:
        """The eigenvalues of Hermitian matrices in ascending order, and if wanted their eigenvectors; one triangle is
        read.
        """

    @abstractmethod
    def eig(self, x: Array, vectors: bool) -> Sequence[Array] | None:
        """The complex eigenvalues of any square matrices, and if wanted unit eigenvectors; None if the device has no
        routine.
        """

    @abstractmethod
    def svd(self, x: Array, full: bool, vectors: bool) -> Sequence[Array]:
        """U, the singular values and V^H, or the singular values alone."""

    @abstractmethod
    def qr(self, x: Array, full: bool) -> Sequence[Array]:
        """Q and R of a QR decomposition; Q is square if ``full``."""

    @abstractmethod
    def householder_product(self, vectors: Array, factors: Array) -> Array:
        """The first columns of products of Householder reflectors, which are given by vectors (as columns) and factors."""

    @abstractmethod
    def expm(self, x: Array) -> Array:
        """The matrix exponentials of stacks of finite matrices."""

    @abstractmethod
    def diagonal(self, x: Array, offset: int, axis1: int, axis2: int) -> Array:
        """NumPy's ``diagonal``."""

    @abstractmethod
    def branch(
        self,
        condition: Array,
        then: Callable[[], Sequence[Array]],
        other: Callable[[], Sequence[Array]],
    ) -> Sequence[Array]:
        """The result of ``then`` if the condition holds, else of ``other``; only one of them is run.

        TypeError if shapes differ.
        """

    def repeat(
        self,
        count: Array,
        state: Sequence[Array],
        step: Callable[[Sequence[Array]], tuple[Sequence[Array], Array, Array]],
    ) -> tuple[Sequence[Array], Array]:
        """Call ``step`` ``count`` times on arrays; returns the last arrays, and a scalar that is true if all checks
        held.

        ``step`` returns the next arrays and two scalars: whether to stop, and whether its checks held. TypeError if
        shapes change; NotImplementedError if the library has no loops.
        """
        raise NotImplementedError

    def loop_kernel(self, node: Apply) -> Kernel | None:
        """A compiled function that runs a loop which cannot be traced; None if the loop is to run in Python."""
        return None

    @abstractmethod
    def callback(
        self,
        function: Callable[..., Sequence[Array]],
        inputs: Sequence[Array],
        results: Sequence[tuple[str, tuple[int, ...]]],
    ) -> Sequence[Array]:
        """The results of a function of NumPy arrays that is called when the graph runs; dtypes and shapes are static."""
