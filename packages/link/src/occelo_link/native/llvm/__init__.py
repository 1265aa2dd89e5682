"""The printer of loop programs as LLVM IR.

The linker ``native`` compiles the printed text, and `dumping` writes the text to files. `timing` prints with
additional readings of the clock. The linker ``numba`` uses the text of single operations and calls (`exports`).
"""

from __future__ import annotations

from occelo_link.native.llvm.printer import print_llvm as print_llvm
