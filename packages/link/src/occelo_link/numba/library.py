"""The modules of Numba and llvmlite that the linker ``numba`` uses, typed as `Any`.

They have no type stubs, and type checking must not require Numba. The import of this module fails if Numba is missing,
so it is imported only when Numba is needed.
"""

from __future__ import annotations

import importlib
from typing import Any

from occelo_link.libraries import library

numba: Any = library("numba")
types: Any = importlib.import_module("numba.core.types")
cgutils: Any = importlib.import_module("numba.core.cgutils")
errors: Any = importlib.import_module("numba.core.errors")
imputils: Any = importlib.import_module("numba.core.imputils")
arrays: Any = importlib.import_module("numba.np.arrayobj")
helpers: dict[str, int] = importlib.import_module("numba.core.runtime._nrt_python").c_helpers
extending: Any = importlib.import_module("numba.extending")
ir: Any = importlib.import_module("llvmlite.ir")
binding: Any = importlib.import_module("llvmlite.binding")

Context = Any
"""Numba's context of typing or of code generation."""
NumbaType = Any
Signature = Any
Intrinsic = Any
"""A function that ``numba.extending.intrinsic`` has made."""
Builder = Any
"""An ``IRBuilder`` of llvmlite."""
IRValue = Any
IRType = Any
