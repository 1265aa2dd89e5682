/* NumPy's bit generators: 64 random bits at a time, into a buffer, from the words that `RandomGeneratorType` makes of a
   generator's state.

   Word 0 says which bit generator it is (the position in `generator_type._KINDS`). Draws say how many words they surely read
   (`left`), so that none is computed too early; where they cannot know (`guesses`), the state before the last words is kept. */

#include <stddef.h>
#include <stdint.h>

#pragma STDC FP_CONTRACT OFF

typedef int64_t i64;
typedef uint64_t u64;
typedef uint32_t u32;
typedef unsigned __int128 u128;
typedef u64 words8 __attribute__((ext_vector_type(8), aligned(8)));
typedef double doubles8 __attribute__((ext_vector_type(8), aligned(8)));

enum { WORKSPACE = 2688 }; /* the words of a `stream` */
enum { PCG64, PCG64DXSM, PHILOX, SFC64, MT19937, KINDS };
enum { BLOCK = 1024, LANES = 16, MT_LENGTH = 624, MT_SHIFT = 397, MOST_WORDS = MT_LENGTH + 2 };

typedef u64 words16 __attribute__((ext_vector_type(LANES), aligned(8)));

static const i64 LENGTHS[KINDS] = {7, 7, 14, 7, MOST_WORDS};
static const i64 HALVES[KINDS] = {5, 5, 12, 5, 0}; /* where a 32-bit half that nobody has read is: a flag, and the half */

typedef struct {
  u64 *words;
  i64 kind;
  i64 at, end; /* of the buffer's words that are not read yet */
  i64 left;    /* at least so many words are still to be read */
  i64 guesses; /* whether `left` may be too large */
  u64 buffer[BLOCK];
  u64 before[MOST_WORDS]; /* the state before the buffer was filled */
  u64 unread[BLOCK];
} stream;

_Static_assert(sizeof(stream) <= 8 * WORKSPACE, "WORKSPACE");

static inline void copy_words(u64 *to, const u64 *from, i64 count) {
  for (i64 i = 0; i < count; ++i) to[i] = from[i];
}

static inline u64 rotated_right(u64 x, u64 by) { return x >> (by & 63) | x << (-by & 63); }

/* PCG64 and PCG64DXSM (O'Neill): a linear congruence modulo 2^128, whose state is scrambled to 64 bits. */

static inline u64 xsl_rr(u64 high, u64 low) { return rotated_right(high ^ low, high >> 58); }

static const u64 DXSM_FACTOR = 0xda942042e4dd58b5;

static inline u64 dxsm(u64 high, u64 low) {
  high = (high ^ high >> 32) * DXSM_FACTOR;
  return (high ^ high >> 48) * (low | 1);
}

static inline __attribute__((always_inline)) void fill_pcg(u64 *words, u64 *to, i64 count, int is_dxsm) {
  const u128 factor = is_dxsm ? DXSM_FACTOR : (u128)0x2360ed051fc65da4 << 64 | 0x4385df649fccf645;
  const u128 increment = (u128)words[3] << 64 | words[4];
  u128 state = (u128)words[1] << 64 | words[2];
  if (count >= 2 * LANES) {
    /* lane k has every 16th state from the k-th on: a congruence of its own */
    words16 high, low;
    u128 jump = 1, sum = 0;
    for (int k = 0; k < LANES; ++k) {
      if (!is_dxsm) state = state * factor + increment;
      high[k] = (u64)(state >> 64), low[k] = (u64)state;
      if (is_dxsm) state = state * factor + increment;
      jump *= factor, sum = sum * factor + 1;
    }
    const u128 step = sum * increment;
    const u64 jump_high = (u64)(jump >> 64), jump_low = (u64)jump, step_high = (u64)(step >> 64), step_low = (u64)step;
    const u64 half = 0xffffffff, first = jump_low & half, second = jump_low >> 32;
    for (;;) {
      words16 out;
      if (is_dxsm) {
        out = (high ^ high >> 32) * DXSM_FACTOR;
        out = (out ^ out >> 48) * (low | 1);
      } else {
        words16 by = high >> 58;
        out = high ^ low;
        out = out >> by | out << (-by & 63);
      }
      *(words16 *)to = out;
      to += LANES, count -= LANES;
      if (count < LANES) break;
      /* low * jump_low has 128 bits, made of products of halves */
      words16 low0 = low & half, low1 = low >> 32, product = low0 * first;
      words16 middle = low1 * first + (product >> 32), other = low0 * second + (middle & half);
      high = low1 * second + (middle >> 32) + (other >> 32) + low * jump_high + high * jump_low + step_high;
      low = (other << 32 | (product & half)) + step_low;
      high -= (words16)(low < step_low); /* the carry: a comparison is -1 where it holds */
    }
    state = (u128)high[LANES - 1] << 64 | low[LANES - 1];
    if (is_dxsm) state = state * factor + increment;
  }
  for (i64 i = 0; i < count; ++i) {
    if (is_dxsm) to[i] = dxsm((u64)(state >> 64), (u64)state);
    state = state * factor + increment;
    if (!is_dxsm) to[i] = xsl_rr((u64)(state >> 64), (u64)state);
  }
  words[1] = (u64)(state >> 64), words[2] = (u64)state;
}

