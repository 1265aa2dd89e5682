"""The ``__getattr__`` of the namespace of linear algebra, which tells where a name is that is not there."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from occelo_graph.missing_names import name_error

LINEAR_ABSENT = frozenset(
    "bandwidth cho_solve_banded cholesky_banded circulant companion convolution_matrix coshm cosm "
    "cossin dft diagsvd eig_banded eigh_tridiagonal eigvals_banded eigvalsh_tridiagonal expm_cond "
    "expm_frechet fiedler fractional_matrix_power funm hadamard hankel helmert hessenberg hilbert "
    "invhilbert ishermitian issymmetric khatri_rao ldl leslie matmul_toeplitz matrix_balance null_space "
    "orth orthogonal_procrustes pascal pinvh polar qr_multiply rq signm "
    "sinhm sinm solve_circulant solve_lyapunov subspace_angles tanhm tanm".split()
)
"""Names in ``scipy.linalg`` that Occelo does not have yet."""

_OLD_NAMES = {"matrix_inverse": "inv", "pseudoinverse": "pinv", "inverse": "inv"}
"""Maps older names of functions of linear algebra to Occelo's names."""


def missing_linear_algebra(module: str, tensor: str) -> Callable[[str], object]:
    """The ``__getattr__`` for ``module``, the namespace of linear algebra. It raises AttributeError with a hint.

    ``tensor`` is the name of the namespace of tensor functions, for the hint.
    """

    def find(name: str) -> object:
        text = f"module {module!r} has no attribute {name!r}"
        modules = map(importlib.import_module, ("occelo_graph.tensor", "occelo_arrays.functions"))
        if name in _OLD_NAMES:
            text += f"; use {module}.{_OLD_NAMES[name]}"
        elif not name.startswith("_") and any(name in dir(each) for each in modules):
            text += f"; use {tensor}.{name}"
        elif name in LINEAR_ABSENT:
            text += "; Occelo does not have it yet"
        raise name_error(module, name, text)

    return find
