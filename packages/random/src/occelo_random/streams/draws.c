/* Draws with NumPy's generators: the same numbers and the same states as those of NumPy, bit by bit.

   Compiled graphs call the functions at the end with the words of a state (which they change), working memory (`WORKSPACE`
   words), memory for the draws, their number, and three parameters, each with the distance from one draw's parameter to the next one's, 0 or 1. A function returns
   0, or 1 where NumPy would raise an error, before it draws. The file draws.ll is made from this one
   (packages/link/llvm_from_c.py).

   The order of arithmetic is NumPy's, and elementary functions are those of the C library, since each bit counts. */

#include "bit_generators.h"
#include "ziggurat_tables.h"

static struct {
  double (*exp)(double), (*expm1)(double), (*log)(double), (*log1p)(double), (*pow)(double, double);
  double (*cos)(double), (*acos)(double), (*fmod)(double, double);
} math;

/* The addresses of these functions are written here when the code is loaded. */
void *math_functions(void) { return &math; }

#define SQRT __builtin_elementwise_sqrt
#define FLOOR __builtin_elementwise_floor
#define CEIL __builtin_elementwise_ceil
#define ABS __builtin_elementwise_abs

typedef _Bool flags8 __attribute__((ext_vector_type(8)));

static inline double as_double(u64 bits) {
  double x;
  __builtin_memcpy(&x, &bits, 8);
  return x;
}

static inline u64 as_bits(double x) {
  u64 bits;
  __builtin_memcpy(&bits, &x, 8);
  return bits;
}

/* Integers below 2^52 as floats, in one vector instruction or two. */
static inline doubles8 small_to_doubles(words8 x) { return (doubles8)(x | 0x4330000000000000) - 0x1p52; }

static inline doubles8 to_doubles(words8 x) {
  doubles8 high = (doubles8)(x >> 32 | 0x4530000000000000) - 0x1p84;
  return high + small_to_doubles(x & 0xffffffff);
}

/* The normal distribution, by Marsaglia and Tsang's ziggurat. The lowest 8 bits of a word choose a layer, the next one is the
   sign, and 52 bits are the distance from 0. */

static const double NORMAL_START = 3.6541528853610088, NORMAL_INVERSE = 0.27366123732975828;

static __attribute__((noinline)) double normal(stream *s) {
  for (;;) {
    u64 word = next(s), layer = word & 255, distance = word >> 9 & 0xfffffffffffff;
    double x = as_double(as_bits((double)(i64)distance * normal_width[layer]) ^ (word & 256) << 55);
    if (__builtin_expect((double)(i64)distance < normal_limit[layer], 1)) return x;
    if (layer == 0) {
      for (;;) {
        double xx = -NORMAL_INVERSE * math.log1p(-uniform(s));
        double yy = -math.log1p(-uniform(s));
        if (yy + yy > xx * xx) return distance >> 8 & 1 ? -(NORMAL_START + xx) : NORMAL_START + xx;
      }
    }
    double below = (normal_density[layer - 1] - normal_density[layer]) * uniform(s) + normal_density[layer];
    if (below < math.exp(-0.5 * x * x)) return x;
  }
}

/* The exponential distribution, by a ziggurat: 8 bits for the layer, 53 for the distance. */

static const double EXPONENTIAL_START = 7.69711747013104972;

static __attribute__((noinline)) double exponential(stream *s) {
  for (;;) {
    u64 word = next(s) >> 3, layer = word & 255;
    double distance = (double)(i64)(word >> 8), x = distance * exponential_width[layer];
    if (__builtin_expect(distance < exponential_limit[layer], 1)) return x;
    if (layer == 0) return EXPONENTIAL_START - math.log1p(-uniform(s));
    double step = exponential_density[layer - 1] - exponential_density[layer];
    if (step * uniform(s) + exponential_density[layer] < math.exp(-x)) return x;
  }
}

static inline doubles8 eight_uniforms(stream *s, words8 word) {
  if (s->kind == MT19937) word = word >> 37 << 26 | (word & 0xffffffff) >> 6;
  else word >>= 11;
  return to_doubles(word) * 0x1p-53;
}

/* Many draws at once: eight words become eight draws, of which those before the first that the quick test does not accept are
   taken. */

