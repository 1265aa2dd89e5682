"""Schur forms in working memory, and lowerings of Schur decompositions (`Schur`, `SortedSchur`).

They call LAPACK's gees and trsen. Eigenvalues are sorted after the decomposition, so LAPACK needs no callback. The
linkers ``native``, ``c``, ``c|py`` and ``numba`` use these lowerings. Lowerings of functions of matrices use
`SchurForm`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from occelo_graph import TensorApply
from occelo_linalg.lowerings.factorizations.spectra import if_finite
from occelo_linalg.lowerings.lapack import Lapack
from occelo_linalg.lowerings.work_matrices import (
    WorkMatrix,
    lowers_matrices,
    new_result,
    stored_parts,
    whole_tensor,
)
from occelo_linalg.ops.factorizations.schur import Schur, SortedSchur
from occelo_link.loops.batches import each_element
from occelo_link.loops.complexes import PARTS
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Pointer, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.lowerings.elemwise.complex import modulus
from occelo_link.loops.tensors import Tensor


class Spectrum:
    """Eigenvalues, or the numerators of generalized eigenvalues (in `qz`), as LAPACK stores them.

    They are one complex vector or two real vectors.

    Construct it inside the ``emit`` function of a `Context.step`, since the constructor writes allocations. ``given``
    maps the names of LAPACK's arguments to the addresses of the vectors.
    """

    def __init__(self, context: Context, dtype: str, n: Value, name: str) -> None:
        self.context, self.real = context, dtype not in PARTS
        self.vectors = [WorkMatrix(context, dtype, n, context.i64(1)) for _ in range(1 + self.real)]
        names = [f"{name}r", f"{name}i"] if self.real else [name]
        self.given: dict[str, str | Value | Pointer] = {
            each: vector.pointer for each, vector in zip(names, self.vectors, strict=True)
        }

    def load(self, i: Value) -> list[Value]:
        """The real part and the imaginary part of eigenvalue ``i``."""
        zero = self.context.i64(0)
        if self.real:
            return [vector.load(i, zero) for vector in self.vectors]
        return [self.vectors[0].load(i, zero, part) for part in range(2)]


def absolute(builder: Builder, parts: Sequence[Value]) -> Value:
    """The absolute value of a complex number, as a float64. ``parts`` are its real part and its imaginary part."""
    re, im = (builder.cast(part, "float64") for part in parts)
    return modulus(builder, (re, im))


def choose_positions(
    context: Context, selected: Pointer, n: Value, test: Callable[[Value], Value]
) -> None:
    """For each position, store in ``selected`` whether a test holds, as a truth value of LAPACK."""
    builder = context.builder
    with builder.loop(n, fixed=True) as loop:
        chosen = builder.cast(test(loop.index), selected.buffer.dtype)
        builder.store(selected.buffer, loop.index, chosen)


class SchurForm:
    """The Schur form of a matrix: A = Z T Z^H, with unitary Z and triangular T.

    If A is real, T may have blocks of two rows on its diagonal. Construct this object inside the ``emit`` function of a
    `Context.step`, since the constructor writes allocations. ``matrix`` is A at first, and T after `call`.
    """

    def __init__(self, context: Context, dtype: str, n: Value) -> None:
        self.context, self.dtype, self.n = context, dtype, n
        one, zero = context.i64(1), context.i64(0)
        self.lapack = lapack = Lapack(context, dtype)
        self.matrix, self.vectors = (WorkMatrix(context, dtype, n, n) for _ in range(2))
        self.values = Spectrum(context, dtype, n, "w")
        unread = Pointer(lapack.integers(one), zero)
        arguments: dict[str, str | Value | Pointer] = {
            "jobvs": "V",
            "sort": "N",
            "select": unread,
            "n": n,
            "a": self.matrix.pointer,
            "lda": self.matrix.leading,
            "sdim": Pointer(lapack.integers(one), zero),
            "vs": self.vectors.pointer,
            "ldvs": self.vectors.leading,
            "bwork": unread,
            **self.values.given,
        }
        if dtype in PARTS:
            arguments["rwork"] = Pointer(lapack.memory("real", n), zero)
        self.given = {**arguments, **lapack.workspace("gees", **arguments)}

    def call(self) -> Value:
        """Decompose the matrix. Returns LAPACK's info, which is 0 on success."""
        return self.lapack.call("gees", **self.given)

    def turn_blocks(self, matrix: WorkMatrix) -> None:
        """Replace a complex matrix M by G M G^H, where G T G^H is triangular for the Schur form T of a real matrix.

        M has no elements below the blocks of T. G is unitary and Hermitian, so turning twice gives M again. For each
        block of T with the lower element s and the eigenvalues a + i w and a - i w, G has a block with the elements w,
        i s, -i s and -w, divided by the root of w^2 + s^2. This needs equal elements on the diagonals of the blocks of
        T, as LAPACK makes them.
        """
        builder, n, one = self.context.builder, self.n, self.context.i64(1)

        def turn(k: Value, imaginary: Value) -> tuple[Value, ...]:
            m = builder.add(k, one)
            below = self.matrix.load(m, k)
            size = modulus(builder, (imaginary, below))
            cosine, sine = (builder.op("div", x, size) for x in (imaginary, below))
            with builder.loop(n, start=k, fixed=True) as loop:
                _turn(matrix, (k, loop.index), (m, loop.index), cosine, sine)
            opposite = builder.op("neg", sine)
            with builder.loop(builder.add(m, one), fixed=True) as loop:
                _turn(matrix, (loop.index, k), (loop.index, m), cosine, opposite)
            return ()

        with builder.loop(n, fixed=True) as loop:
            k, (_, imaginary) = loop.index, self.values.load(loop.index)
            # the first eigenvalue of a pair has the positive imaginary part
            first = builder.lt(builder.const(0.0, imaginary.dtype), imaginary)
            builder.branch(first, lambda: turn(k, imaginary), tuple)

    def ordering(self, test: Callable[[Sequence[Value]], Value]) -> Callable[[], Sequence[Value]]:
        """Return a function that writes code. The code moves the eigenvalues that satisfy ``test`` to the front.

        The function returns LAPACK's info, and the number of eigenvalues that satisfy the test. Rounding errors may
        keep LAPACK from moving all of them to the front; then the info is not 0.
        """
        context, builder, lapack = self.context, self.context.builder, self.lapack
        one, zero = context.i64(1), context.i64(0)
        selected = Pointer(lapack.integers(self.n), zero)
        arguments: dict[str, str | Value | Pointer] = {
            "job": "N",
            "compq": "V",
            "select": selected,
            "n": self.n,
            "t": self.matrix.pointer,
            "ldt": self.matrix.leading,
            "q": self.vectors.pointer,
            "ldq": self.vectors.leading,
            "m": Pointer(lapack.integers(one), zero),
            "s": Pointer(lapack.memory("real", one), zero),
            "sep": Pointer(lapack.memory("real", one), zero),
            **self.values.given,
        }
        arguments |= lapack.workspace("trsen", **arguments)

        def put_in_order() -> Sequence[Value]:
            choose_positions(context, selected, self.n, lambda i: test(self.values.load(i)))
            info = lapack.call("trsen", **arguments)
            with builder.loop(self.n, fixed=True) as loop:
                count, apart = loop.carry(zero), loop.carry(zero)
                inside = test(self.values.load(loop.index))
                late = builder.op("and", inside, builder.lt(count.param, loop.index))
                count.following = builder.add(count.param, builder.cast(inside, "int64"))
                apart.following = builder.op("or", apart.param, builder.cast(late, "int64"))
            return [builder.op("or", info, apart.result), count.result]

        return put_in_order


