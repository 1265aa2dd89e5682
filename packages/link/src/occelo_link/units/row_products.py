"""Loads the products of ``row_products.h``, which loops over blocks of rows call (`loops.row_blocks`).

`occelo_link.machine.symbol_addresses` calls `address_of` when the table of a unit is filled that has such loops. Object code is
compiled once for each dtype and kept in the cache.
"""

from __future__ import annotations

import functools
import os
from typing import Any

from occelo_link.cache.objects import object_code
from occelo_link.units.engine import compile_module, load_object


@functools.cache
def _code(letter: str) -> Any:
    dtype = {"s": "float32", "d": "float64"}[letter]
    path = os.path.join(os.path.dirname(__file__), f"row_products_{dtype}.ll")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return load_object(object_code(text, lambda: compile_module(text)), f"{letter}gemv_int64")


def address_of(function: str) -> int:
    """The address of a function, such as ``dgemv_int64``. It is valid as long as the process runs."""
    address: int = _code(function[0]).find(function)
    return address
