/* Products of matrices for units: they get these functions instead of OpenBLAS's gemm, where OpenBLAS uses AVX-512.

   OpenBLAS copies the factors of a large product into an order of its own. It also has kernels for at most a million
   multiplications, which read the factors where they are. So here a product is divided into parts for these kernels. That takes
   down to half of the time where a side is short, and a tenth to a sixth less for 128 to 500 rows. Only where all sides are long do
   copies of both factors pay. Rows of the first factor are copied where its columns are apart by so many bytes that the cache keeps
   few of them, where it is transposed, and from a certain size on. Of the product of a matrix and its own transpose one half is
   computed, and copied to the other half.

   Parts of a sum are added in order, by one thread, so results do not depend on the number of threads.

   As in BLAS, columns of matrices are contiguous here: c = alpha op(a) op(b) + beta c, where c has m rows and n columns.
   Names in capitals that are not defined here are constants of frame.py. The file products.ll is made from this one
   (packages/link/llvm_from_c.py). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t i64;

enum {
  ROWS = 64, COLUMNS = 32, DEPTH = 480, /* of a part */
  ROWS_ACROSS = 32, /* if a is transposed and b is not, OpenBLAS has a fast kernel only for so small results */
  TALL = 48, NARROW = 24, /* rows and columns of a part if b is transposed and a is not, or if elements of a are copied, */
  LAYER = 512, /* with at most this depth, */
  GROUP = 40, /* and at most so many parts with one copy, so that their results stay in the cache */
  LEAST = 1000000, LEAST_ACROSS = 100000, /* multiplications of products that are not divided */
  SHORT = 512, SHORT_COPIED = 768, /* the longest shorter side of products that are divided */
  FLAT = 64, FLAT_ACROSS = 48,     /* products that are less deep are divided in any case, and never */
  COPIED = 256, COPIED_ACROSS = 96, /* the least columns of b for which elements of a are copied */
  APART = 2048, /* bytes: if columns are apart by a multiple, few of them stay in the cache */
  DEEP = 2048, /* of deeper products, layers are computed one after the other, since parts read the same elements again */
};

typedef void multiply(const char *, const char *, const i64 *, const i64 *, const i64 *, const void *, const void *,
                      const i64 *, const void *, const i64 *, const void *, void *, const i64 *);
typedef void transpose(const char *, const char *, const i64 *, const i64 *, const void *, const void *, const i64 *,
                       void *, const i64 *);
typedef i64 part(void *env, i64 start, i64 stop, void **table);

static struct {
  multiply *gemm[2]; /* of float32 and float64 */
  transpose *omatcopy[2];
  int (*get_blas)(void); /* the number of threads of BLAS */
  void *(*allocate)(size_t bytes);
  void (*deallocate)(void *);
  /* the service of thread_pool.c; null if loops have one thread */
  i64 (*parallel)(part *, void *, i64, i64, void **, i64 *, i64 work, i64 length, i64 threads, i64 *own);
} library;

void *libraries(void) { return &library; }

typedef struct {
  i64 is_double, size, twin; /* twin: b is a, transposed, and c is overwritten */
  char of_a, of_b;
  i64 m, n, k, lda, ldb, ldc, rows, columns, inner, from, to, depth;
  const char *a, *b;
  char *c;
  const void *alpha, *beta, *one;
} product;

static const float one32 = 1;
static const double one64 = 1;

static i64 smaller(i64 x, i64 y) { return x < y ? x : y; }

static bool is_across(const product *q) { return q->of_a == 'T' && q->of_b == 'N'; }

static i64 parts(i64 length, i64 each) { return (length + each - 1) / each; }

/* Multiply a block of c, with the first row and column i and j, by a layer of the factors. */
__attribute__((noinline)) static void multiply_block(const product *q, i64 i, i64 j, i64 rows, i64 columns, i64 p, i64 depth) {
  const char *a = q->a + q->size * (q->of_a == 'N' ? i + p * q->lda : p + i * q->lda);
  const char *b = q->b + q->size * (q->of_b == 'N' ? p + j * q->ldb : j + p * q->ldb);
  library.gemm[q->is_double](&q->of_a, &q->of_b, &rows, &columns, &depth, q->alpha, a, &q->lda, b, &q->ldb,
                             p ? q->one : q->beta, q->c + q->size * (i + j * q->ldc), &q->ldc);
}

/* Copy a block of c to where its transpose is in the whole of c. */
__attribute__((noinline)) static void mirror(const product *q, i64 i, i64 j, i64 rows, i64 columns) {
  library.omatcopy[q->is_double]("C", "T", &rows, &columns, q->one, q->c + q->size * (i + j * q->ldc), &q->ldc,
                                 q->c + q->size * (j + i * q->ldc), &q->ldc);
}

