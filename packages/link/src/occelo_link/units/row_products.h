/* Products of a matrix of REAL and a vector for `loops.row_blocks`, which needs those of blocks of rows. They take half the time of
   BLAS where such blocks have few columns. LANES elements are a vector.

   The functions have the parameters of gemv of BLAS: y = A x, or y = A' x. The factors must be 1 and 0, and the elements of both
   vectors lie side by side. */

#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))
#define UNROLLED _Pragma("clang loop unroll(full)")
#pragma clang fp contract(on)

typedef int64_t i64;

typedef REAL NAME(vector) __attribute__((ext_vector_type(LANES)));
typedef REAL NAME(unaligned) __attribute__((ext_vector_type(LANES), aligned(sizeof(REAL))));
typedef REAL NAME(half) __attribute__((ext_vector_type(8)));
typedef REAL NAME(unaligned_half) __attribute__((ext_vector_type(8), aligned(sizeof(REAL))));
typedef int32_t NAME(numbers) __attribute__((ext_vector_type(LANES)));
typedef _Bool NAME(mask) __attribute__((ext_vector_type(LANES)));

/* The mask of the lanes from `start` to `stop`, some of which may be outside of the vector. */
INLINE NAME(mask) NAME(between)(i64 start, i64 stop) {
  NAME(numbers) lanes, low = start > 0 ? (int32_t)start : 0, high = stop < LANES ? (int32_t)stop : LANES;
  UNROLLED for (int lane = 0; lane < LANES; lane++) lanes[lane] = lane;
  return __builtin_convertvector((lanes >= low) & (lanes < high), NAME(mask));
}

/* y = A x for `count` vectors of rows, of which `start` to `stop` count. The columns alternate between two sums. */
#define CHUNK(count)                                                                                              \
  INLINE void NAME(chunk##count)(i64 start, i64 stop, i64 n, const REAL *a, i64 lda, const REAL *x, REAL *y) {    \
    NAME(vector) even[count], odd[count], zero = 0;                                                               \
    NAME(mask) mask[count];                                                                                       \
    i64 j = n & 1;                                                                                                \
    UNROLLED for (int v = 0; v < count; v++) {                                                                    \
      odd[v] = even[v] = 0;                                                                                       \
      mask[v] = NAME(between)(start - v * LANES, stop - v * LANES);                                               \
      if (j) even[v] = __builtin_masked_load(mask[v], a + v * LANES, zero) * x[0];                                \
    }                                                                                                             \
    for (; j < n; j += 2) {                                                                                       \
      const REAL *p = a + j * lda, *q = p + lda;                                                                  \
      UNROLLED for (int v = 0; v < count; v++) {                                                                  \
        odd[v] += __builtin_masked_load(mask[v], p + v * LANES, zero) * x[j];                                     \
        even[v] += __builtin_masked_load(mask[v], q + v * LANES, zero) * x[j + 1];                                \
      }                                                                                                           \
    }                                                                                                             \
    UNROLLED for (int v = 0; v < count; v++)                                                                      \
      __builtin_masked_store(mask[v], even[v] + odd[v], y + v * LANES);                                           \
  }
CHUNK(1)
CHUNK(2)
CHUNK(4)
#undef CHUNK

/* y = A x for the rows from `start` to `stop`. */
static void NAME(sum_of_columns)(i64 start, i64 stop, i64 n, const REAL *a, i64 lda, const REAL *x, REAL *y) {
  i64 i = 0;
  for (; stop - i > 2 * LANES; i += 4 * LANES) NAME(chunk4)(start - i, stop - i, n, a + i, lda, x, y + i);
  if (stop - i > LANES) NAME(chunk2)(start - i, stop - i, n, a + i, lda, x, y + i);
  else if (i < stop) NAME(chunk1)(start - i, stop - i, n, a + i, lda, x, y + i);
}

/* The sums over the lanes of eight vectors. Lanes are added to those that are half of all lanes apart, and so on: the sums have the same
   bits wherever in a vector the first row is. */
