"""Rules for matrices of blocks: functions of a Kronecker product or block-diagonal matrix are computed from its blocks.

`pipeline` puts the rules into the stages canonicalize, stabilize and specialize. In the docstrings, a ⊗ b is the
Kronecker product and blocks(a, b) the block-diagonal matrix of a and b. Laws that hold only for square blocks are
applied only if the blocks are known to be square.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from occelo_graph import FunctionGraph, TensorApply, TensorVariable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index.search import ExtractDiag
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_linalg.ops.block_matrices import BlockDiag, Kron
from occelo_linalg.ops.determinant import Det, SLogDet
from occelo_linalg.ops.equations.solve import Solve
from occelo_linalg.ops.equations.triangular import SolveTriangular
from occelo_linalg.ops.factorizations.cholesky import Cholesky
from occelo_linalg.ops.factorizations.eigh import Eigh, Eigvalsh
from occelo_linalg.ops.inverse import Inv
from occelo_linalg.ops.matrix_functions import Expm
from occelo_rewrite.assumptions.shape import is_transposition
from occelo_rewrite.matrices import (
    ascending_order,
    diagonal_of,
    has,
    is_square,
    product,
)
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.shapes import shapes_of

CHANGES = ("stabler", "comparison", "overflow", "finite", "singular")
PRODUCTS = ("comparison", "overflow", "finite", "shape_unsafe")
_SQUARE = ("hermitian", "symmetric", "orthogonal")


def _blocks(x: TensorVariable) -> TensorApply[Kron] | TensorApply[BlockDiag] | None:
    """The node that computes a Kronecker product or block-diagonal matrix ``x``; None for other matrices."""
    return computed_by(x, Kron) or computed_by(x, BlockDiag)


def _square_blocks(x: TensorVariable) -> TensorApply[Kron] | TensorApply[BlockDiag] | None:
    """Like `_blocks`, but None if a block is known not to be square.

    Rules for functions of nonsingular matrices call it. (If a block is not square, the whole matrix is singular.)
    """
    inner = _blocks(x)
    if inner is None:
        return None
    shapes = [v.type.shape[-2:] for v in inner.inputs]
    return None if any(None not in s and s[0] != s[1] for s in shapes) else inner


def _are_square(fgraph: FunctionGraph, blocks: Sequence[TensorVariable]) -> bool:
    return all(is_square(fgraph, x) or any(has(fgraph, x, f) for f in _SQUARE) for x in blocks)


def _rows(fgraph: FunctionGraph, x: TensorVariable, axis: int = -2) -> Any:
    return shapes_of(fgraph).shape_of(fgraph, x)[axis]


@node_rewriter([DimShuffle])
def transposed_blocks(fgraph: FunctionGraph, node: TensorApply[DimShuffle]) -> Replacements:
    """(a ⊗ b)^T = a^T ⊗ b^T, and blocks(a, b)^T = blocks(a^T, b^T)."""
    inner = _blocks(node.inputs[0]) if is_transposition(node.op) else None
    if inner is None:
        return None
    return [inner.op(*map(ot.matrix_transpose, inner.inputs))]


@node_rewriter([ot.conj], tags=("rounding",))
def conjugate_of_blocks(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """conj(a ⊗ b) = conj(a) ⊗ conj(b), and conj(blocks(a, b)) = blocks(conj(a), conj(b))."""
    inner = _blocks(node.inputs[0])
    return None if inner is None else [inner.op(*map(ot.conj, inner.inputs))]


@node_rewriter([Inv], tags=CHANGES)
def inverse_of_blocks(fgraph: FunctionGraph, node: TensorApply[Inv]) -> Replacements:
    """inv(a ⊗ b) = inv(a) ⊗ inv(b), and inv(blocks(a, b)) = blocks(inv(a), inv(b))."""
    inner = _square_blocks(node.inputs[0])
    if inner is None:
        return None
    if node.op.on_error != "raise" and (
        isinstance(inner.op, BlockDiag) or not _are_square(fgraph, inner.inputs)
    ):
        return None
    return [inner.op(*map(node.op, inner.inputs))]


@node_rewriter([Expm], tags=CHANGES)
def exponential_of_blocks(fgraph: FunctionGraph, node: TensorApply[Expm]) -> Replacements:
    """expm(blocks(a, b)) = blocks(expm(a), expm(b))."""
    inner = computed_by(node.inputs[0], BlockDiag)
    if inner is None or not _are_square(fgraph, inner.inputs):
        return None
    return [inner.op(*map(node.op, inner.inputs))]


@node_rewriter([Cholesky], tags=CHANGES)
def cholesky_of_blocks(fgraph: FunctionGraph, node: TensorApply[Cholesky]) -> Replacements:
    """cholesky(a ⊗ b) = cholesky(a) ⊗ cholesky(b), for a and b that are known to be positive definite.

    cholesky(blocks(a, b)) = blocks(cholesky(a), cholesky(b)).
    """
    inner = _square_blocks(node.inputs[0])
    if inner is None or node.op.on_error != "raise":
        return None
    if isinstance(inner.op, Kron):
        # otherwise both could be negative definite, and `cholesky` reads only one triangle of the
        # product
        if not all(has(fgraph, x, "positive_definite") for x in inner.inputs):
            return None
    return [inner.op(*map(node.op, inner.inputs))]


# determinants


@node_rewriter([Det], tags=CHANGES)
def det_of_blocks(fgraph: FunctionGraph, node: TensorApply[Det]) -> Replacements:
    """det(a ⊗ b) = det(a)^p det(b)^m, if a has m rows and b has p rows.

    det(blocks(a, b)) = det(a) det(b).
    """
    inner = _blocks(node.inputs[0])
    if inner is None or not _are_square(fgraph, inner.inputs):
        return None
    dets: list[TensorVariable] = [node.op(x) for x in inner.inputs]
    if isinstance(inner.op, Kron):
        dets = _powers(fgraph, dets, inner.inputs)
    return [_multiplied(dets)]


@node_rewriter([SLogDet], tags=CHANGES)
def slogdet_of_blocks(fgraph: FunctionGraph, node: TensorApply[SLogDet]) -> Replacements:
    """slogdet(a ⊗ b) = (s_a^p s_b^m, p l_a + m l_b), for (s_a, l_a) = slogdet(a) of m rows and (s_b, l_b) = slogdet(b)
    of p rows.

    slogdet(blocks(a, b)) = (s_a s_b, l_a + l_b).
    """
    inner = _blocks(node.inputs[0])
    if inner is None or not _are_square(fgraph, inner.inputs):
        return None
    pairs = [node.op(x) for x in inner.inputs]
    signs: list[TensorVariable] = [sign for sign, _ in pairs]
    logarithms: list[TensorVariable] = [logarithm for _, logarithm in pairs]
    if isinstance(inner.op, Kron):
        signs = _powers(fgraph, signs, inner.inputs)
        counts = reversed([_rows(fgraph, x) for x in inner.inputs])
        logarithms = [v * ot.cast(n, v.type.dtype) for v, n in zip(logarithms, counts, strict=True)]
    total = logarithms[0] if len(logarithms) == 1 else ot.add(*logarithms)
    return [_multiplied(signs), total]


def _powers(
    fgraph: FunctionGraph, values: Sequence[TensorVariable], blocks: Sequence[TensorVariable]
) -> list[TensorVariable]:
    """The two numbers in ``values``, one for each block, each raised to the number of rows of the other block."""
    counts = reversed([_rows(fgraph, x) for x in blocks])
    return [ot.power(v, ot.cast(n, v.type.dtype)) for v, n in zip(values, counts, strict=True)]


def _multiplied(values: Sequence[TensorVariable]) -> TensorVariable:
    return values[0] if len(values) == 1 else ot.mul(*values)


# equations and products


@node_rewriter([Solve], tags=CHANGES)
def solve_of_blocks(fgraph: FunctionGraph, node: TensorApply[Solve]) -> Replacements:
    """solve(a ⊗ b, y) = y as a matrix, solved with a along one axis and with b along the other.

    Equations with block-diagonal matrices are solved block by block.
    """
    x, y = node.inputs
    inner = _square_blocks(x)
    if inner is None or node.op.on_error != "raise" or node.op.assume_a == "diagonal":
        return None
    if isinstance(inner.op, Kron) and node.op.assume_a != "gen":
        fact = "positive_definite" if node.op.assume_a == "pos" else "symmetric"
        if node.op.assume_a == "her" or not all(has(fgraph, v, fact) for v in inner.inputs):
            return None
    return _solved(fgraph, node, inner, y)


@node_rewriter([SolveTriangular], tags=CHANGES)
def triangular_solve_of_blocks(
    fgraph: FunctionGraph, node: TensorApply[SolveTriangular]
) -> Replacements:
    """solve_triangular(a ⊗ b, y), like `solve_of_blocks`, for triangular a and b.

    Equations with block-diagonal matrices are solved block by block.
    """
    x, y = node.inputs
    inner = _square_blocks(x)
    if inner is None or node.op.on_error != "raise":
        return None
    if isinstance(inner.op, Kron):
        fact = "lower_triangular" if node.op.lower else "upper_triangular"
        triangular = all(has(fgraph, v, fact) for v in inner.inputs)
        if not triangular or not _are_square(fgraph, inner.inputs) or node.op.unit_diagonal:
            return None
    return _solved(fgraph, node, inner, y)


def _solved(
    fgraph: FunctionGraph,
    node: TensorApply[Solve] | TensorApply[SolveTriangular],
    inner: TensorApply[Kron] | TensorApply[BlockDiag],
    y: TensorVariable,
) -> Replacements:
    return _applied(fgraph, inner, y, lambda block, part: node.op(block, part), -1)


@node_rewriter([Dot, MatMul], tags=PRODUCTS)
def product_with_blocks(fgraph: FunctionGraph, node: TensorApply[Dot | MatMul]) -> Replacements:
    """(a ⊗ b) y = y as a matrix, multiplied by a along one axis and by b along the other; likewise y (a ⊗ b).

    Block-diagonal matrices are multiplied block by block.
    """
    x, y = node.inputs
    left, right = _blocks(x), _blocks(y)
    for inner, vector in ((left, y), (right, x)):
        if inner is not None and vector.type.ndim == 1 and isinstance(inner.op, BlockDiag):
            return _each_times_vector(fgraph, inner, vector, inner is left)
    if left is not None:
        if y.type.ndim > 1:
            return _applied(fgraph, left, y, product, -1)
        columns = _applied(fgraph, left, ot.expand_dims(y, -1), product, -1)
        return None if columns is None else [ot.squeeze(columns[0], axis=-1)]
    if right is None:
        return None
    transposed = right.op(*map(ot.matrix_transpose, right.inputs))
    turned = computed_by(transposed, Kron) or computed_by(transposed, BlockDiag)
    assert turned is not None
    if x.type.ndim > 1:
        columns = _applied(fgraph, turned, ot.matrix_transpose(x), product, -1)
        return None if columns is None else [ot.matrix_transpose(columns[0])]
    columns = _applied(fgraph, turned, ot.expand_dims(x, -1), product, -1)
    return None if columns is None else [ot.squeeze(columns[0], axis=-1)]


def _each_times_vector(
    fgraph: FunctionGraph,
    inner: TensorApply[Kron] | TensorApply[BlockDiag],
    vector: TensorVariable,
    left: bool,
) -> list[TensorVariable] | None:
    """The product of a block-diagonal matrix and a vector: each block times its part of the vector.

    With ``left`` the matrix is the left factor, else the right factor. None for batches.
    """
    if any(v.type.ndim != 2 for v in inner.inputs):
        return None
    parts: list[TensorVariable] = []
    start: Any = 0
    for i, block in enumerate(inner.inputs):
        stop = start + _rows(fgraph, block, -1 if left else -2)
        # the last product gets the whole rest, so that it fails if the vector is too long
        own = vector[start:] if i == len(inner.inputs) - 1 else vector[start:stop]
        parts.append(Dot()(block, own) if left else Dot()(own, block))
        start = stop
    return [ot.concatenate(parts, axis=0)]


def _applied(
    fgraph: FunctionGraph,
    inner: TensorApply[Kron] | TensorApply[BlockDiag],
    y: TensorVariable,
    function: Callable[[TensorVariable, TensorVariable], TensorVariable],
    axis: int,
) -> list[TensorVariable] | None:
    """``function(block, part)`` for each block, where ``part`` are the rows of ``y`` that belong to the block.

    ``axis`` is the axis of a block that has the length of its part. The results are joined. For a Kronecker product see
    `_along_both`. None if batches broadcast.
    """
    if isinstance(inner.op, Kron):
        if y.type.ndim != 2 or any(v.type.ndim != 2 for v in inner.inputs):
            return None
        return [_along_both(fgraph, inner, y, function, axis)]
    if len({v.type.ndim for v in (*inner.inputs, y)}) > 1:
        return None
    if len({tuple(n == 1 for n in v.type.shape[:-2]) for v in (*inner.inputs, y)}) > 1:
        return None
    parts: list[TensorVariable] = []
    start: Any = 0
    for i, block in enumerate(inner.inputs):
        stop = start + _rows(fgraph, block, axis)
        # the last function gets the whole rest, so that it fails if y has too many rows
        own = y[..., start:, :] if i == len(inner.inputs) - 1 else y[..., start:stop, :]
        parts.append(function(block, own))
        start = stop
    return [ot.concatenate(parts, axis=-2)]


def _along_both(
    fgraph: FunctionGraph,
    inner: TensorApply[Kron] | TensorApply[BlockDiag],
    y: TensorVariable,
    function: Callable[[TensorVariable, TensorVariable], TensorVariable],
    axis: int,
) -> TensorVariable:
    """Apply ``function`` with both factors of a Kronecker product to each column of ``y``.

    A column of ``y`` is reshaped to a matrix in C order. The function is applied with the first factor to the columns
    of this matrix, and then with the second factor to the rows of the result. For ``axis`` see `_applied`.
    """
    a, b = inner.inputs
    (rows, before), (inside, columns) = (
        (_rows(fgraph, v, -2), _rows(fgraph, v, axis)) for v in (a, b)
    )
    count = shapes_of(fgraph).shape_of(fgraph, y)[-1]
    half = function(a, y.reshape((before, columns * count)))
    turned = half.reshape((rows, columns, count)).dimshuffle(1, 0, 2)
    whole = function(b, turned.reshape((columns, rows * count)))
    back = whole.reshape((inside, rows, count)).dimshuffle(1, 0, 2)
    stacked: TensorVariable = back.reshape((rows * inside, count))
    return stacked


@node_rewriter([ExtractDiag], tags=PRODUCTS)
def diagonal_of_blocks(fgraph: FunctionGraph, node: TensorApply[ExtractDiag]) -> Replacements:
    """diag(a ⊗ b) = diag(a) ⊗ diag(b), and diag(blocks(a, b)) = join(diag(a), diag(b))."""
    (x,) = node.inputs
    inner = _blocks(x)
    ndim = x.type.ndim
    if inner is None or (node.op.offset, node.op.axis1, node.op.axis2) != (0, ndim - 2, ndim - 1):
        return None
    if len({v.type.shape[:-2] for v in inner.inputs}) > 1 or not _are_square(fgraph, inner.inputs):
        return None
    parts = [diagonal_of(v) for v in inner.inputs]
    if isinstance(inner.op, BlockDiag):
        return [ot.concatenate(parts, axis=-1)]
    both = ot.expand_dims(parts[0], -1) * ot.expand_dims(parts[1], -2)
    return [both.reshape((*shapes_of(fgraph).shape_of(fgraph, x)[:-2], -1))]


# eigenvalues


@node_rewriter([Eigvalsh, Eigh], tags=(*CHANGES, "arbitrary"))
def eigenvalues_of_blocks(
    fgraph: FunctionGraph, node: TensorApply[Eigvalsh | Eigh]
) -> Replacements:
    """eigvalsh(a ⊗ b) = all products of an eigenvalue of a and one of b, for a and b that are known to be Hermitian.

    eigvalsh(blocks(a, b)) = the eigenvalues of a and of b. The eigenvectors of eigh follow in the same way.
    """
    (x,) = node.inputs
    inner = _blocks(x)
    if inner is None or node.op.on_error != "raise" or any(v.type.ndim > 2 for v in inner.inputs):
        return None
    if not _are_square(fgraph, inner.inputs):
        return None
    if isinstance(inner.op, Kron):
        # `eigh` reads only one triangle of the product
        if not all(has(fgraph, v, "hermitian") for v in inner.inputs):
            return None
    spectra = [node.op(v, return_list=True) for v in inner.inputs]
    values = [v[0] for v in spectra]
    if isinstance(inner.op, Kron):
        whole = (ot.expand_dims(values[0], -1) * ot.expand_dims(values[1], -2)).flatten()
    else:
        whole = ot.concatenate(values)
    order = ascending_order(whole)
    if isinstance(node.op, Eigvalsh):
        return [whole[order]]
    vectors: TensorVariable = inner.op(*(v[1] for v in spectra))
    return [whole[order], vectors[:, order]]


@node_rewriter([Kron, BlockDiag])
def blocks_as_written(fgraph: FunctionGraph, node: TensorApply[Kron | BlockDiag]) -> Replacements:
    """a ⊗ b = an outer product, reshaped; and blocks(a, b) = zeros into which the blocks are written.

    This rule comes last, for matrices that are needed as a whole.
    """
    return list(node.op.decompose(*node.inputs))


CANONICALIZE = RuleSet((transposed_blocks, conjugate_of_blocks), "blocks")
STABILIZE = RuleSet(
    (
        inverse_of_blocks,
        exponential_of_blocks,
        cholesky_of_blocks,
        det_of_blocks,
        slogdet_of_blocks,
        solve_of_blocks,
        triangular_solve_of_blocks,
        product_with_blocks,
        diagonal_of_blocks,
        eigenvalues_of_blocks,
    ),
    "computing with blocks",
)
SPECIALIZE = RuleSet((blocks_as_written,), "matrices of blocks")
