/* The machine-code entry: what Python calls as a compiled function, and the services that units call meanwhile.

   It reads an EntryContext (entry.py), whose slots have the order of entry_context.py. Names in capitals that are not
   defined here are constants of that module, of frame.py, object_layout.py and entry_kinds.py. The file entry.ll is
   made from this one (packages/link/llvm_from_c.py). */

#include "working_memory.h"

/* A Python object. Its fields are read at the offsets of object_layout.py. */
typedef struct object object;
#define FIELD(type, object, offset) (*(type *)((char *)(object) + (offset)))
#define COUNT(object) FIELD(int32_t, object, 0) /* of references */

#define OUT_OF_LINE __attribute__((noinline)) /* what few calls need: less code is compiled sooner */

enum {
  STACK_SLOTS = 384,
  RELEASE_GIL_ABOVE = 16384, /* elements of all inputs: then the unit runs without the global interpreter lock (GIL) */
  ARENA_LIMIT = 64 << 20,
  LARGE_PAGES_FROM = 4 << 20, /* bytes: such memory gets large pages if the system has them, as in NumPy */
  MADV_HUGEPAGE = 14,
  IN_ORDER = 1,            /* NumPy's flags of an array that is in C order */
  IS_ALIGNED = 0x100,
  PLAIN = IN_ORDER | IS_ALIGNED,
  OWN = PLAIN | 0x400 | 4, /* and that is writeable and owns its memory */
  OWN_SCALAR = OWN | 2, /* all flags of a new one */
};
static const i64 EXACT = (i64)1 << 53; /* integers up to here are numbers of float64 */

typedef struct {
  i64 kind, which; /* an argument (0) and its position, or a cell (1) and its address */
  i64 type, other; /* two type numbers of NumPy */
  i64 ndim;
  const i64 *dims; /* the static lengths, -1 where a length is not static, or null */
  i64 accepts; /* besides arrays in C order */
  object *descr;
} input_record;

typedef struct {
  object *descr;
  i64 ndim;
  object *cell;
  object *spare; /* an old value of the cell, whose memory may be used again; without a cell, the last result if it is a scalar */
  object *older; /* the result before it: while a call computes, a variable often holds the last one */
  i64 unused[3];
} output_record;

typedef struct {
  i64 (*unit)(i64 *frame, void *table);
  void *table;
  i64 args, inputs, outputs, results, kind;
  object *slow;
  i64 arena; /* working memory between calls: its first word is its size in bytes */
  object *array_type;
  object *(*new_array)(object *type, object *descr, int ndim, const i64 *dims, const i64 *strides, void *data, int flags,
                       object *like);
  object *(*new_list)(i64 length);
  void (*incref)(object *);
  void (*decref)(object *);
  object *(*vectorcall)(object *function, object *const *args, i64 count, object *names);
  void *(*malloc)(i64 bytes);
  void (*free)(void *);
  object *float_type, *float64_type, *long_type;
  i64 (*long_value)(object *, int *overflow);
  void (*clear_error)(void);
  void *(*save_thread)(void);
  void (*restore_thread)(void *state);
  int (*acquire)(void *lock, int wait);
  void (*release)(void *lock);
  void **locks;
  i64 lock_count;
  int (*check_signals)(void);
  i64 (*thread_ident)(void);
  i64 main_thread;
  int (*advise)(void *memory, size_t bytes, int advice);
  i64 calls_left; /* that counted_entry runs */
  input_record first_record[]; /* of each input, and then of each output */
} context;
_Static_assert(sizeof(input_record) == 8 * RECORD && sizeof(output_record) == 8 * RECORD, "records are of one size");

static context *context_of(const i64 *frame) { return ADDRESS(frame[CALLER]); }

static output_record *output_of(context *ctx, i64 position) {
  return (output_record *)&ctx->first_record[ctx->inputs + position];
}

/* After the inputs, a frame has a slot for each output, its array, and one for each input: the object that a cell held, or
   the value of a number. */