def _turn(
    matrix: WorkMatrix,
    first: tuple[Value, Value],
    second: tuple[Value, Value],
    cosine: Value,
    sine: Value,
) -> None:
    """Replace the elements x and y of a complex matrix by c x + i s y and -i s x - c y."""
    op = matrix.context.builder.op
    (a, b), (p, q) = ([matrix.load(*at, part) for part in range(2)] for at in (first, second))
    ca, cb, cp, cq = (op("mul", cosine, part) for part in (a, b, p, q))
    sa, sb, sp, sq = (op("mul", sine, part) for part in (a, b, p, q))
    matrix.store(*first, op("sub", ca, sq), 0)
    matrix.store(*first, op("add", cb, sp), 1)
    matrix.store(*second, op("sub", sb, cp), 0)
    matrix.store(*second, op("neg", op("add", sa, cq)), 1)


def _inside(builder: Builder, sort: str) -> Callable[[Sequence[Value]], Value]:
    """Return a function that writes the test whether an eigenvalue is in a region of the complex plane.

    The region is "lhp" or "rhp" (left or right half plane), or "iuc" or "ouc" (inside or outside the unit circle).
    """

    def test(parts: Sequence[Value]) -> Value:
        if sort in ("lhp", "rhp"):
            zero = builder.const(0.0, parts[0].dtype)
            return builder.lt(parts[0], zero) if sort == "lhp" else builder.op("le", zero, parts[0])
        size, one = absolute(builder, parts), builder.const(1.0, "float64")
        return builder.op("le", size, one) if sort == "iuc" else builder.lt(one, size)

    return test


@lowers_matrices(Schur, SortedSchur)
def lower_schur(
    context: Context, node: TensorApply[Schur | SortedSchur], inputs: list[Tensor]
) -> Sequence[Tensor]:
    x, op, builder = inputs[0], node.op, context.builder
    dtype, batch = node.inputs[0].type.dtype, x.shape[:-2]
    n = context.unify(x.shape[-2], x.shape[-1])
    parts = stored_parts(context, x)
    form, unitary = (new_result(context, dtype, [*batch, n, n]) for _ in range(2))
    counts = [context.new_stored("int64", batch)] if isinstance(op, SortedSchur) else []

    def emit() -> None:
        zero = context.i64(0)
        schur = SchurForm(context, dtype, n)
        call, count = schur.call, schur.lapack.integers(context.i64(1))
        if isinstance(op, SortedSchur):
            put_in_order = schur.ordering(_inside(builder, op.sort))

            def ordered() -> Sequence[Value]:
                again, number = put_in_order()
                builder.store(count, zero, builder.cast(number, count.dtype))
                return [again]

            def call() -> Value:
                info = schur.call()
                return builder.branch(builder.eq(info, zero), ordered, lambda: [info])[0]

        with each_element(context, batch) as index:
            schur.matrix.fill(parts, index)
            good = if_finite(context, op.on_error, schur.matrix.all_finite(), call)
            schur.matrix.copy_to(form, index, good)
            schur.vectors.copy_to(unitary, index, good)
            for result in counts:
                number = builder.cast(builder.load(count, zero, fixed=True), "int64")
                if good is not None:
                    number = builder.select(good, number, zero)
                builder.store(result.buffer, result.position(builder, index), number)

    context.step(parts, [*form, *unitary, *counts], emit)
    return [whole_tensor(form), whole_tensor(unitary), *counts]