INLINE NAME(half) NAME(sums)(const NAME(vector) *s) {
  NAME(half) h[8], pairs[4], fours[2];
  UNROLLED for (int r = 0; r < 8; r++) h[r] = HALVES(s[r]);
  UNROLLED for (int r = 0; r < 4; r++) {
    int first = (r & 1) * 4 + r / 2;
    pairs[r] = __builtin_shufflevector(h[first], h[first + 2], 0, 1, 2, 3, 8, 9, 10, 11) +
               __builtin_shufflevector(h[first], h[first + 2], 4, 5, 6, 7, 12, 13, 14, 15);
  }
  UNROLLED for (int r = 0; r < 2; r++)
    fours[r] = __builtin_shufflevector(pairs[2 * r], pairs[2 * r + 1], 0, 1, 4, 5, 8, 9, 12, 13) +
               __builtin_shufflevector(pairs[2 * r], pairs[2 * r + 1], 2, 3, 6, 7, 10, 11, 14, 15);
  return __builtin_shufflevector(fours[0], fours[1], 0, 8, 2, 10, 4, 12, 6, 14) +
         __builtin_shufflevector(fours[0], fours[1], 1, 9, 3, 11, 5, 13, 7, 15);
}

/* y[j] = sum of A[i, j] x[i] over i from `start` to `stop`, for eight columns at a time; beyond the last column, this one is
   read again. */
static void NAME(sums_of_rows)(i64 start, i64 stop, i64 n, const REAL *a, i64 lda, const REAL *x, REAL *y) {
  for (i64 j = 0; j < n; j += 8) {
    const REAL *c[8];
    NAME(vector) s[8], zero = 0;
    UNROLLED for (int r = 0; r < 8; r++) {
      c[r] = a + (j + r < n ? j + r : n - 1) * lda;
      s[r] = 0;
    }
    for (i64 i = 0; i < stop; i += LANES) {
      if (i >= start && i + LANES <= stop) {
        NAME(vector) each = *(const NAME(unaligned) *)(x + i);
        UNROLLED for (int r = 0; r < 8; r++) s[r] += *(const NAME(unaligned) *)(c[r] + i) * each;
        continue;
      }
      NAME(mask) mask = NAME(between)(start - i, stop - i);
      NAME(vector) each = __builtin_masked_load(mask, x + i, zero);
      UNROLLED for (int r = 0; r < 8; r++) s[r] += __builtin_masked_load(mask, c[r] + i, zero) * each;
    }
    NAME(half) all = NAME(sums)(s);
    if (n - j >= 8) {
      *(NAME(unaligned_half) *)(y + j) = all;
    } else {
      UNROLLED for (int r = 0; r < 7; r++) if (j + r < n) y[j + r] = all[r];
    }
  }
}

/* If all columns begin at the same place of a cache line, vectors are counted from there, so that each lies in one line. */
static void NAME(product)(int transposed, i64 m, i64 n, const REAL *a, i64 lda, const REAL *x, REAL *y) {
  i64 start = lda % LANES ? 0 : ((uintptr_t)a / sizeof(REAL)) % LANES;
  if (transposed) NAME(sums_of_rows)(start, start + m, n, a - start, lda, x - start, y);
  else NAME(sum_of_columns)(start, start + m, n, a - start, lda, x, y - start);
}

#define GEMV(name, INTEGER)                                                                                       \
  void name(const char *trans, const INTEGER *m, const INTEGER *n, const REAL *alpha, const REAL *a,              \
            const INTEGER *lda, const REAL *x, const INTEGER *incx, const REAL *beta, REAL *y,                    \
            const INTEGER *incy) {                                                                                \
    NAME(product)(*trans == 'T', *m, *n, a, *lda, x, y);                                                          \
  }
GEMV(NAME(gemv_int64), int64_t)
GEMV(NAME(gemv_int32), int32_t)
#undef GEMV
