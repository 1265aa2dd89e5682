"""The ``__getattr__`` of the namespaces of tensor functions, which handles names that are not imported or do not exist.

The namespaces `occelo.tensor` and `occelo_graph.tensor` use it, and so do their namespaces ``linalg``. Names in `LATE`
and `LATE_FUNCTIONS` are imported at their first use. For a name that only similar libraries have, the error names a
replacement if Occelo has one.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

__all__ = [
    "ABSENT",
    "AT_TOP",
    "LATE",
    "LATE_FUNCTIONS",
    "LINEAR_ABSENT",
    "missing_linear_algebra",
    "missing_name_hints",
]

AT_TOP = frozenset(
    "Assert CheckAndRaise Function In Lop Mode OpFromGraph Out Print Rop as_op associative_scan config "
    "debugprint disconnected_grad dprint evaluate filter foldl foldr fori_loop function function_dump grad "
    "grad_clip grad_scale hessian "
    "hessian_vector_product ifelse jacobian load loop map numeric_grad pp pprint pullback pushforward "
    "pydotprint reduce save scan scan_checkpoints subgraph_grad switch_case to_dot undefined_grad until verify_grad while_loop "
    "wrap_py zero_grad".split()
)
"""Names in `occelo` that a user may look for in `occelo.tensor`."""

ABSENT = frozenset(
    "argsort batch_normalization bincount conv conv2d convolve1d "
    "convolve2d fft gradient irfft "
    "median minimize "
    "optimize percentile quantile rfft root "
    "searchsorted signal sort sparse "
    "topk unique wrap_jax xtensor RandomStreams".split()
)
"""Names of similar tensor libraries that Occelo does not have yet."""

LATE = {
    "linalg": "occelo_graph.linalg",
    "random": "occelo_graph.random",
    "stats": "occelo_graph.stats",
}
"""Maps each namespace in ``tensor`` that is imported at its first use to its module."""

LATE_FUNCTIONS = {
    "cross": "occelo_graph.ops.blas.cross",
    "einsum": "occelo_graph.ops.blas.einsum",
    "kron": "occelo_graph.ops.linalg.block_matrices",
}
"""Maps each function in ``tensor`` that is imported at its first use to its module."""

_LINEAR = frozenset("nlinalg slinalg".split())
"""Names of submodules for linear algebra in similar tensor libraries."""

_OLD_NAMES = {"matrix_inverse": "inv", "pseudoinverse": "pinv", "inverse": "inv"}
"""Maps older names of functions of linear algebra to Occelo's names."""

LINEAR_ABSENT = frozenset(
    "bandwidth cho_solve_banded cholesky_banded circulant companion convolution_matrix coshm cosm "
    "cossin dft diagsvd eig_banded eigh_tridiagonal eigvals_banded eigvalsh_tridiagonal expm_cond "
    "expm_frechet fiedler fractional_matrix_power funm hadamard hankel helmert hessenberg hilbert "
    "invhilbert ishermitian issymmetric khatri_rao ldl leslie matmul_toeplitz matrix_balance null_space "
    "orth orthogonal_procrustes pascal pinvh polar qr_multiply rq signm "
    "sinhm sinm solve_circulant solve_lyapunov subspace_angles tanhm tanm".split()
)
"""Names in ``scipy.linalg`` that Occelo does not have yet."""

_FLAT = frozenset(
    "basic blas elemwise extra_ops math nnet opt raw_random rewriting special subtensor "
    "type_other utils var variable".split()
)
"""Names of submodules of similar tensor libraries. In Occelo, their functions are in ``tensor`` itself."""


def missing_name_hints(module: str, top: str) -> Callable[[str], object]:
    """The ``__getattr__`` for ``module``, the namespace of tensor functions in the package ``top``.

    It imports the names in `LATE` and `LATE_FUNCTIONS`. For all other names it raises AttributeError with a hint.
    """

    def find(name: str) -> object:
        if name in LATE:
            return importlib.import_module(LATE[name])
        if name in LATE_FUNCTIONS:
            return getattr(importlib.import_module(LATE_FUNCTIONS[name]), name)
        text = f"module {module!r} has no attribute {name!r}"
        if name in AT_TOP:
            text += f"; use {top}.{name}"
        elif name in ABSENT:
            text += "; Occelo does not have it yet"
        elif name in _FLAT:
            text += f"; all functions of tensors are in {module} itself"
        elif name in _LINEAR:
            text += f"; linear algebra is in {module}.linalg"
        elif not name.startswith("_"):
            ours = _OLD_NAMES.get(name, name)
            if ours in dir(importlib.import_module(LATE["linalg"])):
                text += f"; use {module}.linalg.{ours}"
        raise AttributeError(text, name=name)

    return find


def missing_linear_algebra(module: str, tensor: str) -> Callable[[str], object]:
    """The ``__getattr__`` for ``module``, the namespace of linear algebra. It raises AttributeError with a hint.

    ``tensor`` is the name of the namespace of tensor functions, for the hint.
    """

    def find(name: str) -> object:
        text = f"module {module!r} has no attribute {name!r}"
        functions = importlib.import_module("occelo_graph.tensor")
        if name in _OLD_NAMES:
            text += f"; use {module}.{_OLD_NAMES[name]}"
        elif not name.startswith("_") and (name in dir(functions) or name in LATE_FUNCTIONS):
            text += f"; use {tensor}.{name}"
        elif name in LINEAR_ABSENT:
            text += "; Occelo does not have it yet"
        raise AttributeError(text, name=name)

    return find
