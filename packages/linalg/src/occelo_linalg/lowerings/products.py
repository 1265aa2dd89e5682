"""`Products`: products of square matrices in working memory, computed with BLAS's gemm.

The lowerings of matrix exponentials, square roots and logarithms use it.
"""

from __future__ import annotations

from occelo_linalg.lowerings.lapack import LETTERS
from occelo_link.loops.complexes import PARTS
from occelo_link.loops.ir.program import Pointer, Reference, Value
from occelo_link.loops.lowering import Context


class Products:
    """Products of square matrices of one size and dtype, in column-major order.

    Construct it inside the ``emit`` function of a `Context.step`, since the constructor writes an allocation.
    """

    def __init__(self, context: Context, dtype: str, n: Value) -> None:
        self.context, self.dtype, self.n = context, dtype, n
        builder, real = context.builder, PARTS.get(dtype, dtype)
        # the factors 1 and 0 of gemm, each with an imaginary part for complex matrices
        self.factors = builder.scratch(real, context.i64(4))
        for k, value in enumerate((1.0, 0.0, 0.0, 0.0)):
            builder.store(self.factors, context.i64(k), builder.const(value, real))

    def multiply(self, x: Pointer, y: Pointer, result: Pointer, trans: str = "N") -> None:
        """Write the product of ``x`` and ``y`` to ``result``. If ``trans`` is "C", ``y`` is replaced by its conjugate
        transpose.
        """
        builder, integer = self.context.builder, self.context.blas_integer
        letters = [Reference(builder.const(ord(letter), "int8")) for letter in ("N", trans)]
        n = Reference(builder.cast(self.n, integer))
        leading = builder.op("max", self.n, self.context.i64(1))
        step = Reference(builder.cast(leading, integer))
        one, zero = (Pointer(self.factors, self.context.i64(k)) for k in (0, 2))
        builder.invoke(
            f"blas:{LETTERS[self.dtype]}gemm",
            [*letters, n, n, n, one, x, step, y, step, zero, result, step],
            writes=[result.buffer],
        )