static inline doubles8 eight_normals(words8 word, words8 *accepted) {
  words8 layer = word & 255;
  doubles8 width, limit, distance = small_to_doubles(word >> 9 & 0xfffffffffffff);
#pragma clang loop unroll(full)
  for (int k = 0; k < 8; ++k) width[k] = normal_width[layer[k]], limit[k] = normal_limit[layer[k]];
  *accepted = (words8)(distance < limit);
  return (doubles8)((words8)(distance * width) ^ (word & 256) << 55);
}

static inline doubles8 eight_exponentials(words8 word, words8 *accepted) {
  words8 layer = word >> 3 & 255;
  doubles8 width, limit, distance = to_doubles(word >> 11);
#pragma clang loop unroll(full)
  for (int k = 0; k < 8; ++k) width[k] = exponential_width[layer[k]], limit[k] = exponential_limit[layer[k]];
  *accepted = (words8)(distance < limit);
  return distance * width;
}

/* `first + second x` for `count` standard numbers x. */
#define MANY(name, one, eight)                                                          \
  static void name(stream *s, double *to, i64 count, double first, double second) { \
    i64 i = 0;                                                                          \
    while (i < count) {                                                                 \
      s->left = count - i;                                                              \
      if (s->at == s->end) refill(s);                                                   \
      while (i + 8 <= count && s->at + 8 <= s->end) {                                   \
        words8 accepted;                                                                \
        *(doubles8 *)(to + i) = first + second * eight(*(words8 *)(s->buffer + s->at), &accepted); \
        if (__builtin_expect(count_first(accepted) == 8, 1)) { /* the next eight need not wait for the number */ \
          i += 8, s->at += 8;                                                           \
          continue;                                                                     \
        }                                                                               \
        i64 number = count_first(accepted);                                             \
        i += number, s->at += number;                                                   \
        s->left = count - i;                                                            \
        to[i++] = first + second * one(s);                                              \
      }                                                                                 \
      if (i < count && s->at < s->end) {                                                \
        s->left = count - i;                                                            \
        to[i++] = first + second * one(s);                                              \
      }                                                                                 \
    }                                                                                   \
  }

/* How many of eight are accepted before the first that is not. */
static inline i64 count_first(words8 accepted) {
  u32 bits = __builtin_bit_cast(uint8_t, __builtin_convertvector(accepted == 0, flags8));
  return __builtin_ctz(bits | 256);
}

MANY(many_normals, normal, eight_normals)
MANY(many_exponentials, exponential, eight_exponentials)

static void many_uniforms(stream *s, double *to, i64 count, double first, double second) {
  while (count > 0) {
    s->left = count;
    if (s->at == s->end) refill(s);
    i64 i = 0, number = s->end - s->at < count ? s->end - s->at : count;
    const u64 *from = s->buffer + s->at;
    for (; i + 8 <= number; i += 8) *(doubles8 *)(to + i) = first + second * eight_uniforms(s, *(words8 *)(from + i));
    for (; i < number; ++i) to[i] = first + second * ((double)(i64)upper_bits(s, from[i]) * 0x1p-53);
    s->at += number, to += number, count -= number;
  }
}

/* The gamma distribution: Marsaglia and Tsang's method for shapes from 1 on, Ahrens and Dieter's for smaller ones. */
static double standard_gamma(stream *s, double shape) {
  if (shape == 1.0) return exponential(s);
  if (shape == 0.0) return 0.0;
  if (shape < 1.0) {
    for (;;) {
      double u = uniform(s), e = exponential(s);
      if (u <= 1.0 - shape) {
        double x = math.pow(u, 1.0 / shape);
        if (x <= e) return x;
      } else {
        double y = -math.log((1.0 - u) / shape);
        double x = math.pow(1.0 - shape + shape * y, 1.0 / shape);
        if (x <= e + y) return x;
      }
    }
  }
  double b = shape - 1.0 / 3.0, c = 1.0 / SQRT(9.0 * b);
  for (;;) {
    double x, v;
    do {
      x = normal(s);
      v = 1.0 + c * x;
    } while (v <= 0.0);
    v = v * v * v;
    double u = uniform(s);
    if (u < 1.0 - 0.0331 * (x * x) * (x * x)) return b * v;
    if (math.log(u) < 0.5 * x * x + b * (1.0 - v + math.log(v))) return b * v;
  }
}

