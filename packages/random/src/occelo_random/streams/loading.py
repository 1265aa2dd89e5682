"""Loads the functions of ``draws.c``, which compiled graphs call to draw with NumPy's generators.

`occelo_link.machine.symbol_addresses` calls `address_of` when the table of a unit is filled that draws. Object code is
compiled once and kept in the cache. So nothing is loaded for graphs without draws.
"""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any

from occelo_link.cache.objects import object_code
from occelo_link.machine.symbol_addresses import address_of as address_in_table
from occelo_link.units.engine import compile_module, load_object

_MATH = tuple("exp expm1 log log1p pow".split())
"""The functions of the C library that draws call, in the order of the struct ``math`` in ``draws.c``."""


@functools.cache
def _code() -> Any:
    path = os.path.join(os.path.dirname(__file__), "draws.ll")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    unit = load_object(object_code(text, lambda: compile_module(text)), "math_functions")
    place = ctypes.CFUNCTYPE(ctypes.c_void_p)(unit.address)()
    addresses = (ctypes.c_void_p * len(_MATH)).from_address(place or 0)
    for k, name in enumerate(_MATH):
        addresses[k] = address_in_table(f"libm:{name}", ())
    return unit


def address_of(function: str) -> int:
    """The address of a function of ``draws.c``. It is valid as long as the process runs."""
    address: int = _code().find(function)
    return address
