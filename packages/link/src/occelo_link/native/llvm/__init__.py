"""The printer of loop programs as LLVM IR.

The linker ``native`` compiles its text; ``numba`` and the test helpers use parts of it.
"""

from __future__ import annotations

from occelo_link.native.llvm.printer import print_llvm

__all__ = ["print_llvm"]
