/* The threads that share the iterations of a loop with the thread that calls a unit: the service PARALLEL.

   A loop belongs to one call at a time; the loops of other calls meanwhile run in their own thread only. The calling thread
   works, too, so nobody waits for a thread that wakes late. Threads without work sleep, each on a lock of its own. They
   run no Python, so they need no GIL, and signals are handled where the unit polls for them: between rounds, in which no
   other thread works. A fork copies no threads, so Python calls `forget_threads` in the new process.

   Names in capitals that are not defined here are constants of frame.py. The file thread_pool.ll is made from this one
   (packages/link/llvm_from_c.py). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t i64;

#define ADDRESS(slot) ((void *)(slot))

enum {
  MOST_THREADS = 256,
  CHUNKS = 4,       /* of each thread: one that is late leaves some to the others */
  SPINS = 1 << 14,  /* looks at the other threads' work before the calling thread sleeps, too */
};

typedef void part(void *env, i64 start, i64 stop, void **table);

typedef struct {
  _Alignas(64) i64 asleep;
  void *lock;
} worker;

static struct {
  void *(*new_lock)(void);
  int (*acquire)(void *lock, int wait);
  void (*release)(void *lock);
  unsigned long (*start_thread)(void (*)(void *), void *);
  i64 processors; /* as many threads as this, unless a function's own limit is another */
  i64 most;       /* the limit that the user set for a time, or 0 */
  i64 worth;      /* the operations of a loop for which another thread is woken */
  i64 loops;      /* how many loops have had several threads */
  i64 started, busy, threads;
  void *done; /* the lock on which the calling thread sleeps */
  part *run;
  void *env, **table;
  i64 start, stop, size;       /* of a chunk */
  _Alignas(64) i64 left;       /* chunks that nobody has begun; negative values are like 0 */
  _Alignas(64) i64 unfinished; /* twice the number of chunks, plus 1 if the calling thread sleeps */
  worker workers[MOST_THREADS];
} pool;

void *thread_pool(void) { return &pool; }

void forget_threads(void) {
  pool.started = pool.busy = pool.left = pool.unfinished = 0;
  pool.done = NULL; /* it may be held by a thread that is no more */
}

static void run_chunks(void) {
  while (__atomic_load_n(&pool.left, __ATOMIC_RELAXED) > 0) {
    i64 number = __atomic_fetch_sub(&pool.left, 1, __ATOMIC_ACQUIRE) - 1;
    if (number < 0) return;
    i64 start = pool.start + number * pool.size, stop = start + pool.size;
    pool.run(pool.env, start, stop < pool.stop ? stop : pool.stop, pool.table);
    /* the next loop may begin as soon as the last chunk is finished */
    if (__atomic_fetch_sub(&pool.unfinished, 2, __ATOMIC_ACQ_REL) == 3) pool.release(pool.done);
  }
}

/* Each thread wakes two others, so that the last of many wakes soon. */
static void wake_two(i64 number) {
  i64 threads = __atomic_load_n(&pool.threads, __ATOMIC_RELAXED);
  for (i64 k = 2 * number + 1; k <= 2 * number + 2 && k < threads; ++k) {
    worker *other = &pool.workers[k];
    if (__atomic_exchange_n(&other->asleep, 0, __ATOMIC_SEQ_CST)) pool.release(other->lock);
  }
}

static bool may_work(i64 number) {
  return number < __atomic_load_n(&pool.threads, __ATOMIC_RELAXED) && __atomic_load_n(&pool.left, __ATOMIC_SEQ_CST) > 0;
}

static void run_worker(void *argument) {
  i64 number = (i64)argument;
  worker *self = &pool.workers[number];
  for (;;) {
    __atomic_store_n(&self->asleep, 1, __ATOMIC_SEQ_CST);
    bool awake = may_work(number) && __atomic_exchange_n(&self->asleep, 0, __ATOMIC_SEQ_CST);
    if (!awake) pool.acquire(self->lock, 1);
    if (!may_work(number)) continue;
    wake_two(number);
    run_chunks();
  }
}

static void *new_held_lock(void) {
  void *lock = pool.new_lock();
  if (lock) pool.acquire(lock, 1);
  return lock;
}

/* Start the threads that do not run yet. Returns how many there are, with the calling thread. */
static i64 start_threads(i64 wanted) {
  if (!pool.done && !(pool.done = new_held_lock())) return 1;
  for (; pool.started + 1 < wanted; ++pool.started) {
    worker *made = &pool.workers[pool.started + 1];
    made->asleep = 0;
    if (!(made->lock = new_held_lock())) break;
    if (pool.start_thread(run_worker, ADDRESS(pool.started + 1)) == (unsigned long)-1) break;
  }
  return pool.started + 1 < wanted ? pool.started + 1 : wanted;
}

static i64 smaller(i64 a, i64 b) { return a < b ? a : b; }

static void in_threads(part *run, void *env, i64 start, i64 stop, void **table, i64 threads) {
  threads = start_threads(threads);
  i64 size = (stop - start) / (CHUNKS * threads) + 1;
  if (size >= 256) size = (size + 63) & -64; /* whole vectors, and no two threads in one line of the cache */
  i64 chunks = (stop - start + size - 1) / size;
  pool.run = run, pool.env = env, pool.start = start, pool.stop = stop, pool.table = table, pool.size = size;
  __atomic_store_n(&pool.threads, threads, __ATOMIC_RELAXED);
  __atomic_store_n(&pool.unfinished, 2 * chunks, __ATOMIC_RELAXED);
  __atomic_store_n(&pool.left, chunks, __ATOMIC_SEQ_CST);
  ++pool.loops;
  wake_two(0);
  run_chunks();
  for (i64 k = 0; k < SPINS; ++k)
    if (!__atomic_load_n(&pool.unfinished, __ATOMIC_ACQUIRE)) return;
  if (__atomic_fetch_or(&pool.unfinished, 1, __ATOMIC_ACQ_REL)) pool.acquire(pool.done, 1);
}

/* The service PARALLEL: run a loop of `work` operations in at most `threads` threads, or as many as there are processors if
   that is 0, in rounds of `length` iterations. Returns what a poll after a round returned, other than 0, or else 0. */
i64 parallel(part *run, void *env, i64 start, i64 stop, void **table, i64 *frame, i64 work, i64 length, i64 threads) {
  i64 (*poll)(i64 *) = (i64(*)(i64 *))table[POLL];
  if (!threads) threads = pool.processors;
  if (pool.most) threads = smaller(threads, pool.most);
  threads = smaller(smaller(threads, MOST_THREADS), work / pool.worth + 1);
  for (;; start += length) {
    i64 limit = stop - start > length ? start + length : stop;
    i64 wanted = smaller(threads, limit - start);
    if (wanted > 1 && !__atomic_exchange_n(&pool.busy, 1, __ATOMIC_ACQUIRE)) {
      in_threads(run, env, start, limit, table, wanted);
      __atomic_store_n(&pool.busy, 0, __ATOMIC_RELEASE);
    } else {
      run(env, start, limit, table);
    }
    if (limit >= stop) return 0;
    i64 status = poll(frame);
    if (status) return status;
  }
}
