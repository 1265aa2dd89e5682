"""Tuples of dtypes by their kind, such as ``float_dtypes``, and of types of tensors, such as ``int_vector_types``.

Users and libraries read them from `occelo.tensor.type`.
"""

from __future__ import annotations

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