__attribute__((noinline)) static i64 run_parts(void *env, i64 start, i64 stop, void **table) {
  const product *q = env;
  for (i64 t = start; t < stop; ++t) {
    i64 outer = t / q->inner, rest = t - outer * q->inner;
    bool tall = q->n <= q->m; /* parts that follow each other read the same part of the longer factor */
    i64 i = (tall ? outer : rest) * q->rows, j = (tall ? rest : outer) * q->columns;
    if (q->twin && i < j) continue;
    i64 rows = smaller(q->rows, q->m - i), columns = smaller(q->columns, q->n - j);
    for (i64 p = q->from; p < q->to; p += DEPTH) multiply_block(q, i, j, rows, columns, p, smaller(DEPTH, q->to - p));
    if (q->twin && i > j && q->to == q->k) mirror(q, i, j, rows, columns);
  }
  return 0;
}

/* Compute the parts from `first` to `last` of the rows from i on, layer by layer, each with a copy of its elements of a. */
__attribute__((noinline)) static void run_copied(const product *q, char *copied, i64 i, i64 first, i64 last) {
  product of_copy = *q;
  i64 rows = smaller(TALL, q->m - i);
  for (i64 p = 0; p < q->k; p += q->depth) {
    i64 depth = smaller(q->depth, q->k - p);
    bool plain = q->of_a == 'N';
    const char *a = q->a + q->size * (plain ? i + p * q->lda : p + i * q->lda);
    of_copy.of_a = 'N', of_copy.lda = TALL, of_copy.a = copied - q->size * (i + p * TALL);
    if (copied)
      library.omatcopy[q->is_double]("C", plain ? "N" : "T", plain ? &rows : &depth, plain ? &depth : &rows, q->one, a, &q->lda,
                                     copied, &of_copy.lda);
    for (i64 j = first * NARROW; j < last * NARROW; j += NARROW)
      multiply_block(copied ? &of_copy : q, i, j, rows, smaller(NARROW, q->n - j), p, depth);
  }
  if (!q->twin) return;
  for (i64 j = first * NARROW; j < smaller(i, last * NARROW); j += NARROW) mirror(q, i, j, rows, NARROW);
  /* rows and columns that fill no vector are summed in different orders */
  if (rows < TALL && last * NARROW > i)
    for (i64 j = i; j < i + rows - 1; ++j) mirror(q, j + 1, j, i + rows - j - 1, 1);
}

__attribute__((noinline)) static i64 run_copied_parts(void *env, i64 start, i64 stop, void **table) {
  const product *q = env;
  char *memory = library.allocate(TALL * LAYER * q->size + 64), *copied = NULL;
  if (memory) copied = (char *)(((i64)memory + 63) & -64);
  while (start < stop) {
    i64 row = start / q->inner, first = start - row * q->inner;
    i64 count = smaller(smaller(stop - start, q->inner - first), GROUP), last = first + count;
    run_copied(q, copied, row * TALL, first, q->twin ? smaller(last, (row + 1) * (TALL / NARROW)) : last);
    start += count;
  }
  library.deallocate(memory);
  return 0;
}

static i64 never(i64 *frame) { return 0; }

static void whole(const product *q) { multiply_block(q, 0, 0, q->m, q->n, 0, q->k); }

static void run(const product *q, part *run_some, i64 count, i64 depth) {
  i64 threads = library.parallel ? library.get_blas() : 1;
  i64 own[2] = {sizeof *q, 0}; /* each thread gets a copy, and BLAS has one thread meanwhile */
  /* a multiplication takes about as long as an operation of cost.py */
  i64 work = q->m * q->n * depth >> !q->is_double >> q->twin;
  void *quiet[POLL + 1]; /* the table of a unit that is not interrupted; a constant one would need LLVM to load it */
  quiet[POLL] = (void *)never;
  if (threads <= 1) run_some((void *)q, 0, count, NULL);
  else library.parallel(run_some, (void *)q, 0, count, quiet, NULL, work, count, threads, own);
}

__attribute__((noinline)) static void in_parts(product *q) {
  bool b_only = q->of_a == 'N' && q->of_b == 'T';
  q->rows = q->twin ? COLUMNS : is_across(q) ? ROWS_ACROSS : b_only ? TALL : ROWS;
  q->columns = b_only && !q->twin ? NARROW : COLUMNS;
  i64 down = parts(q->m, q->rows), along = parts(q->n, q->columns), layer = q->k > DEEP ? DEPTH : q->k;
  q->inner = q->n <= q->m ? along : down;
  for (q->from = 0; q->from < q->k; q->from += layer) {
    q->to = smaller(q->from + layer, q->k);
    run(q, run_parts, down * along, layer);
  }
}

