/* Working memory of units: what the entries for Python (entry.c) and for C (../standalone/services.c) share.

   A frame and its slots are those of frame.py. Memory that the arena has no room for comes in pieces, which are a list
   from the slot OVERFLOW on. Whoever includes this file defines `new_piece`. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t i64;

#define ADDRESS(slot) ((void *)(slot))
#define ALIGNED(address) (((i64)(address) + 63) & -64)

typedef struct piece {
  struct piece *next;
  i64 bytes; /* with this header, and with what aligning takes */
} piece;

/* Allocate a piece, which may fail. The caller writes its header. */
static piece *new_piece(const i64 *frame, i64 bytes);

/* not memcpy: object code that refers to no outside symbol is loaded with its sections side by side */
static void copy(void *to, const void *from, i64 bytes) {
  typedef struct __attribute__((packed)) { i64 word; } unaligned;
  char *target = to;
  const char *source = from;
  for (; bytes >= 8; bytes -= 8, target += 8, source += 8) ((unaligned *)target)->word = ((unaligned *)source)->word;
  for (; bytes > 0; --bytes) *target++ = *source++;
}

/* The service GROW. */
void *grow(i64 *frame, i64 bytes) {
  i64 start = frame[ARENA], end = start + bytes;
  if ((uint64_t)end <= (uint64_t)frame[ARENA_END]) {
    frame[ARENA] = end;
    return ADDRESS(start);
  }
  piece *made = new_piece(frame, bytes + 128);
  if (!made) return NULL;
  made->next = ADDRESS(frame[OVERFLOW]);
  made->bytes = bytes + 128;
  frame[OVERFLOW] = (i64)made;
  return ADDRESS(ALIGNED(made + 1));
}

/* Free all pieces of a call. Returns how many bytes they had. */
static i64 free_pieces(const i64 *frame, void (*release)(void *)) {
  i64 sum = 0;
  for (piece *each = ADDRESS(frame[OVERFLOW]), *next; each; each = next) {
    next = each->next;
    sum += each->bytes;
    release(each);
  }
  return sum;
}