/* Uniform numbers without 0, which NumPy draws again. */
static void many_positive_uniforms(stream *s, double *to, i64 count, double first, double second) {
  while (count > 0) {
    i64 number = 0;
    many_uniforms(s, to, count, first, second);
    for (i64 i = 0; i < count; ++i)
      if (to[i] != 0.0) to[number++] = to[i];
    to += number, count -= number;
  }
}

/* `factor` times `count` gamma numbers of a shape above 1. Each draw reads two words at least. */
static void many_gammas(stream *s, double *to, i64 count, double shape, double factor) {
  const double b = shape - 1.0 / 3.0, c = 1.0 / SQRT(9.0 * b);
  for (i64 i = 0; i < count; ++i) {
    s->left = 2 * (count - i);
    if (s->at == s->end) refill(s);
    while (i + 8 <= count && s->at + 16 <= s->end) {
      words16 words = *(words16 *)(s->buffer + s->at);
      words8 accepted;
      doubles8 x = eight_normals(words.even, &accepted), u = eight_uniforms(s, words.odd), v = 1.0 + c * x;
      accepted &= (words8)(v > 0.0) & (words8)(u < 1.0 - 0.0331 * (x * x) * (x * x));
      *(doubles8 *)(to + i) = factor * (b * (v * v * v));
      if (__builtin_expect(count_first(accepted) == 8, 1)) {
        i += 8, s->at += 16;
        continue;
      }
      i64 number = count_first(accepted);
      i += number, s->at += 2 * number;
      break;
    }
    if (i == count) break;
    s->left = 2 * (count - i) - 1; /* the first word may be the last of the buffer */
    to[i] = factor * standard_gamma(s, shape);
  }
}

static double chisquare(stream *s, double df) { return 2.0 * standard_gamma(s, df / 2.0); }

/* The Poisson distribution: products of uniform numbers for small means, Hoermann's transformed rejection for others. */

static double log_gamma(double x) {
  static const double terms[10] = {
      8.333333333333333e-02, -2.777777777777778e-03, 7.936507936507937e-04, -5.952380952380952e-04,
      8.417508417508418e-04, -1.917526917526918e-03, 6.410256410256410e-03, -2.955065359477124e-02,
      1.796443723688307e-01, -1.39243221690590e+00,
  };
  if (x == 1.0 || x == 2.0) return 0.0;
  i64 shift = x < 7.0 ? (i64)(7.0 - x) : 0;
  double start = x + (double)shift, square = 1.0 / (start * start), sum = terms[9];
  for (int k = 8; k >= 0; --k) sum = sum * square + terms[k];
  double result = sum / start + 0.5 * 1.8378770664093453 + (start - 0.5) * math.log(start) - start;
  for (i64 k = 0; k < shift; ++k) {
    result -= math.log(start - 1.0);
    start -= 1.0;
  }
  return result;
}

/* A mean, and numbers that depend on it only. */
typedef struct {
  double mean, least, log_mean, a, b, log_inverse_alpha, height;
} mean_of_poisson;

static __attribute__((noinline)) void set_mean(mean_of_poisson *p, double mean) {
  p->mean = mean;
  if (mean < 10.0) {
    p->least = math.exp(-mean);
    return;
  }
  p->log_mean = math.log(mean);
  p->b = 0.931 + 2.53 * SQRT(mean);
  p->a = -0.059 + 0.02483 * p->b;
  p->log_inverse_alpha = math.log(1.1239 + 1.1328 / (p->b - 3.4));
  p->height = 0.9277 - 3.6224 / (p->b - 2.0);
}

static i64 poisson(stream *s, mean_of_poisson *p, double mean) {
  if (mean == 0.0) return 0;
  if (mean != p->mean) set_mean(p, mean);
  if (mean < 10.0) {
    const double least = p->least;
    double product = 1.0;
    for (i64 count = 0;;) {
      /* eight numbers at once, since where the product falls below the least one cannot be predicted */
      while (s->at + 8 <= s->end) {
        doubles8 u = eight_uniforms(s, *(words8 *)(s->buffer + s->at));
        i64 above = 0;
#pragma clang loop unroll(full)
        for (int k = 0; k < 8; ++k) {
          product *= u[k];
          above += product > least;
        }
        count += above, s->at += above;
        if (__builtin_expect(above < 8, 1)) {
          ++s->at;
          return count;
        }
      }
      product *= uniform(s);
      if (!(product > least)) return count;
      ++count;
    }
  }
  for (;;) {
    double u = uniform(s) - 0.5, v = uniform(s), us = 0.5 - ABS(u);
    i64 k = (i64)FLOOR((2.0 * p->a / us + p->b) * u + mean + 0.43);
    if (us >= 0.07 && v <= p->height) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (math.log(v) + p->log_inverse_alpha - math.log(p->a / (us * us) + p->b) <=
        -mean + (double)k * p->log_mean - log_gamma((double)k + 1.0))
      return k;
  }
}

