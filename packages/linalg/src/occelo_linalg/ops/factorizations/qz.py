"""Generalised Schur decompositions of pairs of square matrices: the functions `qz` and `ordqz`, and their ops.

Users call `qz` and `ordqz` from `occelo.tensor.linalg`. `riccati_pencils` solves Riccati equations with `SortedQZ`. The
linkers for machine code have lowerings of the ops. The other linkers call the method ``core`` of the ops, which calls
SciPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.errors import MethodNotDefined
from occelo_graph.ir.op import op
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.type import is_complex
from occelo_linalg.ops.factorizations.schur import Output, as_output, check_sort
from occelo_linalg.ops.gradient_formulas import absent, complex_dtype, nothing, require_finite
from occelo_linalg.ops.matrix_op import MatrixOp, as_matrices, check_on_error
from occelo_linalg.ops.scipy_options import ScipyOptions

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.type import TensorType
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["QZ", "SortedQZ", "ordqz", "qz"]


class _Pair(MatrixOp):
    """Base class of the decompositions of two matrices. They have no derivatives."""

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        if all(map(absent, cotangents)):
            return [nothing(cotangents)] * 2
        raise MethodNotDefined(
            f"{self.label} has no gradient: its factors are determined only up to phases and the order of eigenvalues"
        )

    def decomposed(self, arrays: Sequence[Array], **options: Any) -> Any:
        """Decompose two matrices by the SciPy function that has the name ``label``.

        LinAlgError if elements are infinite or NaN, or if the algorithm does not converge.
        """
        a, b = arrays
        for each in arrays:
            require_finite(each)
        output = "c" if is_complex(a.dtype.name) else "r"
        function = getattr(scipy_module("linalg", self.label), self.label)
        try:
            return function(a, b, output=output, **options)
        except ValueError as error:
            if "Reordering" not in str(error):
                raise
            raise np.linalg.LinAlgError(
                "the eigenvalues cannot be separated for reordering"
            ) from None


@op
class QZ(_Pair):
    """Four outputs, AA, BB, Q and Z, with A = Q AA Z^H and B = Q BB Z^H. Q and Z are unitary.

    AA and BB are upper triangular. A real AA may have 2 x 2 blocks on its diagonal.
    """

    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n),(n,n)->(n,n),(n,n),(n,n),(n,n)"

    @property
    def label(self) -> str:
        return "qz"

    def core(self, *arrays: Array) -> tuple[Array, ...]:
        if arrays[0].size == 0:
            return tuple(arrays[0].copy() for _ in range(4))
        return tuple(np.ascontiguousarray(f) for f in self.decomposed(arrays))


@op
class SortedQZ(_Pair):
    """Like `QZ`, but the eigenvalues in the region ``sort`` of the complex plane come first.

    Six outputs: AA, BB, alpha, beta, Q and Z. The eigenvalues are alpha / beta, where alpha is complex.
    """

    sort: str
    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n),(n,n)->(n,n),(n,n),(n),(n),(n,n),(n,n)"
    formula: ClassVar[str | None] = "{label}({inputs}, {sort!r}{options})"

    @property
    def label(self) -> str:
        return "ordqz"

    def dtypes(self, *types: TensorType) -> Sequence[str]:
        own = types[0].dtype
        return [own, own, complex_dtype(own), own, own, own]

    def core(self, *arrays: Array) -> tuple[Array, ...]:
        own = arrays[0].dtype
        if arrays[0].size == 0:
            alpha = np.zeros(0, complex_dtype(own.name))
            left, right, *rest = (np.zeros((0, 0), own) for _ in range(4))
            return left, right, alpha, np.zeros(0, own), *rest
        results = self.decomposed(arrays, sort=self.sort)
        kinds: list[Any] = [own, own, complex_dtype(own.name), own, own, own]
        return tuple(np.ascontiguousarray(f, k) for f, k in zip(results, kinds, strict=True))


def qz(
    A: Any,
    B: Any,
    output: Output = "real",
    *,
    sort: str | None = None,
    on_error: str = "raise",
    **options: Unpack[ScipyOptions],
) -> tuple[TensorVariable, ...]:
    """Generalised Schur decomposition of pairs of square matrices of shape (..., n, n), like SciPy's ``qz``.

    Returns ``AA``, ``BB``, ``Q`` and ``Z``, all of shape (..., n, n), with ``A == Q @ AA @ Z^H`` and ``B == Q @ BB @
    Z^H``. ``Q`` and ``Z`` are unitary, and ``AA`` and ``BB`` are upper triangular. If the matrices are real and
    ``output`` is "real", the results are real, and ``AA`` has a 2 x 2 block on its diagonal for each pair of complex
    eigenvalues. Batch dimensions broadcast. Results have the common precision, or float64 or complex128 for integers.
    ``sort`` is that of `ordqz`. ``options`` are SciPy's.

    There is no gradient (MethodNotDefined). If a matrix has infinite or NaN elements, or if the algorithm does not
    converge, ``numpy.linalg.LinAlgError`` is raised. With ``on_error="nan"``, the results are NaN for this element of
    the batch. ValueError for other shapes or another ``output``, TypeError for float16.
    """
    a, b = (as_output(x, output) for x in as_matrices("qz", A, B, options=options))
    if sort is not None:
        left, right, _, _, *unitary = ordqz(a, b, sort, on_error=on_error)
        return left, right, *unitary
    return tuple(QZ(check_on_error(on_error))(a, b, return_list=True))


def ordqz(
    A: Any,
    B: Any,
    sort: str = "lhp",
    output: Output = "real",
    *,
    on_error: str = "raise",
    **options: Unpack[ScipyOptions],
) -> tuple[TensorVariable, ...]:
    """Like `qz`, but the generalised eigenvalues in a region of the complex plane come first, as in SciPy's ``ordqz``.

    Returns ``AA``, ``BB``, ``alpha``, ``beta``, ``Q`` and ``Z``. The eigenvalues are ``alpha / beta``. ``alpha``, which
    is complex, and ``beta`` have the shape (..., n). ``sort`` is the region: "lhp" (negative real parts), "rhp"
    (positive real parts), "iuc" (inside the unit circle) or "ouc" (outside the unit circle, or infinite). Unlike in
    SciPy, ``sort`` cannot be a function. ``A``, ``B``, ``output``, ``on_error``, ``options`` and other results are as in
    `qz`.
    """
    factor = SortedQZ(check_sort(sort), check_on_error(on_error))
    pair = [as_output(x, output) for x in as_matrices("ordqz", A, B, options=options)]
    return tuple(factor(*pair, return_list=True))