static object **outputs_of(const context *ctx, i64 *frame) {
  return (object **)&frame[FIRST_INPUT + INPUT_SLOTS * ctx->inputs];
}

/* The services. A call holds the GIL if its slot THREAD is 0. */

static inline void hold_gil(const context *ctx, i64 *frame) {
  ctx->restore_thread(ADDRESS(frame[THREAD]));
  frame[THREAD] = 0;
}

static inline void release_gil(const context *ctx, i64 *frame) { frame[THREAD] = (i64)ctx->save_thread(); }

static void advise_pages(const context *ctx, void *memory, i64 bytes) {
  if (!ctx->advise || bytes < LARGE_PAGES_FROM) return;
  i64 page = ((i64)memory + 4095) & -4096;
  ctx->advise(ADDRESS(page), (size_t)((i64)memory + bytes - page), MADV_HUGEPAGE);
}

static piece *new_piece(const i64 *frame, i64 bytes) {
  const context *ctx = context_of(frame);
  piece *made = ctx->malloc(bytes);
  if (made) advise_pages(ctx, made, bytes);
  return made;
}

static bool has_lengths(object *array, const i64 *dims, i64 ndim) {
  const i64 *own = FIELD(i64 *, array, ARRAY_DIMS);
  for (i64 k = 0; k < ndim; ++k)
    if (own[k] != dims[k]) return false;
  return true;
}

/* Whether nobody else refers to a scalar that a call returned, and it still is as it was made. */
static inline bool is_free_scalar(const output_record *record, object *scalar) {
  return scalar && COUNT(scalar) == 1 && FIELD(int32_t, scalar, ARRAY_NDIM) == 0 &&
         FIELD(int32_t, scalar, ARRAY_FLAGS) == OWN_SCALAR && !FIELD(object *, scalar, ARRAY_WEAK_REFERENCES) &&
         FIELD(object *, scalar, ARRAY_DESCR) == record->descr;
}

/* An array of the entry's that an output may use, which the record no longer holds. NULL if there is none. */
static inline object *take_spare(output_record *record, const i64 *dims) {
  object **place = &record->spare;
  if (record->cell) {
    if (!*place || COUNT(*place) != 1 || !has_lengths(*place, dims, record->ndim)) return NULL;
  } else if (!is_free_scalar(record, *place)) {
    place = &record->older;
    if (!is_free_scalar(record, *place)) return NULL;
  }
  object *spare = *place;
  *place = NULL;
  return spare;
}

static inline void *make_output(context *ctx, i64 *frame, i64 position, const i64 *dims) {
  output_record *record = output_of(ctx, position);
  object *made = take_spare(record, dims);
  if (!made) {
    ctx->incref(record->descr); /* the call below takes a reference */
    made = ctx->new_array(ctx->array_type, record->descr, (int)record->ndim, dims, NULL, NULL, 0, NULL);
    if (!made) return NULL;
  }
  outputs_of(ctx, frame)[position] = made;
  return FIELD(void *, made, ARRAY_DATA);
}

void *alloc_output(i64 *frame, i64 position, const i64 *dims) {
  context *ctx = context_of(frame);
  i64 released = frame[THREAD];
  if (released) hold_gil(ctx, frame);
  void *memory = make_output(ctx, frame, position, dims);
  if (released) release_gil(ctx, frame);
  return memory;
}

void *take(i64 *frame, i64 position, i64 input, i64 bytes) {
  context *ctx = context_of(frame);
  if (frame[THREAD]) hold_gil(ctx, frame);
  const input_record *from = &ctx->first_record[input];
  object **outputs = outputs_of(ctx, frame);
  i64 *slots = &frame[FIRST_INPUT + INPUT_SLOTS * input];
  void *data = ADDRESS(slots[0]);
  if (from->kind && ADDRESS(from->which) == output_of(ctx, position)->cell) {
    object *held = outputs[ctx->outputs + input];
    /* one reference is the cell's, and one is this call's */
    if (COUNT(held) == 2 && (FIELD(int32_t, held, ARRAY_FLAGS) & OWN) == OWN) {
      ctx->incref(held);
      outputs[position] = held;
      return data;
    }
  }
  void *memory = alloc_output(frame, position, ADDRESS(slots[1]));
  if (memory) copy(memory, data, bytes);
  return memory;
}

