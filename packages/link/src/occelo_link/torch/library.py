"""The modules of PyTorch, typed as `Any`, since PyTorch's types differ between versions and type checking must not
require PyTorch.

Only the modules of the linker ``pytorch`` import this module; the import fails if PyTorch is missing.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

__all__ = ["compile_graph", "make_fx", "special", "torch"]

torch: Any = importlib.import_module("torch")
special: Any = importlib.import_module("torch.special")
make_fx: Any = importlib.import_module("torch.fx.experimental.proxy_tensor").make_fx


@functools.cache
def compile_graph() -> Any:
    """The function of Inductor that compiles an FX graph for example inputs.

    It is ``torch.compile`` without its capture of a graph. Calls of the compiled functions take a third of the time of those of ``torch.compile``; they do not check their
    arguments.
    """
    return importlib.import_module("torch._inductor").compile
