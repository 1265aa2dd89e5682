"""Generalised Schur decompositions of pairs of square matrices.

Users find `qz` and `ordqz` in `occelo.tensor.linalg`. The linkers for machine code lower the ops; with other linkers
they run in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.errors import MethodNotDefined
from occelo_graph.ir.op import op
from occelo_graph.ops.linalg.gradient_formulas import absent, complex_dtype, nothing, require_finite
from occelo_graph.ops.linalg.matrix_op import MatrixOp, as_matrices, check_on_error
from occelo_graph.ops.linalg.schur import Output, as_output, check_sort
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.type import is_complex

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.type import TensorType
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["QZ", "SortedQZ", "ordqz", "qz"]


class _Pair(MatrixOp):
    """Base of decompositions of two matrices; they have no derivative."""

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        if all(map(absent, cotangents)):
            return [nothing(cotangents)] * 2
        raise MethodNotDefined(
            f"{self.label} has no gradient: its factors are determined only up to phases and the order of eigenvalues"
        )

    def decomposed(self, arrays: Sequence[Array], **options: Any) -> Any:
        """The results of SciPy's function ``label`` for two matrices.

        LinAlgError for infinite or NaN elements, or if the algorithm does not converge.
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
    """AA, BB, and unitary Q and Z with A = Q AA Z^H and B = Q BB Z^H.

    AA and BB are upper triangular, but a real AA may have 2 x 2 blocks on its diagonal.
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
    """The results of `QZ`, ordered so that the eigenvalues alpha / beta in a region come first.

    alpha (complex) and beta are the third and fourth result.
    """

    sort: str
    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n),(n,n)->(n,n),(n,n),(n),(n),(n,n),(n,n)"

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
        found = self.decomposed(arrays, sort=self.sort)
        kinds: list[Any] = [own, own, complex_dtype(own.name), own, own, own]
        return tuple(np.ascontiguousarray(f, k) for f, k in zip(found, kinds, strict=True))


def qz(
    A: Any, B: Any, output: Output = "real", *, on_error: str = "raise"
) -> tuple[TensorVariable, ...]:
    """Generalised Schur decomposition of pairs of square matrices, both of shape (..., n, n); SciPy's ``qz``.

    Returns ``AA``, ``BB``, ``Q`` and ``Z``, all of shape (..., n, n), with ``A == Q @ AA @ Z^H`` and ``B == Q @ BB @
    Z^H``. ``Q`` and ``Z`` are unitary; ``AA`` and ``BB`` are upper triangular. For real matrices and ``output="real"``
    the results are real, and ``AA`` has a 2 x 2 block on its diagonal for each pair of complex eigenvalues. Batch
    dimensions broadcast. Results have the common precision, float64 or complex128 for integers.

    There is no gradient (MethodNotDefined). A matrix raises ``numpy.linalg.LinAlgError`` if it has infinite or NaN
    elements, or if the algorithm does not converge; with ``on_error="nan"`` its results are NaN. ValueError for other
    shapes or another ``output``; TypeError for float16.
    """
    made = QZ(check_on_error(on_error))
    return tuple(made(*(as_output(x, output) for x in as_matrices("qz", A, B)), return_list=True))


def ordqz(
    A: Any, B: Any, sort: str = "lhp", output: Output = "real", *, on_error: str = "raise"
) -> tuple[TensorVariable, ...]:
    """Like `qz`, with the generalised eigenvalues in a region of the complex plane first; SciPy's ``ordqz``.

    Returns ``AA``, ``BB``, ``alpha``, ``beta``, ``Q`` and ``Z``. The eigenvalues are ``alpha / beta``; ``alpha``
    (complex) and ``beta`` have shape (..., n). ``sort`` is the region: "lhp" (negative real parts), "rhp" (positive
    real parts), "iuc" (inside of the unit circle) or "ouc" (outside, and infinite eigenvalues). Unlike in SciPy,
    ``sort`` cannot be a function of eigenvalues. Everything else is as in `qz`.
    """
    made = SortedQZ(check_sort(sort), check_on_error(on_error))
    return tuple(
        made(*(as_output(x, output) for x in as_matrices("ordqz", A, B)), return_list=True)
    )