i64 poll(i64 *frame) {
  const context *ctx = context_of(frame);
  bool handles_signals = ctx->thread_ident() == ctx->main_thread;
  if (frame[THREAD]) {
    if (!handles_signals) return 0;
    hold_gil(ctx, frame);
  }
  i64 raised = handles_signals ? ctx->check_signals() : 0;
  release_gil(ctx, frame);
  return raised;
}

/* The entry. */

static void release_locks(const context *ctx, i64 count) {
  while (count > 0) ctx->release(ctx->locks[--count]);
}

static bool acquire_locks(const context *ctx) {
  for (i64 k = 0; k < ctx->lock_count; ++k)
    if (!ctx->acquire(ctx->locks[k], 0)) {
      release_locks(ctx, k);
      return false;
    }
  return true;
}

/* Whether the rows or the columns of a matrix are contiguous, and come one after the other. */
OUT_OF_LINE static bool in_either_order(object *matrix, i64 item) {
  const i64 *dims = FIELD(i64 *, matrix, ARRAY_DIMS), *strides = FIELD(i64 *, matrix, ARRAY_STRIDES);
  for (i64 side = 0; side < 2; ++side) {
    i64 across = 1 - side;
    if ((dims[side] <= 1 || strides[side] == item) && (dims[across] <= 1 || strides[across] >= item * dims[side]))
      return true;
  }
  return false;
}

/* Whether an array has the type of an input. Writes its addresses to the frame, and adds its elements to `work`. */
static inline bool read_array(const input_record *record, object *array, i64 *slots, i64 *work) {
  i64 ndim = FIELD(int32_t, array, ARRAY_NDIM), count = 1;
  if (ndim != record->ndim) return false;
  int32_t flags = FIELD(int32_t, array, ARRAY_FLAGS) & PLAIN;
  if (flags != PLAIN) {
    bool matrix = flags == IS_ALIGNED && (record->accepts & EITHER_ORDER);
    if (!matrix || !in_either_order(array, record->accepts & SINGLES ? 4 : 8)) return false;
  }
  object *descr = FIELD(object *, array, ARRAY_DESCR);
  if (descr != record->descr) {
    i64 type = FIELD(int32_t, descr, DESCR_TYPE_NUM);
    char order = FIELD(char, descr, DESCR_BYTEORDER);
    if (type != record->type && type != record->other) return false;
    if (order != '=' && order != '|' && order != '<') return false;
  }
  const i64 *dims = FIELD(i64 *, array, ARRAY_DIMS), *wanted = record->dims;
  for (i64 k = 0; k < ndim; ++k) {
    if (wanted && wanted[k] >= 0 && wanted[k] != dims[k]) return false;
    count *= dims[k];
  }
  *work += count;
  slots[0] = FIELD(i64, array, ARRAY_DATA);
  slots[1] = (i64)dims;
  slots[2] = FIELD(i64, array, ARRAY_STRIDES);
  return true;
}

/* Whether an object is a number that an input accepts without loss. Writes its value. */
static inline bool read_number(const context *ctx, i64 accepts, object *number, object *type, void *place) {
  if (!(accepts & (FLOATS | INTEGERS))) return false;
  bool single = accepts & SINGLES, is_float = type == ctx->float_type;
  double value;
  if ((accepts & FLOATS) && (is_float || (type == ctx->float64_type && !single))) {
    value = FIELD(double, number, FLOAT_VALUE);
  } else {
    int overflow;
    if (type != ctx->long_type) return false;
    i64 whole = ctx->long_value(number, &overflow);
    if (overflow) return false;
    if (!(accepts & FLOATS)) {
      *(i64 *)place = whole;
      return true;
    }
    if (whole > EXACT || whole < -EXACT) return false;
    value = (double)whole;
  }
  if (!single) {
    *(double *)place = value;
    return true;
  }
  *(float *)place = (float)value;
  return is_float || *(float *)place == value; /* a float of Python is rounded */
}

