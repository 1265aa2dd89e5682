/* working memory: pieces, each twice as large as the one before, and linked by their first words */
static void *grow(i64 *frame, i64 bytes) {
  if (frame[ARENA] + bytes > frame[ARENA_END]) {
    i64 *last = (void *)(intptr_t)frame[OVERFLOW];
    i64 before = last ? last[1] : 4096;
    i64 size = bytes + 128 > 2 * before ? bytes + 128 : 2 * before;
    i64 *piece = malloc((size_t)size);
    if (!piece) return 0;
    piece[0] = frame[OVERFLOW];
    piece[1] = size;
    frame[OVERFLOW] = (i64)(intptr_t)piece;
    frame[ARENA] = ((i64)(intptr_t)piece + 79) & -64;
    frame[ARENA_END] = (i64)(intptr_t)piece + size;
  }
  void *memory = (void *)(intptr_t)frame[ARENA];
  frame[ARENA] += (bytes + 63) & -64;
  return memory;
}

#include "outputs.h"

static i64 run(i64 *frame, call_record *call) {
  frame[CALLER] = (i64)(intptr_t)call;
  i64 code = UNIT(frame, table);
  if (code == 0) code = commit(call);
  else if (call->status) code = call->status;
  while (frame[OVERFLOW]) {
    i64 *piece = (void *)(intptr_t)frame[OVERFLOW];
    frame[OVERFLOW] = piece[0];
    free(piece);
  }
  return code;
}
