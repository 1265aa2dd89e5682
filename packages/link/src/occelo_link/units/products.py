"""Loads the functions of ``products.c``, which units call instead of OpenBLAS's gemm where that uses AVX-512.

`machine.symbol_addresses` calls `address_of` when the table of a unit with products is filled.
"""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any

from occelo_link.cache.objects import object_code
from occelo_link.machine.symbol_addresses import address_of as library_address
from occelo_link.machine.symbol_addresses import blas_library
from occelo_link.machine.threads import divided_loops
from occelo_link.units.engine import compile_module, load_object


@functools.cache
def _code() -> Any:
    path = os.path.join(os.path.dirname(__file__), "products.ll")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    unit = load_object(object_code(text, lambda: compile_module(text, level=0)), "libraries")
    place = ctypes.CFUNCTYPE(ctypes.c_void_p)(unit.address)()
    addresses = (ctypes.c_void_p * 8).from_address(place or 0)
    blas = blas_library()
    names = ("sgemm", "dgemm", "somatcopy", "domatcopy")
    addresses[:4] = [blas.address(name) for name in names]
    addresses[4] = blas.thread_functions()[0]
    addresses[5:7] = [library_address(name, ()) for name in ("libm:malloc", "libm:free")]
    return unit, addresses


def address_of(function: str) -> int:
    """The address of a function of ``products.c``. It is valid as long as the process runs."""
    unit, addresses = _code()
    if divided_loops() and not addresses[7]:
        from occelo_link.units.thread_pool import thread_pool  # rarely needed

        addresses[7] = thread_pool().service
    address: int = unit.find(function)
    return address
