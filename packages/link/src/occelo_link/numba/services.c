/* The services of units under `as_numba`: they allocate results in Numba's reference-counted memory. The file services.ll is
   made from this one (packages/link/llvm_from_c.py). Names in capitals are constants of units/frame.py and of
   njit_functions.py. */

#include <stddef.h>
#include <stdint.h>

typedef int64_t i64;

/* Numba's functions, in the order in which njit_functions.py stores their addresses */
typedef struct {
  void *(*allocate_result)(i64 bytes);
  void *(*data)(void *memory);
  void (*release)(void *memory);
  void *(*allocate)(i64 bytes);
  void (*free)(void *memory);
} functions;
static functions numba;

functions *numba_functions(void) { return &numba; }

/* an output, in the slots of the frame from the slot CALLER on */
typedef struct {
  i64 size, ndim;
  void *memory;
  i64 lengths[64];
} output_record;

static output_record *outputs_of(i64 *frame) { return (output_record *)(frame + frame[CALLER]); }

void *output(i64 *frame, i64 position, const i64 *lengths) {
  output_record *out = &outputs_of(frame)[position];
  i64 bytes = out->size;
  for (i64 k = 0; k < out->ndim; ++k) bytes *= out->lengths[k] = lengths[k];
  out->memory = numba.allocate_result(bytes);
  return out->memory ? numba.data(out->memory) : NULL;
}

void *grow(i64 *frame, i64 bytes) {
  i64 *piece = numba.allocate(bytes + 128);
  if (!piece) return NULL;
  piece[0] = frame[OVERFLOW];
  frame[OVERFLOW] = (i64)piece;
  return (void *)(((i64)piece + 79) & -64);
}

i64 poll(i64 *frame) { return 0; }

/* Free working memory, and the memory of some outputs. */
i64 finish(i64 *frame, i64 outputs) {
  while (frame[OVERFLOW]) {
    i64 *piece = (i64 *)frame[OVERFLOW];
    frame[OVERFLOW] = piece[0];
    numba.free(piece);
  }
  for (i64 k = 0; k < outputs; ++k)
    if (outputs_of(frame)[k].memory) numba.release(outputs_of(frame)[k].memory);
  return 0;
}