__attribute__((noinline)) static void in_copied_parts(product *q) {
  i64 layers = parts(q->k, LAYER);
  q->depth = (parts(q->k, layers) + 7) & -8;
  q->inner = parts(q->n, NARROW);
  run(q, run_copied_parts, parts(q->m, TALL) * q->inner, q->k);
}

static bool is_copied(const product *q) {
  i64 side = smaller(q->m, q->n);
  if (q->n < COPIED_ACROSS || q->k < FLAT_ACROSS || side > (q->of_b == 'N' ? SHORT_COPIED : SHORT)) return false;
  return is_across(q) || q->k > DEEP || (q->n >= COPIED && (side > SHORT || q->lda * q->size % APART == 0));
}

/* A matrix times its own transpose, which changes q: two smaller such products, and a product of the two halves of the matrix. */
static void multiply_twins(product *q) {
  if (is_copied(q)) {
    in_copied_parts(q);
    return;
  }
  if (q->m <= SHORT) {
    in_parts(q);
    return;
  }
  i64 half = q->m / (2 * ROWS) * ROWS;
  multiply_block(q, half, 0, q->m - half, half, 0, q->k);
  for (i64 i = half; i < q->m; i += ROWS)
    for (i64 j = 0; j < half; j += ROWS) mirror(q, i, j, smaller(ROWS, q->m - i), ROWS);
  i64 m = q->m;
  const char *a = q->a;
  char *c = q->c;
  q->m = q->n = half;
  multiply_twins(q);
  q->m = q->n = m - half;
  q->a = q->b = a + q->size * (q->of_a == 'N' ? half : half * q->lda);
  q->c = c + q->size * (half + half * q->ldc);
  multiply_twins(q);
}

static bool is_divided(const product *q) {
  i64 side = smaller(q->m, q->n);
  if (is_across(q) || q->k > DEEP) return q->n < COPIED_ACROSS && q->k >= FLAT_ACROSS;
  return q->m * q->n * q->k > LEAST && (side <= SHORT || q->k <= FLAT);
}

__attribute__((noinline)) static void gemm(i64 is_double, const char *of_a, const char *of_b, const i64 *m, const i64 *n,
                                           const i64 *k, const void *alpha, const void *a, const i64 *lda, const void *b,
                                           const i64 *ldb, const void *beta, void *c, const i64 *ldc) {
  bool overwrites = is_double ? *(const double *)beta == 0 : *(const float *)beta == 0;
  bool twin = overwrites && a == b && *lda == *ldb && *m == *n && *of_a != *of_b && *m > COLUMNS;
  const void *one = is_double ? (const void *)&one64 : &one32;
  product q;
  q.is_double = is_double, q.size = is_double ? 8 : 4, q.twin = twin, q.of_a = *of_a, q.of_b = *of_b;
  q.m = *m, q.n = *n, q.k = *k, q.lda = *lda, q.ldb = *ldb, q.ldc = *ldc;
  q.a = a, q.b = b, q.c = c, q.alpha = alpha, q.beta = beta, q.one = one;
  if (twin) multiply_twins(&q);
  else if (is_copied(&q)) in_copied_parts(&q);
  else if (is_divided(&q)) in_parts(&q);
  else whole(&q);
}

/* The function itself has no branch, so small products pay for no copies of its arguments. */
#define DEFINE(name, large, is_double)                                                                                   \
  static void large(const char *of_a, const char *of_b, const i64 *m, const i64 *n, const i64 *k, const void *alpha,     \
                    const void *a, const i64 *lda, const void *b, const i64 *ldb, const void *beta, void *c, const i64 *ldc) { \
    gemm(is_double, of_a, of_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                           \
  }                                                                                                                      \
  void name(const char *of_a, const char *of_b, const i64 *m, const i64 *n, const i64 *k, const void *alpha,             \
            const void *a, const i64 *lda, const void *b, const i64 *ldb, const void *beta, void *c, const i64 *ldc) {   \
    multiply *chosen = library.gemm[is_double];                                                                          \
    chosen = *m * *n * *k <= LEAST_ACROSS ? chosen : large;                                                              \
    __attribute__((musttail)) return chosen(of_a, of_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                   \
  }

DEFINE(sgemm, large_sgemm, 0)
DEFINE(dgemm, large_dgemm, 1)
