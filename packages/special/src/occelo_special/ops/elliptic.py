"""Elliptic integrals and functions, of the parameter m, and Carlson's symmetric integrals.

Derivatives are those of DLMF 19.4, 19.18 and 22.13. Differences that cancel for small m are written as Carlson's integral
R_D (DLMF 19.25).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from occelo_graph.ops.elemwise.arithmetic import eq, lt, sqr, sqrt, switch
from occelo_graph.ops.elemwise.arithmetic import round as rounded
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.transcendental import cos, sin
from occelo_special.ops.defining import of_scipy, reals, special, undefined

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
    excess: TensorVariable = elliprd(0.0, 1 - m, 1.0) / 3
    return excess


def _slope_of_first(p: TensorVariable) -> TensorVariable:
    """The derivative of K(m) = R_F(0, p, 1) by m = 1 - p (DLMF 19.25.1 and 19.18.1)."""
    slope: TensorVariable = elliprd(0.0, 1.0, p) / 6
    return slope


def _parts(phi: TensorVariable, m: TensorVariable) -> tuple[TensorVariable, ...]:
    """An angle as whole turns of pi and a rest, of which are returned: sin, cos**2 and 1 - m sin**2."""
    turns = rounded(phi / math.pi)
    rest = phi - turns * math.pi
    s, c2 = sin(rest), sqr(cos(rest))
    # near m = 1 the difference would cancel
    return turns, s, c2, c2 + (1 - m) * sqr(s)


def _whole(turns: TensorVariable, complete: TensorVariable) -> TensorVariable:
    """What whole turns contribute to an integral."""
    return switch(eq(turns, 0), 0.0, 2 * turns * complete)


def _excess_to(phi: TensorVariable, m: TensorVariable) -> TensorVariable:
    """(F(phi, m) - E(phi, m)) / m. Whole turns have the complete integral."""
    turns, s, c2, below = _parts(phi, m)
    return _whole(turns, _excess(m)) + s * sqr(s) * elliprd(c2, below, 1.0) / 3


def _slope_of_first_to(phi: TensorVariable, m: TensorVariable) -> TensorVariable:
    """The derivative by m of F(phi, m), which is s R_F(c**2, 1 - m s**2, 1) (DLMF 19.25.5)."""
    turns, s, c2, below = _parts(phi, m)
    return _whole(turns, _slope_of_first(1 - m)) + s * sqr(s) * elliprd(c2, 1.0, below) / 6


ellipe: Elemwise = special(
    "ellipe",
    [lambda ct, m, out: -ct * _excess(m) / 2],
    "Complete elliptic integral of the second kind, for m <= 1.",
)
ellipk: Elemwise = special(
    "ellipk",
    [lambda ct, m, out: ct * _slope_of_first(1 - m)],
    "Complete elliptic integral of the first kind, for m <= 1.",
)
ellipkm1: Elemwise = special(
    "ellipkm1",
    [lambda ct, p, out: -ct * _slope_of_first(p)],
    "ellipk(1 - p), precise for small p.",
)
ellipeinc: Elemwise = special(
    "ellipeinc",
    [
        lambda ct, phi, m, out: ct * sqrt(_parts(phi, m)[3]),
        lambda ct, phi, m, out: -ct * _excess_to(phi, m) / 2,
    ],
    "Incomplete elliptic integral of the second kind, to the angle phi, for m <= 1.",
)
ellipkinc: Elemwise = special(
    "ellipkinc",
    [
        lambda ct, phi, m, out: ct / sqrt(_parts(phi, m)[3]),
        lambda ct, phi, m, out: ct * _slope_of_first_to(phi, m),
    ],
    "Incomplete elliptic integral of the first kind, to the angle phi, for m <= 1.",
)

# Jacobi's functions


def _bracket(u: TensorVariable, m: TensorVariable) -> TensorVariable:
    """What the derivatives by m have in common: minus that of F(phi, m), which is u, at the amplitude phi."""
    sn, cn, dn, phi = ellipj(u, m)
    turns = rounded(phi / math.pi)
    s = switch(lt(cn, 0), -sn, sn)
    part = s * sqr(s) * elliprd(sqr(cn), 1.0, sqr(dn)) / 6
    return -(_whole(turns, _slope_of_first(1 - m)) + part)


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
    """Jacobi's elliptic functions sn, cn and dn of ``u`` for 0 <= m <= 1, and the amplitude, the angle whose sine is sn."""
    u, m = reals("ellipj", u, m)
    return _jacobi_sn(u, m), _jacobi_cn(u, m), _jacobi_dn(u, m), _jacobi_am(u, m)
