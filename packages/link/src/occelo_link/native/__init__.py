"""The linker ``native``: machine code for loop programs through LLVM."""
