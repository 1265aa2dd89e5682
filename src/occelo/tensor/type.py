"""Types of tensors and the functions that make variables, at PyTensor's place: all names of `occelo.tensor`, and kinds.

Kinds are tuples of dtypes, such as ``float_dtypes``, and of types of tensors, such as ``int_vector_types``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from occelo.places import names_of as _names_of
from occelo.tensor import *
from occelo_graph.tensors.type import DTYPES, TensorType, is_complex, is_discrete, is_float

all_dtypes = DTYPES
int_dtypes = tuple(name for name in DTYPES if name.startswith("int"))
uint_dtypes = tuple(name for name in DTYPES if name.startswith("uint"))
integer_dtypes = (*int_dtypes, *uint_dtypes)
float_dtypes = tuple(filter(is_float, DTYPES))
complex_dtypes = tuple(filter(is_complex, DTYPES))
discrete_dtypes = tuple(filter(is_discrete, DTYPES))
continuous_dtypes = (*float_dtypes, *complex_dtypes)


def _types(dtypes: tuple[str, ...], ndim: int) -> tuple[TensorType, ...]:
    return tuple(TensorType(dtype, (None,) * ndim) for dtype in dtypes)


_LARGE_FLOATS = ("float32", "float64")
int_types = int_scalar_types = _types(int_dtypes, 0)
int_vector_types = _types(int_dtypes, 1)
int_matrix_types = _types(int_dtypes, 2)
float_types = float_scalar_types = _types(_LARGE_FLOATS, 0)
float_vector_types = _types(_LARGE_FLOATS, 1)
float_matrix_types = _types(_LARGE_FLOATS, 2)
complex_types = complex_scalar_types = _types(complex_dtypes, 0)
complex_vector_types = _types(complex_dtypes, 1)
complex_matrix_types = _types(complex_dtypes, 2)

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _names_of(__name__, "occelo.tensor")
