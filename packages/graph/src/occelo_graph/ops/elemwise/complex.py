"""Elementwise functions for complex numbers: `real`, `imag`, `conj`, `angle`, `complex` and `complex_from_polar`.

Most are ops: an `Elemwise` with a scalar op that `elementwise` defines here. Users call them from `occelo.tensor`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.elemwise.op import Elemwise, elementwise
from occelo_graph.ops.elemwise.scalar import float_like, promoted, ufunc_rule
from occelo_graph.ops.elemwise.transcendental import arctan2, cos, sin
from occelo_graph.tensors.constant import promote_arguments
from occelo_graph.tensors.type import is_complex

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["angle", "complex", "complex_from_polar", "conj", "conjugate", "imag", "real"]


def _part_dtype(dtypes: Sequence[str]) -> str:
    return {"complex64": "float32", "complex128": "float64"}.get(dtypes[0], dtypes[0])


def _complex_dtype(dtypes: Sequence[str]) -> str:
    common = promoted(dtypes)
    if is_complex(common):
        raise TypeError("the parts of a complex tensor must be real")
    return "complex64" if common in ("float16", "float32") else "complex128"


def _make_complex(re: Any, im: Any) -> Any:
    re, im = np.broadcast_arrays(re, im)
    result = np.empty(re.shape, _complex_dtype([re.dtype.name, im.dtype.name]))
    result.real = re
    result.imag = im
    return result


real: Elemwise = elementwise(
    "real",
    1,
    _part_dtype,
    lambda z: np.array(np.real(z)),
    [lambda ct, z, out: ct],
    "Real part of z.",
    holomorphic=False,
    complex_pullback=[lambda ct, z, out: ct.astype(z.dtype)],
)
imag: Elemwise = elementwise(
    "imag",
    1,
    _part_dtype,
    lambda z: np.array(np.imag(z)),
    [None],
    "Imaginary part of z.",
    holomorphic=False,
    complex_pullback=[lambda ct, z, out: complex(ct * 0, ct)],
)
conj: Elemwise = elementwise(
    "conj",
    1,
    ufunc_rule(np.conjugate),
    np.conjugate,
    [lambda ct, z, out: ct],
    "Complex conjugate of z.",
    formula=lambda z: complex(real(z), -imag(z)) if is_complex(z.dtype) else z,
    holomorphic=False,
    complex_pullback=[lambda ct, z, out: conj(ct)],
)
conjugate = conj
complex: Elemwise = elementwise(
    "complex",
    2,
    _complex_dtype,
    _make_complex,
    doc="Complex numbers from real parts re and imaginary parts im.",
    holomorphic=False,
    complex_pullback=[lambda ct, re, im, out: real(ct), lambda ct, re, im, out: imag(ct)],
)


def _angle_pullback(ct: TensorVariable, z: TensorVariable, out: TensorVariable) -> TensorVariable:
    # the angle is arctan2(im, re): its derivatives are -im / |z|^2 by re, and re / |z|^2 by im
    size = real(z) ** 2 + imag(z) ** 2
    return complex(-ct * imag(z) / size, ct * real(z) / size)


def _angle_dtype(dtypes: Sequence[str]) -> str:
    return "float64" if dtypes[0] == "bool" else float_like(dtypes)


_angle: Elemwise = elementwise(
    "angle",
    1,
    _angle_dtype,
    lambda z: np.asarray(np.angle(z), dtype=_angle_dtype([z.dtype.name])),
    [None],
    "Angle of the complex numbers z, in radians.",
    formula=lambda z: arctan2(
        *(part.astype(_angle_dtype([z.dtype])) for part in (imag(z), real(z)))
    ),
    holomorphic=False,
    complex_pullback=[_angle_pullback],
)


def angle(z: Any, deg: bool = False) -> TensorVariable:
    """Angle of the complex numbers ``z``, in radians, or in degrees if ``deg`` is true."""
    radians: TensorVariable = _angle(z)
    return radians * (180 / np.pi) if deg else radians


def complex_from_polar(r: Any, theta: Any) -> TensorVariable:
    """The complex number with absolute value ``r`` and angle ``theta`` in radians."""
    r, theta = promote_arguments([r, theta])
    return complex(r * cos(theta), r * sin(theta))
