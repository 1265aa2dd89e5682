"""Numba's modules, untyped: it brings few types, and may be missing."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["extending", "ir", "numba", "types"]

numba: Any = importlib.import_module("numba")
types: Any = importlib.import_module("numba.core.types")
extending: Any = importlib.import_module("numba.extending")
ir: Any = importlib.import_module("llvmlite.ir")
