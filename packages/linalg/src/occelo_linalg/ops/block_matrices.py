"""Kronecker products (`kron`) and block-diagonal matrices (`block_diag`).

Users call `kron` from `occelo.tensor`, which imports it at its first use, and `block_diag` from `occelo.tensor.linalg`.
Rules recognize the ops `Kron` and `BlockDiag`, and compute with the blocks instead of the whole matrix. Linkers
decompose the ops into simpler ops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.nodes import AnyApply
from occelo_graph.ir.op import Cotangents, Op, op
from occelo_graph.ir.terms import Term, called
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import broadcast_to, zeros
from occelo_graph.ops.elemwise.op import broadcast_static, unbroadcast
from occelo_graph.ops.shape.dimensions import dimshuffle, shape_padleft
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import OptionalTensors, TensorApply, Tensors
from occelo_graph.tensors.type import TensorType
from occelo_linalg.ops.matrix_op import MatrixOp

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["BlockDiag", "Kron", "block_diag", "kron"]


@op
class Kron(MatrixOp):
    """Kronecker products of matrices in two inputs. The inputs have the same dtype, which may be any dtype."""

    signature: ClassVar[str] = "(m,n),(p,q)->(r,s)"

    def lengths(self, known: Mapping[str, Any]) -> Mapping[str, Any]:
        def product(first: Any, second: Any) -> Any:
            return None if first is None or second is None else first * second

        r, s = product(known["m"], known["p"]), product(known["n"], known["q"])
        return {**known, "r": r, "s": s}

    def core(self, *arrays: Array) -> Array:
        return np.kron(*arrays)

    def decompose(self, x: Any, y: Any) -> Sequence[Any]:
        n = max(x.type.ndim, y.type.ndim)
        x, y = shape_padleft(x, n - x.type.ndim), shape_padleft(y, n - y.type.ndim)
        lead = range(n - 2)
        product = x.dimshuffle([*lead, n - 2, "x", n - 1, "x"]) * y.dimshuffle(
            [*lead, "x", n - 2, "x", n - 1]
        )
        of_x, of_y = lengths_by_variables(x), lengths_by_variables(y)
        batch = _batch_lengths([x.type, y.type], [of_x, of_y])
        core = [i * j for i, j in zip(of_x[-2:], of_y[-2:], strict=True)]
        return [reshape(product, [*batch, *core])]


@op
class BlockDiag(Op):
    """Block-diagonal matrices. The inputs are the blocks, which have the same dtype. Batch dimensions broadcast."""

    def written(self, node: AnyApply, operands: Sequence[Term]) -> Term | None:
        return called("linalg.block_diag", *(term.text for term in operands))

    def infer(self, *types: TensorType) -> TensorType:
        if not types or any(t.ndim < 2 for t in types) or len({t.dtype for t in types}) > 1:
            listed = ", ".join(map(str, types))
            raise TypeError(f"block_diag takes matrices of one dtype, got {listed}")
        batch = broadcast_static([t.shape[:-2] for t in types], "block_diag")
        core = [_total([t.shape[k] for t in types]) for k in (-2, -1)]
        return TensorType(types[0].dtype, (*batch, *core))

    def infer_shape(self, node: TensorApply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        batch = _batch_lengths([v.type for v in node.inputs], input_shapes)
        return [(*batch, *(_ends([n[k] for n in input_shapes])[-1] for k in (-2, -1)))]

    def evaluate(self, *arrays: Array) -> Array:
        batch = np.broadcast_shapes(*(a.shape[:-2] for a in arrays))
        rows, columns = (_ends([a.shape[k] for a in arrays]) for k in (-2, -1))
        whole: Array = np.zeros((*batch, rows[-1], columns[-1]), arrays[0].dtype)
        for i, block in enumerate(arrays):
            whole[..., rows[i] : rows[i + 1], columns[i] : columns[i + 1]] = block
        return whole

    def decompose(self, *blocks: Any) -> Sequence[Any]:
        lengths = [lengths_by_variables(v) for v in blocks]
        batch = _batch_lengths([v.type for v in blocks], lengths)
        rows, columns = (_ends([n[k] for n in lengths]) for k in (-2, -1))
        whole = zeros((*batch, rows[-1], columns[-1]), blocks[0].type.dtype)
        for i, block in enumerate(blocks):
            place = whole[..., rows[i] : rows[i + 1], columns[i] : columns[i + 1]]
            own = broadcast_to(block, (*batch, *lengths[i][-2:])) if batch else block
            whole = place.set(own)
        return [whole]

    def pullback(
        self, inputs: Tensors, outputs: Tensors, cotangents: OptionalTensors
    ) -> Cotangents:
        ct = cotangents[0]
        if ct is None:
            return [None] * len(inputs)
        lengths = [lengths_by_variables(v) for v in inputs]
        rows, columns = (_ends([n[k] for n in lengths]) for k in (-2, -1))
        cts: list[TensorVariable] = []
        for i, v in enumerate(inputs):
            part = ct[..., rows[i] : rows[i + 1], columns[i] : columns[i + 1]]
            full, own = (
                TensorType(ct.dtype, (*x.type.shape[:-2], None, None)) for x in (outputs[0], v)
            )
            cts.append(unbroadcast(part, full, own))
        return cts

    def batch(
        self, node: TensorApply, inputs: Sequence[TensorVariable], batch_ndims: Sequence[int]
    ) -> Sequence[TensorVariable]:
        old = max(v.type.ndim for v in node.inputs)
        aligned: list[TensorVariable] = []
        for variable, extra, before in zip(inputs, batch_ndims, node.inputs, strict=True):
            missing = old - before.type.ndim
            if extra and missing:
                order = [*range(extra), *["x"] * missing, *range(extra, variable.type.ndim)]
                variable = variable.dimshuffle(order)
            aligned.append(variable)
        results: list[TensorVariable] = self(*aligned, return_list=True)
        return results


def _total(lengths: Sequence[int | None]) -> int | None:
    """The sum of static lengths; None if a length is dynamic."""
    total = 0
    for n in lengths:
        if n is None:
            return None
        total += n
    return total


def _batch_lengths(types: Sequence[TensorType], lengths: Sequence[Any]) -> Sequence[Any]:
    """The lengths to which the batch dimensions of matrices broadcast. Only lengths that are statically 1 broadcast."""
    ndim = max(t.ndim for t in types) - 2
    batch: list[Any] = [1] * ndim
    for kind, own in zip(types, lengths, strict=True):
        extra = kind.ndim - 2
        for i in range(extra):
            if kind.shape[i] != 1:
                batch[ndim - extra + i] = own[i]
    return batch


@stands_for("kron", "a b")
def kron(a: Any, b: Any) -> TensorVariable:
    """NumPy's Kronecker product: each element of ``a`` is replaced by its product with ``b``.

    The tensor with fewer dimensions gets new dimensions of length 1 in front. The length of each dimension of the
    result is the product of the lengths in ``a`` and ``b``. The result has the common dtype of ``a`` and ``b``.
    """
    x, y = as_tensor_variable(a), as_tensor_variable(b)
    n = max(x.type.ndim, y.type.ndim)
    x, y = shape_padleft(x, n - x.type.ndim), shape_padleft(y, n - y.type.ndim)
    if n == 2:
        dtype = np.result_type(x.type.numpy_dtype, y.type.numpy_dtype).name
        matrix: TensorVariable = Kron()(cast(x, dtype), cast(y, dtype))
        return matrix
    lengths = [i * j for i, j in zip(lengths_by_variables(x), lengths_by_variables(y), strict=True)]
    of_x: list[int | str] = [k for i in range(n) for k in (i, "x")]
    of_y: list[int | str] = [k for i in range(n) for k in ("x", i)]
    product = dimshuffle(x, of_x) * dimshuffle(y, of_y)
    return reshape(product, lengths) if n else product


def block_diag(*arrs: Any) -> TensorVariable:
    """A matrix with the matrices ``arrs`` as blocks on its diagonal, and zeros elsewhere, like SciPy's ``block_diag``.

    A vector counts as a matrix with one row, and a scalar as a matrix with one element. Leading dimensions are batch
    dimensions, which broadcast. The result has the common dtype of the blocks. Without arguments, its shape is (1, 0),
    as in SciPy.
    """
    if not arrs:
        return zeros((1, 0), "float64")
    tensors = [as_tensor_variable(a) for a in arrs]
    dtype = np.result_type(*(v.type.numpy_dtype for v in tensors)).name
    blocks = [cast(shape_padleft(v, max(0, 2 - v.type.ndim)), dtype) for v in tensors]
    matrix: TensorVariable = BlockDiag()(*blocks)
    return matrix


def _ends(lengths: Sequence[Any]) -> list[Any]:
    """The positions where blocks of the lengths ``lengths`` begin, and the position where the last block ends."""
    ends: list[Any] = [0]
    for n in lengths:
        ends.append(ends[-1] + n)
    return ends
