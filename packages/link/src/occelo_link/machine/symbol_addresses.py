"""Addresses of functions that programs name: the C library, SciPy's special functions, BLAS and LAPACK.

`units.python_entry` puts them into the table of each unit; `BlockLinker` and the keys of the cache ask for the size of
BLAS's integers. Compiled code calls all of them through pointers. BLAS is the OpenBLAS in NumPy's wheel if there is
one, otherwise that of SciPy. NumPy's saves the import of SciPy and a second thread pool.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["BlasLibrary", "address_of", "blas_library"]


@functools.cache
def _c_library() -> ctypes.CDLL:
    if sys.platform == "win32":
        return ctypes.CDLL("ucrtbase")
    if sys.platform == "darwin":
        return ctypes.CDLL(None)
    try:
        return ctypes.CDLL("libm.so.6")
    except OSError:
        # the search runs other programs, and its module imports much
        return ctypes.CDLL(importlib.import_module("ctypes.util").find_library("m"))


def _function_address(library: ctypes.CDLL, name: str) -> int:
    address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    assert address is not None
    return address


@functools.cache
def _capsule_functions() -> tuple[Any, Any]:
    api = ctypes.pythonapi
    get_name = api.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer = api.PyCapsule_GetPointer
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return get_name, get_pointer


def _from_capsule(module: str, name: str) -> int:
    """The address of a function that a Cython module exports."""
    capsules: Any = importlib.import_module(module).__pyx_capi__
    get_name, get_pointer = _capsule_functions()
    capsule = capsules[name]
    address: int = get_pointer(capsule, get_name(capsule))
    return address


class BlasLibrary:
    """A library of BLAS and LAPACK: its name, the dtype of its integers, addresses of its functions."""

    def __init__(self, name: str, integer: str, library: ctypes.CDLL | None) -> None:
        self.name = name
        self.integer = integer
        self._library = library

    def address(self, function: str, kind: str = "blas") -> int:
        """The address of a function of ``kind`` "blas" or "lapack" by its plain name, such as ``dgemm``."""
        if self._library is not None:
            return _function_address(self._library, f"scipy_{function}_64_")
        return _from_capsule(f"scipy.linalg.cython_{kind}", function)


def _mapped_openblas() -> ctypes.CDLL | None:
    """The OpenBLAS of NumPy's wheel, if there is one."""
    base = os.path.dirname(np.__file__)
    for folder in (
        os.path.join(os.path.dirname(base), "numpy.libs"),
        os.path.join(base, ".dylibs"),
    ):
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if "openblas64" not in name:
                continue
            try:
                library = ctypes.CDLL(os.path.join(folder, name))
                _function_address(library, "scipy_dgemm_64_")
            except (OSError, AttributeError):
                continue
            return library
    return None


@functools.cache
def blas_library() -> BlasLibrary:
    """The BLAS that compiled functions call."""
    mapped = _mapped_openblas()
    if mapped is not None:
        return BlasLibrary("numpy", "int64", mapped)
    return BlasLibrary("scipy", "int32", None)


def address_of(name: str, constants: Sequence[Any]) -> int:
    """The address of an entry of a program's table.

    ``constant<k>`` is the data of a constant; ``libm:``, ``special:``, ``blas:`` and ``lapack:`` name
    functions, ``service:parallel`` the service that divides loops among threads. KeyError for anything else.
    """
    if name.startswith("constant"):
        address: int = constants[int(name[8:])].ctypes.data
        return address
    kind, _, function = name.partition(":")
    if kind == "service":
        from occelo_link.machine.threads import parallel_service  # only needed with several threads

        return parallel_service()
    if kind == "libm":
        return _function_address(_c_library(), function)
    if kind == "special":
        return _from_capsule("scipy.special.cython_special", function)
    if kind in ("blas", "lapack"):
        return blas_library().address(function, kind)
    raise KeyError(name)
