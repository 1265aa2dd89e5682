"""Access to this machine: LLVM and the processor, code in memory, addresses of library functions, threads.

`units` uses these modules to compile and run machine code. Cache keys contain the processor and the kind of BLAS.
"""
