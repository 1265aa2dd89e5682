"""Lowerings of eigenvalues of general matrices (`Eig`, `Eigvals`), and of Sylvester equations with triangular matrices
(`TriangularSylvester`).

They call LAPACK's geev and trsyl. The linkers ``native``, ``c``, ``c|py`` and ``numba`` use these lowerings.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import TensorApply
from occelo_graph.tensors.type import is_complex
from occelo_linalg.lowerings.factorizations.spectra import if_finite
from occelo_linalg.lowerings.lapack import Lapack
from occelo_linalg.lowerings.work_matrices import (
    WorkMatrix,
    lowers_matrices,
    new_result,
    stored_parts,
    whole_tensor,
)
from occelo_linalg.ops.equations.sylvester import TriangularSylvester
from occelo_linalg.ops.factorizations.eig import Eig, Eigvals
from occelo_link.loops.batches import batch_lengths, each_element
from occelo_link.loops.complexes import PARTS
from occelo_link.loops.ir.program import Pointer, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Index, Stored, Tensor


class _Eigenvalues:
    """The memory for LAPACK's geev, and calls of this routine.

    Construct it inside the ``emit`` function of a `Context.step`, since the constructor writes allocations.
    """

    def __init__(self, context: Context, dtype: str, n: Value, vectors: bool) -> None:
        self.context, self.real = context, dtype not in PARTS
        self.lapack = Lapack(context, dtype)
        one = context.i64(1)
        self.matrix = WorkMatrix(context, dtype, n, n)
        self.values = [WorkMatrix(context, dtype, n, one) for _ in range(2 if self.real else 1)]
        self.vectors = WorkMatrix(context, dtype, *((n, n) if vectors else (one, one)))
        arguments: dict[str, str | Value | Pointer] = {
            "jobvl": "N",
            "jobvr": "V" if vectors else "N",
            "n": n,
            "a": self.matrix.pointer,
            "lda": self.matrix.leading,
            "vl": self.vectors.pointer,
            "ldvl": one,
            "vr": self.vectors.pointer,
            "ldvr": self.vectors.leading,
        }
        if self.real:
            arguments |= {"wr": self.values[0].pointer, "wi": self.values[1].pointer}
        else:
            length = context.builder.mul(context.i64(2), n)
            room = self.lapack.memory("real", length)
            arguments |= {"w": self.values[0].pointer, "rwork": Pointer(room, context.i64(0))}
        self.given = {**arguments, **self.lapack.workspace("geev", **arguments)}

    def call(self) -> Value:
        """Compute the eigenvalues of the matrix. Returns LAPACK's info, which is 0 on success."""
        return self.lapack.call("geev", **self.given)

    def _value(self, j: Value) -> list[Value]:
        """The real part and the imaginary part of eigenvalue ``j``."""
        zero = self.context.i64(0)
        if self.real:
            return [matrix.load(j, zero) for matrix in self.values]
        return [self.values[0].load(j, zero, part) for part in range(2)]

    def _element(self, i: Value, j: Value) -> list[Value]:
        """The real part and the imaginary part of element ``i`` of eigenvector ``j``.

        If a real matrix has a pair of complex eigenvalues, LAPACK stores the real part of their eigenvectors in one
        column and the imaginary part in the next.
        """
        if not self.real:
            return [self.vectors.load(i, j, part) for part in range(2)]
        builder, one = self.context.builder, self.context.i64(1)
        turning = self.values[1].load(j, self.context.i64(0))
        zero = builder.const(0.0, turning.dtype)
        first, second = builder.lt(zero, turning), builder.lt(turning, zero)
        real = builder.select(second, builder.sub(j, one), j)
        imaginary = builder.select(first, builder.add(j, one), j)
        other = self.vectors.load(i, imaginary)
        signed = builder.select(second, builder.op("neg", other), zero)
        return [self.vectors.load(i, real), builder.select(first, other, signed)]

    def copy_to(
        self, values: Sequence[Stored], vectors: Sequence[Stored], index: Index, good: Value | None
    ) -> None:
        """Copy the results to ``index`` of the batch. If ``good`` is passed and False, NaN is stored instead."""
        builder = self.context.builder
        with builder.loop(values[0].shape[-1], fixed=True) as loop:
            self._store(values, [*index, loop.index], self._value(loop.index), good)
        if vectors:
            rows, columns = vectors[0].shape[-2:]
            with builder.loop(rows, fixed=True) as down, builder.loop(columns, fixed=True) as along:
                i, j = down.index, along.index
                self._store(vectors, [*index, i, j], self._element(i, j), good)

    def _store(
        self, result: Sequence[Stored], at: Index, values: Sequence[Value], good: Value | None
    ) -> None:
        builder = self.context.builder
        for part, value in zip(result, values, strict=True):
            value = builder.cast(value, part.dtype)
            if good is not None:
                value = builder.select(good, value, builder.const(float("nan"), part.dtype))
            builder.store(part.buffer, part.position(builder, at), value)


