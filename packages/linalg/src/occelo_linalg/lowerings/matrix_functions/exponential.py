"""Lowering of matrix exponentials (`Expm`): scaling and squaring of Padé approximants.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use this lowering. It calls BLAS for products and LAPACK's gesv.
The method is that of Higham (2005), The scaling and squaring method for the matrix exponential revisited, SIAM J.
Matrix Anal. Appl. 26, 1179-1193.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from occelo_graph import TensorApply
from occelo_linalg.lowerings.lapack import Lapack
from occelo_linalg.lowerings.products import Products
from occelo_linalg.lowerings.work_matrices import (
    WorkMatrix,
    lowers_matrices,
    new_result,
    stored_parts,
    whole_tensor,
)
from occelo_linalg.ops.matrix_functions import Expm
from occelo_link.loops.batches import each_element
from occelo_link.loops.complexes import PARTS
from occelo_link.loops.ir.program import Buffer, Pointer, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.lowerings.elemwise.real_or_complex import Numbers
from occelo_link.loops.tensors import Tensor

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array

DEGREES = (3, 5, 7, 9, 13)
LIMITS = (
    1.495585217958292e-2,
    2.539398330063230e-1,
    9.504178996162932e-1,
    2.097847961257068,
    5.371920351148152,
)
"""For each degree, the largest norm for which its approximant is exact to double precision (Higham's table 2.3)."""

POWERS = (1, 2, 3, 4, 3)
"""For each degree, the number of even powers of the matrix (A^2, A^4, ...) that its approximant needs.

The approximant of degree 13 also needs products with A^6.
"""


def _coefficients() -> Array:
    """A table of the coefficients of the numerators, scaled to whole numbers.

    It has a row for each degree and a column for each power of the matrix, from 0 to 13.
    """
    table = np.zeros((len(DEGREES), 14))
    for row, m in zip(table, DEGREES, strict=True):
        for j in range(m + 1):
            row[j] = math.comb(m, j) * math.factorial(2 * m - j) // math.factorial(m)
    return table


class _Exponential:
    """The working memory of a matrix exponential, and the steps of its computation.

    Construct it inside the ``emit`` function of a `Context.step`, since the constructor writes allocations.

    ``matrix`` is the matrix A. The result is computed in the matrix ``even``: `approximate` writes the approximant
    there, and `square` squares it.
    """

    def __init__(self, context: Context, dtype: str, n: Value) -> None:
        self.context, self.builder, self.dtype, self.n = context, context.builder, dtype, n
        self.real = PARTS.get(dtype, dtype)
        self.lapack = Lapack(context, dtype)
        # A, the two halves of the approximant, a matrix for products, and the even powers
        self.matrix, self.odd, self.even, self.other = (
            WorkMatrix(context, dtype, n, n) for _ in range(4)
        )
        self.powers = WorkMatrix(context, dtype, n, self.builder.mul(n, context.i64(4)))
        self.pivots = Pointer(self.lapack.integers(n), context.i64(0))
        self.table = self.builder.constant_table("expm:coefficients", _coefficients())
        self.multiply = Products(context, dtype, n).multiply
        self.count = context.i64(self.matrix.count)
        self.size = self.builder.product([n, n, self.count])

    def power(self, k: Value) -> Pointer:
        """The address of the even power A^(2 k + 2)."""
        return Pointer(self.powers.buffer, self.builder.mul(k, self.size))

    def each(self, function: Callable[[Value], None]) -> None:
        """Write a loop that calls ``function`` with the position of each number of a matrix. A complex element has two
        numbers.
        """
        with self.builder.loop(self.size, fixed=True) as loop:
            function(loop.index)

    def norm(self) -> Value:
        """The largest sum of absolute values in a column of the matrix."""
        builder = self.builder
        zero = builder.const(0.0, self.real)
        with builder.loop(self.n, fixed=True) as across:
            largest = across.carry(zero)
            with builder.loop(self.n, fixed=True) as down:
                total = down.carry(zero)
                size = [
                    self.matrix.load(down.index, across.index, k) for k in range(self.matrix.count)
                ]
                total.following = builder.op("add", total.param, self._absolute(size))
            largest.following = builder.op("max", largest.param, total.result)
        return largest.result

    def _absolute(self, parts: Sequence[Value]) -> Value:
        """The absolute value of a real number. For a complex number, an upper bound that is at most 1.42 times as
        large.
        """
        sizes = [self.builder.op("abs", part) for part in parts]
        return sizes[0] if len(sizes) == 1 else self.builder.op("add", *sizes)

    def degree(self, norm: Value) -> Value:
        """The position in `DEGREES` of the lowest degree that is accurate enough for a matrix with this norm."""
        builder, position = self.builder, self.context.i64(0)
        for limit in LIMITS[:-1]:
            above = builder.lt(builder.const(limit, self.real), norm)
            position = builder.add(position, builder.cast(above, "int64"))
        return position

    def scale(self, norm: Value) -> Value:
        """Halve the matrix until its norm is at most the largest limit. Returns how many times it was halved."""
        builder = self.builder
        limit, half = (builder.const(x, self.real) for x in (LIMITS[-1], 0.5))
        _, factor, times = builder.repeat_while(
            [norm, builder.const(1.0, self.real), self.context.i64(0)],
            lambda v: builder.lt(limit, v[0]),
            lambda v: [
                builder.op("mul", v[0], half),
                builder.op("mul", v[1], half),
                builder.add(v[2], self.context.i64(1)),
            ],
        )

        def scaled(at: Value) -> None:
            value = builder.load(self.matrix.buffer, at, fixed=True)
            builder.store(self.matrix.buffer, at, builder.op("mul", value, factor))

        self.each(scaled)
        return times

    def _sum(self, target: Buffer, row: Value, first: int, count: Value, lowest: int) -> None:
        """Write the sum c_0 I + c_1 A^2 + c_2 A^4 + ... to ``target``.

        The coefficients are the numbers ``first``, ``first`` + 2, ... of a row of the table. If ``lowest`` is 1, the
        sum has no term with I and starts with A^2.
        """
        builder, i64 = self.builder, self.context.i64
        start = builder.add(builder.mul(row, i64(14)), i64(first))

        def coefficient(k: Value) -> Value:
            at = builder.add(start, builder.mul(k, i64(2)))
            return builder.cast(builder.load(self.table, at, fixed=True), self.real)

        self.each(lambda at: builder.store(target, at, builder.const(0.0, self.real)))
        if lowest == 0:
            step = builder.mul(builder.add(self.n, i64(1)), self.count)
            own = coefficient(i64(0))
            with builder.loop(self.n, fixed=True) as loop:
                builder.store(target, builder.mul(loop.index, step), own)
        with builder.loop(count, fixed=True) as loop:
            factor = coefficient(builder.add(loop.index, i64(1 - lowest)))
            place = self.power(loop.index).offset

            def added(at: Value) -> None:
                power = builder.load(self.powers.buffer, builder.add(place, at), fixed=True)
                before = builder.load(target, at, fixed=True)
                builder.store(target, at, builder.op("fma", power, factor, before))

            self.each(added)

    def approximate(self, row: Value) -> None:
        """Write the Padé approximant of A to the matrix ``even``. Its coefficients are row ``row`` of the table."""
        builder, i64 = self.builder, self.context.i64
        highest = builder.eq(row, i64(len(DEGREES) - 1))
        count = builder.select(highest, i64(3), builder.add(row, i64(1)))
        self.multiply(self.matrix.pointer, self.matrix.pointer, self.power(i64(0)))
        with builder.loop(count, start=i64(1), fixed=True) as loop:
            before = self.power(builder.sub(loop.index, i64(1)))
            self.multiply(before, self.power(i64(0)), self.power(loop.index))
        for first, target in ((1, self.odd), (0, self.even)):
            self._sum(target.buffer, row, first, count, 0)
            builder.branch(highest, lambda f=first, t=target: self._add_highest(row, f, t), tuple)
        # U = A (...), and the approximant is (V - U)^-1 (V + U)
        self.multiply(self.matrix.pointer, self.odd.pointer, self.other.pointer)

        def halves(at: Value) -> None:
            odd = builder.load(self.other.buffer, at, fixed=True)
            even = builder.load(self.even.buffer, at, fixed=True)
            builder.store(self.odd.buffer, at, builder.op("sub", even, odd))
            builder.store(self.even.buffer, at, builder.op("add", even, odd))

        self.each(halves)
        self.lapack.call(
            "gesv",
            n=self.n,
            nrhs=self.n,
            a=self.odd.pointer,
            lda=self.odd.leading,
            ipiv=self.pivots,
            b=self.even.pointer,
            ldb=self.even.leading,
        )

    def _add_highest(self, row: Value, first: int, target: WorkMatrix) -> tuple[Value, ...]:
        """Add the terms of A^8 to A^12, computed as A^6 times a sum of lower powers."""
        builder, i64 = self.builder, self.context.i64
        scratch = self.power(i64(3))
        self._sum(self.other.buffer, row, first + 8, i64(3), 1)
        self.multiply(self.power(i64(2)), self.other.pointer, scratch)

        def added(at: Value) -> None:
            high = builder.load(self.powers.buffer, builder.add(scratch.offset, at), fixed=True)
            low = builder.load(target.buffer, at, fixed=True)
            builder.store(target.buffer, at, builder.op("add", low, high))

        self.each(added)
        return ()

    def square(self, times: Value) -> None:
        """Square the matrix ``even`` as often as ``times`` says."""
        builder = self.builder
        with builder.loop(times, fixed=True):
            self.multiply(self.even.pointer, self.even.pointer, self.other.pointer)

            def copied(at: Value) -> None:
                value = builder.load(self.other.buffer, at, fixed=True)
                builder.store(self.even.buffer, at, value)

            self.each(copied)

    def of_infinite(self) -> tuple[Value, ...]:
        """Write the result for a matrix with elements that are not finite.

        If it is diagonal, its exponential is that of each element of the diagonal. Otherwise, all elements are NaN.
        """
        builder = self.builder
        zero, nan = (builder.const(x, self.real) for x in (0.0, float("nan")))
        with builder.loop(self.n, fixed=True) as across:
            outer = across.carry(builder.const(True, "bool"))
            with builder.loop(self.n, fixed=True) as down:
                fine = down.carry(outer.param)
                i, j = down.index, across.index
                for k in range(self.matrix.count):
                    is_zero = builder.eq(self.matrix.load(i, j, k), zero)
                    fits = builder.op("or", builder.eq(i, j), is_zero)
                    fine.following = builder.op("and", fine.following if k else fine.param, fits)
            outer.following = fine.result
        value = builder.select(outer.result, zero, nan)
        self.each(lambda at: builder.store(self.even.buffer, at, value))
        with builder.loop(self.n, fixed=True) as loop:
            for k, part in enumerate(self._exponential_at(loop.index)):
                self.even.store(loop.index, loop.index, builder.select(outer.result, part, nan), k)
        return ()

    def _exponential_at(self, i: Value) -> list[Value]:
        """The exponential of an element of the diagonal."""
        builder, count = self.builder, self.matrix.count
        numbers = Numbers(builder, count)
        number = [builder.cast(self.matrix.load(i, i, k), "float64") for k in range(count)]
        return [builder.cast(part, self.real) for part in numbers.exp(number)]


@lowers_matrices(Expm)
def lower_expm(context: Context, node: TensorApply[Expm], inputs: list[Tensor]) -> Sequence[Tensor]:
    x, builder = inputs[0], context.builder
    dtype = node.outputs[0].type.dtype
    batch = x.shape[:-2]
    n = context.unify(x.shape[-2], x.shape[-1])
    parts = stored_parts(context, x)
    result = new_result(context, dtype, [*batch, n, n])

    def emit() -> None:
        work = _Exponential(context, dtype, n)
        with each_element(context, batch) as index:
            work.matrix.fill(parts, index)
            norm = work.norm()
            finite = builder.eq(builder.op("sub", norm, norm), builder.const(0.0, norm.dtype))

            def computed(norm: Value = norm) -> tuple[Value, ...]:
                row = work.degree(norm)
                times = work.scale(norm)
                work.approximate(row)
                work.square(times)
                return ()

            builder.branch(finite, computed, work.of_infinite)
            work.even.copy_to(result, index)

    context.step(parts, result, emit)
    return [whole_tensor(result)]
