"""Machine code for loop programs through LLVM, and the callable around it."""