OUT_OF_LINE static void each_held(const context *ctx, object **held, void (*function)(object *)) {
  for (i64 k = 0, count = ctx->inputs; k < count; ++k)
    if (ctx->first_record[k].kind) function(held[k]);
}

OUT_OF_LINE static void drop_outputs(const context *ctx, object **outputs) {
  for (i64 k = 0, count = ctx->outputs; k < count; ++k)
    if (outputs[k]) ctx->decref(outputs[k]);
}

/* Replace an arena that was too small by a larger one. */
OUT_OF_LINE static i64 larger_arena(const context *ctx, const i64 *frame, i64 arena) {
  i64 bytes = free_pieces(frame, ctx->free) + 128 + (arena ? *(i64 *)arena : 0);
  if (bytes > ARENA_LIMIT) return arena;
  ctx->free(ADDRESS(arena));
  i64 *made = ctx->malloc(bytes);
  if (!made) return 0;
  advise_pages(ctx, made, bytes);
  *made = bytes;
  return (i64)made;
}

/* Keep the arena for the next call. */
static inline void return_arena(context *ctx, const i64 *frame, i64 arena) {
  if (frame[OVERFLOW]) arena = larger_arena(ctx, frame, arena);
  if (!arena) return;
  i64 other = ctx->arena;
  ctx->arena = arena;
  if (other) ctx->free(ADDRESS(other)); /* of a call that ended meanwhile */
}

/* Whether nothing else refers to the old value of a cell, and its memory fits the values of the cell. */
static bool is_reusable(const context *ctx, object *old, object *new) {
  return FIELD(object *, old, OBJECT_TYPE) == ctx->array_type && COUNT(old) == 1 &&
         (FIELD(int32_t, old, ARRAY_FLAGS) & OWN) == OWN &&
         FIELD(object *, old, ARRAY_DESCR) == FIELD(object *, new, ARRAY_DESCR);
}

static void store_update(const context *ctx, output_record *record, object *new) {
  object **cell = FIELD(object **, record->cell, LIST_ITEMS), *old = *cell;
  *cell = new;
  if (!record->spare && is_reusable(ctx, old, new))
    record->spare = old;
  else
    ctx->decref(old);
}

/* Keep a result, if it is a scalar, to use its memory again: to make and free an array takes longer than the rest of a call. */
static inline void keep_result(const context *ctx, output_record *record, object *result) {
  if (record->ndim) return;
  object *oldest = record->older;
  ctx->incref(result);
  record->older = record->spare;
  record->spare = result;
  if (oldest) ctx->decref(oldest); /* last, since code that it runs may call the function */
}

/* Check the inputs and write them to the frame. Returns the number of their elements, or -1 for the slow path. */
static inline i64 read_inputs(const context *ctx, object *const *args, i64 *frame, object **held, bool *holds) {
  i64 work = 0;
  i64 *slots = &frame[FIRST_INPUT];
  const input_record *record = ctx->first_record;
  for (i64 k = 0, count = ctx->inputs; k < count; ++k, ++record, slots += INPUT_SLOTS) {
    object *value = record->kind ? *FIELD(object **, record->which, LIST_ITEMS) : args[record->which];
    object *type = FIELD(object *, value, OBJECT_TYPE);
    if (type == ctx->array_type) {
      if (!read_array(record, value, slots, &work)) return -1;
      if (record->kind) {
        held[k] = value;
        *holds = true;
      }
    } else {
      if (!read_number(ctx, record->accepts, value, type, &held[k])) return -1;
      slots[0] = (i64)&held[k];
      ++work;
    }
  }
  return work;
}

