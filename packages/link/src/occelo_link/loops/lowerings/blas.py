"""Lowerings of matrix products and of the ops that add a product to a tensor: `Dot`, `MatMul`, `Gemv`, `Gemm`.

They call BLAS for products of floats. Small products and products of other dtypes become loops. The linkers ``native``,
``c``, ``c|py`` and ``numba`` use these lowerings; `loops.build` imports this module to register them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import cast

from occelo_graph import Apply, TensorApply, TensorType, Variable
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.blas.updates import Gemm, Gemv, Ger
from occelo_link.loops.batches import each_element
from occelo_link.loops.complexes import product_by_parts
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.cost import ROW_PRODUCTS
from occelo_link.loops.ir.operations import is_float
from occelo_link.loops.ir.program import Pointer, Reference, Value
from occelo_link.loops.loop_nests import copy_elements
from occelo_link.loops.lowering import CHEAP, Context, readers_of
from occelo_link.loops.lowerings.elemwise.op import broadcast_lengths
from occelo_link.loops.lowerings.products_in_loops import (
    FEW,
    FEW_OF_VECTORS,
    Indices,
    formula,
    inner_product,
    is_narrow,
    narrow_product,
    product_loops,
    sums,
)
from occelo_link.loops.operands import ProductOperand, vector_operand
from occelo_link.loops.python_only import leave_to_python
from occelo_link.loops.registry import lowers_complex_to_loops, lowers_to_loops
from occelo_link.loops.row_blocks import Addition, Factors, MatrixVector
from occelo_link.loops.steps import Step
from occelo_link.loops.tensors import SMALL, Index, Stored, Tensor, is_small, is_unit

_LETTER = {"float32": "s", "float64": "d"}
_LARGEST_FACTOR = {"float32": 2.0**25, "float64": 2.0**204}
"""BLAS may multiply by a factor if its absolute value is between this number and its inverse. The exponent of this
number is a fifth of the largest exponent of the dtype.
"""


def only_factors(
    variables: Sequence[Variable],
    uses: Mapping[Variable, Sequence[Apply]],
    copied: Sequence[Variable],
    most: int = 2,
) -> set[Variable]:
    """Those of the variables of which only products with at most ``most`` dimensions read elements: large matrices of
    floats, which BLAS reads by rows or by columns. ``uses`` maps variables to the nodes that read them. The elements of
    the variables ``copied`` are read in other ways, too.
    """

    def is_factor(variable: Variable) -> bool:
        readers = uses.get(variable, ())
        return variable not in copied and all(multiplies(node, variable) for node in readers)

    def multiplies(node: Apply, matrix: Variable) -> bool:
        op, output = node.op, node.outputs[0]
        if getattr(op, "new_order", None) == (1, 0):
            return is_factor(output)
        if isinstance(op, Dot | MatMul | Gemv | Gemm):
            first = 2 if isinstance(op, Gemv | Gemm) else 0
            others = [*node.inputs[:first], *node.inputs[first + 2 :]]
            one_dtype = len({v.type.dtype for v in (*node.inputs, output)}) == 1
            return one_dtype and matrix not in others and (output.type.ndim or 0) <= most
        if not op.loops:
            return op.of_shapes
        loop = op.loop(node)
        body, carried = loop.body, [node.inputs[i] for i in loop.carried]
        read = range(len(node.inputs)) if loop.count is None else loop.read
        pairs = zip(body.inputs[len(carried) :], read, strict=True)
        inner = {v for v, i in pairs if node.inputs[i] is matrix}
        factors = only_factors([*inner], readers_of(body.nodes), body.outputs, most)
        return matrix not in carried and factors == inner

    arrays = [v for v in variables if v in uses and v.type.is_array]
    types = {v: kind for v in arrays for kind in v.type.parts() or ()}
    matrices = [v for v, t in types.items() if t.ndim == 2 and t.dtype in _LETTER]
    return {v for v in matrices if not _has_few(types[v].shape, most) and is_factor(v)}


def _has_few(shape: Sequence[int | None], most: int) -> bool:
    """Whether a matrix is a row or a column, or has so few elements, by its static shape, that loops compute its products.

    If products have one dimension at ``most``, loops read whole vectors of a small matrix, too.
    """
    lengths = [n for n in shape if n is not None]
    small = len(lengths) == len(shape) and prod(lengths) <= SMALL
    return 1 in lengths or (small and most > 1)


@lowers_to_loops(Dot)
def lower_dot(context: Context, node: TensorApply[Dot], inputs: list[Tensor]) -> Sequence[Tensor]:
    output = node.outputs[0].type
    x, y = inputs
    inner = context.unify(x.shape[-1], y.shape[0])
    if x.ndim == 1 and y.ndim == 1:
        return [inner_product(context, x, y, inner, output.dtype)]
    same = x.dtype == y.dtype == output.dtype
    if same and is_float(output.dtype) and is_narrow(x, y):
        return [narrow_product(context, x, y)]
    if not (same and is_float(output.dtype)) or is_small([*x.shape, *y.shape[1:]]):
        return [product_loops(context, x, y, inner, output.dtype)]
    product = _Product(context, x, y, inner)
    result = context.new_stored(output.dtype, [*x.shape[:-1], *y.shape[1:]])
    context.schedule.add_step(product.step(result))
    return [result]


lowers_complex_to_loops(Dot)(product_by_parts(lower_dot))


def _integer(context: Context, value: Value) -> Reference:
    return Reference(context.builder.cast(value, context.blas_integer))


def _fill_if_empty(context: Context, first: Pointer, count: Value, inner: Value) -> None:
    """Store ``count`` zeros if the inner dimension has length 0, since BLAS may leave the result unchanged."""
    if inner.op == "const" and inner.args[0] > 0:
        return
    builder = context.builder
    zero = builder.const(0.0, first.buffer.dtype)
    empty = builder.eq(inner, context.i64(0))
    count = builder.select(empty, count, context.i64(0))
    with builder.loop(count) as loop:
        # this loop hardly ever runs, and polling for interrupts would make its code three times as long
        loop.statement.non_interruptible = True
        builder.store(first.buffer, builder.add(first.offset, loop.index), zero)


class _Scales:
    """The factors ``alpha`` and ``beta`` of a call of BLAS that writes ``alpha x y + beta z`` to ``z``.

    If no ``alpha`` is passed, the factors are 1 and 0. BLAS then overwrites ``z`` with the product. It does not read
    ``z``, which may hold NaN. If ``alpha`` is passed, ``beta`` is 1.
    """

    def __init__(self, builder: Builder, dtype: str, alpha: Value | None = None) -> None:
        self.alpha = Reference(builder.const(1.0, dtype) if alpha is None else alpha)
        self.beta = Reference(builder.const(0.0 if alpha is None else 1.0, dtype))


def _gemm(
    context: Context,
    left: ProductOperand,
    right: ProductOperand,
    at: Sequence[Value],
    target: Value,
    result: Stored,
    inner: Value,
    scales: _Scales,
) -> None:
    """Write a call of the BLAS routine gemm, which multiplies two matrices. If a factor has only one row or one column,
    gemv is called instead, which takes about half the time.

    BLAS expects matrices in column-major order, so it reads a row-major matrix as its transpose. For this reason the
    call exchanges the factors, and computes the transpose of the product. ``at`` has the offsets of the factors in
    their buffers. ``target`` is the offset of the product.
    """
    builder, dtype = context.builder, result.dtype
    m, n = result.shape[-2], result.shape[-1]
    if is_unit(n) or is_unit(m):
        _gemv_of_one(context, (left, right), at, target, result, scales)
        return
    builder.invoke(
        f"blas:{_LETTER[dtype]}gemm",
        [
            right.letter(builder, "N", "T"),
            left.letter(builder, "N", "T"),
            _integer(context, n),
            _integer(context, m),
            _integer(context, inner),
            scales.alpha,
            Pointer(right.stored.buffer, at[1]),
            _integer(context, right.leading),
            Pointer(left.stored.buffer, at[0]),
            _integer(context, left.leading),
            scales.beta,
            Pointer(result.buffer, target),
            _integer(context, builder.op("max", n, context.i64(1))),
        ],
        writes=[result.buffer],
    )


def _gemv_of_one(
    context: Context,
    operands: tuple[ProductOperand, ProductOperand],
    at: Sequence[Value],
    target: Value,
    result: Stored,
    scales: _Scales,
) -> None:
    """Write a call of gemv for the product of two matrices, of which the right one is a column or the left one is a row.

    The arguments are those of `_gemm`.
    """
    of_column = is_unit(result.shape[-1])
    matrix, vector = operands if of_column else reversed(operands)
    start, first = at if of_column else reversed(at)
    # the elements of a row-major column are apart by its leading dimension, and so are those of a column-major row
    steps = [vector.leading, context.i64(1)]
    step = context.builder.select(vector.by_rows, *(steps if of_column else steps[::-1]))
    pointers = (Pointer(vector.stored.buffer, first), Pointer(result.buffer, target))
    _gemv(context, matrix, start, not of_column, pointers, step, scales)


def _gemv(
    context: Context,
    matrix: ProductOperand,
    start: Value,
    transposed: bool,
    vectors: tuple[Pointer, Pointer],
    step: Value,
    scales: _Scales,
    lengths: Sequence[Value] = (),
    entry: str = "",
) -> None:
    """Write a call of the BLAS routine gemv, which multiplies a matrix, at the offset ``start``, and a vector.

    ``vectors`` are the vector, whose elements are ``step`` apart, and the result. BLAS expects the matrix in column-major
    order, so it reads a row-major matrix as its transpose. ``lengths`` are those of a part of the matrix, and ``entry`` is another
    function with the same parameters.
    """
    builder, lengths = context.builder, lengths or matrix.stored.shape[-2:]
    of_rows = zip(reversed(lengths), lengths, strict=True)
    builder.invoke(
        entry or f"blas:{_LETTER[matrix.stored.dtype]}gemv",
        [
            matrix.letter(builder, *("NT" if transposed else "TN")),
            *(_integer(context, builder.select(matrix.by_rows, *each)) for each in of_rows),
            scales.alpha,
            Pointer(matrix.stored.buffer, start),
            _integer(context, matrix.leading),
            vectors[0],
            _integer(context, step),
            scales.beta,
            vectors[1],
            _integer(context, context.i64(1)),
        ],
        writes=[vectors[1].buffer],
    )


class _Product:
    """The product of two matrices, or of a matrix and a vector, which BLAS computes. ``inner`` is the common length."""

    def __init__(self, context: Context, x: Tensor, y: Tensor, inner: Value) -> None:
        self.context, self.inner, self.transposed = context, inner, x.ndim == 1
        x, y = (y, x) if self.transposed else (x, y)
        self.left = ProductOperand(context, x)
        self.right = ProductOperand(context, y) if y.ndim == 2 else vector_operand(context, y)
        right = self.right if isinstance(self.right, Stored) else self.right.stored
        self.operands = [self.left.stored, right]

    def write(self, result: Stored, alpha: Value | None = None) -> None:
        """Write a call of BLAS that writes the product to ``result``, or adds it, multiplied by ``alpha``."""
        context, left, right = self.context, self.left, self.right
        start, zero = left.stored.offset, context.i64(0)
        scales = _Scales(context.builder, result.dtype, alpha)
        if alpha is None:
            count = context.builder.product(result.shape)
            _fill_if_empty(context, Pointer(result.buffer, zero), count, self.inner)
        if isinstance(right, Stored):
            vectors = (Pointer(right.buffer, right.offset), Pointer(result.buffer, zero))
            _gemv(context, left, start, self.transposed, vectors, context.i64(1), scales)
        else:
            at = (start, right.stored.offset)
            _gemm(context, left, right, at, zero, result, self.inner, scales)

    def write_part(
        self, axis: int, start: Value, count: Value, vector: Pointer, target: Pointer
    ) -> None:
        """Write the product of a vector and a part of the matrix: ``count`` rows from ``start`` on, or columns for axis 1."""
        context, builder, matrix = self.context, self.context.builder, self.left.stored
        lengths = list(matrix.shape)
        lengths[axis] = count
        inner, results = lengths if self.transposed else lengths[::-1]
        if not context.state.own_code:
            _fill_if_empty(context, target, results, inner)
        first = builder.add(matrix.offset, builder.mul(start, matrix.strides[axis]))
        scales, vectors, one = _Scales(builder, matrix.dtype), (vector, target), context.i64(1)
        own = f"{ROW_PRODUCTS}{_LETTER[matrix.dtype]}gemv_{context.blas_integer}"
        entry = own if context.state.own_code else ""
        _gemv(context, self.left, first, self.transposed, vectors, one, scales, lengths, entry)

    def step(self, result: Stored) -> Step:
        """A step of the schedule that computes the product."""
        right = self.right

        def emit() -> None:
            self.write(result)

        if isinstance(right, Stored):
            return self.with_vector(right, result, emit)
        return Step(self.operands, [result], emit, self.context.builder.node)

    def with_vector(
        self,
        vector: Stored,
        result: Stored,
        emit: Callable[[], None],
        addition: Addition | None = None,
    ) -> MatrixVector:
        """A step that computes the product with a vector, and may add it to another vector."""
        factors = Factors(self.left.stored, self.left.by_rows, vector, 0 if self.transposed else 1)
        node = self.context.builder.node
        return MatrixVector(factors, result, emit, self.write_part, node, addition)


@lowers_to_loops(Gemm)
@lowers_to_loops(Gemv)
def lower_update(context: Context, node: Apply, inputs: list[Tensor]) -> Sequence[Tensor]:
    z, alpha, x, y, beta = inputs
    inner = context.unify(x.shape[1], y.shape[0])
    for length, other in zip(z.shape, (x.shape[0], *y.shape[1:]), strict=True):
        context.unify(length, other)
    small = is_small([*x.shape, *y.shape[1:]]) or is_narrow(x, y)
    if small or not _is_accumulated(context, node, z):
        dot = cast("TensorApply[Dot]", Dot().make_node(*node.inputs[2:4]))
        terms = (
            _scaled(context, z, beta),
            _scaled(context, lower_dot(context, dot, [x, y])[0], alpha),
        )
        return [_sum(context, *terms)]
    product = _Product(context, x, y, inner)
    start = context.store(_scaled(context, z, beta))
    update = _Update(context, alpha, start.shape, product.write)
    if not isinstance(product.right, Stored):
        return [context.change(start, [*product.operands, alpha], update.write, update.prepare)]
    result = context.new_stored(start.dtype, start.shape)

    def emit() -> None:
        if not step.in_place:
            copy_elements(context, start, result)
        update.write(result)

    step = product.with_vector(product.right, result, emit, Addition(start, alpha, update.prepare))
    context.schedule.add_step(step)
    return [result]


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
    return context.mapped(
        tensor.dtype, lambda b, values: b.op("mul", *values[::-1]), tensor, factor
    )


def _sum(context: Context, x: Tensor, y: Tensor) -> Tensor:
    return context.mapped(x.dtype, lambda b, values: b.op("add", *values), x, y)


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
    count = len(shape) - 2

    def factors(index: Index, k: Value) -> Indices:
        (i, j), (left, right) = index[count:], (_own(context, t, index[:count]) for t in types)
        return [*left, i, k], [*right, k, j]

    if not (x.dtype == y.dtype and is_float(output.dtype)):
        x, y = (context.store(t) if t.cost > CHEAP else t for t in (x, y))
        return [sums(context, x, y, shape, count + 1, inner, output.dtype, factors)]
    few = FEW_OF_VECTORS if is_unit(shape[-1]) else FEW
    if is_small([*shape[-2:], inner]) and 1 <= inner.args[0] <= few:
        # formulas take less time than calls of BLAS; all elements of the batch read a small operand
        x, y = (
            context.contiguous_copy(t)
            if is_small(t.shape)
            else context.store(t)
            if t.cost > CHEAP
            else t
            for t in (x, y)
        )
        return [formula(context, x, y, shape, inner.args[0], output.dtype, factors)]
    left, right = ProductOperand(context, x), ProductOperand(context, y)
    result = context.new_stored(output.dtype, shape)

    def emit() -> None:
        builder, scales = context.builder, _Scales(context.builder, output.dtype)
        whole = Pointer(result.buffer, context.i64(0))
        _fill_if_empty(context, whole, builder.product(result.shape), inner)
        with each_element(context, batch) as index:
            zero = context.i64(0)
            offsets = [
                operand.stored.position(builder, [*_own(context, t, index), zero, zero])
                for operand, t in ((left, types[0]), (right, types[1]))
            ]
            target = result.position(builder, [*index, zero, zero])
            _gemm(context, left, right, offsets, target, result, inner, scales)

    context.step([left.stored, right.stored], [result], emit)
    return [result]


def _own(context: Context, type_: TensorType, index: Sequence[Value]) -> list[Value]:
    """The batch index at which an operand is read: it is 0 in dimensions along which the operand is broadcast."""
    lead = type_.shape[:-2]
    own = index[len(index) - len(lead) :]
    return [context.i64(0) if n == 1 else i for n, i in zip(lead, own, strict=True)]


lowers_complex_to_loops(MatMul)(product_by_parts(lower_matmul))
leave_to_python(
    Ger, "made by rewriting, for linkers that run op by op; a loop computes the same in one pass"
)
