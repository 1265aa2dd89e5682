/* The products of row_products.h for float32. The file row_products_float32.ll is made from this one
   (packages/link/llvm_from_c.py). */

#define REAL float
#define LANES 16
#define NAME(name) s##name
#define HALVES(v)                                                \
  (__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +       \
   __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15))
#include "row_products.h"
