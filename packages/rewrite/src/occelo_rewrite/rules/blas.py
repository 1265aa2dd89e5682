"""Rules for products of matrices: special factors, transposition, and products plus a term (gemm, gemv, ger).

`pipeline` puts the rules into the stages canonicalize, specialize, BlasOpt and accumulate_products. The stage
InplaceBlasOpt changes ops of the classes in `OVERWRITING`. `occelo_linalg.rules` calls `positions_of_ones`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from occelo_graph import (
    Constant,
    FunctionGraph,
    Op,
    TensorApply,
    TensorType,
    TensorVariable,
    computed_by,
)
from occelo_graph import tensor as ot
from occelo_graph.fgraph.graph import Output
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.blas.updates import Gemm, Gemv, Ger
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_rewrite.assumptions import assumptions_of
from occelo_rewrite.constants import is_moderate, number_of
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.rules.elemwise.trees import Sum
from occelo_rewrite.shaped_like import shaped_like
from occelo_rewrite.shapes import shapes_of

OVERWRITING = (Gemm, Gemv, Ger)
"""The classes of ops that have a variant which overwrites its first input."""
_SHORT = 17
"""Products with a static length below this number are computed by loops."""


@node_rewriter([Dot], tags=("shape_unsafe",))
def dot_of_nothing(fgraph: FunctionGraph, node: TensorApply[Dot]) -> Replacements:
    """dot(x, y) = 0 if a factor has no elements."""
    x, y = (v.type for v in node.inputs)
    out = node.outputs[0]
    if 0 not in (*x.shape, *y.shape):
        return None
    rows = ot.shape_tuple(node.inputs[0])[:-1]
    columns = ot.shape_tuple(node.inputs[1])[1:]
    return [
        ot.alloc(ot.constant(np.zeros((), out.type.dtype)), *rows, *columns)
        if rows or columns
        else ot.constant(np.zeros((), out.type.dtype))
    ]


@node_rewriter([Dot], tags=("rounding", "finite"))
def dot_of_length_one(fgraph: FunctionGraph, node: TensorApply[Dot]) -> Replacements:
    """dot(x, y) = x y if the sum has one term.

    (rounding: the sign of a zero may change. finite: some libraries skip products with 0, even of infinite elements.)
    """
    x, y = node.inputs
    first, last = x.type, y.type
    if first.shape[-1] != 1 or last.shape[0] != 1:
        return None
    left = x if first.ndim == 2 else ot.dimshuffle(x, [])
    right = y if last.ndim == 2 else ot.dimshuffle(y, [])
    if first.ndim == 2 and last.ndim == 1:
        left = ot.dimshuffle(x, [0])
    if first.ndim == 1 and last.ndim == 2:
        right = ot.dimshuffle(y, [1])
    return [shaped_like(ot.mul(left, right), node.outputs[0])]


@node_rewriter([DimShuffle], tags=("comparison", "overflow", "finite"))
def transposed_dot(fgraph: FunctionGraph, node: TensorApply[DimShuffle]) -> Replacements:
    """dot(x, y).T = dot(y.T, x.T), if the product has no other user, and x or y is a transpose or the result is an output.

    (An output that is the transpose of a stored product would be a copy of it. Short products are loops, which need none.)
    """
    op = node.op
    inner = computed_by(node.inputs[0], Dot)
    if inner is None or op.new_order != (1, 0):
        return None
    x, y = inner.inputs
    if x.type.ndim != 2 or y.type.ndim != 2 or len(fgraph.clients[node.inputs[0]]) > 1:
        return None
    if not any(v.owner is not None and v.owner.op == op for v in (x, y)):
        is_output = any(isinstance(r.op, Output) for r, _ in fgraph.clients[node.outputs[0]])
        lengths = [n for n in (*x.type.shape, *y.type.shape) if n is not None]
        if not is_output or min(lengths, default=_SHORT) < _SHORT:
            return None
    return [inner.op(op(y), op(x))]


@node_rewriter([MatMul], tags=("comparison", "overflow", "finite"))
def matmul_of_matrices(fgraph: FunctionGraph, node: TensorApply[MatMul]) -> Replacements:
    """matmul(x, y) = dot(x, y), for two single matrices (not batches)."""
    x, y = node.inputs
    return [Dot()(x, y)] if x.type.ndim == y.type.ndim == 2 else None


@node_rewriter([Dot], tags=("rounding", "finite", "shape_unsafe"))
def dot_with_diagonal(fgraph: FunctionGraph, node: TensorApply[Dot]) -> Replacements:
    """diag(d) @ x = x with its rows scaled by d, and x @ diag(d) = x with its columns scaled by d.

    The diagonal matrix may be any matrix that is known to be diagonal. (finite: the product adds 0 times the other
    elements, which is NaN if these are infinite.)
    """
    x, y = node.inputs
    facts = assumptions_of(fgraph)
    if facts.holds(fgraph, x, "diagonal") and _is_square(fgraph, x):
        d = ot.diagonal(x)
        return [ot.mul(d if y.type.ndim == 1 else ot.dimshuffle(d, [0, "x"]), y)]
    if facts.holds(fgraph, y, "diagonal") and _is_square(fgraph, y):
        return [ot.mul(x, ot.diagonal(y))]
    return None


def _is_square(fgraph: FunctionGraph, x: TensorVariable) -> bool:
    rows, columns = shapes_of(fgraph).shape_of(fgraph, x)
    return rows is columns or (isinstance(rows, int) and rows == columns)


@node_rewriter([Dot], tags=("stabler", "finite"))
def dot_of_orthogonal(fgraph: FunctionGraph, node: TensorApply[Dot]) -> Replacements:
    """q @ q.T = q.T @ q = the identity matrix, for orthogonal q."""
    x, y = node.inputs
    for a, b in ((x, y), (y, x)):
        owner = computed_by(b, DimShuffle)
        if owner is None or owner.inputs[0] is not a:
            continue
        if owner.op.new_order == (1, 0) and assumptions_of(fgraph).holds(fgraph, a, "orthogonal"):
            rows = shapes_of(fgraph).shape_of(fgraph, a)[0]
            return [ot.eye(rows, dtype=node.outputs[0].type.dtype)]
    return None


def positions_of_ones(x: TensorVariable) -> TensorVariable:
    """For each row of a selection matrix, the column of its 1."""
    place = ot.arange(x.shape[-1], dtype="int64")
    return ot.switch(ot.neq(x, 0), place, 0).sum(axis=-1)


@node_rewriter([Dot], tags=("rounding", "finite", "shape_unsafe"))
def dot_with_selection(fgraph: FunctionGraph, node: TensorApply[Dot]) -> Replacements:
    """s @ x = x[rows], for a selection matrix s (each row of s is one row of the identity matrix).

    (finite: see `dot_with_diagonal`. shape_unsafe: nothing checks any more that x has as many rows as s has columns.)
    """
    s, x = node.inputs
    if s.type.dtype != x.type.dtype or s.type.ndim != 2:
        return None
    if not assumptions_of(fgraph).holds(fgraph, s, "selection"):
        return None
    return [x[positions_of_ones(s)]]


@node_rewriter([Dot], tags=("rounding", "finite", "shape_unsafe"))
def dot_with_permutation(fgraph: FunctionGraph, node: TensorApply[Dot]) -> Replacements:
    """x @ p = x[:, columns], for a permutation matrix p (see `dot_with_selection`)."""
    x, p = node.inputs
    if p.type.dtype != x.type.dtype or p.type.ndim != 2:
        return None
    if not assumptions_of(fgraph).holds(fgraph, p, "permutation"):
        return None
    return [x[..., positions_of_ones(ot.transpose(p))]]


CANONICALIZE = RuleSet(
    (
        dot_with_diagonal,
        dot_of_orthogonal,
        dot_with_selection,
        dot_with_permutation,
        dot_of_nothing,
        dot_of_length_one,
        matmul_of_matrices,
    ),
    "blas canonicalize",
)


@node_rewriter([MatMul], tags=("comparison", "overflow", "finite"))
def matmul_with_one_matrix(fgraph: FunctionGraph, node: TensorApply[MatMul]) -> Replacements:
    """matmul of a batch of matrices with one matrix = one product of matrices.

    The batch axes and the rows are reshaped to one axis.
    """
    x, y = node.inputs
    xt = x.type
    yt = y.type
    if xt.ndim < 3 or yt.ndim < 2 or any(n != 1 for n in yt.shape[:-2]) or yt.ndim > xt.ndim:
        return None
    matrix = ot.dimshuffle(y, [yt.ndim - 2, yt.ndim - 1]) if yt.ndim > 2 else y
    lengths = ot.shape_tuple(x)
    flat = ot.reshape(x, (math.prod(lengths[:-1]), lengths[-1]))
    product = Dot()(flat, matrix)
    return [ot.reshape(product, (*lengths[:-1], ot.shape_tuple(matrix)[1]))]


SPECIALIZE = RuleSet((transposed_dot, matmul_with_one_matrix), "blas specialize")


# products plus terms


def _scaled(term: TensorVariable) -> tuple[TensorVariable, TensorVariable | None]:
    """The parts x and alpha of a term alpha * x with a scalar alpha. For any other term, the term itself and None."""
    owner = computed_by(term, Elemwise)
    if owner is None or owner.op != ot.mul:
        return term, None
    scalars = [v for v in owner.inputs if all(n == 1 for n in v.type.shape)]
    rest = [v for v in owner.inputs if v not in scalars]
    if len(rest) != 1 or not scalars or rest[0].type.ndim != term.type.ndim:
        return term, None
    flat = [v if v.type.ndim == 0 else ot.dimshuffle(v, []) for v in scalars]
    return rest[0], flat[0] if len(flat) == 1 else ot.mul(*flat)


def _outer_factors(term: TensorVariable) -> tuple[TensorVariable, TensorVariable] | None:
    """The vectors x and y of an outer product x_i y_j; None for any other term."""
    owner = computed_by(term, Elemwise)
    if owner is None or owner.op != ot.mul or len(owner.inputs) != 2:
        return None
    by_order: dict[tuple[int | str, ...], TensorVariable] = {}
    for v in owner.inputs:
        spread = computed_by(v, DimShuffle)
        if spread is not None:
            by_order[spread.op.new_order] = spread.inputs[0]
    if (0, "x") in by_order and ("x", 0) in by_order:
        return by_order[0, "x"], by_order["x", 0]
    return None


def _number(value: float, dtype: str) -> TensorVariable:
    return ot.constant(np.asarray(value, dtype))


def _negated(number: TensorVariable) -> TensorVariable:
    # a constant is negated here, so that no node is left for constant folding
    return ot.constant(-number.data) if isinstance(number, Constant) else ot.neg(number)


Factors = Callable[[TensorVariable], tuple[TensorVariable, TensorVariable] | None]
"""A function that returns the two factors of a product; None for a term that is not such a product."""
Term = tuple[TensorVariable, int]
"""A term of a sum, and its sign (1 or -1)."""
Make = Callable[[TensorVariable, TensorVariable, TensorVariable, TensorVariable], TensorVariable]
"""A function that adds a product to a variable: it gets the variable, the scalar coefficient, and the two factors."""


class SumWithProducts:
    """A sum of real floats, divided into products of tensors and other terms.

    ``factors_of`` recognizes the products. A product counts only if it has no other user and is not broadcast.
    ``products`` is a list of tuples: a term, its scalar coefficient (None for 1), and its two factors. ``others`` are
    all other terms.
    """

    def __init__(self, fgraph: FunctionGraph, whole: Sum, factors_of: Factors) -> None:
        self.kind = whole.root.outputs[0].type
        self.products: list[
            tuple[Term, TensorVariable | None, tuple[TensorVariable, TensorVariable]]
        ] = []
        self.others: list[Term] = []
        for term, sign in whole.terms:
            base, alpha = _scaled(term)
            factors = factors_of(base) if _alike(base.type, self.kind) else None
            if factors is None or any(v.type.dtype != self.kind.dtype for v in (term, *factors)):
                self.others.append((term, sign))
            elif any(len(fgraph.clients.get(v, (1,))) > 1 for v in (term, base)):
                self.others.append((term, sign))
            else:
                self.products.append(((term, sign), alpha, factors))

    @classmethod
    def at(
        cls,
        fgraph: FunctionGraph,
        node: TensorApply[Elemwise],
        factors_of: Factors,
        made_by: type[Op],
    ) -> SumWithProducts | None:
        """The sum whose last addition is ``node``; None if there is no such sum, or if it has no products.

        ``made_by`` is the class of the op that computes the products; knowing it makes the search faster.
        """
        kind = node.outputs[0].type
        if kind.dtype not in ("float32", "float64") or kind.ndim not in (1, 2):
            return None
        whole = Sum.at(fgraph, node)
        if whole is None or not any([_is_or_reads(term, made_by) for term, _ in whole.terms]):
            return None
        parted = cls(fgraph, whole, factors_of)
        return parted if parted.products else None

    def added_to(self, total: TensorVariable, make: Make) -> TensorVariable:
        """``total`` plus all products, which are added one after the other."""
        for (_, sign), alpha, factors in self.products:
            number = _number(sign, self.kind.dtype) if alpha is None else alpha
            total = make(total, number if alpha is None or sign > 0 else _negated(number), *factors)
        return total

    def added(self, make: Make) -> TensorVariable | None:
        """The whole sum: the other terms, plus the products one after the other; None if no product can be added.

        If the other terms do not have the shape of the sum, one of the products is the first summand.
        """
        if not (self.others and _alike(_total(self.others).type, self.kind)):
            first = next((i for i, p in enumerate(self.products) if p[0][1] > 0), 0)
            self.others.insert(0, self.products.pop(first)[0])
        if not self.products:
            return None
        total = _total(self.others)
        return self.added_to(total, make) if _alike(total.type, self.kind) else None


def _is_or_reads(term: TensorVariable, kind: type[Op]) -> bool:
    """Whether an op of the class ``kind`` computes a term, or one of its operands."""
    owner = term.owner
    if owner is None:
        return False
    if isinstance(owner.op, kind):
        return True
    for v in owner.inputs:
        if v.owner is not None and isinstance(v.owner.op, kind):
            return True
    return False


def _alike(term: TensorType, whole: TensorType) -> bool:
    """Whether a term is not broadcast in a sum of the type ``whole``."""
    if term.ndim != whole.ndim:
        return False
    return all((a == 1) == (b == 1) for a, b in zip(term.shape, whole.shape, strict=True))


def _dot_factors(base: TensorVariable) -> tuple[TensorVariable, TensorVariable] | None:
    """The factors x and y of a product of a matrix and a matrix or vector; None for any other term."""
    owner = computed_by(base, Dot)
    if owner is None:
        return None
    x, y = owner.inputs
    # a vector times a matrix equals the transposed matrix times the vector
    if x.type.ndim == 1:
        return (ot.transpose(y), x) if y.type.ndim == 2 else None
    return x, y


_PRODUCTS = (Dot, MatMul, Gemm, Gemv)


def _update(
    z: TensorVariable, alpha: TensorVariable, x: TensorVariable, y: TensorVariable
) -> TensorVariable:
    """z + alpha x @ y, computed by one gemm or gemv."""
    z, beta = _scaled(z)
    kind = Gemm if y.type.ndim == 2 else Gemv
    return kind()(z, alpha, x, y, _number(1.0, z.type.dtype) if beta is None else beta)


@node_rewriter([ot.add, ot.sub], tags=("comparison", "overflow", "finite"))
def product_plus_term(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """beta z + alpha x @ y = gemm (for a matrix y) or gemv (for a vector y)."""
    parted = SumWithProducts.at(fgraph, node, _dot_factors, Dot)
    total = None if parted is None else parted.added(_update)
    return None if total is None else [total]


@node_rewriter([ot.add, ot.sub], tags=("comparison", "overflow", "finite"))
def product_plus_broadcast_term(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """z + alpha x @ y = gemm or gemv, for a z that is broadcast, if the sum is an output or an operand of a product.

    (A sum with only elementwise readers stays as it is, since loops fuse the addition.)
    """
    readers = fgraph.clients.get(node.outputs[0], ())
    if not any(isinstance(r.op, (Output, *_PRODUCTS)) for r, _ in readers):
        return None
    parted = SumWithProducts.at(fgraph, node, _dot_factors, Dot)
    if parted is None or not parted.others:
        return None
    total = _total(parted.others)
    if total.type.ndim == parted.kind.ndim and _alike(total.type, parted.kind):
        return None
    x, y = parted.products[0][2]
    lengths = (*ot.shape_tuple(x)[:-1], *ot.shape_tuple(y)[1:])
    return [parted.added_to(ot.alloc(total, *lengths), _update)]


@node_rewriter([ot.add, ot.sub], tags=("comparison", "overflow", "finite"))
def outer_plus_term(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """z + alpha x y^T = ger."""

    def make(
        z: TensorVariable, alpha: TensorVariable, x: TensorVariable, y: TensorVariable
    ) -> TensorVariable:
        return Ger()(z, alpha, x, y)

    if node.outputs[0].type.ndim != 2:
        return None
    parted = SumWithProducts.at(fgraph, node, _outer_factors, Elemwise)
    total = None if parted is None else parted.added(make)
    return None if total is None else [total]


def _total(terms: Sequence[Term]) -> TensorVariable:
    plus = [v for v, sign in terms if sign > 0]
    minus = [v for v, sign in terms if sign < 0]
    if not plus:
        return ot.neg(_added(minus))
    return ot.sub(_added(plus), _added(minus)) if minus else _added(plus)


def _added(terms: Sequence[TensorVariable]) -> TensorVariable:
    return terms[0] if len(terms) == 1 else ot.add(*terms)


@node_rewriter([ot.mul], tags=("comparison", "overflow", "finite"), below=[Gemm, Gemv])
def scaled_product(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """alpha gemm(z, a, x, y, b) = gemm(z, alpha a, x, y, alpha b), if alpha is a moderate constant (`is_moderate`).

    The same holds for gemv.
    """
    out = node.outputs[0]
    base, alpha = _scaled(out)
    owner = computed_by(base, Gemm, Gemv)
    if alpha is None or owner is None:
        return None
    number = number_of(alpha)
    if number is None or not is_moderate(out.type.numpy_dtype, number):
        return None
    if owner.op.inplace or len(fgraph.clients[base]) > 1 or base.type != out.type:
        return None
    z, first, x, y, beta = owner.inputs
    return [owner.op(z, ot.mul(alpha, first), x, y, ot.mul(alpha, beta))]


ACCUMULATION = RuleSet((product_plus_term, scaled_product), "accumulation")
BROADCAST = RuleSet((product_plus_broadcast_term,), "accumulation over what is broadcast")
OUTER = RuleSet((outer_plus_term,), "outer products")
