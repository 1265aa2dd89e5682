/* Functions that printed units contain, if they need them. The file loops.ll is made from this one
   (packages/link/llvm_from_c.py), and module_writer.py reads single functions of it. */

#include <stdint.h>

typedef int64_t i64;

/* Run an outlined loop strip by strip, with a poll after each. Returns what the unit returns if it ends early, or else 0.

   There is one for all loops, since a function with so many loops and branches would compile slowly. */
i64 strips(i64 (*part)(void *env, i64 start, i64 stop, void *table), i64 (*poll)(void *frame), i64 length,
           void *frame, void *env, i64 start, i64 stop, void *table) {
  for (;;) {
    i64 limit = start + length < stop ? start + length : stop;
    i64 status = part(env, start, limit, table);
    if (status || limit >= stop) return status;
    if (poll(frame)) return INTERRUPTED;
    start = limit;
  }
}

/* The time of a clock of the system, in nanoseconds. */
i64 ticks(int (*clock_gettime)(int clock, i64 *time), int clock) {
  i64 time[2];
  clock_gettime(clock, time);
  return 1000000000 * time[0] + time[1];
}