/* Uniform integers from 0 to `most`, by Lemire's method. */

static inline u32 integer32(stream *s, u32 most) {
  if (most == 0xffffffff) return next_half(s);
  u32 number = most + 1;
  u64 product = (u64)next_half(s) * number;
  if (__builtin_expect((u32)product < number, 0)) {
    u32 threshold = (0xffffffff - most) % number;
    while ((u32)product < threshold) product = (u64)next_half(s) * number;
  }
  return (u32)(product >> 32);
}

/* Many integers from `low` on: the halves of eight words become sixteen, unless one of them may have to be rejected. Not for
   the twister, which has no halves that wait. */
static void many_integers(stream *s, i64 *to, i64 count, i64 low, u32 most) {
  const u64 number = (u64)most + 1, half = 0xffffffff;
  u64 *waits = s->words + HALVES[s->kind];
  for (i64 i = 0; i < count;) {
    while (!*waits && i + 16 <= count) {
      s->left = (count - i) / 2;
      if (s->at == s->end) refill(s);
      if (s->at + 8 > s->end) break;
      words8 word = *(words8 *)(s->buffer + s->at), first = (word & half) * number, second = (word >> 32) * number;
      words8 doubtful = (words8)((first & half) < number) | (words8)((second & half) < number);
      if (__builtin_expect(count_first(~doubtful) < 8, 0)) break;
      first >>= 32, second >>= 32;
      *(words16 *)(to + i) = (u64)low + __builtin_shufflevector(first, second, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
      waits[1] = word[7] >> 32; /* read, and left in the state */
      i += 16, s->at += 8;
    }
    s->left = (count - i) / 2;
    if (i < count) to[i++] = low + integer32(s, most);
  }
}

static inline u64 integer64(stream *s, u64 most) {
  if (most <= 0xffffffff) return integer32(s, (u32)most);
  if (most == ~(u64)0) return next(s);
  u64 number = most + 1;
  u128 product = (u128)next(s) * number;
  if (__builtin_expect((u64)product < number, 0)) {
    u64 threshold = (~(u64)0 - most) % number;
    while ((u64)product < threshold) product = (u128)next(s) * number;
  }
  return (u64)(product >> 64);
}

/* Pieces of 16, 8 or 1 bits: those of one word of 32 bits, one after the other. A call begins with a new word. */
typedef struct {
  u32 word;
  int pieces;
} pieces;

static inline u32 next_piece(stream *s, pieces *p, int bits) {
  if (p->pieces == 0) {
    p->word = next_half(s);
    p->pieces = 32 / bits - 1;
  } else {
    p->word >>= bits;
    --p->pieces;
  }
  return p->word & ((1u << bits) - 1);
}

static inline u32 small_integer(stream *s, pieces *p, int bits, u32 most) {
  u32 mask = (1u << bits) - 1;
  if (most == mask) return next_piece(s, p, bits);
  u32 number = most + 1, product = next_piece(s, p, bits) * number;
  if ((product & mask) < number) {
    u32 threshold = (mask - most) % number;
    while ((product & mask) < threshold) product = next_piece(s, p, bits) * number;
  }
  return product >> bits;
}

/* Other distributions of one number. */

static double triangular(stream *s, double left, double mode, double right) {
  double base = right - left, below = mode - left, u = uniform(s);
  if (u <= below / base) return left + SQRT(u * (below * base));
  return right - SQRT((1.0 - u) * ((right - mode) * base));
}

static double student_t(stream *s, double df) {
  double number = normal(s), gamma = standard_gamma(s, df / 2.0);
  return SQRT(df / 2.0) * number / SQRT(gamma);
}

static double fisher_f(stream *s, double dfnum, double dfden) {
  double above = chisquare(s, dfnum) * dfden, below = chisquare(s, dfden) * dfnum;
  return above / below;
}

static double cauchy(stream *s) {
  double above = normal(s);
  return above / normal(s);
}

static i64 geometric(stream *s, double p) {
  if (p >= 0.333333333333333333333333) {
    double sum = p, product = p, u = uniform(s);
    i64 trials = 1;
    for (; u > sum; ++trials) {
      product *= 1.0 - p;
      sum += product;
    }
    return trials;
  }
  double trials = CEIL(-exponential(s) / math.log1p(-p));
  return trials >= 0x1p63 ? INT64_MAX : (i64)trials;
}

static const double MOST_MEAN = 0x1.ffffffe3b73a0p62; /* NumPy's limit of the mean of `poisson` */

/* The tests of parameters. NaN passes most of NumPy's. */
static inline int negative(double x) { return x == x && as_bits(x) >> 63; }
static inline int wrong_range(double low, double high) {
  double range = high - low;
  return !(ABS(range) <= 0x1.fffffffffffffp1023) || negative(range);
}

#define PARAMETERS const double *a, i64 da, const double *b, i64 db, const double *c, i64 dc
#define EACH for (i64 i = 0; i < count; ++i)
#define A a[i * da]
#define B b[i * db]
#define C c[i * dc]
#define VARY (da | db | dc)

/* Parameters that are the same for all draws are tested once, also if nothing is drawn. */
#define TEST(wrong)                                     \
  do {                                                  \
    for (i64 i = 0; i < (VARY ? count : 1); ++i)        \
      if (wrong) return 1;                              \
  } while (0)

/* One draw after the other. `guesses` says whether a draw may read no word at all. */
#define DRAWS(name, type, wrong, guesses, draw)                              \
  i64 name(u64 *words, stream *s, type *to, i64 count, PARAMETERS) {         \
    TEST(wrong);                                                             \
    begin(s, words, guesses);                                                \
    EACH {                                                                   \
      s->left = count - i;                                                   \
      to[i] = draw;                                                          \
    }                                                                        \
    finish(s);                                                               \
    return 0;                                                                \
  }

/* Linear functions of standard numbers. With -0.0 and 1.0, these stay as they are, down to the sign of 0. */
#define MAPPED(name, many, wrong, offset, factor)                            \
  i64 name(u64 *words, stream *s, double *to, i64 count, PARAMETERS) {       \
    TEST(wrong);                                                             \
    begin(s, words, 0);                                                      \
    if (!VARY) {                                                             \
      i64 i = 0;                                                             \
      many(s, to, count, offset, factor);                                    \
      return 0;                                                              \
    }                                                                        \
    for (i64 start = 0; start < count; start += BLOCK) {                     \
      i64 stop = start + BLOCK < count ? start + BLOCK : count;              \
      many(s, to + start, stop - start, -0.0, 1.0);                          \
      for (i64 i = start; i < stop; ++i) to[i] = offset + factor * to[i];    \
    }                                                                        \
    return 0;                                                                \
  }

MAPPED(draw_uniform, many_uniforms, wrong_range(A, B), A, (B - A))
MAPPED(draw_normal, many_normals, negative(B), A, B)
MAPPED(draw_exponential, many_exponentials, negative(A), -0.0, A)

/* Functions of standard numbers, block by block. */
#define FROM_MANY(name, many, wrong, result)                                 \
  i64 name(u64 *words, stream *s, double *to, i64 count, PARAMETERS) {       \
    TEST(wrong);                                                             \
    begin(s, words, 0);                                                      \
    for (i64 start = 0; start < count; start += BLOCK) {                     \
      i64 stop = start + BLOCK < count ? start + BLOCK : count;              \
      many(s, to + start, stop - start, -0.0, 1.0);                          \
      for (i64 i = start; i < stop; ++i) {                                   \
        const double x = to[i];                                              \
        to[i] = result;                                                      \
      }                                                                      \
    }                                                                        \
    return 0;                                                                \
  }

#define GAMMAS(name, wrong, shape, factor)                                   \
  static DRAWS(name##_each, double, 0, 1, factor * standard_gamma(s, shape))        \
  i64 name(u64 *words, stream *s, double *to, i64 count, PARAMETERS) {       \
    TEST(wrong);                                                             \
    i64 i = 0;                                                               \
    if (VARY || !(shape > 1.0)) return name##_each(words, s, to, count, a, da, b, db, c, dc); \
    begin(s, words, 0);                                                      \
    many_gammas(s, to, count, shape, factor);                                \
    return 0;                                                                \
  }

GAMMAS(draw_gamma, negative(A) || negative(B), A, B)
GAMMAS(draw_chisquare, A <= 0.0, A / 2.0, 2.0)
DRAWS(draw_f, double, A <= 0.0 || B <= 0.0, 0, fisher_f(s, A, B))
DRAWS(draw_standard_t, double, A <= 0.0, 0, student_t(s, A))
DRAWS(draw_standard_cauchy, double, 0, 0, cauchy(s))
/* which half a uniform number is in cannot be predicted: one logarithm, and no branch */
FROM_MANY(draw_laplace, many_positive_uniforms, negative(B),
          A + (x >= 0.5 ? -B : B) * math.log(x >= 0.5 ? 2.0 - x - x : x + x))
FROM_MANY(draw_gumbel, many_positive_uniforms, negative(B), A - B * math.log(-math.log(1.0 - x)))
FROM_MANY(draw_logistic, many_positive_uniforms, negative(B), A + B * math.log(x / (1.0 - x)))
FROM_MANY(draw_lognormal, many_normals, negative(B), math.exp(A + B * x))
FROM_MANY(draw_pareto, many_exponentials, A <= 0.0, math.expm1(x / A))
FROM_MANY(draw_power, many_exponentials, A <= 0.0, math.pow(-math.expm1(-x), 1.0 / A))
FROM_MANY(draw_rayleigh, many_exponentials, negative(A), A * SQRT(2.0 * x))
static FROM_MANY(draw_weibull_above_0, many_exponentials, 0, math.pow(x, 1.0 / A))
static DRAWS(draw_weibull_each, double, 0, 1, A == 0.0 ? 0.0 : math.pow(exponential(s), 1.0 / A))
i64 draw_weibull(u64 *words, stream *s, double *to, i64 count, PARAMETERS) {
  TEST(negative(A));
  i64 (*draw)(u64 *, stream *, double *, i64, PARAMETERS) = VARY || *a == 0.0 ? draw_weibull_each : draw_weibull_above_0;
  return draw(words, s, to, count, a, da, b, db, c, dc);
}
DRAWS(draw_triangular, double, A > B || B > C || A == C, 0, triangular(s, A, B, C))

i64 draw_poisson(u64 *words, stream *s, i64 *to, i64 count, PARAMETERS) {
  TEST(!(A >= 0.0 && A <= MOST_MEAN));
  begin(s, words, 1);
  mean_of_poisson mean;
  mean.mean = 0.0;
  EACH {
    s->left = count - i;
    to[i] = poisson(s, &mean, A);
  }
  finish(s);
  return 0;
}

DRAWS(draw_geometric, i64, !(A > 0.0 && A <= 1.0), 0, geometric(s, A))

/* Integers from `low` to below `high`, of a dtype with the given bits that holds the integers from `least` to `most`. */
i64 draw_integers(u64 *words, stream *s, i64 *to, i64 count, const i64 *a, i64 da, const i64 *b, i64 db, i64 bits,
                  i64 least, i64 most) {
  for (i64 i = 0; i < (da | db ? count : 1); ++i)
    if (A >= B || A < least || B - 1 > most) return 1;
  if (count > 0 && !(da | db) && bits >= 32 && *a + 1 < *b && (u64)*b - (u64)*a <= 0xffffffff && words[0] != MT19937) {
    begin(s, words, 0);
    many_integers(s, to, count, *a, (u32)(*b - *a - 1));
    return 0;
  }
  begin(s, words, 1);
  pieces rest = {0, 0};
  EACH {
    u64 width = (u64)B - (u64)A - 1;
    /* words of the twister are read in halves, too, so that no word may be read ahead of them */
    s->left = s->kind == MT19937 ? 1 : (count - i) / (bits == 64 ? 1 + (width <= 0xffffffff) : 64 / bits);
    if (width == 0) to[i] = A;
    else if (bits == 64) to[i] = (i64)((u64)A + integer64(s, width));
    else if (bits == 32) to[i] = A + integer32(s, (u32)width);
    else to[i] = A + small_integer(s, &rest, (int)bits, (u32)width);
  }
  finish(s);
  return 0;
}
