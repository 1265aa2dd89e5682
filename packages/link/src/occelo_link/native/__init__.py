"""The linker ``native``: machine code for loop programs through LLVM.

It is the default linker; ``numba`` prints some of its LLVM IR.
"""