/* SFC64 (Doty-Humphrey): three words that are mixed, and a counter. */
static void fill_sfc(u64 *words, u64 *to, i64 count) {
  u64 a = words[1], b = words[2], c = words[3], counter = words[4];
  for (i64 i = 0; i < count; ++i) {
    u64 sum = a + b + counter++;
    a = b ^ b >> 11, b = c + (c << 3), c = (c << 24 | c >> 40) + sum;
    to[i] = sum;
  }
  words[1] = a, words[2] = b, words[3] = c, words[4] = counter;
}

/* Philox 4x64-10 (Salmon and others): a counter that is enciphered, four words at a time. */
static inline void philox_block(const u64 *counter, const u64 *key, u64 *to) {
  u64 c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
    u128 first = (u128)0xd2e7470ee14c6c93 * c0, second = (u128)0xca5a826395121157 * c2;
    c0 = (u64)(second >> 64) ^ c1 ^ k0, c1 = (u64)second;
    c2 = (u64)(first >> 64) ^ c3 ^ k1, c3 = (u64)first;
    k0 += 0x9e3779b97f4a7c15, k1 += 0xbb67ae8584caa73b;
  }
  to[0] = c0, to[1] = c1, to[2] = c2, to[3] = c3;
}

/* The products of 64 bits with a constant have 128 bits, made of products of halves. */
static inline words8 times(words8 x, u64 factor, words8 *high) {
  const u64 half = 0xffffffff, first = factor & half, second = factor >> 32;
  words8 x0 = x & half, x1 = x >> 32, product = x0 * first;
  words8 middle = x1 * first + (product >> 32), other = x0 * second + (middle & half);
  *high = x1 * second + (middle >> 32) + (other >> 32);
  return other << 32 | (product & half);
}

/* The blocks of the eight counters after this one, of which only the lowest word changes. */
static void eight_philox_blocks(const u64 *counter, const u64 *key, u64 *to) {
  words8 c0 = counter[0] + (words8){1, 2, 3, 4, 5, 6, 7, 8}, c1 = counter[1], c2 = counter[2], c3 = counter[3];
  u64 k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
    words8 high0, high1, low0 = times(c0, 0xd2e7470ee14c6c93, &high0), low1 = times(c2, 0xca5a826395121157, &high1);
    c0 = high1 ^ c1 ^ k0, c1 = low1;
    c2 = high0 ^ c3 ^ k1, c3 = low0;
    k0 += 0x9e3779b97f4a7c15, k1 += 0xbb67ae8584caa73b;
  }
  for (int k = 0; k < 8; ++k, to += 4) to[0] = c0[k], to[1] = c1[k], to[2] = c2[k], to[3] = c3[k];
}

static inline void count_up(u64 *counter) {
  for (int k = 0; k < 4 && ++counter[k] == 0; ++k) {
  }
}

static void fill_philox(u64 *words, u64 *to, i64 count) {
  u64 counter[4], key[2] = {words[5], words[6]}, *block = words + 7, *position = words + 11;
  for (; count > 0 && *position < 4; --count) *to++ = block[(*position)++];
  if (count <= 0) return;
  copy_words(counter, words + 1, 4);
  for (; count > 32 && counter[0] < ~(u64)8; count -= 32, to += 32) {
    eight_philox_blocks(counter, key, to);
    counter[0] += 8;
  }
  for (; count > 4; count -= 4, to += 4) {
    count_up(counter);
    philox_block(counter, key, to);
  }
  count_up(counter);
  philox_block(counter, key, block); /* the last block stays in the state */
  copy_words(to, block, count);
  copy_words(words + 1, counter, 4);
  *position = (u64)count;
}

