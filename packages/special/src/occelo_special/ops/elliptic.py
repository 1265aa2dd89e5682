"""Elliptic integrals and functions, of the parameter m, and Carlson's symmetric integrals.

Derivatives are those of DLMF 19.4, 19.18 and 22.13. Differences that cancel for small m are written as Carlson's integral
R_D (DLMF 19.25).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from occelo_graph.ops.elemwise.arithmetic import round as rounded
from occelo_graph.ops.elemwise.arithmetic import sqr, sqrt
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.transcendental import cos, sin
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_special.ops.defining import of_scipy, special, undefined

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "ellipe",
    "ellipeinc",
    "ellipj",
    "ellipk",
    "ellipkinc",
    "ellipkm1",
    "elliprd",
    "elliprf",
]

_POINTERS = "SciPy's compiled function returns its results through pointers"

elliprd: Elemwise = special(
    "elliprd",
    [undefined("the derivative of Carlson's R_D")] * 3,
    "Carlson's symmetric integral R_D(x, y, z).",
)
elliprf: Elemwise = special(
    "elliprf",
    # DLMF 19.18.1
    [
        lambda ct, x, y, z, out: -ct * elliprd(y, z, x) / 6,
        lambda ct, x, y, z, out: -ct * elliprd(x, z, y) / 6,
        lambda ct, x, y, z, out: -ct * elliprd(x, y, z) / 6,
    ],
    "Carlson's symmetric integral R_F(x, y, z).",
)


def _excess(m: TensorVariable) -> TensorVariable:
    """(K(m) - E(m)) / m, which is pi / 4 at 0 (DLMF 19.25.1)."""
    made: TensorVariable = elliprd(0.0, 1 - m, 1.0) / 3
    return made


def _excess_to(phi: TensorVariable, m: TensorVariable) -> TensorVariable:
    """(F(phi, m) - E(phi, m)) / m. Whole turns have the complete integral."""
    turns = rounded(phi / math.pi)
    rest = phi - turns * math.pi
    s = sin(rest)
    part = s * sqr(s) * elliprd(sqr(cos(rest)), 1 - m * sqr(s), 1.0) / 3
    return 2 * turns * _excess(m) + part


ellipe: Elemwise = special(
    "ellipe",
    [lambda ct, m, out: -ct * _excess(m) / 2],
    "Complete elliptic integral of the second kind, for m <= 1.",
)
ellipk: Elemwise = special(
    "ellipk",
    [lambda ct, m, out: ct * (out - _excess(m)) / (2 * (1 - m))],
    "Complete elliptic integral of the first kind, for m <= 1.",
)
ellipkm1: Elemwise = special(
    "ellipkm1",
    [lambda ct, p, out: -ct * (out - elliprd(0.0, p, 1.0) / 3) / (2 * p)],
    "ellipk(1 - p), precise for small p.",
)
ellipeinc: Elemwise = special(
    "ellipeinc",
    [
        lambda ct, phi, m, out: ct * sqrt(1 - m * sqr(sin(phi))),
        lambda ct, phi, m, out: -ct * _excess_to(phi, m) / 2,
    ],
    "Incomplete elliptic integral of the second kind, to the angle phi, for m <= 1.",
)
ellipkinc: Elemwise = special(
    "ellipkinc",
    [
        lambda ct, phi, m, out: ct / sqrt(1 - m * sqr(sin(phi))),
        lambda ct, phi, m, out: (
            ct
            * (out - _excess_to(phi, m) - sin(phi) * cos(phi) / sqrt(1 - m * sqr(sin(phi))))
            / (2 * (1 - m))
        ),
    ],
    "Incomplete elliptic integral of the first kind, to the angle phi, for m <= 1.",
)

# Jacobi's functions


def _bracket(u: TensorVariable, m: TensorVariable) -> TensorVariable:
    """What the derivatives by m have in common: (B - u + sn cn / dn) / (2 (1 - m)), where B is `_excess_to` of am(u)."""
    sn, cn, dn, phi = ellipj(u, m)
    return (_excess_to(phi, m) - u + sn * cn / dn) / (2 * (1 - m))


_jacobi_sn: Elemwise = special(
    "jacobi_sn",
    [
        lambda ct, u, m, out: ct * _jacobi_cn(u, m) * _jacobi_dn(u, m),
        lambda ct, u, m, out: ct * _jacobi_cn(u, m) * _jacobi_dn(u, m) * _bracket(u, m),
    ],
    "Jacobi's elliptic function sn.",
    of_scipy("ellipj", 0),
    python_only=_POINTERS,
)
_jacobi_cn: Elemwise = special(
    "jacobi_cn",
    [
        lambda ct, u, m, out: -ct * _jacobi_sn(u, m) * _jacobi_dn(u, m),
        lambda ct, u, m, out: -ct * _jacobi_sn(u, m) * _jacobi_dn(u, m) * _bracket(u, m),
    ],
    "Jacobi's elliptic function cn.",
    of_scipy("ellipj", 1),
    python_only=_POINTERS,
)
_jacobi_dn: Elemwise = special(
    "jacobi_dn",
    [
        lambda ct, u, m, out: -ct * m * _jacobi_sn(u, m) * _jacobi_cn(u, m),
        # dn**2 = 1 - m sn**2
        lambda ct, u, m, out: (
            -ct
            * _jacobi_sn(u, m)
            * (_jacobi_sn(u, m) / (2 * out) + m * _jacobi_cn(u, m) * _bracket(u, m))
        ),
    ],
    "Jacobi's elliptic function dn.",
    of_scipy("ellipj", 2),
    python_only=_POINTERS,
)
_jacobi_am: Elemwise = special(
    "jacobi_am",
    [
        lambda ct, u, m, out: ct * _jacobi_dn(u, m),
        lambda ct, u, m, out: ct * _jacobi_dn(u, m) * _bracket(u, m),
    ],
    "Jacobi's amplitude: the angle whose sine is sn.",
    of_scipy("ellipj", 3),
    python_only=_POINTERS,
)


def ellipj(u: Any, m: Any) -> tuple[TensorVariable, TensorVariable, TensorVariable, TensorVariable]:
    """Jacobi's elliptic functions sn, cn and dn for 0 <= m <= 1, and the amplitude, the angle whose sine is sn."""
    u, m = as_tensor_variable(u), as_tensor_variable(m)
    return _jacobi_sn(u, m), _jacobi_cn(u, m), _jacobi_dn(u, m), _jacobi_am(u, m)
