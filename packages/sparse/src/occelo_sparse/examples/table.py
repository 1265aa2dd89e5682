"""The example calls of the family's ops, `EXAMPLES`: arrays in, arrays out, with matrices between."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph.examples.example import Example, draw
from occelo_graph.ops.elemwise import complex as cx
from occelo_sparse.ops.assembling import COMPRESSED, CSR, csm_data
from occelo_sparse.ops.conversions import csr_from_dense, tocsc
from occelo_sparse.ops.determinants import slogdet
from occelo_sparse.ops.multiplying import dot, sampling_dot
from occelo_sparse.ops.solving import spsolve
from occelo_sparse.ops.structure import lines_of

_INDICES = np.array([1, 3, 0, 3, 0, 1], "int32")
_OFFSETS = np.array([0, 2, 2, 5, 6], "int32")
_LINES = np.array([0, 0, 2, 2, 2, 3])
_V = draw((-2.0, 2.0), (6,))
_X = draw((-1.0, 1.0), (4,), salt=1)
_Y = draw((-1.0, 1.0), (4, 3), salt=2)
_Z = draw((-1.0, 1.0), (4, 3), salt=3)
_C = draw((-2.0, 2.0), (6,), "complex128")


def _matrix(format: str) -> Any:
    """The function that makes a matrix of 4 x 4 of its values; one line has none."""

    def made(values: Any) -> Any:
        return COMPRESSED[format](values, _INDICES, _OFFSETS, (4, 4))

    return made


def _dense(values: Any, format: str) -> Any:
    dense = np.zeros((4, 4), np.asarray(values).dtype)
    np.add.at(dense, (_LINES, _INDICES), values)
    return dense if format == "csr" else dense.T


def _products(format: str) -> list[Example]:
    matrix = _matrix(format)
    return [
        Example(
            f"sparse_dot_{format}",
            "sparse",
            lambda v, x: dot(matrix(v), x),
            lambda v, x: _dense(v, format) @ x,
            (v, x),
            gradient=(0, 1) if v.dtype == "float64" else (),
            batched=(1,),
        )
        for v in (_V, _C, np.arange(6))
        for x in (_X.astype(v.dtype), _Y.astype(v.dtype))
    ]


def _sampled(dense: Any, format: str) -> Any:
    return (dense if format == "csr" else dense.T)[_LINES, _INDICES]


def _sampled_products(format: str) -> list[Example]:
    matrix = _matrix(format)
    return [
        Example(
            f"sampling_dot_{format}",
            "sparse",
            lambda v, x, y: csm_data(sampling_dot(x, y, matrix(v))),
            lambda v, x, y: v * _sampled(x @ y.T, format),
            (_V, _Y, _Z),
            gradient=(0, 1, 2),
            batched=(1, 2),
        )
    ]


_FULL = np.tile(np.arange(3, dtype="int32"), 3), np.arange(0, 10, 3, dtype="int32")
_GENERAL = np.array([0.5, 2.0, 0.0, -1.0, 0.3, 1.0, 0.7, 0.2, 3.0])
_DEFINITE = np.array([2.0, 0.5, 0.0, 0.5, 3.0, 1.0, 0.0, 1.0, 4.0])


def _whole(values: Any) -> Any:
    """The matrix of 3 x 3 that stores all its elements."""
    return CSR(values, *_FULL, (3, 3))


EXAMPLES: list[Example] = [
    *(
        Example(
            f"sparse_slogdet_{name}",
            "sparse",
            lambda v: slogdet(_whole(v)).logabsdet,
            lambda v: np.linalg.slogdet(v.reshape(3, 3))[1],
            (values,),
            gradient=(0,),
        )
        for name, values in (("general", _GENERAL), ("definite", _DEFINITE))
    ),
    Example(
        "sparse_slogdet_complex",
        "sparse",
        lambda v: slogdet(_whole(v)).logabsdet,
        lambda v: np.linalg.slogdet(v.reshape(3, 3))[1],
        (_GENERAL + 0.5j,),
    ),
    Example(
        "sparse_slogdet_sign",
        "sparse",
        lambda v: slogdet(_whole(v)).sign,
        lambda v: np.linalg.slogdet(v.reshape(3, 3))[0],
        (_GENERAL + 0.5j,),
    ),
    # of a complex matrix with real parts that are the argument: differences are those of real numbers
    Example(
        "sparse_slogdet_of_parts",
        "sparse",
        lambda v: slogdet(_whole(cx.complex(v[0], v[1]))).sign.imag,
        lambda v: np.linalg.slogdet((v[0] + 1j * v[1]).reshape(3, 3))[0].imag,
        (np.stack([_GENERAL, 0.5 + 0.1 * _GENERAL[::-1]]),),
        gradient=(0,),
    ),
    Example(
        "sparse_spsolve",
        "sparse",
        lambda v, b: spsolve(_whole(v), b),
        lambda v, b: np.linalg.solve(v.reshape(3, 3), b),
        (_GENERAL, draw((-1.0, 1.0), (3,), salt=4)),
        gradient=(0, 1),
        batched=(1,),
    ),
    *_products("csr"),
    *_products("csc"),
    *_sampled_products("csr"),
    *_sampled_products("csc"),
    Example(
        "sparse_lines",
        "sparse",
        lambda i, o: lines_of(i, o),
        lambda i, o: np.repeat(np.arange(len(o) - 1), np.diff(o)),
        (_INDICES, _OFFSETS),
    ),
    Example(
        "sparse_from_dense",
        "sparse",
        lambda x: tocsc(csr_from_dense(x)).toarray(),
        lambda x: x,
        (np.array([[0.0, 2.0, 0.0], [-1.0, 0.0, 3.0]]),),
    ),
]
