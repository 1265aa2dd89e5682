"""Products of matrices and vectors as formulas and sums of loops: those of small and of narrow matrices, and of all dtypes.

`lowerings.blas` calls these functions where loops take less time than BLAS, or where BLAS has no product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.kernel import ReduceRoot
from occelo_link.loops.lowering import CHEAP, LONGER, Context
from occelo_link.loops.tensors import Index, Stored, Tensor, is_small, is_unit

FEW, FEW_OF_VECTORS = 16, 4
"""A matrix product is lowered to a formula for each element if its inner dimension is at most this long. The limit is
lower if the second factor is a vector, since the formula then gathers elements of the first factor.
"""
_NARROW = 12
"""The most columns of a matrix whose products with vectors are formulas and sums of the loops over its rows that need them, if its
columns are contiguous. Loops then read the matrix once, and have an accumulator for each column. With 1,000 rows of 2 columns a
linear regression took 0.5 of the time of other products, with 12 columns 0.7 and with 16 columns 0.9.
"""
_OF_COLUMN = 5
"""The cost of a product with a narrow matrix for each column, by which loops choose their number of accumulators."""
Indices = tuple[Index, Index]
_Factors = Callable[[Index, Value], Indices]


def inner_product(context: Context, x: Tensor, y: Tensor, inner: Value, dtype: str) -> Tensor:
    """The product of two vectors."""
    op = "and" if dtype == "bool" else "mul"
    factors = (context.cast(t, dtype) for t in (x, y))
    product = context.mapped(dtype, lambda builder, values: builder.op(op, *values), *factors)
    return context.reduce(product, (0,), "or" if dtype == "bool" else "add", dtype, dtype)


def product_loops(context: Context, x: Tensor, y: Tensor, inner: Value, dtype: str) -> Tensor:
    """The product as a reduction: a tensor with the axes rows, ``inner`` and columns is summed over ``inner``.

    With this order of the axes the innermost loop runs over columns.
    """
    x = context.store(x) if x.cost > CHEAP else x
    rows = list(x.shape[:-1])
    columns = list(y.shape[1:])
    # each row of the result reads the whole second factor; elements of the first factor are read outside of the
    # innermost loop
    repeated = not all(map(is_unit, rows))
    y = context.store(y) if y.cost > (0 if repeated else CHEAP) else y
    few = FEW if columns else FEW_OF_VECTORS
    count, shape = len(rows), [*rows, *columns]

    def factors(index: Index, k: Value) -> Indices:
        return [*index[:count], k], [k, *index[count:]]

    if is_small([inner], few) and 1 <= inner.args[0] and dtype != "bool":
        gaps = isinstance(y, Stored) and not is_unit(y.strides[-1])
        if columns and gaps and is_small(y.shape) and is_small(rows):
            # the copy gathers elements once, not once for each row
            y = context.contiguous_copy(y)
        return formula(context, x, y, shape, inner.args[0], dtype, factors)
    return sums(context, x, y, shape, count, inner, dtype, factors)


def sums(
    context: Context,
    x: Tensor,
    y: Tensor,
    shape: Sequence[Value],
    axis: int,
    inner: Value,
    dtype: str,
    factors: _Factors,
) -> Tensor:
    """A product as a reduction of products of elements over ``axis``, which has the length ``inner``.

    ``factors`` maps the index of an element of the product, and an index along ``axis``, to the indices in both factors.
    """

    def element(builder: Builder, index: Index) -> Value:
        at = factors([*index[:axis], *index[axis + 1 :]], index[axis])
        a, b = (builder.cast(t.at(builder, i), dtype) for t, i in zip((x, y), at, strict=True))
        return builder.op("and" if dtype == "bool" else "mul", a, b)

    terms = context.virtual(dtype, [*shape[:axis], inner, *shape[axis:]], element, [x, y])
    combine = "or" if dtype == "bool" else "add"
    return context.reduce(terms, (axis,), combine, dtype, dtype)


def formula(
    context: Context,
    x: Tensor,
    y: Tensor,
    shape: Sequence[Value],
    inner: int,
    dtype: str,
    factors: _Factors,
) -> Tensor:
    """A product as a formula for each element: a sum of ``inner`` terms, where ``inner`` is small.

    Sums that are accumulated in memory would cost more. ``factors`` is as for `sums`.
    """

    def element(builder: Builder, index: Index) -> Value:
        total: Value | None = None
        for k in map(builder.i64, range(inner)):
            at = factors(index, k)
            a, b = (builder.cast(t.at(builder, i), dtype) for t, i in zip((x, y), at, strict=True))
            term = builder.op("mul", a, b)
            total = term if total is None else builder.op("add", total, term)
        assert total is not None
        return total

    return context.virtual(dtype, shape, element, [x, y], cost=2 * inner)


def is_narrow(x: Tensor, y: Tensor) -> bool:
    """Whether one factor is a vector, and the other a long matrix with at most `_NARROW` columns, each of which is contiguous, or
    the transpose of such a matrix.
    """
    matrix = x if x.ndim == 2 else y
    if not isinstance(matrix, Stored) or x.ndim + y.ndim != 3:
        return False
    rows = _contiguous_axis(matrix)
    long, short = matrix.shape[rows], matrix.shape[1 - rows]
    if not is_unit(matrix.strides[rows]) or not is_small([short], _NARROW) or short.args[0] < 2:
        return False
    return long.op != "const" or long.args[0] >= LONGER * short.args[0]


def _contiguous_axis(matrix: Stored) -> int:
    return 0 if is_unit(matrix.strides[0]) else 1


def narrow_product(context: Context, x: Tensor, y: Tensor) -> Tensor:
    """The product of a narrow matrix and a vector (`is_narrow`): a formula for each row, or a sum over the rows for each column."""
    matrix, vector = (x, y) if x.ndim == 2 else (y, x)
    assert isinstance(matrix, Stored)
    dtype, rows, summed = matrix.dtype, _contiguous_axis(matrix), x.ndim - 1
    length, count = matrix.shape[rows], matrix.shape[1 - rows]

    def place(row: Value, column: Value) -> Index:
        return [column, row] if rows else [row, column]

    if rows != summed:
        vector = context.store(vector)

        def factors(index: Index, k: Value) -> Indices:
            return place(index[0], k), [k]

        product = formula(context, matrix, vector, [length], count.args[0], dtype, factors)
        # a sum begins with 0.0, so that it is not -0.0
        zero = context.builder.const(0.0, dtype)
        return context.mapped(dtype, lambda b, values: b.op("add", *values, zero), product)

    def term(column: Value) -> Tensor:
        def element(builder: Builder, index: Index) -> Value:
            factor = matrix.at(builder, place(index[0], column))
            return builder.op("mul", factor, vector.at(builder, index))

        cost = _OF_COLUMN * count.args[0]
        return context.virtual(dtype, [length], element, [matrix, vector], cost=cost, identity=True)

    terms = [term(context.i64(k)) for k in range(count.args[0])]
    result, node = context.new_stored(dtype, [count]), context.builder.node
    context.schedule.add_root(ReduceRoot(terms[0], result, (0,), "add", dtype, node, terms))
    return result
