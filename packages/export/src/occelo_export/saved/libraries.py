"""The addresses of what a saved function calls outside of itself: the C library, BLAS and LAPACK, SciPy's functions.

The names are those of `occelo_link.machine.symbol_addresses`, which finds the same libraries when functions are compiled.
This module imports nothing of the link package, since readers have no compiler.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from pathlib import Path
from typing import Any

import numpy as np


def _address(library: ctypes.CDLL, name: str) -> int:
    address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    assert address is not None
    return address


@functools.cache
def c_library() -> ctypes.CDLL:
    """The C library of this process."""
    return ctypes.CDLL(None)


@functools.cache
def _math_library() -> ctypes.CDLL:
    return ctypes.CDLL("libm.so.6")


def of_c_library(name: str) -> int:
    """The address of a function of the C library. AttributeError if there is none."""
    return _address(c_library(), name)


@functools.cache
def _openblas_of_numpy() -> ctypes.CDLL | None:
    """The OpenBLAS in NumPy's wheel, whose integers have 64 bits."""
    folder = Path(np.__file__).parents[1] / "numpy.libs"
    for path in sorted(folder.glob("*openblas64*")) if folder.is_dir() else []:
        library = ctypes.CDLL(str(path))
        if hasattr(library, "scipy_dgemm_64_"):
            return library
    return None


def _of_cython(module: str, name: str) -> int:
    """The address of a C function that a Cython module of SciPy exports."""
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    capsules: Any = importlib.import_module(module).__pyx_capi__
    capsule = capsules[name]
    address: int = api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
    return address


def address_of(name: str, blas_integers: str) -> int:
    """The address of a function by its name in a table, such as ``libm:exp`` or ``blas:dgemm``.

    ``blas_integers`` is the dtype of the integers that the code passes to BLAS. ImportError if this process has no BLAS
    with such integers, or no SciPy where the function is SciPy's. KeyError for a name of another kind.
    """
    kind, _, function = name.partition(":")
    if kind == "libm":
        return _address(_math_library(), function)
    if kind == "special":
        return _of_cython("scipy.special.cython_special", function)
    if kind not in ("blas", "lapack"):
        raise KeyError(name)
    if blas_integers == "int32":
        return _of_cython(f"scipy.linalg.cython_{kind}", function)
    library = _openblas_of_numpy()
    if library is None:
        raise ImportError(
            f"The function calls {function} of the OpenBLAS in NumPy's wheel, and this NumPy has none"
        )
    return _address(library, f"scipy_{function}_64_")
