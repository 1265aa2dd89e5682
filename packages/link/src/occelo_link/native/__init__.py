"""The linker ``native``: machine code for loop programs through LLVM.

It is the default linker. The linker ``numba`` takes elementary functions and other operations from it as LLVM IR.
"""
