"""Eigenvalues and eigenvectors of batches of small symmetric matrices, by Jacobi's rotations, with one matrix per lane.

`spectra` calls `eigen_lanes` to lower `Eigh` and `Eigvalsh` nodes.

Each rotation makes one off-diagonal element zero, in all matrices of a group at once. A sweep does this for each
off-diagonal element. Sweeps are repeated until all off-diagonal elements are rounding errors (Golub and Van Loan,
"Matrix Computations", 2013, section 8.5).

Rotations also sort the diagonal, in descending order. Without this, matrices with repeated eigenvalues may need more than
30 sweeps: the squares of the off-diagonal elements become small quadratically only if equal eigenvalues are neighbours
(van Kempen, "On the quadratic convergence of the special cyclic Jacobi method", Numerische Mathematik 9, 1966).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from occelo_arrays.lowerings.lanes import LaneMatrix, Lanes
from occelo_link.loops.ir.program import Buffer, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Stored

Place = tuple[Value, Value]
"""A row and a column, which select an element."""

SWEEPS = 30
"""The largest number of sweeps. A matrix that needs more has failed; 5 to 8 sweeps are usual."""
RANGE = {"float32": (1e-8, 1e15), "float64": (1e-100, 1e100)}
"""If the largest element of a matrix is outside of this range, the matrix is scaled, so that no square overflows or
vanishes.
"""


def eigen_lanes(
    context: Context, x: Stored, values: Stored, vectors: Stored | None, lower: bool, nan: bool
) -> None:
    """Write the eigenvalues of a batch, in ascending order, and its eigenvectors. All arrays are in C order.

    Only the lower triangle of each matrix is read if ``lower`` is True, otherwise only the upper triangle. If ``nan``
    is True, the results of matrices that fail are NaN; otherwise a failure is an error.
    """
    lanes = Lanes(context, x.dtype, x.shape[:-2])
    n = x.shape[-1]
    zero, one = context.i64(0), context.i64(1)
    matrix = lanes.matrix(n, n)
    columns = None if vectors is None else lanes.matrix(n, n)
    rotations = _Rotations(lanes, matrix, columns, lower)
    ranks = lanes.matrix(n, one)
    with lanes.groups(nan):
        add = context.builder.add
        matrix.fill(x, lambda i: (zero, add(i, one)) if lower else (i, n))
        if columns is not None:
            columns.fill_identity()
        rotations.scale()
        rotations.sweep_until_diagonal()
        rotations.normalize()
        _rank(lanes, matrix, ranks)
        _copy_sorted(lanes, rotations, ranks, values, vectors, nan)


class _Rotations:
    """Applies Jacobi's rotations to the matrices of a group.

    Only one triangle of each symmetric matrix is stored. The same rotations turn the rows of ``vectors`` into
    eigenvectors.
    """

    def __init__(
        self, lanes: Lanes, a: LaneMatrix, vectors: LaneMatrix | None, lower: bool
    ) -> None:
        self.lanes, self.builder = lanes, lanes.builder
        self.a, self.vectors, self.lower = a, vectors, lower
        self.unit, self.norm, self.off = lanes.column(), lanes.column(), lanes.column()
        self.cosine, self.sine = lanes.column(), lanes.column()

    def _place(self, i: Value, j: Value) -> tuple[Value, Value]:
        """The row and the column at which the element (i, j), with ``i >= j``, is stored."""
        return (i, j) if self.lower else (j, i)

    def scale(self) -> None:
        """Divide a matrix by its largest element if squares could overflow or vanish. Mark matrices that are not
        finite.
        """
        lanes, builder, a = self.lanes, self.builder, self.a
        nothing, one = lanes.number(0.0), lanes.context.i64(1)
        low, high = (lanes.number(x) for x in RANGE[lanes.dtype])
        most, finite = self.off, self.cosine
        for column in (most, finite, self.norm):
            lanes.clear(column)
        with builder.loop(a.rows, fixed=True) as down:
            stop = builder.add(down.index, one)
            with builder.loop(stop, fixed=True) as across, lanes.each() as lane:
                value = a.load(*self._place(down.index, across.index), lane)
                before = builder.load(most, lane, fixed=True)
                builder.store(most, lane, builder.op("max", before, builder.op("abs", value)))
                # the difference is 0, or NaN if the value is not finite
                before = builder.load(finite, lane, fixed=True)
                rest = builder.op("sub", value, value)
                builder.store(finite, lane, builder.op("add", before, rest))
        with lanes.each() as lane:
            rest = builder.load(finite, lane, fixed=True)
            lanes.mark(lane, builder.op("ne", rest, nothing))
            size = builder.load(most, lane, fixed=True)
            inside = builder.op("and", builder.lt(low, size), builder.lt(size, high))
            inside = builder.op("or", inside, builder.eq(size, nothing))
            builder.store(self.unit, lane, builder.select(inside, lanes.number(1.0), size))
        with builder.loop(a.rows, fixed=True) as down:
            stop = builder.add(down.index, one)
            with builder.loop(stop, fixed=True) as across, lanes.each() as lane:
                i, j = self._place(down.index, across.index)
                unit = builder.load(self.unit, lane, fixed=True)
                value = builder.op("div", a.load(i, j, lane), unit)
                a.store(i, j, lane, value)
                self._add_square(self.norm, lane, value)

    def _add_square(self, column: Buffer, lane: Value, value: Value) -> None:
        builder = self.builder
        before = builder.load(column, lane, fixed=True)
        builder.store(column, lane, builder.op("add", before, builder.op("mul", value, value)))

    def sweep_until_diagonal(self) -> None:
        """Repeat sweeps until all matrices of the group are diagonal up to rounding errors.

        Matrices that do not become diagonal are marked as failed.
        """
        lanes, builder, context = self.lanes, self.builder, self.lanes.context

        def test(state: Sequence[Value]) -> Value:
            more = builder.lt(state[0], context.i64(SWEEPS))
            return builder.op("and", more, builder.lt(lanes.number(0.0), state[1]))

        def sweep(state: Sequence[Value]) -> Sequence[Value]:
            lanes.clear(self.off)
            n, one = self.a.rows, context.i64(1)
            with builder.loop(n, fixed=True) as first:
                start = builder.add(first.index, one)
                with builder.loop(n, start=start, fixed=True) as second:
                    self._rotate(first.index, second.index)
            return [builder.add(state[0], one), self._remaining()]

        builder.repeat_while([context.i64(0), lanes.number(1.0)], test, sweep)
        with lanes.each() as lane:
            lanes.mark(lane, self._is_large(lane))

    def _is_large(self, lane: Value) -> Value:
        """Whether the off-diagonal elements were more than rounding errors in the last sweep. False if there are NaNs."""
        lanes, builder = self.lanes, self.builder
        tolerance = lanes.number(float((16 * np.finfo(lanes.dtype).eps) ** 2))
        norm = builder.load(self.norm, lane, fixed=True)
        off = builder.load(self.off, lane, fixed=True)
        return builder.lt(builder.op("mul", tolerance, norm), off)

    def normalize(self) -> None:
        """Divide each eigenvector by its norm.

        Each rotation changes the norms of two vectors by rounding errors. After all rotations, the errors of the norms
        are several times as large as the scalar products of different vectors, which need no correction.
        """
        lanes, builder, vectors, squares = self.lanes, self.builder, self.vectors, self.off
        if vectors is None:
            return
        with builder.loop(vectors.rows, fixed=True) as loop:
            lanes.clear(squares)
            for lane, indices in lanes.in_blocks(vectors.columns):
                for k in indices:
                    self._add_square(squares, lane, vectors.load(loop.index, k, lane))
            with lanes.each() as lane:
                root = builder.op("sqrt", builder.load(squares, lane, fixed=True))
                builder.store(squares, lane, builder.op("div", lanes.number(1.0), root))
            for lane, indices in lanes.in_blocks(vectors.columns):
                scale = builder.load(squares, lane, fixed=True)
                for k in indices:
                    value = builder.op("mul", scale, vectors.load(loop.index, k, lane))
                    vectors.store(loop.index, k, lane, value)

    def _remaining(self) -> Value:
        """1 if some matrix of the group is not diagonal yet, otherwise 0."""
        lanes, builder = self.lanes, self.builder
        length = lanes.context.i64(lanes.count)
        with builder.loop(length, lanes=lanes.count, fixed=True) as loop:
            most = loop.carry(lanes.number(0.0), "max")
            large = self._is_large(loop.index)
            flag = builder.select(large, lanes.number(1.0), lanes.number(0.0))
            most.following = builder.op("max", most.param, flag)
        return most.result

    def _rotate(self, p: Value, q: Value) -> None:
        """Make the element in row ``q`` and column ``p`` zero, for ``p < q``."""
        builder, one, n = self.builder, self.lanes.context.i64(1), self.a.rows
        self._find_angle(p, q)
        # the other elements of the rows and columns p and q; only one triangle is stored, so there are three ranges
        parts: list[tuple[Value | None, Value]] = [
            (None, p),
            (builder.add(p, one), q),
            (builder.add(q, one), n),
        ]
        for k, (start, stop) in enumerate(parts):
            for lane, indices in self.lanes.in_blocks(stop, start):
                first = [self._place(*((r, p) if k > 0 else (p, r))) for r in indices]
                second = [self._place(*((r, q) if k > 1 else (q, r))) for r in indices]
                self._mix(self.a, first, second, lane)
        if self.vectors is not None:
            for lane, indices in self.lanes.in_blocks(n):
                self._mix(self.vectors, [(p, r) for r in indices], [(q, r) for r in indices], lane)

    def _find_angle(self, p: Value, q: Value) -> None:
        lanes, builder, a = self.lanes, self.builder, self.a
        nothing, unit = lanes.number(0.0), lanes.number(1.0)
        place = self._place(q, p)
        with lanes.each() as lane:
            x = a.load(*place, lane)
            self._add_square(self.off, lane, x)
            top, bottom = a.load(p, p, lane), a.load(q, q, lane)
            # the smaller root of t^2 + t (bottom - top) / x - 1, the tangent of the angle
            difference, double = builder.op("sub", bottom, top), builder.op("add", x, x)
            squares = builder.op(
                "add",
                builder.op("mul", difference, difference),
                builder.op("mul", double, double),
            )
            divisor = builder.op("add", builder.op("abs", difference), builder.op("sqrt", squares))
            divisor = builder.select(builder.eq(divisor, nothing), unit, divisor)
            negative = builder.lt(difference, nothing)
            signed = builder.select(negative, builder.op("neg", double), double)
            tangent = builder.op("div", signed, divisor)
            root = builder.op("sqrt", builder.op("add", unit, builder.op("mul", tangent, tangent)))
            cosine = builder.op("div", unit, root)
            sine, shift = builder.op("mul", tangent, cosine), builder.op("mul", tangent, x)
            top, bottom = builder.op("sub", top, shift), builder.op("add", bottom, shift)
            # a quarter turn more exchanges the rows and columns p and q, so that the larger element comes first
            turned = builder.lt(nothing, difference)
            builder.store(self.cosine, lane, builder.select(turned, sine, cosine))
            builder.store(self.sine, lane, builder.select(turned, builder.op("neg", cosine), sine))
            a.store(p, p, lane, builder.select(turned, bottom, top))
            a.store(q, q, lane, builder.select(turned, top, bottom))
            a.store(*place, lane, nothing)

    def _mix(
        self, matrix: LaneMatrix, first: Sequence[Place], second: Sequence[Place], lane: Value
    ) -> None:
        """Rotate pairs of elements of a matrix. A pair has the element at a place in ``first``, and the element at the
        corresponding place in ``second``.
        """
        builder = self.builder
        cosine = builder.load(self.cosine, lane, fixed=True)
        sine = builder.load(self.sine, lane, fixed=True)
        for one, other in zip(first, second, strict=True):
            x, y = matrix.load(*one, lane), matrix.load(*other, lane)
            left, right = builder.op("mul", cosine, x), builder.op("mul", sine, y)
            matrix.store(*one, lane, builder.op("sub", left, right))
            left, right = builder.op("mul", sine, x), builder.op("mul", cosine, y)
            matrix.store(*other, lane, builder.op("add", left, right))


def _rank(lanes: Lanes, a: LaneMatrix, ranks: LaneMatrix) -> None:
    """Write the position of each eigenvalue in ascending order to ``ranks``. The eigenvalues are on the diagonal of
    ``a``.

    In a matrix that failed, the position of each eigenvalue is its position on the diagonal.
    """
    builder, zero, one = lanes.builder, lanes.context.i64(0), lanes.context.i64(1)
    n = a.rows

    def count(i: Value, j: Value, before: bool) -> None:
        with lanes.each() as lane:
            x, y = a.load(i, i, lane), a.load(j, j, lane)
            # equal eigenvalues keep their order
            if before:
                more = builder.select(builder.lt(x, y), lanes.number(0.0), lanes.number(1.0))
            else:
                more = builder.select(builder.lt(y, x), lanes.number(1.0), lanes.number(0.0))
            ranks.store(i, zero, lane, builder.op("add", ranks.load(i, zero, lane), more))

    with builder.loop(n, fixed=True) as down:
        i = down.index
        with lanes.each() as lane:
            ranks.store(i, zero, lane, lanes.number(0.0))
        with builder.loop(i, fixed=True) as others:
            count(i, others.index, True)
        with builder.loop(n, start=builder.add(i, one), fixed=True) as others:
            count(i, others.index, False)
        with lanes.each() as lane:
            good = builder.eq(builder.load(lanes.failed, lane, fixed=True), lanes.number(0.0))
            own = builder.cast(i, lanes.dtype)
            place = builder.select(good, ranks.load(i, zero, lane), own)
            ranks.store(i, zero, lane, place)


def _copy_sorted(
    lanes: Lanes,
    rotations: _Rotations,
    ranks: LaneMatrix,
    values: Stored,
    vectors: Stored | None,
    nan: bool,
) -> None:
    """Copy the eigenvalues of a group to the results, in ascending order, and copy the eigenvectors in the same order."""
    builder, zero, n = lanes.builder, lanes.context.i64(0), rotations.a.rows
    bad = lanes.number(float("nan"))
    with builder.loop(lanes.remaining(), fixed=True) as loop:
        lane = loop.index
        number = builder.mul(builder.add(lanes.first, lane), n)
        flag = builder.load(lanes.failed, lane, fixed=True)
        good = builder.eq(flag, lanes.number(0.0)) if nan else None

        def checked(value: Value, good: Value | None = good) -> Value:
            return value if good is None else builder.select(good, value, bad)

        with builder.loop(n, fixed=True) as across:
            j = across.index
            rank = builder.cast(ranks.load(j, zero, lane), "int64")
            unit = builder.load(rotations.unit, lane, fixed=True)
            value = builder.op("mul", rotations.a.load(j, j, lane), unit)
            builder.store(values.buffer, builder.add(number, rank), checked(value))
            if vectors is not None and rotations.vectors is not None:
                with builder.loop(n, fixed=True) as down:
                    row = builder.mul(builder.add(number, down.index), n)
                    value = rotations.vectors.load(j, down.index, lane)
                    builder.store(vectors.buffer, builder.add(row, rank), checked(value))
