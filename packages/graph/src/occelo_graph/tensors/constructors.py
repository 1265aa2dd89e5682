"""Constructors of symbolic tensors, such as ``tensor``, ``scalar``, ``dvector``, ``tensor3`` and ``dmatrices("abc")``.

Users call them, from `occelo.tensor`, to make the inputs of graphs. A prefix such as "d" names the dtype: ``dvector`` is a
type, ``TensorType("float64", (None,))``, and ``vector``, whose dtype is an option, is a function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from occelo_graph.errors import explained
from occelo_graph.tensors.type import DTYPES, TensorType, shape_text
from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "bcol", "bcols", "bmatrices", "bmatrix", "brow", "brows", "bscalar", "bscalars", "btensor3",
    "btensor3s", "btensor4", "btensor4s", "btensor5", "btensor5s", "btensor6", "btensor6s",
    "btensor7", "btensor7s", "bvector", "bvectors", "ccol", "ccols", "cmatrices", "cmatrix", "col",
    "cols", "crow", "crows", "cscalar", "cscalars", "ctensor3", "ctensor3s", "ctensor4",
    "ctensor4s", "ctensor5", "ctensor5s", "ctensor6", "ctensor6s", "ctensor7", "ctensor7s",
    "cvector", "cvectors", "dcol", "dcols", "dmatrices", "dmatrix", "drow", "drows", "dscalar",
    "dscalars", "dtensor3", "dtensor3s", "dtensor4", "dtensor4s", "dtensor5", "dtensor5s",
    "dtensor6", "dtensor6s", "dtensor7", "dtensor7s", "dvector", "dvectors", "fcol", "fcols",
    "fmatrices", "fmatrix", "frow", "frows", "fscalar", "fscalars", "ftensor3", "ftensor3s",
    "ftensor4", "ftensor4s", "ftensor5", "ftensor5s", "ftensor6", "ftensor6s", "ftensor7",
    "ftensor7s", "fvector", "fvectors", "icol", "icols", "imatrices", "imatrix", "irow", "irows",
    "iscalar", "iscalars", "itensor3", "itensor3s", "itensor4", "itensor4s", "itensor5",
    "itensor5s", "itensor6", "itensor6s", "itensor7", "itensor7s", "ivector", "ivectors", "lcol",
    "lcols", "lmatrices", "lmatrix", "lrow", "lrows", "lscalar", "lscalars", "ltensor3",
    "ltensor3s", "ltensor4", "ltensor4s", "ltensor5", "ltensor5s", "ltensor6", "ltensor6s",
    "ltensor7", "ltensor7s", "lvector", "lvectors", "matrices", "matrix", "row", "rows", "scalar",
    "scalars", "tensor", "tensor3", "tensor3s", "tensor4", "tensor4s", "tensor5", "tensor5s",
    "tensor6", "tensor6s", "tensor7", "tensor7s", "vector", "vectors", "wcol", "wcols", "wmatrices",
    "wmatrix", "wrow", "wrows", "wscalar", "wscalars", "wtensor3", "wtensor3s", "wtensor4",
    "wtensor4s", "wtensor5", "wtensor5s", "wtensor6", "wtensor6s", "wtensor7", "wtensor7s",
    "wvector", "wvectors", "zcol", "zcols", "zmatrices", "zmatrix", "zrow", "zrows", "zscalar",
    "zscalars", "ztensor3", "ztensor3s", "ztensor4", "ztensor4s", "ztensor5", "ztensor5s",
    "ztensor6", "ztensor6s", "ztensor7", "ztensor7s", "zvector", "zvectors",
]  # fmt: skip

_PREFIXES = {
    "b": "int8",
    "w": "int16",
    "i": "int32",
    "l": "int64",
    "f": "float32",
    "d": "float64",
    "c": "complex64",
    "z": "complex128",
}
_SHAPES: dict[str, tuple[int | None, ...]] = {
    "scalar": (),
    "vector": (None,),
    "row": (1, None),
    "col": (None, 1),
    "matrix": (None, None),
    **{f"tensor{n}": (None,) * n for n in range(3, 8)},
}

Maker = Callable[..., TensorVariable]
ManyMaker = Callable[..., Any]


def tensor(
    name: str | None = None, dtype: Any = "floatX", shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """A symbolic tensor with a dtype and a static shape. In ``shape``, None is a dynamic length.

    TypeError without ``shape``.

    For compatibility, the first argument may also be the dtype: a NumPy dtype, or a full name such as "int8". A short
    form such as "b" is read as the name of the tensor.
    """
    if shape is None:
        raise TypeError("tensor() needs a shape, such as (None, 3)")
    if dtype == "floatX" and name is not None and _is_dtype(name):
        name, dtype = None, name
    return TensorType(dtype, shape).make_variable(name)


def _is_dtype(name: Any) -> bool:
    if isinstance(name, str):
        return name in DTYPES or name == "floatX"
    return isinstance(name, type | np.dtype)


def _maker(kind: str) -> Maker:
    own_shape = _SHAPES[kind]

    def make(
        name: str | None = None, *, dtype: Any = "floatX", shape: Sequence[int | None] = own_shape
    ) -> TensorVariable:
        type_ = TensorType(dtype, shape)
        if not TensorType(type_.dtype, own_shape).is_super(type_):
            raise ValueError(
                f"{kind} makes tensors of shape {shape_text(own_shape)}, "
                f"not {shape_text(type_.shape)}; use tensor(dtype=..., shape=...)"
            )
        return type_.make_variable(name)

    make.__name__ = make.__qualname__ = kind
    make.__doc__ = f"A symbolic {kind} named ``name`` of the dtype floatX, or ``dtype``; ``shape`` may make more lengths static."
    return make


def _many(single: Maker | TensorType, plural: str) -> ManyMaker:
    def make(*names: Any, **options: Any) -> Any:
        listed: Any = names[0] if len(names) == 1 else names
        if not hasattr(listed, "__iter__"):
            if not isinstance(listed, int) or listed < 0:
                text = f"{plural} takes the names of variables or their number, got {listed!r}"
                raise explained(TypeError(text), "arguments")
            return [single(**options) for _ in range(listed)]
        many = [single(name, **options) for name in listed]
        return many[0] if len(many) == len(names) == 1 else many

    make.__name__ = make.__qualname__ = plural
    make.__doc__ = f"Several symbolic tensors: {plural}('a', 'b'), {plural}('ab') or their number."
    return make


Types = tuple[
    TensorType, TensorType, TensorType, TensorType, TensorType,
    TensorType, TensorType, TensorType, TensorType, TensorType,
]  # fmt: skip
Makers = tuple[Maker, Maker, Maker, Maker, Maker, Maker, Maker, Maker, Maker, Maker]


def _singles(prefix: str) -> Types:
    """The types with the dtype of a prefix, one for each shape in `_SHAPES`. A call of a type makes a variable."""
    types = [TensorType(_PREFIXES[prefix], shape) for shape in _SHAPES.values()]
    return cast("Types", tuple(types))


def _plurals(singles: Sequence[Maker | TensorType], prefix: str = "") -> tuple[ManyMaker, ...]:
    makers: list[ManyMaker] = []
    for single, kind in zip(singles, _SHAPES, strict=True):
        name = prefix + kind
        plural = name.removesuffix("x") + "ces" if name.endswith("matrix") else name + "s"
        makers.append(_many(single, plural))
    return tuple(makers)


_x: Makers = cast("Makers", tuple(_maker(kind) for kind in _SHAPES))
scalar, vector, row, col, matrix, tensor3, tensor4, tensor5, tensor6, tensor7 = _x
scalars, vectors, rows, cols, matrices, tensor3s, tensor4s, tensor5s, tensor6s, tensor7s = _plurals(
    _x
)
_b = _singles("b")
bscalar, bvector, brow, bcol, bmatrix, btensor3, btensor4, btensor5, btensor6, btensor7 = _b
(
    bscalars, bvectors, brows, bcols, bmatrices, btensor3s, btensor4s, btensor5s, btensor6s, btensor7s,
) = _plurals(_b, "b")  # fmt: skip
_w = _singles("w")
wscalar, wvector, wrow, wcol, wmatrix, wtensor3, wtensor4, wtensor5, wtensor6, wtensor7 = _w
(
    wscalars, wvectors, wrows, wcols, wmatrices, wtensor3s, wtensor4s, wtensor5s, wtensor6s, wtensor7s,
) = _plurals(_w, "w")  # fmt: skip
_i = _singles("i")
iscalar, ivector, irow, icol, imatrix, itensor3, itensor4, itensor5, itensor6, itensor7 = _i
(
    iscalars, ivectors, irows, icols, imatrices, itensor3s, itensor4s, itensor5s, itensor6s, itensor7s,
) = _plurals(_i, "i")  # fmt: skip
_l = _singles("l")
lscalar, lvector, lrow, lcol, lmatrix, ltensor3, ltensor4, ltensor5, ltensor6, ltensor7 = _l
(
    lscalars, lvectors, lrows, lcols, lmatrices, ltensor3s, ltensor4s, ltensor5s, ltensor6s, ltensor7s,
) = _plurals(_l, "l")  # fmt: skip
_f = _singles("f")
fscalar, fvector, frow, fcol, fmatrix, ftensor3, ftensor4, ftensor5, ftensor6, ftensor7 = _f
(
    fscalars, fvectors, frows, fcols, fmatrices, ftensor3s, ftensor4s, ftensor5s, ftensor6s, ftensor7s,
) = _plurals(_f, "f")  # fmt: skip
_d = _singles("d")
dscalar, dvector, drow, dcol, dmatrix, dtensor3, dtensor4, dtensor5, dtensor6, dtensor7 = _d
(
    dscalars, dvectors, drows, dcols, dmatrices, dtensor3s, dtensor4s, dtensor5s, dtensor6s, dtensor7s,
) = _plurals(_d, "d")  # fmt: skip
_c = _singles("c")
cscalar, cvector, crow, ccol, cmatrix, ctensor3, ctensor4, ctensor5, ctensor6, ctensor7 = _c
(
    cscalars, cvectors, crows, ccols, cmatrices, ctensor3s, ctensor4s, ctensor5s, ctensor6s, ctensor7s,
) = _plurals(_c, "c")  # fmt: skip
_z = _singles("z")
zscalar, zvector, zrow, zcol, zmatrix, ztensor3, ztensor4, ztensor5, ztensor6, ztensor7 = _z
(
    zscalars, zvectors, zrows, zcols, zmatrices, ztensor3s, ztensor4s, ztensor5s, ztensor6s, ztensor7s,
) = _plurals(_z, "z")  # fmt: skip
