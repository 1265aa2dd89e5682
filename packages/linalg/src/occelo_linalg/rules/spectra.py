"""Rules for eigenvalues, singular values and QR: results share one decomposition, and unread parts are not computed.

`pipeline` puts them into the stages canonicalize and specialize.
"""

from __future__ import annotations

from occelo_graph import FunctionGraph, TensorApply, TensorVariable
from occelo_graph import tensor as ot
from occelo_graph.ir.nodes import is_node
from occelo_graph.ir.op import Op
from occelo_graph.tensors.nodes import tensors
from occelo_linalg.ops.determinant import Det, SLogDet
from occelo_linalg.ops.factorizations.eig import Eig, Eigvals
from occelo_linalg.ops.factorizations.eigh import Eigh, Eigvalsh
from occelo_linalg.ops.factorizations.qr import QR, FullQR, QRTriangle
from occelo_linalg.ops.factorizations.svd import SVD, FullSVD, SingularValues
from occelo_linalg.ops.matrix_op import if_square
from occelo_rewrite.matrices import diagonal_of, has, is_square
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter

CHANGES = ("stabler", "comparison", "overflow", "finite", "singular")


def _result_of(
    fgraph: FunctionGraph, x: TensorVariable, op: Op, output: int
) -> TensorVariable | None:
    """The output number ``output`` of a node ``op(x)``, if the graph has such a node; else None."""
    for reader, _ in fgraph.clients.get(x, ()):
        if is_node(reader) and reader.op == op:
            return tensors(reader.outputs)[output]
    return None


@node_rewriter([SingularValues, Eigvalsh, Eigvals, QRTriangle], tags=CHANGES)
def part_of_decomposition(
    fgraph: FunctionGraph, node: TensorApply[SingularValues | Eigvalsh | Eigvals | QRTriangle]
) -> Replacements:
    """svdvals(x) = svd(x)[1], if the graph computes svd(x) anyway; likewise eigvalsh, eigvals and the R of qr."""
    (x,) = node.inputs
    op = node.op
    whole: list[tuple[Op, int]]
    if isinstance(op, SingularValues):
        whole = [(SVD(op.on_error), 1), (FullSVD(op.on_error), 1)]
    elif isinstance(op, Eigvalsh):
        whole = [(Eigh(op.lower, op.on_error), 0)]
    elif isinstance(op, Eigvals):
        whole = [(Eig(op.on_error), 0)]
    else:
        whole = [(QR(), 1)]
    for each, output in whole:
        result = _result_of(fgraph, x, each, output)
        if result is not None:
            return [result]
    return None


@node_rewriter([Eig, Eigvals], tags=(*CHANGES, "arbitrary"))
def eig_of_symmetric(fgraph: FunctionGraph, node: TensorApply[Eig | Eigvals]) -> Replacements:
    """eig(x) = eigh(x), for a real symmetric or Hermitian x.

    So the eigenvalues are real and in ascending order, and the eigenvectors are orthogonal.
    """
    (x,) = node.inputs
    if not has(fgraph, x, "hermitian"):
        return None
    if isinstance(node.op, Eigvals):
        results = [Eigvalsh(True, node.op.on_error)(x)]
    else:
        results = Eigh(True, node.op.on_error)(x, return_list=True)
    return [ot.cast(v, old.type.dtype) for v, old in zip(results, node.outputs, strict=True)]


@node_rewriter([SVD, FullSVD, Eigh, Eig, QR], tags=("comparison", "overflow", "finite"))
def unread_vectors(
    fgraph: FunctionGraph, node: TensorApply[SVD | FullSVD | Eigh | Eig | QR]
) -> Replacements:
    """svd(x)[1] = svdvals(x), if nothing reads the vectors; likewise for eigh, eig and qr."""
    (x,) = node.inputs
    op = node.op
    if isinstance(op, QR):
        place, alone = 1, QRTriangle()
    elif isinstance(op, SVD | FullSVD):
        place, alone = 1, SingularValues(op.on_error)
    elif isinstance(op, Eigh):
        place, alone = 0, Eigvalsh(op.lower, op.on_error)
    else:
        place, alone = 0, Eigvals(op.on_error)
    if any(fgraph.clients.get(v) for i, v in enumerate(node.outputs) if i != place):
        return None
    return [alone(x) if i == place else None for i in range(len(node.outputs))]


@node_rewriter([SVD, QR], tags=("comparison", "overflow", "finite", "arbitrary"))
def reduced_of_full(fgraph: FunctionGraph, node: TensorApply[SVD | QR]) -> Replacements:
    """A reduced svd(x) or qr(x) = a part of the full one, if the graph computes the full one with vectors anyway."""
    (x,) = node.inputs
    op = node.op
    full = FullQR() if isinstance(op, QR) else FullSVD(op.on_error)
    parts = [_result_of(fgraph, x, full, i) for i in range(len(node.outputs))]
    results = [v for v in parts if v is not None]
    if not any(fgraph.clients.get(v) for i, v in enumerate(results) if i != 1):
        return None
    if isinstance(op, QR):
        k = ot.minimum(x.shape[-2], x.shape[-1])
        return [results[0][..., :k], results[1][..., :k, :]]
    k = results[1].shape[-1]
    return [results[0][..., :k], results[1], results[2][..., :k, :]]


@node_rewriter([SLogDet, Det], tags=CHANGES)
def size_of_det_by_qr(fgraph: FunctionGraph, node: TensorApply[SLogDet | Det]) -> Replacements:
    """|det(x)| = |prod(diag(R))|, if the graph computes qr(x) anyway and nothing reads the sign or phase of det(x)."""
    (x,) = node.inputs
    readers = fgraph.clients.get(node.outputs[0], ())
    if isinstance(node.op, SLogDet):
        sign_is_read = bool(readers)
    else:
        sign_is_read = any(not is_node(r) or r.op != ot.abs for r, _ in readers)
    if sign_is_read:
        return None
    for each, output in ((QR(), 1), (FullQR(), 1), (QRTriangle(), 0)):
        triangle = _result_of(fgraph, x, each, output)
        if triangle is None:
            continue
        sizes = ot.abs(diagonal_of(triangle))
        if isinstance(node.op, SLogDet):
            value = ot.log(sizes).sum(axis=-1)
        else:
            value = ot.prod(sizes, axis=-1).astype(x.type.dtype)
        if not is_square(fgraph, x):
            value = if_square(node.op.label, x, value)
        return [None, value] if isinstance(node.op, SLogDet) else [value]
    return None


CANONICALIZE = RuleSet((eig_of_symmetric,), "known structure")
SPECIALIZE = RuleSet(
    (part_of_decomposition, reduced_of_full, unread_vectors, size_of_det_by_qr),
    "shared decompositions",
)
