"""PyTorch's functions by the names of scalar ops, from the table in `traced.functions`. `torch.arrays` applies them."""

from __future__ import annotations

from types import SimpleNamespace

from occelo_link.torch.expansions import differentiable, loop
from occelo_link.torch.library import special, torch
from occelo_link.traced.functions import PYTORCH, functions_of, unsigned_functions_of
from occelo_link.traced.scalars import Scalar

_LIBRARY = SimpleNamespace(
    torch=torch,
    special=special,
    xp=torch,
    loop=loop,
    broadcast=torch.broadcast_tensors,
    igamma_grad_a=None,
    differentiable=differentiable,
)

SCALARS: dict[str, Scalar] = functions_of(_LIBRARY, PYTORCH)
UNSIGNED = unsigned_functions_of(_LIBRARY)
"""Functions that replace those in `SCALARS` for uint64. They operate on tensors of int64 with the same bits."""
