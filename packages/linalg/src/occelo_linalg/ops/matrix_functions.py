"""Functions of square matrices: `expm` (exponential), `logm` (principal logarithm) and `sqrtm` (principal square root).

`occelo_linalg.functions` collects the functions, and users call them from `occelo.tensor.linalg`. Rules and the inference
of facts in `occelo_rewrite` use the ops. The NumPy code of the ops calls SciPy. The linkers for machine code have
lowerings of all three ops, and the linkers for JAX and PyTorch have one of `Expm`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.create import zeros_like
from occelo_graph.ops.join import concatenate
from occelo_graph.optional_scipy import scipy_module
from occelo_linalg.ops.equations.sylvester import Sylvester
from occelo_linalg.ops.matrix_op import MatrixOp, as_matrices, check_on_error, hermitian

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["Expm", "Logm", "Sqrtm", "expm", "logm", "sqrtm"]

LinAlgError = np.linalg.LinAlgError


class _MatrixFunction(MatrixOp):
    """Base class of ops that compute an analytic function of square matrices by SciPy."""

    signature: ClassVar[str] = "(n,n)->(n,n)"
    smallest_size: ClassVar[float] = 0.0
    """Imaginary parts of a result that are much smaller than this number count as rounding errors.

    They also count as rounding errors if they are much smaller than the result's largest element in absolute value.
    """

    def core(self, *arrays: Array) -> Array:
        (a,) = arrays
        if a.size == 0:
            return a.copy()
        if not np.isfinite(a).all():
            return self.of_infinite(a)
        value = self.compute(a)
        if np.iscomplexobj(value) and not np.iscomplexobj(a):
            value = self._real(value)
        return value.astype(a.dtype, copy=False)

    def compute(self, a: Array) -> Array:
        """Call SciPy's function for a matrix with elements that are all finite. LinAlgError if there is no result."""
        function = getattr(scipy_module("linalg", self.label), self.label)
        with np.errstate(all="ignore"), warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            # computed in float64 at least, since SciPy's estimate of the error assumes it
            value = np.asarray(function(a.astype(np.result_type(a, np.float64))))
        # with this warning, SciPy returns the logarithm of a perturbed matrix
        singular = any("ExactlySingular" in w.category.__name__ for w in said)
        if singular or not np.isfinite(value).all() or not self.is_right(a, value):
            raise LinAlgError(f"the matrix is singular and has no {self.label}")
        return value

    def of_infinite(self, a: Array) -> Array:
        """The result for a matrix with elements that are not finite."""
        return np.full_like(a, np.nan)

    def is_right(self, a: Array, value: Array) -> bool:
        """Whether ``value`` is correct for ``a``.

        If ``a`` is singular, SciPy may have computed the function of a perturbed matrix.
        """
        return True

    def _real(self, value: Array) -> Array:
        """The real part of the result ``value`` for a real matrix. LinAlgError if the result is not real up to rounding."""
        size = np.abs(value).max(initial=self.smallest_size)
        if np.abs(np.imag(value)).max(initial=0.0) > size * np.sqrt(np.finfo(value.dtype).eps):
            raise LinAlgError(
                f"the real matrix has negative eigenvalues, so its {self.label} is complex; cast it to complex"
            )
        return np.asarray(np.real(value))

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        # Mathias (1996), A chain rule for matrix functions and applications, theorem 2.1
        ct = cotangents[0]
        if ct is None or ct is ZERO:
            return [ct]
        a = hermitian(inputs[0])
        n = a.shape[-1]
        a = a + zeros_like(ct)  # the cotangent may have more batch dimensions than a
        above = concatenate([a, ct], axis=-1)
        below = concatenate([zeros_like(a), a], axis=-1)
        return [self(concatenate([above, below], axis=-2))[..., :n, n:]]


@op
class Expm(_MatrixFunction):
    """Computes the exponentials of square matrices."""

    def of_infinite(self, a: Array) -> Array:
        if np.any(a[~np.eye(len(a), dtype=bool)] != 0):
            return np.full_like(a, np.nan)
        with np.errstate(all="ignore"):
            return np.diag(np.exp(np.diagonal(a)))

    def compute(self, a: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(scipy_module("linalg", "expm").expm(a))


@op
class Logm(_MatrixFunction):
    """Computes the principal logarithms of square matrices."""

    on_error: str = "raise"
    # the error of the logarithm of a rounded number is absolute, even if the logarithm is small
    smallest_size: ClassVar[float] = 1.0


@op
class Sqrtm(_MatrixFunction):
    """Computes the principal square roots of square matrices."""

    on_error: str = "raise"

    def is_right(self, a: Array, value: Array) -> bool:
        exact = a.astype(value.dtype)
        with np.errstate(all="ignore"):
            error, whole = (np.sqrt(np.sum(np.abs(x) ** 2)) for x in (value @ value - exact, exact))
        return bool(error <= whole * np.sqrt(np.finfo(value.dtype).eps))

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        # the derivative of X X = A is a Sylvester equation: X dX + dX X = dA
        ct = cotangents[0]
        if ct is None or ct is ZERO:
            return [ct]
        root = hermitian(outputs[0])
        return [Sylvester(self.on_error)(root, root, ct)]


def expm(A: Any) -> TensorVariable:
    """The exponentials of square matrices ``A`` of shape (..., n, n), like SciPy's ``expm``.

    The result has the dtype of ``A``, or float64 for integers. If a matrix has elements that are not
    finite, its exponential is that of each element of the diagonal if it is diagonal, and else NaN everywhere. For a cotangent G, the gradient is the upper right block of the exponential of ``[[A^H, G], [0, A^H]]``
    (Mathias 1996). ValueError if ``A`` is not square, TypeError for float16.
    """
    (x,) = as_matrices("expm", A)
    exponential: TensorVariable = Expm()(x)
    return exponential


def logm(A: Any, *, on_error: str = "raise") -> TensorVariable:
    """The principal logarithms of square matrices ``A`` of shape (..., n, n), like SciPy's ``logm``.

    The result has the dtype of ``A``, or float64 for integers. Unlike in SciPy, the logarithm of a real matrix is real;
    for complex results, cast ``A`` to complex128. For a cotangent G, the gradient is the upper right block of the
    logarithm of ``[[A^H, G], [0, A^H]]`` (Mathias 1996).

    If a matrix is singular, or if it is real and its logarithm is not, ``numpy.linalg.LinAlgError`` is raised. With
    ``on_error="nan"``, its logarithm is NaN. If a matrix is singular but for rounding, as ``[[1, 2], [2, 4]]``, it
    depends on rounding errors of the backend whether it counts as singular, and otherwise what its logarithm is. ValueError if ``A`` is not square, TypeError for float16.
    """
    (x,) = as_matrices("logm", A)
    logarithm: TensorVariable = Logm(check_on_error(on_error))(x)
    return logarithm


def sqrtm(A: Any, *, on_error: str = "raise") -> TensorVariable:
    """The principal square roots of square matrices ``A`` of shape (..., n, n), like SciPy's ``sqrtm``.

    The result has the dtype of ``A``, or float64 for integers. Unlike in SciPy, the root of a real matrix is real; for
    complex results, cast ``A`` to complex128. The gradient solves a Sylvester equation, which is singular if ``A`` is
    singular.

    If a matrix has no root, or if it is real and its root is not, ``numpy.linalg.LinAlgError`` is raised. With
    ``on_error="nan"``, its root is NaN. ValueError if ``A`` is not square, TypeError for float16.
    """
    (x,) = as_matrices("sqrtm", A)
    root: TensorVariable = Sqrtm(check_on_error(on_error))(x)
    return root
