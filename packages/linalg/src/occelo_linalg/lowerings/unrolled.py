"""Code without loops over rows for one tiny matrix: Cholesky factors, their gradients, and triangular equations.

`cholesky`, `cholesky_pullback` and `triangular` call it for single real matrices with static lengths, as `ways`
chooses. All elements are values in registers. So a step of a Kalman filter, for instance, makes no calls and needs no
memory.
"""

from __future__ import annotations

from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Stored, Tensor, is_unit


def factor_unrolled(context: Context, x: Tensor, result: Stored) -> Value:
    """Store the Cholesky factor of a matrix. Returns whether all pivots are positive or NaN.

    Only the lower triangle is read.
    """
    builder = context.builder
    # the columns of `x` may be dynamic
    n, lead = result.shape[-1].args[0], [context.i64(0)] * (x.ndim - 2)
    zero, good = builder.const(0.0, x.dtype), builder.const(True, "bool")
    factor: dict[tuple[int, int], Value] = {}
    for i in range(n):
        for j in range(i + 1):
            rest = x.at(builder, [*lead, context.i64(i), context.i64(j)])
            for k in range(j):
                rest = builder.op("sub", rest, builder.op("mul", factor[i, k], factor[j, k]))
            if j < i:
                factor[i, j] = builder.op("div", rest, factor[j, j])
            else:
                # as in NumPy, a matrix with NaN does not fail
                good = builder.op("and", good, builder.op("not", builder.op("le", rest, zero)))
                factor[i, i] = builder.op("sqrt", rest)
    for i in range(n):
        for j in range(n):
            at = result.position(builder, [*lead, context.i64(i), context.i64(j)])
            builder.store(result.buffer, at, factor.get((i, j), zero))
    return good


def pull_back_unrolled(context: Context, x: Tensor, ct: Tensor, result: Stored) -> None:
    """Store the cotangent of a matrix. ``x`` is the Cholesky factor of this matrix, and ``ct`` is the cotangent of the
    factor.

    The steps are those of `factor_unrolled` in reverse order. Only lower triangles are read.
    """
    builder = context.builder
    n = result.shape[-1].args[0]
    triangle = [(i, j) for i in range(n) for j in range(i + 1)]

    def element(tensor: Tensor, i: int, j: int) -> Value:
        return tensor.at(
            builder, [*[context.i64(0)] * (tensor.ndim - 2), context.i64(i), context.i64(j)]
        )

    def subtract_product(value: Value, one: Value, other: Value) -> Value:
        return builder.op("sub", value, builder.op("mul", one, other))

    factor = {at: element(x, *at) for at in triangle}
    rest = {at: element(ct, *at) for at in triangle}
    half = builder.const(0.5, result.dtype)
    for i, j in reversed(triangle):
        whole = builder.op("div", rest[i, j], factor[j, j])
        if j < i:
            rest[j, j] = subtract_product(rest[j, j], whole, factor[i, j])
        # on the diagonal the factor is a square root, and the subtracted products are squares
        for k in range(j):
            rest[i, k] = subtract_product(rest[i, k], whole, factor[j, k])
            if j < i:
                rest[j, k] = subtract_product(rest[j, k], whole, factor[i, k])
        rest[i, j] = whole if j < i else builder.op("mul", whole, half)
    zero, lead = builder.const(0.0, result.dtype), [context.i64(0)] * (result.ndim - 2)
    for i in range(n):
        for j in range(n):
            at = result.position(builder, [*lead, context.i64(i), context.i64(j)])
            builder.store(result.buffer, at, rest.get((i, j), zero))


def solve_unrolled(
    context: Context, a: Tensor, b: Tensor, result: Stored, lower: bool, unit_diagonal: bool
) -> Value:
    """Store the solution of equations with a triangular matrix. Returns whether no element on its diagonal is 0.

    With several right-hand sides, a vector loop solves for eight of them at a time.
    """
    builder = context.builder
    n, columns = result.shape[-2].args[0], result.shape[-1]
    order = range(n) if lower else range(n)[::-1]
    leads = {t: [context.i64(0)] * (t.ndim - 2) for t in (a, b, result)}

    def element(i: int, j: int) -> Value:
        return a.at(builder, [*leads[a], context.i64(i), context.i64(j)])

    good = builder.const(True, "bool")
    if not unit_diagonal:
        for i in range(n):
            is_zero = builder.eq(element(i, i), builder.const(0.0, a.dtype))
            good = builder.op("and", good, builder.op("not", is_zero))

    def column(c: Value) -> None:
        solved: dict[int, Value] = {}
        for i in order:
            rest = b.at(builder, [*leads[b], context.i64(i), c])
            for j, term in solved.items():
                rest = builder.op("sub", rest, builder.op("mul", element(i, j), term))
            solved[i] = rest if unit_diagonal else builder.op("div", rest, element(i, i))
        for i, value in solved.items():
            at = result.position(builder, [*leads[result], context.i64(i), c])
            builder.store(result.buffer, at, value)

    if is_unit(columns):
        column(context.i64(0))
    else:
        with builder.loop(columns, lanes=8) as loop:
            column(loop.index)
    return good
