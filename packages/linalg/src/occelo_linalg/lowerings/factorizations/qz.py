"""Generalised Schur forms in working memory, and lowerings of generalised Schur decompositions (`QZ`, `SortedQZ`).

They call LAPACK's gges and tgsen. Eigenvalues are sorted after the decomposition, so LAPACK needs no callback. The
linkers ``native``, ``c``, ``c|py`` and ``numba`` use these lowerings. Riccati equations decompose to `SortedQZ`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from occelo_graph import TensorApply
from occelo_linalg.lowerings.factorizations.schur import Spectrum, absolute, choose_positions
from occelo_linalg.lowerings.factorizations.spectra import if_finite
from occelo_linalg.lowerings.lapack import Lapack
from occelo_linalg.lowerings.work_matrices import (
    WorkMatrix,
    lowers_matrices,
    new_result,
    stored_parts,
    whole_tensor,
)
from occelo_linalg.ops.factorizations.qz import QZ, SortedQZ
from occelo_link.loops.batches import batch_lengths, each_element
from occelo_link.loops.complexes import PARTS
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Pointer, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.lowerings.elemwise.complex import divided
from occelo_link.loops.tensors import Stored, Tensor

Test = Callable[[Sequence[Value], Sequence[Value]], Value]
"""A test of an eigenvalue. Its arguments are the real and imaginary parts of the numerator, and those of the
denominator.
"""


class PencilForm:
    """The generalised Schur form of two matrices: A = Q AA Z^H and B = Q BB Z^H, with unitary Q and Z.

    Construct it inside the ``emit`` function of a `Context.step`, since the constructor writes allocations.

    ``matrices`` are A and B at first, and AA and BB after `call`.
    """

    def __init__(self, context: Context, dtype: str, n: Value, sort: str = "") -> None:
        self.context, self.dtype, self.n = context, dtype, n
        self.one, self.zero = context.i64(1), context.i64(0)
        self.lapack = lapack = Lapack(context, dtype)
        self.matrices = [WorkMatrix(context, dtype, n, n) for _ in range(2)]
        self.left, self.right = (WorkMatrix(context, dtype, n, n) for _ in range(2))
        self.alpha = Spectrum(context, dtype, n, "alpha")
        self.beta = WorkMatrix(context, dtype, n, self.one)
        a, b = self.matrices
        self._pair: dict[str, str | Value | Pointer] = {
            "n": n,
            "a": a.pointer,
            "lda": a.leading,
            "b": b.pointer,
            "ldb": b.leading,
            "beta": self.beta.pointer,
            **self.alpha.given,
        }
        unread = Pointer(lapack.integers(self.one), self.zero)
        arguments: dict[str, str | Value | Pointer] = {
            **self._pair,
            "jobvsl": "V",
            "jobvsr": "V",
            "sort": "N",
            "selctg": unread,
            "sdim": Pointer(lapack.integers(self.one), self.zero),
            "vsl": self.left.pointer,
            "ldvsl": self.left.leading,
            "vsr": self.right.pointer,
            "ldvsr": self.right.leading,
            "bwork": unread,
        }
        if dtype in PARTS:
            length = context.builder.mul(context.i64(8), n)
            arguments["rwork"] = Pointer(lapack.memory("real", length), self.zero)
        self._given = {**arguments, **lapack.workspace("gges", **arguments)}
        self._in_order = self._ordering(sort) if sort else None

    def all_finite(self) -> Value:
        """Whether all elements of both matrices are finite."""
        builder = self.context.builder
        return builder.op("and", *(matrix.all_finite() for matrix in self.matrices))

    def call(self) -> Value:
        """Decompose the matrices, and sort the eigenvalues if an order was requested. Returns LAPACK's info, 0 on
        success.
        """
        builder = self.context.builder
        info = self.lapack.call("gges", **self._given)
        if self._in_order is None:
            return info
        put_in_order = self._in_order
        good = builder.eq(info, self.zero)
        return builder.branch(good, lambda: [put_in_order()], lambda: [info])[0]

    def load_beta(self, i: Value) -> list[Value]:
        """The parts of the denominator of eigenvalue ``i``: its real part and, for complex matrices, its imaginary
        part.
        """
        return [self.beta.load(i, self.zero, part) for part in range(self.beta.count)]

    def _ordering(self, sort: str) -> Callable[[], Value]:
        """Return a function that writes the statements that sort the eigenvalues. The function returns LAPACK's info."""
        lapack, one, zero = self.lapack, self.one, self.zero
        test = in_region(self.context.builder, sort)
        selected = Pointer(lapack.integers(self.n), zero)
        arguments: dict[str, str | Value | Pointer] = {
            **self._pair,
            "ijob": zero,
            "wantq": one,
            "wantz": one,
            "select": selected,
            "q": self.left.pointer,
            "ldq": self.left.leading,
            "z": self.right.pointer,
            "ldz": self.right.leading,
            "m": Pointer(lapack.integers(one), zero),
            "pl": Pointer(lapack.memory("real", one), zero),
            "pr": Pointer(lapack.memory("real", one), zero),
            "dif": Pointer(lapack.memory("real", self.context.i64(2)), zero),
        }
        arguments |= lapack.workspace("tgsen", **arguments)

        def put_in_order() -> Value:
            choose_positions(
                self.context,
                selected,
                self.n,
                lambda i: test(self.alpha.load(i), self.load_beta(i)),
            )
            return lapack.call("tgsen", **arguments)

        return put_in_order


