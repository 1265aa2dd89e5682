"""Offsets of fields in CPython's and NumPy's objects, and a check that objects of this process have these offsets.

The machine-code entry (``entry.c``) reads the fields at these offsets directly. `entry` needs the addresses that
`array_api` returns. The offsets are those of ordinary 64-bit builds. They differ in free-threaded builds, and in debug
builds that keep a list of all objects.

`units.unit` calls `layout_fits`, which compares the offsets with real objects. If an offset differs, there is no
machine-code entry, and calls go through `python_entry`.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import sys
import weakref
from typing import Any

import numpy as np

OBJECT_TYPE = 8
FLOAT_VALUE = 16
LIST_ITEMS = 24
ARRAY_DATA = 16
ARRAY_NDIM = 24
ARRAY_DIMS = 32
ARRAY_STRIDES = 40
ARRAY_DESCR = 56
ARRAY_FLAGS = 64
ARRAY_WEAK_REFERENCES = 72
DESCR_BYTEORDER = 26
DESCR_TYPE_NUM = 28

_ARRAY_TYPE = 2
_NEW_FROM_DESCR = 94


@functools.cache
def array_api() -> tuple[int, int]:
    """The addresses of ``PyArray_Type`` and ``PyArray_NewFromDescr``."""
    api = ctypes.pythonapi
    pointer = api.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule: Any = importlib.import_module("numpy._core._multiarray_umath")._ARRAY_API
    table = ctypes.cast(pointer(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    array_type, new_from_descr = table[_ARRAY_TYPE], table[_NEW_FROM_DESCR]
    assert array_type is not None
    assert new_from_descr is not None
    return array_type, new_from_descr


def _read(address: int, c_type: Any) -> Any:
    return c_type.from_address(address).value


def _is_free_threaded() -> bool:
    # build variables say it, too, but are slow to import, and a process may be forked in the midst of an import
    return "free-threading build" in sys.version


@functools.cache
def layout_fits() -> bool:
    """Whether objects of this Python and this NumPy have the layout that the entry expects."""
    if sys.maxsize != 2**63 - 1 or sys.byteorder != "little":
        return False
    if hasattr(sys, "getobjects") or _is_free_threaded():
        return False  # in these builds the header of an object is longer
    if sys.implementation.name != "cpython":
        return False
    return _arrays_fit() and _objects_fit()


def _arrays_fit() -> bool:
    array = np.zeros((3, 5), dtype="float32")[::1]
    turned = np.zeros((2, 3, 4), dtype=np.dtype("int16").newbyteorder(">")).T
    if array_api()[0] != id(np.ndarray):
        return False
    for each in (array, turned):
        where = id(each)
        dims = _read(where + ARRAY_DIMS, ctypes.c_void_p)
        strides = _read(where + ARRAY_STRIDES, ctypes.c_void_p)
        fits = [
            _read(where + OBJECT_TYPE, ctypes.c_void_p) == id(np.ndarray),
            _read(where + ARRAY_DATA, ctypes.c_void_p) == each.ctypes.data,
            _read(where + ARRAY_NDIM, ctypes.c_int) == each.ndim,
            _read(where + ARRAY_DESCR, ctypes.c_void_p) == id(each.dtype),
            _read(where + ARRAY_FLAGS, ctypes.c_int) == each.flags.num,
            [_read(dims + 8 * i, ctypes.c_int64) for i in range(each.ndim)] == list(each.shape),
            [_read(strides + 8 * i, ctypes.c_int64) for i in range(each.ndim)]
            == list(each.strides),
            _read(id(each.dtype) + DESCR_TYPE_NUM, ctypes.c_int) == each.dtype.num,
            _read(id(each.dtype) + DESCR_BYTEORDER, ctypes.c_char) == each.dtype.byteorder.encode(),
        ]
        if not all(fits):
            return False
    reference = weakref.ref(array)
    places = [_read(id(each) + ARRAY_WEAK_REFERENCES, ctypes.c_void_p) for each in (array, turned)]
    return places == [id(reference), None]


def _objects_fit() -> bool:
    number, scalar, items = 1.25, np.float64(-2.5), [object()]
    first = _read(_read(id(items) + LIST_ITEMS, ctypes.c_void_p), ctypes.c_void_p)
    return (
        _read(id(number) + FLOAT_VALUE, ctypes.c_double) == number
        and _read(id(scalar) + FLOAT_VALUE, ctypes.c_double) == scalar
        and _read(id(scalar) + OBJECT_TYPE, ctypes.c_void_p) == id(np.float64)
        and first == id(items[0])
        and _read(id(items[0]), ctypes.c_int32) >= 1
    )
