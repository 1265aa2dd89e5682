"""Loads the products of ``row_products.h``, which loops over blocks of rows call (`loops.row_blocks`).

`occelo_link.machine.symbol_addresses` calls `address_of` when the table of a unit is filled that has such loops. Object code is
compiled once for each dtype and kept in the cache. Units that are not optimized yet (`units.plain_units`) call code that is not,
either, unless optimized code is at hand: LLVM takes three times as long for it.
"""

from __future__ import annotations

import functools
import os
from typing import Any

from occelo_link.cache.objects import object_code, stored_object
from occelo_link.units.engine import compile_module, load_object


@functools.cache
def _text(letter: str) -> str:
    dtype = {"s": "float32", "d": "float64"}[letter]
    path = os.path.join(os.path.dirname(__file__), f"row_products_{dtype}.ll")
    with open(path, encoding="utf-8") as file:
        return file.read()


@functools.cache
def _code(letter: str, level: int) -> Any:
    text = _text(letter)
    key = text if level else f"0\n{text}"
    code = object_code(key, lambda: compile_module(text, level=level))
    return load_object(code, f"{letter}gemv_int64")


def address_of(function: str) -> int:
    """The address of a function, such as ``dgemv_int64``. It is valid as long as the process runs."""
    address: int = _code(function[0], 1).find(function)
    return address


def plain_address_of(function: str) -> int:
    """The address of a function whose code may be unoptimized: if the cache has no other."""
    level = int(stored_object(_text(function[0])) is not None)
    address: int = _code(function[0], level).find(function)
    return address
