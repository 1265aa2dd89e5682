"""The C code that runs a unit in an exported library: the services of `units.frame`, with memory of the C library.

`exporting` writes it between the unit and the public function. It does what `services` does for functions in this
process; only the working memory is found anew in each call, so that the library has no variables.
"""

from __future__ import annotations

import re

from occelo_link.standalone.context import NO_ROOM
from occelo_link.units.frame import ARENA, ARENA_END, CALLER, FIRST_INPUT, INPUT_SLOTS

CODE = """\
/* an output of a call: the caller's memory and lengths (null if static), and a result that is copied there at the end */
typedef struct {
  void *memory;
  int64_t *lengths;
  i64 ndim, size, room, later;
  i64 *held;
} output_record;

typedef struct {
  i64 outputs, status;
  void *pieces;
  output_record output[OUTPUTS];
} call_record;

static i64 count_of(const int64_t *lengths, i64 ndim) {
  i64 count = 1;
  for (i64 i = 0; i < ndim; ++i) count *= lengths[i];
  return count;
}

static i64 room_of(const output_record *out) {
  return out->lengths ? count_of(out->lengths, out->ndim) : out->room;
}

static void set_lengths(const output_record *out, const i64 *lengths) {
  for (i64 i = 0; out->lengths && i < out->ndim; ++i) out->lengths[i] = lengths[i];
}

/* working memory: pieces, each twice as large as the one before, and linked by their first words */
static void *grow(i64 *frame, i64 bytes) {
  call_record *call = (call_record *)(intptr_t)frame[CALLER];
  if (frame[ARENA] + bytes > frame[ARENA_END]) {
    i64 before = call->pieces ? ((i64 *)call->pieces)[1] : 4096;
    i64 size = bytes + 128 > 2 * before ? bytes + 128 : 2 * before;
    i64 *piece = malloc((size_t)size);
    if (!piece) return 0;
    piece[0] = (i64)(intptr_t)call->pieces;
    piece[1] = size;
    call->pieces = piece;
    frame[ARENA] = ((i64)(intptr_t)piece + 79) & -64;
    frame[ARENA_END] = (i64)(intptr_t)piece + size;
  }
  void *memory = (void *)(intptr_t)frame[ARENA];
  frame[ARENA] += (bytes + 63) & -64;
  return memory;
}

static void *alloc_output(i64 *frame, i64 position, i64 *lengths) {
  call_record *call = (call_record *)(intptr_t)frame[CALLER];
  output_record *out = &call->output[position];
  i64 count = 1;
  for (i64 i = 0; i < out->ndim; ++i) count *= lengths[i];
  if (out->later) {
    out->held = grow(frame, 8 * out->ndim + 128 + count * out->size);
    if (!out->held) return 0;
    for (i64 i = 0; i < out->ndim; ++i) out->held[i] = lengths[i];
    return (char *)out->held + ((8 * out->ndim + 63) & -64);
  }
  i64 room = room_of(out);
  set_lengths(out, lengths);
  if (count > room) {
    call->status = NO_ROOM_CODE;
    return 0;
  }
  return count ? out->memory : frame;
}

static void *take(i64 *frame, i64 position, i64 input, i64 bytes) {
  (void)position;
  (void)bytes;
  void *memory = (void *)(intptr_t)frame[FIRST_INPUT + INPUT_SLOTS * input];
  return memory ? memory : frame;
}

static i64 poll(i64 *frame) {
  (void)frame;
  return 0;
}

static i64 commit(call_record *call) {
  for (i64 k = 0; k < call->outputs; ++k) {
    output_record *out = &call->output[k];
    if (!out->held) continue;
    i64 count = 1;
    for (i64 i = 0; i < out->ndim; ++i) count *= out->held[i];
    if (count <= room_of(out)) continue;
    set_lengths(out, out->held);
    return NO_ROOM_CODE;
  }
  for (i64 k = 0; k < call->outputs; ++k) {
    output_record *out = &call->output[k];
    if (!out->held) continue;
    i64 count = 1;
    for (i64 i = 0; i < out->ndim; ++i) count *= out->held[i];
    if (count) memcpy(out->memory, (char *)out->held + ((8 * out->ndim + 63) & -64), (size_t)(count * out->size));
    set_lengths(out, out->held);
  }
  return 0;
}

static i64 run(i64 *frame, call_record *call) {
  frame[CALLER] = (i64)(intptr_t)call;
  i64 code = UNIT(frame, table);
  if (code == 0) code = commit(call);
  else if (call->status) code = call->status;
  while (call->pieces) {
    i64 *piece = call->pieces;
    call->pieces = (void *)(intptr_t)piece[0];
    free(piece);
  }
  return code;
}
"""


_OWN = re.compile(
    r"\b(output_record|call_record|count_of|room_of|set_lengths|grow|alloc_output|take|poll|commit|run|table)\b"
)
"""The names that the C code defines."""


def own_name(library: str, name: str) -> str:
    """Return the name that a library gives to a name of the C code, so that it has no name of a user."""
    return f"{library}_{name}_"


def runtime(library: str, unit: str, outputs: int) -> str:
    """Return the C code of a library for the function ``unit``, which has a number of outputs.

    The names of the code are `own_name`. It needs the array ``table``.
    """
    numbers = {
        "CALLER": CALLER,
        "ARENA": ARENA,
        "ARENA_END": ARENA_END,
        "FIRST_INPUT": FIRST_INPUT,
        "INPUT_SLOTS": INPUT_SLOTS,
        "NO_ROOM_CODE": f"({NO_ROOM})",
        "OUTPUTS": max(1, outputs),
        "UNIT": unit,
    }
    words = re.compile(rf"\b({'|'.join(numbers)})\b")
    made = words.sub(lambda m: str(numbers[m[0]]), CODE)
    return _OWN.sub(lambda m: own_name(library, m[0]), made)
