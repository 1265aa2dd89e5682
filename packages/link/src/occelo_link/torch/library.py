"""The modules of PyTorch that the linker ``pytorch`` uses, typed as `Any`.

PyTorch's types differ between versions, and type checking must not require PyTorch. Only the modules of the linker
import this module. The import fails if PyTorch is missing.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

from occelo_link.libraries import library

torch: Any = library("torch")
special: Any = importlib.import_module("torch.special")
make_fx: Any = importlib.import_module("torch.fx.experimental.proxy_tensor").make_fx


@functools.cache
def compile_graph() -> Any:
    """Return Inductor's function that compiles an FX graph for given example inputs.

    Unlike ``torch.compile``, this function captures no graph. A function that it compiles takes a third of the time of
    a function that ``torch.compile`` compiles, because it does not check its arguments.
    """
    return importlib.import_module("torch._inductor").compile


def cache_folder() -> str:
    """Return the folder of Inductor's cache."""
    return str(importlib.import_module("torch._inductor.runtime.cache_dir_utils").cache_dir())


def empty_cache() -> Any:
    """Return a context in which Inductor's cache is an empty temporary folder."""
    return importlib.import_module("torch._inductor.utils").fresh_inductor_cache()
