"""The printer of loop programs as LLVM IR.

The linker ``native`` compiles its text, `dumping` writes it to files, and `native.timing` prints it with readings of
the clock. The linker ``numba`` takes single operations and calls from it (`exports`).
"""

from __future__ import annotations

from occelo_link.native.llvm.printer import print_llvm

__all__ = ["print_llvm"]
