/* The threads that share the iterations of a loop with the thread that calls a unit: the service PARALLEL.

   A loop belongs to one call at a time; the loops of other calls meanwhile run in their own thread only. The calling thread
   works, too, so nobody waits for a thread that wakes late. Threads without work sleep, each on a lock of its own. They
   run no Python, so they need no GIL. The calling thread polls for signals between chunks of its own, and a handler may fork.
   A fork copies no threads: Python calls `hold_chunks` before it, so that no chunk is half done, then `resume_chunks` in the
   old process and `forget_threads` in the new one, which runs the other chunks alone.

   Names in capitals that are not defined here are constants of frame.py. The file thread_pool.ll is made from this one
   (packages/link/llvm_from_c.py). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t i64;

#define ADDRESS(slot) ((void *)(slot))

enum {
  MOST_THREADS = 256,
  CHUNKS = 4,       /* of each thread, each shorter than those before: one that is late leaves some to the others */
  ENOUGH = 3, /* times `worth`: the operations from which on other threads are woken, as in cost.py */
  UNPOLLED = 10000000, /* operations between two polls, about 0.5 ms */
  SPINS = 1 << 14,  /* looks for work, or at the work of others, before a thread sleeps */
};

typedef i64 part(void *env, i64 start, i64 stop, void **table);

typedef i64 poller(i64 *frame);

typedef struct {
  _Alignas(64) i64 asleep;
  void *lock;
} worker;

static struct {
  void *(*new_lock)(void);
  int (*acquire)(void *lock, int wait);
  void (*release)(void *lock);
  unsigned long (*start_thread)(void (*)(void *), void *);
  unsigned long (*this_thread)(void);
  void *(*allocate)(size_t bytes);
  void (*deallocate)(void *);
  int (*get_blas)(void); /* the number of threads of BLAS; null if it is not known how to set it */
  void (*set_blas)(int threads);
  i64 processors; /* as many threads as this, unless a function's own limit is another */
  i64 worth;      /* the operations of a loop for which another thread is woken */
  i64 loops;      /* how many loops have had several threads */
  i64 started, busy, threads;
  void *done; /* the lock on which the calling thread sleeps */
  part *run;
  void *env, **table;
  i64 *own;                    /* what `parallel` got */
  unsigned long polls;         /* the thread that polls between its chunks, or 0 */
  i64 held, kept;              /* the forks that it begins now, and the chunks that others must not begin meanwhile */
  i64 interrupted;
  i64 failed;                  /* 2^32 times the first chunk that failed, plus what it returned */
  i64 blas_busy, blas_users, blas_threads;
  i64 start, stop, chunks;
  _Alignas(64) i64 left;       /* chunks that nobody has begun; negative values are like 0 */
  _Alignas(64) i64 unfinished; /* twice the number of chunks, plus 1 if the calling thread sleeps */
  worker workers[MOST_THREADS];
} pool;

void *thread_pool(void) { return &pool; }

static void copy(void *to, const void *from, i64 bytes) {
  for (i64 k = 0; k < bytes / 8; ++k) ((i64 *)to)[k] = ((const i64 *)from)[k];
  for (i64 k = bytes & -8; k < bytes; ++k) ((char *)to)[k] = ((const char *)from)[k];
}

/* The environment of a loop with copies of its scratch memory, in memory that the caller frees; null if there is none. */
static void *own_env(const i64 *own, void *env) {
  i64 total = own[0] + 128;
  for (i64 k = 0; k < own[1]; ++k) total += (own[2 + k] + 127) & -64;
  i64 *made = pool.allocate(total);
  if (!made) return NULL;
  copy(made, env, own[0]);
  i64 free = ((i64)made + own[0] + 63) & -64;
  for (i64 k = 0; k < own[1]; free += (own[2 + k] + 127) & -64, ++k) {
    copy(ADDRESS(free), ADDRESS(made[1 + k]), own[2 + k]);
    made[1 + k] = free;
  }
  return made;
}

