"""Functions of matrices, computed as functions of their triangular Schur forms, and the lowering of square roots
(`Sqrtm`).

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use this lowering. `logarithm` derives the lowering of `Logm` from
`SchurFunction`. Both compute in double precision. For a real matrix the real Schur form is used if it is triangular and
no eigenvalue is negative. For all other matrices the complex Schur form is used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from occelo_graph import TensorApply
from occelo_linalg.lowerings.factorizations.schur import SchurForm
from occelo_linalg.lowerings.lapack import each_element
from occelo_linalg.lowerings.products import Products
from occelo_linalg.lowerings.real_or_complex import Number, Numbers
from occelo_linalg.lowerings.work_matrices import (
    WorkMatrix,
    lowers_matrices,
    new_result,
    stored_parts,
    whole_tensor,
)
from occelo_linalg.ops.matrix_functions import Logm, Sqrtm
from occelo_link.loops.complexes import PARTS
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Index, Stored, Tensor

__all__ = ["SchurFunction", "lower_schur_function"]

TOLERANCE = float(np.sqrt(np.finfo("float64").eps))
"""The largest accepted error of the square of a square root, relative to the size of the matrix. Imaginary parts up to
this number times the size of a result count as rounding errors.
"""


class SchurFunction(ABC):
    """A function of matrices of one dtype, float64 or complex128.

    Subclasses define `apply_to_triangle`. Construct an object inside the ``emit`` function of a `Context.step`, since
    the constructor writes allocations.
    """

    smallest_is_zero: bool
    """Whether the function is real for the eigenvalue 0, and not only for positive eigenvalues."""
    smallest_size: float
    """`real_enough` compares imaginary parts with the size of a result. If the size is below this number, it compares
    them with this number.
    """

    def __init__(self, context: Context, dtype: str, n: Value) -> None:
        self.context, self.builder, self.n = context, context.builder, n
        self.form = SchurForm(context, dtype, n)
        self.matrix = self.form.matrix
        self.numbers = Numbers(self.builder, self.matrix.count)
        self.other = WorkMatrix(context, dtype, n, n)
        self.multiply = Products(context, dtype, n).multiply
        self.size = self.builder.product([n, n, context.i64(self.matrix.count)])

    @abstractmethod
    def apply_to_triangle(self) -> Value:
        """Replace the triangular matrix by its function. Returns whether the function exists."""
        raise NotImplementedError

    # elements of matrices

    def load(self, matrix: WorkMatrix, i: Value, j: Value) -> Number:
        """The element of a matrix in row ``i`` and column ``j``."""
        return [matrix.load(i, j, part) for part in range(matrix.count)]

    def store(self, matrix: WorkMatrix, i: Value, j: Value, number: Number) -> None:
        """Write the element of a matrix in row ``i`` and column ``j``."""
        for part, value in enumerate(number):
            matrix.store(i, j, value, part)

    def each(self, function: Callable[[Value], None]) -> None:
        """Write a loop that calls ``function`` with the position of each number of a matrix. A complex element has two
        numbers.
        """
        with self.builder.loop(self.size, fixed=True) as loop:
            function(loop.index)

    def copy(self, source: WorkMatrix, target: WorkMatrix) -> None:
        """Copy the matrix ``source`` to ``target``."""
        builder = self.builder

        def copied(at: Value) -> None:
            builder.store(target.buffer, at, builder.load(source.buffer, at, fixed=True))

        self.each(copied)

    # steps

    def is_real(self) -> Value:
        """Whether the real Schur form suffices: no eigenvalue is complex, negative or, unless `smallest_is_zero`, 0.

        Then the Schur form is triangular, and the function of each eigenvalue is real.
        """
        builder, zero = self.builder, self.numbers.real(0.0)
        with builder.loop(self.n, fixed=True) as loop:
            real = loop.carry(builder.const(True, "bool"))
            re, im = self.form.values.load(loop.index)
            inside = builder.op("le" if self.smallest_is_zero else "lt", zero, re)
            both = builder.op("and", inside, builder.op("eq", im, zero))
            real.following = builder.op("and", real.param, both)
        return real.result

    def finish(self) -> Value:
        """Replace the Schur form by the function of the original matrix. Returns whether the function exists."""
        builder = self.builder

        def computed() -> Sequence[Value]:
            vectors = self.form.vectors.pointer
            self.multiply(vectors, self.matrix.pointer, self.other.pointer)
            self.multiply(self.other.pointer, vectors, self.matrix.pointer, "C")
            return [self.matrix.all_finite()]

        found = self.apply_to_triangle()
        return builder.branch(found, computed, lambda: [builder.const(False, "bool")])[0]

    def real_enough(self) -> Value:
        """Whether the imaginary parts of a result are only rounding errors, so that the result for a real matrix is
        real.
        """
        builder, zero = self.builder, self.numbers.real(0.0)
        with builder.loop(self.n, fixed=True) as across:
            whole, imaginary = across.carry(zero), across.carry(zero)
            with builder.loop(self.n, fixed=True) as down:
                inner, turned = down.carry(whole.param), down.carry(imaginary.param)
                element = self.load(self.matrix, down.index, across.index)
                inner.following = builder.op("max", inner.param, self.numbers.size(element))
                turned.following = builder.op("max", turned.param, builder.op("abs", element[1]))
            whole.following, imaginary.following = inner.result, turned.result
        size = builder.op("max", whole.result, self.numbers.real(self.smallest_size))
        limit = builder.op("mul", size, self.numbers.real(TOLERANCE))
        return builder.op("le", imaginary.result, limit)

    def take_root(self) -> None:
        """Replace the triangular matrix by its square root, column by column.

        If the matrix has no square root, some elements of the result are not finite. See Björck and Hammarling (1983),
        A Schur method for the square root of a matrix, Linear Algebra Appl. 52/53, 127-140.
        """
        builder, numbers, matrix = self.builder, self.numbers, self.matrix
        one = self.context.i64(1)
        with builder.loop(self.n, fixed=True) as across:
            j = across.index
            own = numbers.root(self.load(matrix, j, j))
            self.store(matrix, j, j, own)
            with builder.loop(j, fixed=True) as up:
                k = builder.sub(builder.sub(j, one), up.index)
                rest = self.load(matrix, k, j)
                found = numbers.divided(rest, numbers.add(self.load(matrix, k, k), own))
                found = numbers.chosen(numbers.is_zero(rest), rest, found)
                self.store(matrix, k, j, found)
                lanes = 8 if matrix.count == 1 else 1
                with builder.loop(k, lanes=lanes, fixed=True) as down:
                    i = down.index
                    product = numbers.times(self.load(matrix, i, k), found)
                    self.store(matrix, i, j, numbers.subtract(self.load(matrix, i, j), product))


class _SquareRoot(SchurFunction):
    """The square root of a triangular matrix."""

    smallest_is_zero, smallest_size = True, Sqrtm.smallest_size

    def __init__(self, context: Context, dtype: str, n: Value) -> None:
        super().__init__(context, dtype, n)
        self.before = WorkMatrix(context, dtype, n, n)

    def apply_to_triangle(self) -> Value:
        builder, zero = self.builder, self.numbers.real(0.0)
        self.copy(self.matrix, self.before)
        self.take_root()
        self.multiply(self.matrix.pointer, self.matrix.pointer, self.other.pointer)
        # a singular matrix may have no square root, although rounding errors may produce one
        with builder.loop(self.size, fixed=True) as loop:
            error, whole = loop.carry(zero), loop.carry(zero)
            wanted = builder.load(self.before.buffer, loop.index, fixed=True)
            square = builder.load(self.other.buffer, loop.index, fixed=True)
            lost = builder.op("sub", square, wanted)
            error.following = builder.op("fma", lost, lost, error.param)
            whole.following = builder.op("fma", wanted, wanted, whole.param)
        limit = builder.op("mul", builder.op("sqrt", whole.result), self.numbers.real(TOLERANCE))
        return builder.op("le", builder.op("sqrt", error.result), limit)


def lower_schur_function(
    context: Context,
    node: TensorApply[Sqrtm | Logm],
    x: Tensor,
    function: Callable[[Context, str, Value], SchurFunction],
) -> Sequence[Tensor]:
    """Lower a node that computes a function of matrices. ``function(context, dtype, n)`` makes its `SchurFunction`."""
    builder, on_error = context.builder, node.op.on_error
    dtype = node.outputs[0].type.dtype
    n = context.unify(x.shape[-2], x.shape[-1])
    parts = stored_parts(context, x)
    result = new_result(context, dtype, [*x.shape[:-2], n, n])

    def emit() -> None:
        real = None if dtype in PARTS else function(context, "float64", n)
        whole = function(context, "complex128", n)
        first = whole if real is None else real
        with each_element(context, x.shape[:-2]) as index:
            first.matrix.fill(parts, index)
            finite = first.matrix.all_finite()

            def computed(index: Index = index) -> Sequence[Value]:
                if real is None:
                    return [_computed(context, whole, result, index)]
                return [_computed_for_real(context, real, whole, parts, result, index)]

            def lost(index: Index = index) -> Sequence[Value]:
                false = builder.const(False, "bool")
                first.matrix.copy_to(result, index, false)
                return [builder.const(True, "bool")]

            (good,) = builder.branch(finite, computed, lost)
            if on_error == "raise":
                context.check(good)

    context.step(parts, result, emit)
    return [whole_tensor(result)]


def _computed(
    context: Context, function: SchurFunction, result: Sequence[Stored], index: Index
) -> Value:
    """Compute the function of the matrix, and store it at ``index`` of the result. Store NaN if it does not exist.

    Returns whether the function exists.
    """
    builder = context.builder
    info = function.form.call()
    good = builder.branch(
        builder.eq(info, context.i64(0)),
        lambda: [function.finish()],
        lambda: [builder.const(False, "bool")],
    )[0]
    function.matrix.copy_to(result, index, good)
    return good


def _computed_for_real(
    context: Context,
    real: SchurFunction,
    whole: SchurFunction,
    parts: Sequence[Stored],
    result: Sequence[Stored],
    index: Index,
) -> Value:
    """Do the same as `_computed` for a real matrix, which is in the memory of ``real``.

    If the real Schur form does not suffice, ``whole`` computes the function with the complex Schur form.
    """
    builder, zero = context.builder, context.i64(0)
    false = builder.const(False, "bool")
    info = real.form.call()
    triangular = builder.op("and", builder.eq(info, zero), real.is_real())

    def simple() -> Sequence[Value]:
        good = real.finish()
        real.matrix.copy_to(result, index, good)
        return [good]

    def by_complex_form() -> Sequence[Value]:
        whole.matrix.fill(parts, index)

        def finished() -> Sequence[Value]:
            found = whole.finish()
            return builder.branch(found, lambda: [whole.real_enough()], lambda: [false])

        good = builder.branch(builder.eq(whole.form.call(), zero), finished, lambda: [false])[0]
        whole.matrix.copy_to(result, index, good)
        return [good]

    return builder.branch(triangular, simple, by_complex_form)[0]


@lowers_matrices(Sqrtm)
def lower_sqrtm(
    context: Context, node: TensorApply[Sqrtm], inputs: list[Tensor]
) -> Sequence[Tensor]:
    return lower_schur_function(context, node, inputs[0], _SquareRoot)
