"""PyTorch's scalar functions by name.

`torch.arrays` applies scalar ops by them, and `capabilities` reads their names. The table in `traced.functions` lists
them.
"""

from __future__ import annotations

from types import SimpleNamespace

from occelo_link.torch.library import special, torch
from occelo_link.traced.functions import PYTORCH, functions_of, unsigned_functions_of
from occelo_link.traced.scalars import Scalar

__all__ = ["SCALARS", "UNSIGNED"]

_LIBRARY = SimpleNamespace(torch=torch, special=special)

SCALARS: dict[str, Scalar] = functions_of(_LIBRARY, PYTORCH)
UNSIGNED = unsigned_functions_of(_LIBRARY)
"""Functions of tensors of int64 that stand for uint64."""