/* MT19937 (Matsumoto and Nishimura): 624 words of 32 bits, of which each becomes a random one; then all are replaced. */
static inline __attribute__((always_inline)) void twist(u64 *key, i64 from, i64 to, i64 other) {
  i64 i = from;
  for (; i + 8 <= to; i += 8) {
    words8 mixed = (*(words8 *)(key + i) & 0x80000000) | (*(words8 *)(key + i + 1) & 0x7fffffff);
    *(words8 *)(key + i) = *(words8 *)(key + i + other) ^ mixed >> 1 ^ (-(mixed & 1) & 0x9908b0df);
  }
  for (; i < to; ++i) {
    u64 mixed = (key[i] & 0x80000000) | (key[i + 1 < MT_LENGTH ? i + 1 : 0] & 0x7fffffff);
    key[i] = key[i + other] ^ mixed >> 1 ^ (-(mixed & 1) & 0x9908b0df);
  }
}

static void replace_all(u64 *words) {
  u64 *key = words + 1;
  twist(key, 0, MT_LENGTH - MT_SHIFT, MT_SHIFT);
  twist(key, MT_LENGTH - MT_SHIFT, MT_LENGTH - 1, MT_SHIFT - MT_LENGTH);
  twist(key, MT_LENGTH - 1, MT_LENGTH, MT_SHIFT - MT_LENGTH);
  words[1 + MT_LENGTH] = 0;
}

#define TEMPERED(y) \
  y ^= y >> 11;     \
  y ^= y << 7 & 0x9d2c5680; \
  y ^= y << 15 & 0xefc60000; \
  y ^= y >> 18

static u64 next_of_twister(u64 *words) {
  u64 *position = words + 1 + MT_LENGTH;
  if (*position == MT_LENGTH) replace_all(words);
  u64 y = words[1 + (*position)++];
  TEMPERED(y);
  return y;
}

static void fill_twister(u64 *words, u64 *to, i64 count) {
  u64 *position = words + 1 + MT_LENGTH;
  while (count > 0) {
    for (; count >= 8 && *position + 16 <= MT_LENGTH; count -= 8, to += 8, *position += 16) {
      words16 y = *(words16 *)(words + 1 + *position);
      TEMPERED(y);
      *(words8 *)to = y.even << 32 | y.odd;
    }
    if (count == 0) break;
    u64 high = next_of_twister(words);
    *to++ = high << 32 | next_of_twister(words);
    --count;
  }
}

static void fill(u64 *words, i64 kind, u64 *to, i64 count) {
  switch (kind) {
    case PCG64: fill_pcg(words, to, count, 0); break;
    case PCG64DXSM: fill_pcg(words, to, count, 1); break;
    case PHILOX: fill_philox(words, to, count); break;
    case SFC64: fill_sfc(words, to, count); break;
    default: fill_twister(words, to, count);
  }
}

/* Fill the buffer, of which all words are read. */
static __attribute__((noinline)) void refill(stream *s) {
  i64 count = s->left < 1 ? 1 : s->left < BLOCK ? s->left : BLOCK;
  if (s->guesses) copy_words(s->before, s->words, LENGTHS[s->kind]);
  fill(s->words, s->kind, s->buffer, count);
  s->at = 0, s->end = count;
}

static inline u64 next(stream *s) {
  if (__builtin_expect(s->at == s->end, 0)) refill(s);
  return s->buffer[s->at++];
}

static inline u32 next_half(stream *s) {
  if (s->kind == MT19937) return (u32)next_of_twister(s->words);
  u64 *flag = s->words + HALVES[s->kind], *half = flag + 1;
  if (*flag) {
    *flag = 0;
    return (u32)*half;
  }
  u64 word = next(s);
  *flag = 1, *half = word >> 32;
  return (u32)word;
}

/* Of the 64 bits of a word, the 53 that NumPy makes a uniform number of. The twister has 27 from one word of 32 bits, and
   26 from the next. */
static inline u64 upper_bits(stream *s, u64 word) {
  return s->kind == MT19937 ? word >> 37 << 26 | (word & 0xffffffff) >> 6 : word >> 11;
}

static inline double uniform(stream *s) { return (double)(i64)upper_bits(s, next(s)) * 0x1p-53; }

static void begin(stream *s, u64 *words, i64 guesses) {
  s->words = words, s->kind = (i64)words[0], s->at = s->end = 0, s->left = 1, s->guesses = guesses;
}

/* Put words back that were computed and not read. The half that was read last stays. */
static void finish(stream *s) {
  if (s->at == s->end) return;
  u64 *halves = s->words + HALVES[s->kind], flag = halves[0], half = halves[1];
  copy_words(s->words, s->before, LENGTHS[s->kind]);
  fill(s->words, s->kind, s->unread, s->at);
  if (s->kind != MT19937) halves[0] = flag, halves[1] = half;
}