@lowers_matrices(Eig, Eigvals)
def lower_eig(
    context: Context, node: TensorApply[Eig | Eigvals], inputs: list[Tensor]
) -> Sequence[Tensor]:
    x, op, has_vectors = inputs[0], node.op, len(node.outputs) == 2
    result = node.outputs[0].type.dtype
    # like NumPy, compute eigenvalues in double precision for all dtypes
    dtype = "complex128" if is_complex(node.inputs[0].type.dtype) else "float64"
    batch = x.shape[:-2]
    n = context.unify(x.shape[-2], x.shape[-1])
    parts = stored_parts(context, x)
    values = new_result(context, result, [*batch, n])
    vectors = new_result(context, result, [*batch, n, n]) if has_vectors else []

    def emit() -> None:
        spectrum = _Eigenvalues(context, dtype, n, has_vectors)
        with each_element(context, batch) as index:
            spectrum.matrix.fill(parts, index)
            good = if_finite(context, op.on_error, spectrum.matrix.all_finite(), spectrum.call)
            spectrum.copy_to(values, vectors, index, good)

    context.step(parts, [*values, *vectors], emit)
    return [whole_tensor(values), whole_tensor(vectors)] if has_vectors else [whole_tensor(values)]


@lowers_matrices(TriangularSylvester)
def lower_triangular_sylvester(
    context: Context, node: TensorApply[TriangularSylvester], inputs: list[Tensor]
) -> Sequence[Tensor]:
    builder, dtype = context.builder, node.outputs[0].type.dtype
    r, s, f = inputs
    m = context.unify(context.unify(r.shape[-2], r.shape[-1]), f.shape[-2])
    n = context.unify(context.unify(s.shape[-2], s.shape[-1]), f.shape[-1])
    batch = batch_lengths(context, inputs, [2, 2, 2])
    operands = [stored_parts(context, x) for x in inputs]
    result = new_result(context, dtype, [*batch, m, n])

    def emit() -> None:
        zero = context.i64(0)
        lapack = Lapack(context, dtype)
        lengths = ((m, m), (n, n), (m, n))
        matrices = [WorkMatrix(context, dtype, *pair) for pair in lengths]
        scale = lapack.memory("real", context.i64(1))
        arguments: dict[str, str | Value | Pointer] = {
            "trana": "N",
            "tranb": "C",
            "isgn": context.i64(1),
            "m": m,
            "n": n,
            "scale": Pointer(scale, zero),
        }
        for name, matrix in zip("abc", matrices, strict=True):
            arguments |= {name: matrix.pointer, f"ld{name}": matrix.leading}
        with each_element(context, batch) as index:
            for matrix, operand in zip(matrices, operands, strict=True):
                matrix.fill(operand, index)
            lapack.call("trsyl", **arguments)
            # if the solution could overflow, the routine solves the equations for a multiple of f
            factor = builder.load(scale, zero, fixed=True)
            solution = matrices[2]
            with builder.loop(n, fixed=True) as along, builder.loop(m, fixed=True) as down:
                for part in range(solution.count):
                    value = solution.load(down.index, along.index, part)
                    value = builder.op("div", value, factor)
                    solution.store(down.index, along.index, value, part)
            solution.copy_to(result, index)

    context.step([part for operand in operands for part in operand], result, emit)
    return [whole_tensor(result)]
