/* an output of a call: the caller's memory and lengths (null if static), and a result that is copied there at the end */
typedef struct {
  void *memory;
  int64_t *lengths;
  i64 ndim, size, room, later;
  int64_t *held;
} output_record;

typedef struct {
  void *context;
  i64 outputs, status;
  output_record records[OUTPUTS];
} call_record;

static i64 count_of(const int64_t *lengths, i64 ndim) {
  i64 count = 1;
  for (i64 i = 0; i < ndim; ++i) count *= lengths[i];
  return count;
}

static i64 room_of(const output_record *out) {
  return out->lengths ? count_of(out->lengths, out->ndim) : out->room;
}

/* what is held: the lengths, and then the elements */
static i64 start_of(const output_record *out) { return (8 * out->ndim + 63) & -64; }

SERVICE void *alloc_output(i64 *frame, i64 position, i64 *lengths) {
  call_record *call = (call_record *)(intptr_t)frame[CALLER];
  output_record *out = &call->records[position];
  int64_t *kept = out->lengths;
  i64 count = 1, room = room_of(out);
  for (i64 i = 0; i < out->ndim; ++i) count *= lengths[i];
  if (out->later) {
    out->held = kept = grow(frame, (start_of(out) + count * out->size + 127) & -64);
    if (!kept) return 0;
  }
  for (i64 i = 0; kept && i < out->ndim; ++i) kept[i] = lengths[i];
  if (out->later) return (char *)kept + start_of(out);
  if (count > room) {
    call->status = NO_ROOM;
    return 0;
  }
  return count ? out->memory : frame;
}

SERVICE void *take(i64 *frame, i64 position, i64 input, i64 bytes) {
  (void)position;
  (void)bytes;
  void *memory = (void *)(intptr_t)frame[FIRST_INPUT + INPUT_SLOTS * input];
  return memory ? memory : frame;
}

SERVICE i64 poll(i64 *frame) {
  (void)frame;
  return 0;
}

static i64 commit(call_record *call) {
  i64 code = 0;
  for (i64 k = 0; k < call->outputs && !code; ++k) {
    output_record *out = &call->records[k];
    if (!out->held || count_of(out->held, out->ndim) <= room_of(out)) continue;
    for (i64 i = 0; out->lengths && i < out->ndim; ++i) out->lengths[i] = out->held[i];
    code = NO_ROOM;
  }
  for (i64 k = 0; k < call->outputs && !code; ++k) {
    output_record *out = &call->records[k];
    if (!out->held) continue;
    i64 count = count_of(out->held, out->ndim);
    if (count) COPY(out->memory, (char *)out->held + start_of(out), (size_t)(count * out->size));
    for (i64 i = 0; out->lengths && i < out->ndim; ++i) out->lengths[i] = out->held[i];
  }
  return code;
}