/* Run the unit with the arena, and without the GIL if there is much work. */
static inline i64 run(context *ctx, i64 *frame, i64 work) {
  frame[ARENA] = frame[ARENA_END] = frame[OVERFLOW] = frame[THREAD] = 0;
  /* a call holds the GIL here and in return_arena, so no other call takes the arena at the same time */
  i64 arena = ctx->arena;
  if (arena) {
    ctx->arena = 0;
    frame[ARENA] = ALIGNED(arena + 8);
    frame[ARENA_END] = arena + *(i64 *)arena;
  }
  if (work > RELEASE_GIL_ABOVE) release_gil(ctx, frame);
  i64 status = ctx->unit(frame, ctx->table);
  if (frame[THREAD]) hold_gil(ctx, frame);
  return_arena(ctx, frame, arena);
  return status;
}

/* Make the value that a call returns, and store the updates. */
static inline object *commit(context *ctx, object **outputs) {
  object *answer = outputs[0];
  i64 results = ctx->results, count = ctx->outputs;
  if (ctx->kind != SINGLE) {
    answer = ctx->new_list(results);
    if (!answer) {
      drop_outputs(ctx, outputs);
      return NULL;
    }
    object **items = FIELD(object **, answer, LIST_ITEMS);
    for (i64 k = 0; k < results; ++k) items[k] = outputs[k];
  }
  for (i64 k = 0; k < results; ++k) keep_result(ctx, output_of(ctx, k), outputs[k]);
  for (i64 k = results; k < count; ++k) store_update(ctx, output_of(ctx, k), outputs[k]);
  return answer;
}

object *entry(object *self, object *const *args, i64 nargs, object *names) {
  context *ctx = FIELD(context *, self, ARRAY_DATA);
  i64 stack[STACK_SLOTS], *frame = stack;
  if (nargs != ctx->args || names) goto slow;
  i64 slots = FIRST_INPUT + (INPUT_SLOTS + 1) * ctx->inputs + ctx->outputs;
  if (slots > STACK_SLOTS) {
    frame = ctx->malloc(8 * slots);
    if (!frame) goto slow;
  }
  frame[CALLER] = (i64)ctx;
  object **outputs = outputs_of(ctx, frame), **held = outputs + ctx->outputs, *answer = NULL;
  bool holds = false, done = false;
  if (acquire_locks(ctx)) {
    i64 work = read_inputs(ctx, args, frame, held, &holds);
    if (work >= 0) {
      if (holds) each_held(ctx, held, ctx->incref);
      for (object **each = outputs; each < held; ++each) *each = NULL;
      i64 status = run(ctx, frame, work);
      if (holds) each_held(ctx, held, ctx->decref);
      done = !status || status == INTERRUPTED;
      if (!status) {
        answer = commit(ctx, outputs);
      } else {
        drop_outputs(ctx, outputs);
        if (status < 0 && !done) ctx->clear_error(); /* of memory: the slow path raises it anew */
      }
    }
    release_locks(ctx, ctx->lock_count);
  }
  if (frame != stack) ctx->free(frame);
  if (done) return answer;
slow:
  return ctx->vectorcall(ctx->slow, args, nargs, names);
}

/* The entry before it or its unit is optimized: it counts calls of all functions, and of each. Then entry_loading.py or
   plain_units.py replaces it in the slow path. */

static i64 calls;

i64 *calls_left(void) { return &calls; }

object *counted_entry(object *self, object *const *args, i64 nargs, object *names) {
  context *ctx = FIELD(context *, self, ARRAY_DATA);
  if (--calls >= 0 && --ctx->calls_left >= 0) return entry(self, args, nargs, names);
  return ctx->vectorcall(ctx->slow, args, nargs, names);
}
