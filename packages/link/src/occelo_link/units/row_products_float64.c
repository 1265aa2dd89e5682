/* The products of row_products.h for float64. The file row_products_float64.ll is made from this one
   (packages/link/llvm_from_c.py). */

#define REAL double
#define LANES 8
#define NAME(name) d##name
#define HALVES(v) (v)
#include "row_products.h"
