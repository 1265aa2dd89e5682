/* The machine code that all C functions share: it runs a unit, and gives it memory. It needs no GIL, and calls share
   nothing that they write, except one number: how much working memory calls need.

   Names in capitals that are not defined here are constants of context.py and of units/frame.py. The file services.ll is
   made from this one (packages/link/llvm_from_c.py). */

#include "../units/working_memory.h"

enum {
  STACK = 2048,          /* bytes of working memory on the stack */
  MOST_WORK = 64 << 20,  /* bytes of working memory that a call allocates at once, before the unit asks for them */
};
#define OUTPUTS
#define SERVICE
#define COPY copy
#include "outputs.h"

typedef struct {
  i64 (*unit)(i64 *frame, void *table);
  void *table;
  void *(*malloc)(i64 bytes);
  void (*free)(void *);
  i64 work; /* the bytes that calls have needed until now */
  void *data[];
} context;
_Static_assert(sizeof(output_record) == 8 * RECORD, "RECORD");

static piece *new_piece(const i64 *frame, i64 bytes) {
  const call_record *call = ADDRESS(frame[CALLER]);
  return ((const context *)call->context)->malloc(bytes);
}

i64 run(i64 *frame) {
  _Alignas(64) char stack[STACK];
  call_record *call = ADDRESS(frame[CALLER]);
  context *ctx = call->context;
  i64 work = __atomic_load_n(&ctx->work, __ATOMIC_RELAXED);
  void *heap = NULL;
  if (work > STACK) {
    heap = ctx->malloc(work + 64);
    if (!heap) return NO_MEMORY;
  } else {
    work = STACK;
  }
  frame[ARENA] = heap ? ALIGNED(heap) : (i64)stack;
  frame[ARENA_END] = frame[ARENA] + work;
  frame[OVERFLOW] = frame[THREAD] = 0;
  i64 code = ctx->unit(frame, ctx->table);
  if (!code)
    code = commit(call);
  else if (call->status)
    code = call->status;
  if (heap) ctx->free(heap);
  i64 more = free_pieces(frame, ctx->free);
  if (more) {
    i64 sum = ALIGNED(work + more);
    if (sum <= MOST_WORK) __atomic_store_n(&ctx->work, sum, __ATOMIC_RELAXED);
  }
  return code;
}
