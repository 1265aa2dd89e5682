"""Finds the addresses of library functions: of the C library, SciPy's special functions, BLAS and LAPACK.

`units.python_entry` writes the addresses into the table of a unit, through which compiled code calls the functions.
`BlockLinker` and cache keys use the size of BLAS's integers.

BLAS is the OpenBLAS in NumPy's wheel if there is one, and otherwise SciPy's BLAS. NumPy's OpenBLAS saves the import of
SciPy and a second thread pool.
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

_DIVIDED = ("dgemm", "sgemm")
_WITH_AVX512 = (b"SkylakeX", b"Cooperlake", b"SapphireRapids")
"""OpenBLAS's names of the processors for which it uses AVX-512, also of those that AMD makes."""


@functools.cache
def _c_library() -> ctypes.CDLL:
    if sys.platform == "win32":
        return ctypes.CDLL("ucrtbase")
    if sys.platform == "darwin":
        return ctypes.CDLL(None)
    try:
        return ctypes.CDLL("libm.so.6")
    except OSError:
        # only here, since the search is slow: it runs other programs
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
    """Return the address of a C function that a Cython module exports."""
    capsules: Any = importlib.import_module(module).__pyx_capi__
    get_name, get_pointer = _capsule_functions()
    capsule = capsules[name]
    address: int = get_pointer(capsule, get_name(capsule))
    return address


class BlasLibrary:
    """A library with the functions of BLAS and LAPACK. ``integer`` is the dtype of its integer arguments."""

    def __init__(self, name: str, integer: str, library: ctypes.CDLL | None) -> None:
        self.name = name
        self.integer = integer
        self._library = library

    def address(self, function: str, kind: str = "blas") -> int:
        """Return the address of a function by its plain name, such as ``dgemm``. ``kind`` is "blas" or "lapack"."""
        if self._library is not None:
            return _function_address(self._library, f"scipy_{function}_64_")
        return _from_capsule(f"scipy.linalg.cython_{kind}", function)

    @functools.cached_property
    def has_small_kernels(self) -> bool:
        """Whether small products are multiplied without copies of their factors: by NumPy's OpenBLAS, with AVX-512."""
        if self._library is None:
            return False
        address = _function_address(self._library, "scipy_openblas_get_corename64_")
        return ctypes.CFUNCTYPE(ctypes.c_char_p)(address)() in _WITH_AVX512

    def thread_functions(self) -> tuple[int | None, int | None]:
        """The addresses of the functions that return and set the number of threads; None if they are not known."""
        scipy = sys.modules.get("scipy")
        library = self._library or (scipy and _openblas(scipy, "scipy_dgemm_"))
        if not library:
            return None, None
        suffix = "64_" if library is self._library else ""
        names = (f"scipy_openblas_{verb}_num_threads{suffix}" for verb in ("get", "set"))
        get, put = (_function_address(library, name) for name in names)
        return get, put


def _openblas(package: Any, function: str) -> ctypes.CDLL | None:
    """Return the OpenBLAS in the wheel of NumPy or SciPy that has a function of this name, or None if there is none."""
    base = os.path.dirname(package.__file__)
    for folder in (f"{base}.libs", os.path.join(base, ".dylibs")):
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if "openblas" not in name:
                continue
            try:
                library = ctypes.CDLL(os.path.join(folder, name))
                _function_address(library, function)
            except (OSError, AttributeError):
                continue
            return library
    return None


@functools.cache
def blas_library() -> BlasLibrary:
    """Return the library whose BLAS and LAPACK compiled functions call."""
    mapped = _openblas(np, "scipy_dgemm_64_")
    name, integer = ("scipy", "int32") if mapped is None else ("numpy", "int64")
    library = BlasLibrary(name, integer, mapped)
    get, put = library.thread_functions()
    if get and put and "OPENBLAS_NUM_THREADS" not in os.environ:
        from occelo_link.machine.threads import counted_processors  # with BLAS only

        # OpenBLAS knows neither the limits of control groups nor processes of multiprocessing
        most = min(counted_processors(), ctypes.CFUNCTYPE(ctypes.c_int)(get)())
        ctypes.CFUNCTYPE(None, ctypes.c_int)(put)(most)
    return library


def address_of(name: str, constants: Sequence[Any], is_plain: bool = False) -> int:
    """Return the address for an entry of a program's table, by the name of the entry.

    The name ``constant<k>`` means the data of a constant. Names that begin with ``libm:``, ``special:``, ``blas:`` or
    ``lapack:`` mean library functions; those in `_DIVIDED` may be our own, in ``units/products.c``. The name ``<module>:<function>`` means a function of a family's own machine code,
    whose address the module's ``address_of`` returns, or its ``plain_address_of`` if there is one and the code may be
    plain (unoptimized). Raises KeyError for any other name.
    """
    if name.startswith("constant"):
        address: int = constants[int(name[8:])].ctypes.data
        return address
    kind, _, function = name.partition(":")
    if kind == "blas" and function in _DIVIDED and blas_library().has_small_kernels:
        kind = "occelo_link.units.products"
    if kind == "libm":
        return _function_address(_c_library(), function)
    if kind == "special":
        return _from_capsule("scipy.special.cython_special", function)
    if kind in ("blas", "lapack"):
        return blas_library().address(function, kind)
    if "." in kind:
        module = importlib.import_module(kind)
        find = getattr(module, "plain_address_of", None) if is_plain else None
        of_family: int = (find or module.address_of)(function)
        return of_family
    raise KeyError(name)