def in_region(builder: Builder, sort: str) -> Test:
    """Return a function that writes the test whether an eigenvalue is in a region of the complex plane.

    The region is "lhp" or "rhp" (left or right half plane), or "iuc" or "ouc" (inside or outside the unit circle).
    Infinite eigenvalues are only in "ouc".
    """

    def test(alpha: Sequence[Value], beta: Sequence[Value]) -> Value:
        zero, one = (builder.const(x, "float64") for x in (0.0, 1.0))
        above = builder.cast(alpha[0], "float64"), builder.cast(alpha[1], "float64")
        below = [builder.cast(part, "float64") for part in beta]
        finite = builder.op("ne", below[0], zero)
        if len(below) == 1:
            divisor = builder.select(finite, below[0], one)
            ratio = builder.op("div", above[0], divisor), builder.op("div", above[1], divisor)
        else:
            finite = builder.op("or", finite, builder.op("ne", below[1], zero))
            divisors = builder.select(finite, below[0], one), builder.select(finite, below[1], zero)
            ratio = divided(builder, above, divisors)
        if sort == "lhp":
            return builder.op("and", finite, builder.lt(ratio[0], zero))
        if sort == "rhp":
            return builder.op("and", finite, builder.lt(zero, ratio[0]))
        size = absolute(builder, ratio)
        if sort == "iuc":
            return builder.op("and", finite, builder.lt(size, one))
        some = builder.op("or", builder.op("ne", above[0], zero), builder.op("ne", above[1], zero))
        return builder.select(finite, builder.lt(one, size), some)

    return test


@lowers_matrices(QZ, SortedQZ)
def lower_pair(
    context: Context, node: TensorApply[QZ | SortedQZ], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op, dtype = node.op, node.inputs[0].type.dtype
    sort = op.sort if isinstance(op, SortedQZ) else ""
    batch = batch_lengths(context, inputs, [2, 2])
    n = context.unify(inputs[0].shape[-2], inputs[0].shape[-1])
    for length in inputs[1].shape[-2:]:
        n = context.unify(n, length)
    operands = [stored_parts(context, x) for x in inputs]
    results = [new_result(context, dtype, [*batch, n, n]) for _ in range(4)]
    # the parts of alpha, then the parts of beta
    real = PARTS.get(dtype, dtype)
    values = [context.new_stored(real, [*batch, n]) for _ in range(2)] if sort else []
    values += new_result(context, dtype, [*batch, n]) if sort else []

    def emit() -> None:
        form = PencilForm(context, dtype, n, sort)
        with each_element(context, batch) as index:
            for matrix, operand in zip(form.matrices, operands, strict=True):
                matrix.fill(operand, index)
            good = if_finite(context, op.on_error, form.all_finite(), form.call)
            for matrix, result in zip(
                (*form.matrices, form.left, form.right), results, strict=True
            ):
                matrix.copy_to(result, index, good)
            if values:
                _copy_values(context, form, values, index, good)

    context.step(
        [p for o in operands for p in o], [*(p for r in results for p in r), *values], emit
    )
    left, right, *unitary = map(whole_tensor, results)
    if not sort:
        return [left, right, *unitary]
    return [left, right, whole_tensor(values[:2]), whole_tensor(values[2:]), *unitary]


def _copy_values(
    context: Context,
    form: PencilForm,
    values: Sequence[Stored],
    index: Sequence[Value],
    good: Value | None,
) -> None:
    """Copy the numerators and denominators of eigenvalues to ``index`` of the results.

    If ``good`` is passed and False, NaN is stored instead.
    """
    builder = context.builder
    with builder.loop(form.n, fixed=True) as loop:
        i = loop.index
        for result, value in zip(values, [*form.alpha.load(i), *form.load_beta(i)], strict=True):
            if good is not None:
                value = builder.select(good, value, builder.const(float("nan"), result.dtype))
            builder.store(result.buffer, result.position(builder, [*index, i]), value)
