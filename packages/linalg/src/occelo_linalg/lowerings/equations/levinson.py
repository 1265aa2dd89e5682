"""Lowering of linear equations with Toeplitz matrices (`SolveToeplitz`), by the recursion of Levinson.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use this lowering. It computes in double precision.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import TensorApply
from occelo_linalg.lowerings.work_matrices import (
    lowers_matrices,
    new_result,
    stored_parts,
    whole_tensor,
)
from occelo_linalg.ops.equations.toeplitz import SolveToeplitz
from occelo_link.loops.batches import batch_lengths, each_element, own_index
from occelo_link.loops.ir.builder import Loop
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.lowerings.elemwise.real_or_complex import Number, Numbers
from occelo_link.loops.tensors import Index, Stored, Tensor


class _Vector:
    """A vector in working memory. All real parts come first, then all imaginary parts."""

    def __init__(self, context: Context, parts: int, length: Value) -> None:
        self.builder = context.builder
        self.parts, self.length = [context.i64(k) for k in range(parts)], length
        self.buffer = self.builder.scratch("float64", self.builder.mul(length, context.i64(parts)))

    def _place(self, part: Value, at: Value) -> Value:
        return self.builder.add(self.builder.mul(part, self.length), at)

    def load(self, at: Value) -> Number:
        """The element at a position."""
        return [
            self.builder.load(self.buffer, self._place(part, at), fixed=True) for part in self.parts
        ]

    def store(self, at: Value, number: Number) -> None:
        """Write the element at a position."""
        for part, value in zip(self.parts, number, strict=True):
            self.builder.store(self.buffer, self._place(part, at), value)

    def fill(self, operand: Sequence[Stored], own: Sequence[Index], at: Value, to: Value) -> None:
        """Copy element ``at`` of an operand to position ``to``. ``own`` is the batch index of each part of the operand."""
        builder = self.builder
        self.store(
            to,
            [
                builder.cast(
                    builder.load(part.buffer, part.position(builder, [*lead, at]), fixed=True),
                    "float64",
                )
                for part, lead in zip(operand, own, strict=True)
            ],
        )


class _Levinson:
    """The recursion of Levinson for one element of the batch. It solves the equations with ever larger leading minors.

    Construct it inside the ``emit`` function of a `Context.step`, since the constructor writes allocations.

    ``diagonals`` has one number for each diagonal of the matrix, from the upper right corner to the lower left corner.
    ``forward`` and ``backward`` are solutions of equations with the current leading minor, which has m rows. For
    ``forward``, the right-hand side consists of the numbers on the m diagonals below the main diagonal, the nearest
    first. For ``backward``, the minor is transposed and the diagonals are those above the main diagonal. See Levinson
    (1946), The Wiener RMS error criterion in filter design and prediction, and Golub and Van Loan, Matrix computations,
    section 4.7.
    """

    def __init__(self, context: Context, parts: int, n: Value, columns: Value) -> None:
        self.context, self.builder, self.n, self.columns = context, context.builder, n, columns
        self.one, self.numbers = context.i64(1), Numbers(self.builder, parts)
        self.diagonals = _Vector(context, parts, self.builder.mul(n, context.i64(2)))
        self.backward, self.forward = (_Vector(context, parts, n) for _ in range(2))
        self.right = _Vector(context, parts, self.builder.mul(n, columns))
        self.failed = self.builder.scratch("float64", self.one)

    def quotient(self, x: Number, y: Number) -> Number:
        """The quotient ``x / y`` of two numbers. If y is 0, a failure is recorded."""
        builder, place = self.builder, self.context.i64(0)
        before, one = builder.load(self.failed, place, fixed=True), self.numbers.real(1.0)
        failed = builder.select(self.numbers.is_zero(y), one, before)
        builder.store(self.failed, place, failed)
        return self.numbers.divided(x, y)

    def _inner(
        self, loop: Loop, sums: Sequence[tuple[Number, _Vector, Value, _Vector, Value]]
    ) -> list[Number]:
        """Add one product of two vector elements to each of ``sums`` in every iteration of ``loop``. Returns the final
        sums.

        Each item of ``sums`` is the initial sum, a vector and the position of the first factor in it, and a vector and
        the position of the second factor in it. The positions may depend on the index of the loop.
        """
        carried = [[loop.carry(part) for part in start] for start, *_ in sums]
        for each, (_, x, i, y, j) in zip(carried, sums, strict=True):
            for part, term in zip(each, self.numbers.times(x.load(i), y.load(j)), strict=True):
                part.following = self.builder.op("add", part.param, term)
        return [[part.result for part in each] for each in carried]

    def negative(self, number: Number) -> Number:
        """The number with its sign changed."""
        return [self.builder.op("neg", part) for part in number]

    # the recursion

    def solve(self) -> None:
        """Replace the right-hand sides by the solutions."""
        builder, n, one, zero = self.builder, self.n, self.one, self.context.i64(0)
        builder.store(self.failed, zero, builder.const(0.0, "float64"))
        middle = builder.sub(n, one)
        some = builder.select(builder.lt(zero, n), self.columns, zero)
        with builder.loop(some, fixed=True) as loop:
            at = builder.mul(loop.index, n)
            self.right.store(at, self.quotient(self.right.load(at), self.diagonals.load(middle)))
        several = builder.select(builder.lt(one, n), one, zero)
        with builder.loop(several, fixed=True):
            main = self.diagonals.load(middle)
            for vector, place in ((self.backward, builder.sub(middle, one)), (self.forward, n)):
                vector.store(zero, self.quotient(self.diagonals.load(place), main))
        with builder.loop(n, start=one, fixed=True) as loop:
            self._order(loop.index, middle)

    def _order(self, m: Value, middle: Value) -> None:
        """Extend the solutions for the leading minor of m rows to the leading minor of m + 1 rows."""
        builder, n, one, zero = self.builder, self.n, self.one, self.context.i64(0)
        start = self.negative(self.diagonals.load(middle))
        last = builder.add(middle, m)  # the next diagonal below the diagonals of the minor
        with builder.loop(m, fixed=True) as loop:
            back = builder.sub(builder.sub(m, loop.index), one)
            below = builder.sub(last, loop.index)
            (divisor,) = self._inner(loop, [(start, self.diagonals, below, self.backward, back)])
        with builder.loop(self.columns, fixed=True) as across:
            first = builder.mul(across.index, n)
            own = builder.add(first, m)
            negated = self.negative(self.right.load(own))
            with builder.loop(m, fixed=True) as loop:
                below, place = builder.sub(last, loop.index), builder.add(first, loop.index)
                (top,) = self._inner(loop, [(negated, self.diagonals, below, self.right, place)])
            coefficient = self.quotient(top, divisor)
            self.right.store(own, coefficient)
            with builder.loop(m, fixed=True) as loop:
                back = builder.sub(builder.sub(m, loop.index), one)
                place = builder.add(first, loop.index)
                change = self.numbers.times(coefficient, self.backward.load(back))
                self.right.store(place, self.numbers.subtract(self.right.load(place), change))
        more = builder.select(builder.lt(m, middle), one, zero)
        with builder.loop(more, fixed=True):
            self._vectors(m, middle, last, divisor)

    def _vectors(self, m: Value, middle: Value, last: Value, divisor: Number) -> None:
        """Extend ``backward`` and ``forward`` to the leading minor of m + 1 rows."""
        builder, one = self.builder, self.one
        first = builder.sub(middle, m)  # the next diagonal above the diagonals of the minor
        tops = [
            self.negative(self.diagonals.load(place))
            for place in (builder.sub(first, one), builder.add(last, one))
        ]
        start = self.negative(self.diagonals.load(middle))
        with builder.loop(m, fixed=True) as loop:
            above, below = builder.add(first, loop.index), builder.sub(last, loop.index)
            back = builder.sub(builder.sub(m, loop.index), one)
            backward, forward, other = self._inner(
                loop,
                [
                    (tops[0], self.diagonals, above, self.backward, loop.index),
                    (tops[1], self.diagonals, below, self.forward, loop.index),
                    (start, self.diagonals, above, self.forward, back),
                ],
            )
        factors = self.quotient(backward, other), self.quotient(forward, divisor)
        vectors = self.backward, self.forward
        half = builder.op("shr", builder.add(m, one), one)
        with builder.loop(half, fixed=True) as loop:
            places = loop.index, builder.sub(builder.sub(m, loop.index), one)
            before = [[vector.load(place) for place in places] for vector in vectors]
            for k in range(2):
                for side in range(2):
                    change = self.numbers.times(factors[k], before[1 - k][1 - side])
                    vectors[k].store(places[side], self.numbers.subtract(before[k][side], change))
        for vector, factor in zip(vectors, factors, strict=True):
            vector.store(m, factor)


@lowers_matrices(SolveToeplitz)
def lower_solve_toeplitz(
    context: Context, node: TensorApply[SolveToeplitz], inputs: list[Tensor]
) -> Sequence[Tensor]:
    builder, dtype, on_error = context.builder, node.outputs[0].type.dtype, node.op.on_error
    column, row, b = inputs
    n = context.unify(context.unify(column.shape[-1], row.shape[-1]), b.shape[-2])
    columns = b.shape[-1]
    batch = batch_lengths(context, inputs, [1, 1, 2])
    operands = [stored_parts(context, x) for x in inputs]
    result = new_result(context, dtype, [*batch, n, columns])

    def emit() -> None:
        one, zero = context.i64(1), context.i64(0)
        work = _Levinson(context, len(result), n, columns)
        with each_element(context, batch) as index:
            own = [
                [own_index(context, part, core, index) for part in operand]
                for operand, core in zip(operands, (1, 1, 2), strict=True)
            ]
            with builder.loop(n, fixed=True) as loop:
                # the first element of the row is overwritten by the first element of the column
                up = builder.sub(builder.sub(n, loop.index), one)
                work.diagonals.fill(operands[1], own[1], loop.index, up)
            with builder.loop(n, fixed=True) as loop:
                down = builder.sub(builder.add(n, loop.index), one)
                work.diagonals.fill(operands[0], own[0], loop.index, down)
            with builder.loop(n, fixed=True) as down, builder.loop(columns, fixed=True) as across:
                lead = [[*each, down.index] for each in own[2]]
                to = builder.add(builder.mul(across.index, n), down.index)
                work.right.fill(operands[2], lead, across.index, to)
            work.solve()
            failed = builder.load(work.failed, zero, fixed=True)
            good = builder.eq(failed, builder.const(0.0, "float64"))
            if on_error == "raise":
                context.check(good)
            with builder.loop(n, fixed=True) as down, builder.loop(columns, fixed=True) as across:
                at = builder.add(builder.mul(across.index, n), down.index)
                for part, value in zip(result, work.right.load(at), strict=True):
                    value = builder.cast(value, part.dtype)
                    if on_error == "nan":
                        nan = builder.const(float("nan"), part.dtype)
                        value = builder.select(good, value, nan)
                    place = part.position(builder, [*index, down.index, across.index])
                    builder.store(part.buffer, place, value)

    context.step([part for operand in operands for part in operand], result, emit)
    return [whole_tensor(result)]
