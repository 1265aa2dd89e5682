"""The first lines of each generated C file, which `c.source` writes.

These lines define the integer types, the types of service functions, and macros that depend on the compiler.
"""

from __future__ import annotations

PRELUDE = """\
typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

typedef void *(*alloc_output_fn)(i64 *frame, i64 position, i64 *lengths);
typedef void *(*grow_fn)(i64 *frame, i64 bytes);
typedef i64 (*poll_fn)(i64 *frame);
typedef void *(*take_fn)(i64 *frame, i64 position, i64 input, i64 bytes);

/* loops with independent iterations, which may be vectorised */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* Clang cannot vectorise every such loop */
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif
#if defined(__GNUC__) || defined(__clang__)
#define ALWAYS_INLINE __attribute__((always_inline))
#define NOT_INLINED __attribute__((noinline))
#define UNUSED __attribute__((unused))
#else
#define ALWAYS_INLINE
#define NOT_INLINED
#define UNUSED
#endif

/* a rounded product: where sums and differences of products alternate, as for complex
   numbers, GCC from 12 on makes one rounding of two, whatever -ffp-contract says */
#if defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__)
#define ROUNDED(x) __builtin_assoc_barrier(x)
#else
#define ROUNDED(x) (x)
#endif
"""
