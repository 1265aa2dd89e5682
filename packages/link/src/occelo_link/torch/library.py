"""PyTorch's modules, untyped: what their types say differs between versions, and it may be missing."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["make_fx", "special", "torch"]

torch: Any = importlib.import_module("torch")
special: Any = importlib.import_module("torch.special")
make_fx: Any = importlib.import_module("torch.fx.experimental.proxy_tensor").make_fx
