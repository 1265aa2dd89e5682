"""Machine code for loop programs through LLVM."""
