"""Lowering of matrix logarithms (`Logm`).

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use this lowering. The method is inverse scaling and squaring of
triangular Schur forms, with Padé approximants: Al-Mohy and Higham (2012), Improved inverse scaling and squaring
algorithms for the matrix logarithm, SIAM J. Sci. Comput. 34, C153-C169.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from occelo_graph import TensorApply
from occelo_linalg.lowerings.matrix_functions.schur_functions import (
    SchurFunction,
    lower_schur_function,
)
from occelo_linalg.lowerings.work_matrices import WorkMatrix, lowers_matrices
from occelo_linalg.ops.matrix_functions import Logm
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.lowerings.elemwise.real_or_complex import Number
from occelo_link.loops.tensors import Tensor

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array

LIMITS = (1.59e-5, 2.31e-3, 1.94e-2, 6.21e-2, 1.28e-1, 2.06e-1, 2.88e-1)
"""For each degree from 1 to 7, the largest norm for which its approximant is exact to double precision (table 2.1 of
the paper).
"""

MOST = 1100
"""The limit for the number of square roots. A matrix that reaches the limit counts as one without a logarithm. No
number in double precision needs so many roots.
"""


def _nodes() -> Array:
    """A table with the nodes and weights of Gauss-Legendre quadrature on [0, 1], one row for each degree m.

    A row has m nodes from column 0 on, and m weights from column 7 on.
    """
    table = np.zeros((len(LIMITS), 14))
    for row, m in zip(table, range(1, 8), strict=True):
        nodes, weights = np.polynomial.legendre.leggauss(m)
        row[:m], row[7 : 7 + m] = (1 + nodes) / 2, weights / 2
    return table


class _Logarithm(SchurFunction):
    """The logarithm of a triangular matrix.

    ``differences`` is the current root of the matrix, minus the identity matrix.
    """

    smallest_is_zero, smallest_size = False, Logm.smallest_size
    LOG, ABOVE, QUOTIENT = range(3)
    """Columns of ``kept``: logarithms of the elements on the diagonal; elements above the diagonal; divided differences
    of the logarithm for neighbours on the diagonal.
    """

    def __init__(self, context: Context, dtype: str, matrix: WorkMatrix) -> None:
        super().__init__(context, dtype, matrix)
        n = self.n
        self.differences, self.total = (WorkMatrix(context, dtype, n, n) for _ in range(2))
        self.kept = WorkMatrix(context, dtype, n, context.i64(3))
        self.table = self.builder.constant_table("logm:nodes", _nodes())

    def apply(self) -> Value:
        builder, i64 = self.builder, self.context.i64
        regular, largest = self._keep_diagonals()

        def computed() -> Sequence[Value]:
            # this number of square roots brings the eigenvalues close to 1
            limit, half = self.numbers.real(math.log1p(LIMITS[-1])), self.numbers.real(0.5)
            _, times = builder.repeat_while(
                [largest, i64(0)],
                lambda v: builder.lt(limit, v[0]),
                lambda v: [builder.op("mul", v[0], half), builder.add(v[1], i64(1))],
            )
            with builder.loop(times, fixed=True):
                self.take_root()
            low, times = builder.repeat_while(
                [self._degree(), times],
                # if the norm is NaN, the degree is too high, too
                lambda v: builder.op("and", builder.lt(i64(6), v[0]), builder.lt(v[1], i64(MOST))),
                self._one_root_more,
            )
            self._exact_diagonals(times)
            self._approximate(builder.op("min", low, i64(6)), times)
            return [builder.lt(times, i64(MOST))]

        return builder.branch(regular, computed, lambda: [builder.const(False, "bool")])[0]

    def _one_root_more(self, state: Sequence[Value]) -> Sequence[Value]:
        self.take_root()
        return [self._degree(), self.builder.add(state[1], self.context.i64(1))]

    def _keep_diagonals(self) -> tuple[Value, Value]:
        """Fill `kept` with the logarithms of the diagonal, the elements above the diagonal, and the divided differences.

        Returns whether no eigenvalue is 0, and the largest absolute value of the logarithms of eigenvalues.
        """
        builder, numbers, i64 = self.builder, self.numbers, self.context.i64
        column = [i64(k) for k in range(3)]
        with builder.loop(self.n, fixed=True) as loop:
            regular = loop.carry(builder.const(True, "bool"))
            largest = loop.carry(numbers.real(0.0))
            own = self.load(self.matrix, loop.index, loop.index)
            zero = numbers.is_zero(own)
            own = numbers.chosen(zero, numbers.of(numbers.real(1.0)), own)
            log = numbers.log(own)
            self.store(self.kept, loop.index, column[self.LOG], log)
            regular.following = builder.op("and", regular.param, builder.op("not", zero))
            largest.following = builder.op("max", largest.param, numbers.size(log))
        with builder.loop(self._above(), fixed=True) as loop:
            i, j = loop.index, builder.add(loop.index, i64(1))
            self.store(self.kept, i, column[self.ABOVE], self.load(self.matrix, i, j))
            logs = [self.load(self.kept, at, column[self.LOG]) for at in (i, j)]
            values = [self.load(self.matrix, at, at) for at in (i, j)]
            self.store(self.kept, i, column[self.QUOTIENT], self._quotient(values, logs))
        return regular.result, largest.result

    def _above(self) -> Value:
        """The number of elements in the diagonal above the main diagonal."""
        less = self.builder.sub(self.n, self.context.i64(1))
        return self.builder.op("max", less, self.context.i64(0))

    def _quotient(self, values: Sequence[Number], logs: Sequence[Number]) -> Number:
        """The quotient (log x - log y) / (x - y) of two numbers, computed without cancellation (Higham 2008, (11.28))."""
        builder, numbers = self.builder, self.numbers
        (first, second), apart = values, numbers.subtract(logs[1], logs[0])
        difference, whole = numbers.subtract(second, first), numbers.add(second, first)
        ratio = numbers.divided(difference, whole)
        near = builder.lt(numbers.size(ratio), numbers.real(0.5))
        ratio = numbers.chosen(near, ratio, numbers.of(numbers.real(0.0)))
        # log((1 + z) / (1 - z)), on the branch of log y - log x
        shifted = numbers.subtract(numbers.of(numbers.real(1.0)), ratio)
        close = numbers.log1p(numbers.divided(numbers.scaled(ratio, numbers.real(2.0)), shifted))
        if numbers.parts == 2:
            period = numbers.real(2 * math.pi)
            turned = builder.op("sub", apart[1], close[1])
            turns = builder.op("rint", builder.op("div", turned, period))
            close[1] = builder.op("add", close[1], builder.op("mul", turns, period))
        apart = numbers.chosen(near, close, apart)
        equal = numbers.is_zero(difference)
        one = numbers.of(numbers.real(1.0))
        return numbers.divided(
            numbers.chosen(equal, one, apart), numbers.chosen(equal, first, difference)
        )

    def _degree(self) -> Value:
        """Write the matrix minus the identity matrix to `differences`, and return the position in `LIMITS` of the
        degree to use.

        This degree is the first one whose limit is not exceeded by the norms of powers of `differences`. If all limits
        are exceeded, the result is the length of `LIMITS`.
        """
        builder, numbers = self.builder, self.numbers
        one = numbers.real(1.0)
        self.copy(self.matrix, self.differences)
        with builder.loop(self.n, fixed=True) as loop:
            value = self.matrix.load(loop.index, loop.index)
            self.differences.store(loop.index, loop.index, builder.op("sub", value, one))
        x, square, cube = self.differences, self.other, self.total
        self.multiply(x.pointer, x.pointer, square.pointer)
        self.multiply(square.pointer, x.pointer, cube.pointer)
        norms = [(2, self._norm(square)), (3, self._norm(cube))]
        position = self.context.i64(0)
        for limit in LIMITS:
            below = [builder.op("le", norm, numbers.real(limit**p)) for p, norm in norms]
            above = builder.op("not", builder.op("and", *below))
            position = builder.add(position, builder.cast(above, "int64"))
        return position

    def _norm(self, matrix: WorkMatrix) -> Value:
        """The largest sum of absolute values in a column of a triangular matrix."""
        builder, zero = self.builder, self.numbers.real(0.0)
        with builder.loop(self.n, fixed=True) as across:
            largest = across.carry(zero)
            stop = builder.add(across.index, self.context.i64(1))
            with builder.loop(stop, fixed=True) as down:
                total = down.carry(zero)
                parts = self.load(matrix, down.index, across.index)
                squares = [builder.op("mul", part, part) for part in parts]
                size = squares[0] if len(squares) == 1 else builder.op("add", *squares)
                total.following = builder.op("add", total.param, builder.op("sqrt", size))
            largest.following = builder.op("max", largest.param, total.result)
        return largest.result

    def _exact_diagonals(self, times: Value) -> None:
        """Replace the elements of `differences` on the diagonal and above it by values that are computed without
        cancellation.

        See section 4 of the paper, and Higham and Lin (2011), A Schur-Padé algorithm for fractional powers of a matrix.
        """
        builder, numbers, i64 = self.builder, self.numbers, self.context.i64
        power = self._power(times, 0.5)
        with builder.loop(self.n, fixed=True) as loop:
            log = self.load(self.kept, loop.index, i64(self.LOG))
            value = numbers.expm1(numbers.scaled(log, power))
            self.store(self.differences, loop.index, loop.index, value)
        with builder.loop(self._above(), fixed=True) as loop:
            i, j = loop.index, builder.add(loop.index, i64(1))
            logs = [self.load(self.kept, at, i64(self.LOG)) for at in (i, j)]
            half = builder.op("mul", power, numbers.real(0.5))
            mean = numbers.exp(numbers.scaled(numbers.add(*logs), half))
            quotient = self.load(self.kept, i, i64(self.QUOTIENT))
            # sinh(w) / w, where w is half the difference of the logarithms of the roots
            argument = numbers.scaled(numbers.subtract(logs[1], logs[0]), half)
            tiny = builder.lt(numbers.size(argument), numbers.real(1e-9))
            one = numbers.of(numbers.real(1.0))
            safe = numbers.chosen(tiny, one, argument)
            ratio = numbers.chosen(tiny, one, numbers.divided(numbers.sinh(safe), safe))
            above = self.load(self.kept, i, i64(self.ABOVE))
            element = numbers.times(numbers.times(above, quotient), numbers.times(mean, ratio))
            self.store(self.differences, i, j, numbers.scaled(element, power))

    def _power(self, times: Value, base: float) -> Value:
        """``base`` to the power of ``times``, computed by repeated multiplication."""
        builder, factor = self.builder, self.numbers.real(base)
        with builder.loop(times, fixed=True) as loop:
            power = loop.carry(self.numbers.real(1.0))
            power.following = builder.op("mul", power.param, factor)
        return power.result

    def _approximate(self, row: Value, times: Value) -> None:
        """Replace the matrix by its logarithm: the Padé approximant of one row of the table, times 2 to the power of
        ``times``.

        The diagonal and the elements above it are replaced by exact values. In partial fractions, the approximant is
        the sum of w X (1 + x X)^-1 over the nodes x with weights w.
        """
        builder, numbers, i64 = self.builder, self.numbers, self.context.i64
        zero, one = numbers.real(0.0), numbers.real(1.0)
        self.each(lambda at: builder.store(self.total.buffer, at, zero))
        factor = self._power(times, 2.0)
        start = builder.mul(row, i64(14))
        with builder.loop(builder.add(row, i64(1)), fixed=True) as loop:
            at = builder.add(start, loop.index)
            node = builder.load(self.table, at, fixed=True)
            weight = builder.load(self.table, builder.add(at, i64(7)), fixed=True)
            self._add_fraction(node, builder.op("mul", weight, factor), one)
        self.copy(self.total, self.matrix)
        with builder.loop(self.n, fixed=True) as loop:
            i = loop.index
            self.store(self.matrix, i, i, self.load(self.kept, i, i64(self.LOG)))
        with builder.loop(self._above(), fixed=True) as loop:
            i = loop.index
            above, quotient = (self.load(self.kept, i, i64(k)) for k in (self.ABOVE, self.QUOTIENT))
            self.store(self.matrix, i, builder.add(i, i64(1)), numbers.times(above, quotient))

    def _add_fraction(self, node: Value, weight: Value, one: Value) -> None:
        """Add w X (1 + x X)^-1 to `total`, with the node x and the weight w, by solving triangular equations."""
        builder, differences = self.builder, self.differences

        def scaled(at: Value) -> None:
            value = builder.load(differences.buffer, at, fixed=True)
            builder.store(self.other.buffer, at, value)
            builder.store(self.matrix.buffer, at, builder.op("mul", value, node))

        self.each(scaled)
        with builder.loop(self.n, fixed=True) as loop:
            value = self.matrix.load(loop.index, loop.index)
            self.matrix.store(loop.index, loop.index, builder.op("add", value, one))
        self.lapack.call(
            "trtrs",
            uplo="U",
            trans="N",
            diag="N",
            n=self.n,
            nrhs=self.n,
            a=self.matrix.pointer,
            lda=self.matrix.leading,
            b=self.other.pointer,
            ldb=self.other.leading,
        )

        def added(at: Value) -> None:
            value = builder.load(self.other.buffer, at, fixed=True)
            before = builder.load(self.total.buffer, at, fixed=True)
            builder.store(self.total.buffer, at, builder.op("fma", value, weight, before))

        self.each(added)


@lowers_matrices(Logm)
def lower_logm(context: Context, node: TensorApply[Logm], inputs: list[Tensor]) -> Sequence[Tensor]:
    return lower_schur_function(context, node, inputs[0], _Logarithm)
