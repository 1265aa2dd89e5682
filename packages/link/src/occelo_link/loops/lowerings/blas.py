"""Lowerings of matrix products and of the ops that add a product to a tensor: `Dot`, `MatMul`, `Gemv`, `Gemm`.

They call BLAS for products of floats. Small products and products of other dtypes become loops. The linkers ``native``,
``c``, ``c|py`` and ``numba`` use these lowerings; `loops.build` imports this module to register them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import cast

from occelo_graph import Apply, TensorApply, TensorType
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.blas.updates import Gemm, Gemv, Ger
from occelo_link.loops.complexes import product_by_parts
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.operations import is_float
from occelo_link.loops.ir.program import Pointer, Reference, Value
from occelo_link.loops.loop_nests import copy_elements
from occelo_link.loops.lowering import CHEAP, Context
from occelo_link.loops.lowerings.elemwise.op import broadcast_lengths
from occelo_link.loops.operands import MatrixOperand, vector_operand
from occelo_link.loops.python_only import leave_to_python
from occelo_link.loops.registry import lowers_complex_to_loops, lowers_to_loops
from occelo_link.loops.tensors import Index, Stored, Tensor, is_small, is_unit

FEW, FEW_OF_VECTORS = 16, 4
"""A matrix product is lowered to a formula for each element if its inner dimension is at most this long. The limit is
lower if the second factor is a vector, since the formula then gathers elements of the first factor.
"""
_LETTER = {"float32": "s", "float64": "d"}
_LARGEST_FACTOR = {"float32": 2.0**25, "float64": 2.0**204}
"""BLAS may multiply by a factor if its absolute value is between this number and its inverse. The exponent of this
number is a fifth of the largest exponent of the dtype.
"""


@lowers_to_loops(Dot)
def lower_dot(context: Context, node: TensorApply[Dot], inputs: list[Tensor]) -> Sequence[Tensor]:
    output = node.outputs[0].type
    x, y = inputs
    inner = context.unify(x.shape[-1], y.shape[0])
    if x.ndim == 1 and y.ndim == 1:
        return [_inner_product(context, x, y, inner, output.dtype)]
    same = x.dtype == y.dtype == output.dtype
    if not (same and is_float(output.dtype)) or is_small([*x.shape, *y.shape[1:]]):
        return [_product_loops(context, x, y, inner, output.dtype)]
    if x.ndim == 2 and y.ndim == 2:
        return [_matrix_product(context, x, y, inner)]
    if x.ndim == 2:
        return [_matrix_vector(context, x, y, inner, False)]
    return [_matrix_vector(context, y, x, inner, True)]


lowers_complex_to_loops(Dot)(product_by_parts(lower_dot))


def _inner_product(context: Context, x: Tensor, y: Tensor, inner: Value, dtype: str) -> Tensor:
    def element(builder: Builder, index: Index) -> Value:
        a, b = (builder.cast(t.at(builder, index), dtype) for t in (x, y))
        return builder.op("and" if dtype == "bool" else "mul", a, b)

    product = context.virtual(
        dtype, [inner], element, [x, y], flat=x.flat and y.flat, identity=True
    )
    return context.reduce(product, (0,), "or" if dtype == "bool" else "add", dtype, dtype)


def _product_loops(context: Context, x: Tensor, y: Tensor, inner: Value, dtype: str) -> Tensor:
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
    if (
        inner.op == "const"
        and 1 <= inner.args[0] <= (FEW if columns else FEW_OF_VECTORS)
        and dtype != "bool"
    ):
        if columns and _is_gathered(y) and is_small(y.shape) and is_small(rows):
            # the copy gathers elements once, not once for each row
            y = context.contiguous_copy(y)
        return _product_formula(context, x, y, inner.args[0], dtype)

    def element(builder: Builder, index: Index) -> Value:
        left = [*index[: len(rows)], index[len(rows)]]
        right = index[len(rows) :]
        a = builder.cast(x.at(builder, left), dtype)
        b = builder.cast(y.at(builder, right), dtype)
        return builder.op("and" if dtype == "bool" else "mul", a, b)

    terms = context.virtual(dtype, [*rows, inner, *columns], element, [x, y])
    combine = "or" if dtype == "bool" else "add"
    return context.reduce(terms, (len(rows),), combine, dtype, dtype)


def _is_gathered(matrix: Tensor) -> bool:
    """Whether a matrix is stored with gaps between the elements of a row, so that a vector load along a row is a
    gather.
    """
    return isinstance(matrix, Stored) and not is_unit(matrix.strides[-1])


def _product_formula(context: Context, x: Tensor, y: Tensor, inner: int, dtype: str) -> Tensor:
    """The product as a formula for each element: a sum of ``inner`` terms, where ``inner`` is small.

    Sums that are accumulated in memory would cost more.
    """
    rows, columns = list(x.shape[:-1]), list(y.shape[1:])

    def element(builder: Builder, index: Index) -> Value:
        total: Value | None = None
        for k in range(inner):
            at = builder.i64(k)
            a = builder.cast(x.at(builder, [*index[: len(rows)], at]), dtype)
            b = builder.cast(y.at(builder, [at, *index[len(rows) :]]), dtype)
            term = builder.op("mul", a, b)
            total = term if total is None else builder.op("add", total, term)
        assert total is not None
        return total

    return context.virtual(dtype, [*rows, *columns], element, [x, y], cost=2 * inner)


def _char(context: Context, letter: str) -> Reference:
    return Reference(context.builder.const(ord(letter), "int8"))


def _integer(context: Context, value: Value) -> Reference:
    return Reference(context.builder.cast(value, context.blas_integer))


def _fill_if_empty(context: Context, result: Stored, inner: Value) -> None:
    """Store zeros if the inner dimension has length 0, since BLAS may leave the result unchanged."""
    if inner.op == "const" and inner.args[0] > 0:
        return
    builder = context.builder
    zero = builder.const(0.0, result.dtype)
    empty = builder.eq(inner, context.i64(0))
    count = builder.select(empty, builder.product(result.shape), context.i64(0))
    with builder.loop(count) as loop:
        # this loop hardly ever runs, and polling for interrupts would make its code three times as long
        loop.statement.non_interruptible = True
        builder.store(result.buffer, loop.index, zero)


class _Factors:
    """The factors ``alpha`` and ``beta`` of a call of BLAS that writes ``alpha x y + beta z`` to ``z``.

    If no ``alpha`` is passed, the factors are 1 and 0. BLAS then overwrites ``z`` with the product. It does not read
    ``z``, which may hold NaN. If ``alpha`` is passed, ``beta`` is 1.
    """

    def __init__(self, builder: Builder, dtype: str, alpha: Value | None = None) -> None:
        self.alpha = Reference(builder.const(1.0, dtype) if alpha is None else alpha)
        self.beta = Reference(builder.const(0.0 if alpha is None else 1.0, dtype))


def _gemm(
    context: Context,
    left: MatrixOperand,
    right: MatrixOperand,
    at: Sequence[Value],
    target: Value,
    result: Stored,
    inner: Value,
    alpha: Value | None = None,
) -> None:
    """Write a call of the BLAS routine gemm, which multiplies two matrices. If a factor has only one row or one column,
    gemv is called instead, which takes about half the time.

    BLAS expects matrices in column-major order, so it reads a row-major matrix as its transpose. For this reason the
    call exchanges the factors, and computes the transpose of the product. ``at`` has the offsets of the factors in
    their buffers. ``target`` is the offset of the product.
    """
    builder, dtype = context.builder, result.dtype
    m, n = result.shape[-2], result.shape[-1]
    factors = _Factors(builder, dtype, alpha)
    if is_unit(n) or is_unit(m):
        _gemv_of_one(context, (left, right), at, target, result, factors)
        return
    builder.invoke(
        f"blas:{_LETTER[dtype]}gemm",
        [
            _char(context, "N" if right.by_rows else "T"),
            _char(context, "N" if left.by_rows else "T"),
            _integer(context, n),
            _integer(context, m),
            _integer(context, inner),
            factors.alpha,
            Pointer(right.stored.buffer, at[1]),
            _integer(context, right.leading),
            Pointer(left.stored.buffer, at[0]),
            _integer(context, left.leading),
            factors.beta,
            Pointer(result.buffer, target),
            _integer(context, builder.op("max", n, context.i64(1))),
        ],
        writes=[result.buffer],
    )


def _gemv_of_one(
    context: Context,
    operands: tuple[MatrixOperand, MatrixOperand],
    at: Sequence[Value],
    target: Value,
    result: Stored,
    factors: _Factors,
) -> None:
    """Write a call of gemv for the product of two matrices, of which the right one is a column or the left one is a row.

    The arguments are those of `_gemm`.
    """
    of_column = is_unit(result.shape[-1])
    matrix, vector = operands if of_column else reversed(operands)
    start, first = at if of_column else reversed(at)
    height, width = matrix.stored.shape[-2:]
    # BLAS expects column-major order, so it reads a row-major matrix as its transpose
    rows, columns = (width, height) if matrix.by_rows else (height, width)
    # the elements of a row-major column are apart by its leading dimension, and so are those of a column-major row
    one = context.i64(1)
    step = vector.leading if vector.by_rows == of_column else one
    context.builder.invoke(
        f"blas:{_LETTER[result.dtype]}gemv",
        [
            _char(context, "T" if matrix.by_rows == of_column else "N"),
            _integer(context, rows),
            _integer(context, columns),
            factors.alpha,
            Pointer(matrix.stored.buffer, start),
            _integer(context, matrix.leading),
            Pointer(vector.stored.buffer, first),
            _integer(context, step),
            factors.beta,
            Pointer(result.buffer, target),
            _integer(context, one),
        ],
        writes=[result.buffer],
    )


def _gemv(
    context: Context,
    matrix: MatrixOperand,
    vector: Stored,
    transposed: bool,
    result: Stored,
    alpha: Value | None = None,
) -> None:
    """Write a call of the BLAS routine gemv, which multiplies a matrix and a vector.

    BLAS expects the matrix in column-major order, so it reads a row-major matrix as its transpose.
    """
    builder, dtype, a = context.builder, result.dtype, matrix.stored
    rows, columns = (a.shape[1], a.shape[0]) if matrix.by_rows else a.shape
    step = _integer(context, context.i64(1))
    factors = _Factors(builder, dtype, alpha)
    builder.invoke(
        f"blas:{_LETTER[dtype]}gemv",
        [
            _char(context, "T" if matrix.by_rows != transposed else "N"),
            _integer(context, rows),
            _integer(context, columns),
            factors.alpha,
            Pointer(a.buffer, a.offset),
            _integer(context, matrix.leading),
            Pointer(vector.buffer, vector.offset),
            step,
            factors.beta,
            Pointer(result.buffer, context.i64(0)),
            step,
        ],
        writes=[result.buffer],
    )


def _matrix_product(context: Context, x: Tensor, y: Tensor, inner: Value) -> Tensor:
    left, right = MatrixOperand(context, x), MatrixOperand(context, y)
    result = context.new_stored(x.dtype, [x.shape[0], y.shape[1]])

    def emit() -> None:
        _fill_if_empty(context, result, inner)
        at = (left.stored.offset, right.stored.offset)
        _gemm(context, left, right, at, context.i64(0), result, inner)

    context.step([left.stored, right.stored], [result], emit)
    return result


def _matrix_vector(
    context: Context, matrix: Tensor, vector: Tensor, inner: Value, transposed: bool
) -> Tensor:
    a = MatrixOperand(context, matrix)
    v = vector_operand(context, vector)
    length = matrix.shape[1] if transposed else matrix.shape[0]
    result = context.new_stored(matrix.dtype, [length])

    def emit() -> None:
        _fill_if_empty(context, result, inner)
        _gemv(context, a, v, transposed, result)

    context.step([a.stored, v], [result], emit)
    return result


@lowers_to_loops(Gemm)
@lowers_to_loops(Gemv)
def lower_update(context: Context, node: Apply, inputs: list[Tensor]) -> Sequence[Tensor]:
    z, alpha, x, y, beta = inputs
    inner = context.unify(x.shape[1], y.shape[0])
    for length, other in zip(z.shape, (x.shape[0], *y.shape[1:]), strict=True):
        context.unify(length, other)
    small = is_small([*x.shape, *y.shape[1:]])
    if small or not _is_accumulated(context, node, z):
        dot = cast("TensorApply[Dot]", Dot().make_node(*node.inputs[2:4]))
        product = lower_dot(context, dot, [x, y])[0]
        return [_sum(context, _scaled(context, z, beta), _scaled(context, product, alpha))]
    left = MatrixOperand(context, x)
    right = MatrixOperand(context, y) if y.ndim == 2 else vector_operand(context, y)
    operands = [left.stored, right if isinstance(right, Stored) else right.stored]

    def call(result: Stored, factor: Value | None) -> None:
        if factor is None:
            _fill_if_empty(context, result, inner)
        if isinstance(right, Stored):
            _gemv(context, left, right, False, result, factor)
        else:
            at = (left.stored.offset, right.stored.offset)
            _gemm(context, left, right, at, context.i64(0), result, inner, factor)

    start = context.store(_scaled(context, z, beta))
    update = _Update(context, alpha, start.shape, call)
    return [context.change(start, [*operands, alpha], update.write, update.prepare)]


def _is_accumulated(context: Context, node: Apply, z: Tensor) -> bool:
    """Whether BLAS should add the product to the memory of ``z``.

    BLAS should do so if the sum must be stored anyway, or if this node is the last user of ``z``. In all other cases
    the loops that use the sum add the product and ``z`` themselves, which saves a copy of ``z``.
    """
    readers = context.uses.get(node.outputs[0], ())
    if not readers or any(isinstance(r.op, Dot | MatMul | Gemm | Gemv) for r in readers):
        return True
    dies = len(context.uses.get(node.inputs[0], ())) == 1
    return dies and isinstance(z, Stored) and z.flat and z.buffer.space in ("work", "carried")


def _scaled(context: Context, tensor: Tensor, factor: Tensor) -> Tensor:
    """A tensor times a scalar; the tensor itself if the scalar is the constant 1."""
    if _number(context, factor) == 1.0:
        return tensor

    def element(builder: Builder, index: Index) -> Value:
        return builder.op("mul", factor.at(builder, []), tensor.at(builder, index))

    return context.virtual(
        tensor.dtype, tensor.shape, element, [tensor, factor], flat=tensor.flat, identity=True
    )


def _sum(context: Context, x: Tensor, y: Tensor) -> Tensor:
    def element(builder: Builder, index: Index) -> Value:
        return builder.op("add", x.at(builder, index), y.at(builder, index))

    return context.virtual(x.dtype, x.shape, element, [x, y], flat=x.flat and y.flat, identity=True)


def _number(context: Context, scalar: Tensor) -> float | None:
    """The value of a scalar if it is constant, else None."""
    if scalar.reads:
        return None
    value = scalar.at(context.builder, [])
    return float(value.args[0]) if value.op == "const" else None


class _Update:
    """Statements that replace ``z`` by ``z + alpha x y``, where ``alpha`` is the factor.

    ``call(tensor, factor)`` writes a call of BLAS that adds ``factor x y`` to the tensor. If ``factor`` is None, the
    call overwrites the tensor with ``x y``.

    BLAS ignores the product if the factor is 0, even if the product is not finite. Otherwise BLAS multiplies single
    terms of the product by the factor, which may overflow. So if the factor is 0, infinite, NaN or far from 1, the
    product is computed first, and then multiplied by the factor.
    """

    def __init__(
        self,
        context: Context,
        alpha: Tensor,
        shape: Sequence[Value],
        call: Callable[[Stored, Value | None], None],
    ) -> None:
        self.context = context
        self.alpha = alpha
        self.product = context.new_stored(alpha.dtype, shape)
        self.call = call
        number = _number(context, alpha)
        self.most = _LARGEST_FACTOR[alpha.dtype]
        self.known = None if number is None else 1 / self.most <= abs(number) <= self.most
        self.usual: Value | None = None

    def prepare(self) -> None:
        """Write the test whether BLAS may multiply by the factor, and allocate memory for the product if it may not."""
        context, builder, dtype = self.context, self.context.builder, self.alpha.dtype
        if self.known:
            return
        if self.known is not None:
            context.schedule.allocate(self.product)
            return
        size = builder.op("abs", context.scalar(self.alpha))
        low, high = builder.const(1 / self.most, dtype), builder.const(self.most, dtype)
        self.usual = builder.op("and", builder.op("le", low, size), builder.op("le", size, high))
        room = builder.product(self.product.shape)
        builder.alloc(self.product.buffer, builder.select(self.usual, builder.i64(0), room))

    def write(self, result: Stored) -> None:
        """Write the update: one call of BLAS, a product and a sum, or a branch between the two."""
        factor = self.alpha.at(self.context.builder, [])
        if self.usual is not None:
            self.context.builder.branch(
                self.usual, lambda: self._at_once(result, factor), lambda: self._separately(result)
            )
        elif self.known:
            self._at_once(result, factor)
        else:
            self._separately(result)

    def _at_once(self, result: Stored, factor: Value) -> Sequence[Value]:
        self.call(result, factor)
        return ()

    def _separately(self, result: Stored) -> Sequence[Value]:
        self.call(self.product, None)
        scaled = _scaled(self.context, self.product, self.alpha)
        copy_elements(self.context, _sum(self.context, result, scaled), result)
        return ()


@lowers_to_loops(MatMul)
def lower_matmul(
    context: Context, node: TensorApply[MatMul], inputs: list[Tensor]
) -> Sequence[Tensor]:
    output = node.outputs[0].type
    x, y = inputs
    types = [v.type for v in node.inputs]
    inner = context.unify(x.shape[-1], y.shape[-2])
    lead = [context.virtual(t.dtype, t.shape[:-2], lambda b, index: inner) for t in (x, y)]
    lead_types = [t.clone(shape=t.shape[:-2]) for t in types]
    batch = broadcast_lengths(context, lead_types, lead) if output.ndim > 2 else []
    shape = [*batch, x.shape[-2], y.shape[-1]]
    if not (x.dtype == y.dtype and is_float(output.dtype)):
        return [_batched_loops(context, types, x, y, shape, inner, output.dtype)]
    if is_small([*shape[-2:], inner]):
        few = FEW_OF_VECTORS if is_unit(shape[-1]) else FEW
        if 1 <= inner.args[0] <= few:
            return [_batched_formula(context, types, x, y, shape, inner.args[0])]
    left, right = MatrixOperand(context, x), MatrixOperand(context, y)
    result = context.new_stored(output.dtype, shape)

    def emit() -> None:
        builder = context.builder
        _fill_if_empty(context, result, inner)
        with ExitStack() as stack:
            index = [stack.enter_context(builder.loop(n, fixed=True)).index for n in batch]
            zero = context.i64(0)
            offsets = [
                operand.stored.position(builder, [*_own(context, t, index), zero, zero])
                for operand, t in ((left, types[0]), (right, types[1]))
            ]
            target = result.position(builder, [*index, zero, zero])
            _gemm(context, left, right, offsets, target, result, inner)

    context.step([left.stored, right.stored], [result], emit)
    return [result]


def _own(context: Context, type_: TensorType, index: Sequence[Value]) -> list[Value]:
    """The batch index at which an operand is read: it is 0 in dimensions along which the operand is broadcast."""
    lead = type_.shape[:-2]
    own = index[len(index) - len(lead) :]
    return [context.i64(0) if n == 1 else i for n, i in zip(lead, own, strict=True)]


def _batched_loops(
    context: Context,
    types: Sequence[TensorType],
    x: Tensor,
    y: Tensor,
    shape: Sequence[Value],
    inner: Value,
    dtype: str,
) -> Tensor:
    x, y = (context.store(t) if t.cost > CHEAP else t for t in (x, y))
    count = len(shape) - 2

    def element(builder: Builder, index: Index) -> Value:
        batch, (i, k, j) = index[:count], index[count:]
        a = builder.cast(x.at(builder, [*_own(context, types[0], batch), i, k]), dtype)
        b = builder.cast(y.at(builder, [*_own(context, types[1], batch), k, j]), dtype)
        return builder.op("and" if dtype == "bool" else "mul", a, b)

    terms = context.virtual(dtype, [*shape[:-1], inner, shape[-1]], element, [x, y])
    combine = "or" if dtype == "bool" else "add"
    return context.reduce(terms, (len(shape) - 1,), combine, dtype, dtype)


def _batched_formula(
    context: Context,
    types: Sequence[TensorType],
    x: Tensor,
    y: Tensor,
    shape: Sequence[Value],
    inner: int,
) -> Tensor:
    """A batch of products of small matrices, with a formula for each element.

    The formulas take less time than calls of BLAS. A small operand is copied to contiguous memory, since all elements
    of the batch read it.
    """
    x, y = (
        context.contiguous_copy(t)
        if is_small(t.shape)
        else context.store(t)
        if t.cost > CHEAP
        else t
        for t in (x, y)
    )
    count = len(shape) - 2

    def element(builder: Builder, index: Index) -> Value:
        batch, (i, j) = index[:count], index[count:]
        left, right = (_own(context, t, batch) for t in types)
        total: Value | None = None
        for k in map(builder.i64, range(inner)):
            term = builder.op("mul", x.at(builder, [*left, i, k]), y.at(builder, [*right, k, j]))
            total = term if total is None else builder.op("add", total, term)
        assert total is not None
        return total

    return context.virtual(x.dtype, shape, element, [x, y], cost=2 * inner)


lowers_complex_to_loops(MatMul)(product_by_parts(lower_matmul))
leave_to_python(
    Ger, "made by rewriting, for linkers that run op by op; a loop computes the same in one pass"
)
