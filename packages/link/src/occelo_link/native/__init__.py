"""The linker ``native``, which compiles loop programs to machine code through LLVM. It is the default linker.

The linker ``numba`` also uses LLVM IR that this package prints, for elementary functions and some other operations.
"""
