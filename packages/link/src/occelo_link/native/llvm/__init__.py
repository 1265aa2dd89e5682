"""The printer of loop programs as LLVM IR."""

from __future__ import annotations

from occelo_link.native.llvm.printer import print_llvm

__all__ = ["print_llvm"]