static void note_failure(i64 number, i64 status) {
  i64 mine = number << 32 | (status & 0xffffffff), before = __atomic_load_n(&pool.failed, __ATOMIC_RELAXED);
  while (mine < before)
    if (__atomic_compare_exchange_n(&pool.failed, &before, mine, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
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

/* Let nobody begin a chunk. Returns how many were not begun. */
static i64 take_rest(void) {
  i64 rest = __atomic_exchange_n(&pool.left, 0, __ATOMIC_ACQ_REL);
  return rest > 0 ? rest : 0;
}

/* The first iteration of a chunk. Lengths of chunks grow with their numbers, which are begun from the last to the first. */
static i64 first_of(i64 number) {
  if (number == pool.chunks) return pool.stop;
  i64 length = pool.stop - pool.start;
  double before = (double)number / (double)pool.chunks;
  i64 at = (i64)(before * before * (double)length);
  if (length >= 256 * pool.chunks) at &= -64; /* whole vectors, and no two threads in one line of the cache */
  return pool.start + at;
}

/* Run chunks until none is left. The calling thread, which is number 0, passes `poll`, and the iterations after which it polls. */
static void run_chunks(i64 thread, poller *poll, i64 *frame, i64 every) {
  i64 loop = 0, polled = 0;
  void *mine = NULL; /* of this loop */
  while (may_work(thread)) {
    i64 number = __atomic_fetch_sub(&pool.left, 1, __ATOMIC_ACQUIRE) - 1;
    if (number < 0) break;
    i64 start = first_of(number), stop = first_of(number + 1), status = NO_MEMORY;
    if (loop != pool.loops) {
      loop = pool.loops;
      wake_two(thread);
      pool.deallocate(mine);
      mine = pool.own ? own_env(pool.own, pool.env) : NULL;
    }
    void *env = pool.own ? mine : pool.env;
    if (env) status = pool.run(env, start, stop, pool.table);
    if (status) note_failure(number, status);
    if (poll && (polled += stop - start) >= every && __atomic_load_n(&pool.left, __ATOMIC_RELAXED) > 0) {
      polled = 0;
      __atomic_store_n(&pool.polls, pool.this_thread(), __ATOMIC_RELAXED);
      if ((pool.interrupted = poll(frame))) __atomic_fetch_sub(&pool.unfinished, 2 * take_rest(), __ATOMIC_ACQ_REL);
      __atomic_store_n(&pool.polls, 0, __ATOMIC_RELAXED);
    }
    /* the next loop may begin as soon as the last chunk is finished */
    if (__atomic_fetch_sub(&pool.unfinished, 2, __ATOMIC_ACQ_REL) == 3) pool.release(pool.done);
  }
  pool.deallocate(mine);
}

static void run_worker(void *argument) {
  i64 number = (i64)argument;
  worker *self = &pool.workers[number];
  for (;;) {
    /* a loop may follow soon, and to be woken takes longer */
    for (i64 k = 0; k < SPINS && !may_work(number); ++k) {
    }
    __atomic_store_n(&self->asleep, 1, __ATOMIC_SEQ_CST);
    bool awake = may_work(number) && __atomic_exchange_n(&self->asleep, 0, __ATOMIC_SEQ_CST);
    if (!awake) pool.acquire(self->lock, 1);
    run_chunks(number, NULL, NULL, 0);
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

/* Wait until no chunk is unfinished. */
static void wait_for_others(void) {
  for (i64 k = 0; k < SPINS; ++k)
    if (!__atomic_load_n(&pool.unfinished, __ATOMIC_ACQUIRE)) return;
  if (__atomic_fetch_or(&pool.unfinished, 1, __ATOMIC_ACQ_REL)) pool.acquire(pool.done, 1);
}

static bool is_polling(void) { return __atomic_load_n(&pool.polls, __ATOMIC_RELAXED) == pool.this_thread(); }

/* Before a fork. If a signal handler forks between two chunks, wait until the others have finished theirs. */
void hold_chunks(void) {
  if (!is_polling() || pool.held++) return;
  pool.kept = take_rest();
  i64 own = 2 * pool.kept + 2; /* its own is unfinished, too */
  __atomic_fetch_sub(&pool.unfinished, own, __ATOMIC_ACQ_REL);
  wait_for_others();
  __atomic_store_n(&pool.unfinished, own, __ATOMIC_RELAXED);
}

/* After a fork, in the old process. */
void resume_chunks(void) {
  if (!is_polling() || !pool.held || --pool.held) return;
  __atomic_store_n(&pool.left, pool.kept, __ATOMIC_SEQ_CST);
  for (i64 k = 0; 2 * k + 1 < pool.threads; ++k) wake_two(k);
}

/* After a fork, in the new process, which has no threads but the one that forked. */
void forget_threads(void) {
  pool.started = pool.blas_busy = 0;
  pool.processors = 1; /* its siblings need the others */
  pool.done = NULL; /* it may be held by a thread that is no more */
  if (is_polling()) {
    if (pool.held) pool.left = pool.kept;
  } else {
    pool.busy = pool.left = pool.unfinished = pool.blas_users = pool.polls = 0;
  }
  pool.held = 0;
}

static i64 smaller(i64 a, i64 b) { return a < b ? a : b; }

/* Let BLAS have at most `most` threads until a call with 0. If calls overlap, the least limit holds until the last one ends. */
static void limit_blas(i64 most) {
  if (!pool.get_blas) return;
  while (__atomic_exchange_n(&pool.blas_busy, 1, __ATOMIC_ACQUIRE)) {
  }
  i64 threads = pool.get_blas();
  if (most && pool.blas_users++ == 0) pool.blas_threads = threads;
  if (most && threads > most) pool.set_blas((int)most);
  bool ended = !most && pool.blas_users > 0 && --pool.blas_users == 0;
  if (ended && threads != pool.blas_threads) pool.set_blas((int)pool.blas_threads);
  __atomic_store_n(&pool.blas_busy, 0, __ATOMIC_RELEASE);
}

/* Run the unit whose address is before the table, with as many threads of BLAS as the number between them. */
i64 with_limit(i64 *frame, void **table) {
  limit_blas((i64)table[-1]);
  i64 status = ((i64(*)(i64 *, void **))table[-2])(frame, table);
  limit_blas(0);
  return status;
}

static i64 in_threads(part *run, void *env, i64 start, i64 stop, void **table, i64 *frame, i64 threads, i64 every, i64 *own) {
  threads = start_threads(threads);
  i64 longest = 2 * (stop - start) / every, chunks = CHUNKS * threads;
  if (chunks <= longest) chunks = longest + 1;
  pool.run = run, pool.env = env, pool.start = start, pool.stop = stop, pool.table = table, pool.chunks = chunks;
  pool.own = own, pool.failed = INT64_MAX, pool.interrupted = 0;
  ++pool.loops;
  __atomic_store_n(&pool.threads, threads, __ATOMIC_RELAXED);
  __atomic_store_n(&pool.unfinished, 2 * chunks, __ATOMIC_RELAXED);
  __atomic_store_n(&pool.left, chunks, __ATOMIC_SEQ_CST);
  run_chunks(0, (poller *)table[POLL], frame, every);
  wait_for_others();
  if (pool.interrupted) return INTERRUPTED;
  return pool.failed == INT64_MAX ? 0 : (int32_t)pool.failed;
}

/* The service PARALLEL: run a loop of `work` operations in at most `threads` threads, or as many as there are processors if
   that is 0. It may poll after every `length` iterations. Returns what the unit returns if it ends early, or else 0. The first error by
   position is the one that one thread would find. */
i64 parallel(part *run, void *env, i64 start, i64 stop, void **table, i64 *frame, i64 work, i64 length, i64 threads,
             i64 *own) {
  poller *poll = (poller *)table[POLL];
  if (!threads) threads = pool.processors;
  if (work <= ENOUGH * pool.worth) threads = 1; /* the loop is here for `own` */
  threads = smaller(smaller(threads, MOST_THREADS), work / pool.worth + 1);
  i64 status = 0, unpolled = (i64)((double)(stop - start) * UNPOLLED / (double)(work + 1));
  threads = smaller(threads, stop - start);
  if (own) limit_blas(1); /* the bits of its results depend on the number */
  if (threads > 1 && !__atomic_exchange_n(&pool.busy, 1, __ATOMIC_ACQUIRE)) {
    status = in_threads(run, env, start, stop, table, frame, threads, unpolled > length ? unpolled : length, own);
    __atomic_store_n(&pool.busy, 0, __ATOMIC_RELEASE);
  } else {
    while (!(status = run(env, start, smaller(stop, start + length), table)) && (start += length) < stop)
      if (poll(frame)) {
        status = INTERRUPTED;
        break;
      }
  }
  if (own) limit_blas(0);
  return status;
}
