/* The functions of the C library that LLVM calls in place of loops that fill or copy memory. The file memory_functions.ll is
   made from this one (packages/link/llvm_from_c.py).

   Each has a loop over blocks of 32 bytes, and then one over single bytes. */

#include <stddef.h>
#include <stdint.h>

typedef unsigned char byte;
typedef byte block __attribute__((vector_size(32), aligned(1)));
#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN void *memset(void *to, int value, size_t count) {
  byte *target = to, each = (byte)value;
  block wide = (block){} + each;
  size_t k = 0;
  for (; count - k >= 32; k += 32) *(block *)(target + k) = wide;
  for (; k < count; ++k) target[k] = each;
  return to;
}

HIDDEN void *memcpy(void *to, const void *from, size_t count) {
  byte *target = to;
  const byte *source = from;
  size_t k = 0;
  for (; count - k >= 32; k += 32) *(block *)(target + k) = *(const block *)(source + k);
  for (; k < count; ++k) target[k] = source[k];
  return to;
}

HIDDEN void *memmove(void *to, const void *from, size_t count) {
  if ((uintptr_t)to <= (uintptr_t)from) return memcpy(to, from, count);
  byte *target = to;
  const byte *source = from;
  for (; count >= 32; count -= 32) *(block *)(target + count - 32) = *(const block *)(source + count - 32);
  for (; count > 0; --count) target[count - 1] = source[count - 1];
  return to;
}
