"""Functions of matrices, computed as functions of their triangular Schur forms, and the lowering of square roots
(`Sqrtm`).

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use this lowering. `logarithm` derives the lowering of `Logm` from
`SchurFunction`. Both compute in double precision. For a real matrix the real Schur form is used if it is triangular and
no eigenvalue is negative. Otherwise a unitary similarity turns it into a complex triangular matrix, and back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from occelo_graph import TensorApply
from occelo_linalg.lowerings.factorizations.schur import SchurForm
from occelo_linalg.lowerings.lapack import Lapack
from occelo_linalg.lowerings.products import Products
from occelo_linalg.lowerings.work_matrices import (
    WorkMatrix,
    lowers_matrices,
    new_result,
    stored_parts,
    whole_tensor,
)
from occelo_linalg.ops.matrix_functions import Logm, Sqrtm
from occelo_link.loops.batches import each_element
from occelo_link.loops.complexes import PARTS
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.lowerings.elemwise.real_or_complex import Number, Numbers
from occelo_link.loops.tensors import Tensor

TOLERANCE = float(np.sqrt(np.finfo("float64").eps))
"""The largest accepted error of the square of a square root, relative to the size of the matrix. Imaginary parts up to
this number times the size of a result count as rounding errors.
"""


class SchurFunction(ABC):
    """A function of triangular matrices of one dtype, float64 or complex128. It replaces ``matrix``.

    Subclasses define `apply`. Construct an object inside the ``emit`` function of a `Context.step`, since the
    constructor writes allocations.
    """

    smallest_is_zero: bool
    """Whether the function is real for the eigenvalue 0, and not only for positive eigenvalues."""
    smallest_size: float
    """`real_enough` compares imaginary parts with the size of a result. If the size is below this number, it compares
    them with this number.
    """

    def __init__(self, context: Context, dtype: str, matrix: WorkMatrix) -> None:
        self.context, self.builder, self.n = context, context.builder, matrix.rows
        self.matrix, self.lapack = matrix, Lapack(context, dtype)
        self.numbers = Numbers(self.builder, matrix.count)
        self.other = WorkMatrix(context, dtype, self.n, self.n)
        self.multiply = Products(context, dtype, self.n).multiply
        self.size = self.builder.product([self.n, self.n, context.i64(matrix.count)])

    @abstractmethod
    def apply(self) -> Value:
        """Replace the triangular matrix by its function. Returns whether the function exists."""
        raise NotImplementedError

    def keep(self) -> None:  # noqa: B027 - only some functions are checked
        """Copy what `is_right` needs of the Schur form, before it is replaced."""

    def is_right(self) -> Value:
        """Whether the matrix is the function of the Schur form, which may be real with blocks on its diagonal."""
        return self.builder.const(True, "bool")

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
                root = numbers.divided(rest, numbers.add(self.load(matrix, k, k), own))
                root = numbers.chosen(numbers.is_zero(rest), rest, root)
                self.store(matrix, k, j, root)
                lanes = 8 if matrix.count == 1 else 1
                with builder.loop(k, lanes=lanes, fixed=True) as down:
                    i = down.index
                    product = numbers.times(self.load(matrix, i, k), root)
                    self.store(matrix, i, j, numbers.subtract(self.load(matrix, i, j), product))


class _SquareRoot(SchurFunction):
    """The square root of a triangular matrix."""

    smallest_is_zero, smallest_size = True, Sqrtm.smallest_size

    def __init__(self, context: Context, dtype: str, matrix: WorkMatrix) -> None:
        super().__init__(context, dtype, matrix)
        self.before = WorkMatrix(context, dtype, self.n, self.n)

    def apply(self) -> Value:
        self.take_root()
        return self.builder.const(True, "bool")

    def keep(self) -> None:
        self.copy(self.matrix, self.before)

    def is_right(self) -> Value:
        # a singular matrix may have no square root, although rounding errors may produce one
        builder, zero = self.builder, self.numbers.real(0.0)
        self.multiply(self.matrix.pointer, self.matrix.pointer, self.other.pointer)
        with builder.loop(self.size, fixed=True) as loop:
            error, whole = loop.carry(zero), loop.carry(zero)
            original = builder.load(self.before.buffer, loop.index, fixed=True)
            square = builder.load(self.other.buffer, loop.index, fixed=True)
            lost = builder.op("sub", square, original)
            error.following = builder.op("fma", lost, lost, error.param)
            whole.following = builder.op("fma", original, original, whole.param)
        limit = builder.op("mul", builder.op("sqrt", whole.result), self.numbers.real(TOLERANCE))
        return builder.op("le", builder.op("sqrt", error.result), limit)


def _is_real(form: SchurForm, smallest_is_zero: bool) -> Value:
    """Whether no eigenvalue of a real matrix is complex, negative or, unless ``smallest_is_zero``, 0.

    Then the Schur form is triangular, and the function of each eigenvalue is real.
    """
    builder = form.context.builder
    zero = builder.const(0.0, form.dtype)
    with builder.loop(form.n, fixed=True) as loop:
        real = loop.carry(builder.const(True, "bool"))
        re, im = form.values.load(loop.index)
        inside = builder.op("le" if smallest_is_zero else "lt", zero, re)
        both = builder.op("and", inside, builder.op("eq", im, zero))
        real.following = builder.op("and", real.param, both)
    return real.result


def _apply_complex(form: SchurForm, own: SchurFunction, whole: SchurFunction) -> Value:
    """Replace the Schur form of a real matrix, which is ``own.matrix``, by its function, computed by ``whole`` for complex
    triangular matrices.

    Returns whether the function exists and is real but for rounding errors.
    """
    context, builder, n = form.context, form.context.builder, form.n
    real, turned, zero = own.matrix, whole.matrix, own.numbers.real(0.0)
    with builder.loop(n, fixed=True) as across, builder.loop(n, fixed=True) as down:
        for part, value in enumerate((real.load(down.index, across.index), zero)):
            turned.store(down.index, across.index, value, part)
    form.turn_blocks(turned)
    with builder.loop(n, start=context.i64(1), fixed=True) as loop:
        for part in range(2):
            turned.store(loop.index, builder.sub(loop.index, context.i64(1)), zero, part)
    good = whole.apply()
    form.turn_blocks(turned)
    with builder.loop(n, fixed=True) as across, builder.loop(n, fixed=True) as down:
        real.store(down.index, across.index, turned.load(down.index, across.index))
    return builder.op("and", good, whole.real_enough())


def lower_schur_function(
    context: Context,
    node: TensorApply[Sqrtm | Logm],
    x: Tensor,
    function: Callable[[Context, str, WorkMatrix], SchurFunction],
) -> Sequence[Tensor]:
    """Lower a node that computes a function of matrices. ``function(context, dtype, matrix)`` makes its `SchurFunction`."""
    builder, on_error = context.builder, node.op.on_error
    dtype = node.outputs[0].type.dtype
    n = context.unify(x.shape[-2], x.shape[-1])
    parts = stored_parts(context, x)
    result = new_result(context, dtype, [*x.shape[:-2], n, n])

    def emit() -> None:
        form = SchurForm(context, "complex128" if dtype in PARTS else "float64", n)
        own = function(context, form.dtype, form.matrix)
        apply = own.apply
        if form.dtype not in PARTS:
            whole = function(context, "complex128", WorkMatrix(context, "complex128", n, n))

            def apply() -> Value:
                return builder.branch(
                    _is_real(form, own.smallest_is_zero),
                    lambda: [own.apply()],
                    lambda: [_apply_complex(form, own, whole)],
                )[0]

        false = builder.const(False, "bool")

        def decomposed() -> Sequence[Value]:
            own.keep()
            good = apply()
            return builder.branch(good, multiplied, lambda: [false])

        def multiplied() -> Sequence[Value]:
            right, vectors = own.is_right(), form.vectors.pointer
            own.multiply(vectors, own.matrix.pointer, own.other.pointer)
            own.multiply(own.other.pointer, vectors, own.matrix.pointer, "C")
            return [builder.op("and", right, own.matrix.all_finite())]

        def computed() -> Sequence[Value]:
            success = builder.eq(form.call(), context.i64(0))
            return builder.branch(success, decomposed, lambda: [false])

        with each_element(context, x.shape[:-2]) as index:
            form.matrix.fill(parts, index)
            finite = form.matrix.all_finite()
            (good,) = builder.branch(finite, computed, lambda: [false])
            form.matrix.copy_to(result, index, good)
            if on_error == "raise":
                # the result for a matrix with elements that are not finite is NaN, and no error
                context.check(builder.op("or", good, builder.op("not", finite)))

    context.step(parts, result, emit)
    return [whole_tensor(result)]


@lowers_matrices(Sqrtm)
def lower_sqrtm(
    context: Context, node: TensorApply[Sqrtm], inputs: list[Tensor]
) -> Sequence[Tensor]:
    return lower_schur_function(context, node, inputs[0], _SquareRoot)
