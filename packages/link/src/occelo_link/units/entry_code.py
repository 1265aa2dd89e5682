"""The code of the machine-code entry, as LLVM IR, and the layout of what it reads.

A context is an array of 8-byte slots: first those named here, then a record of `RECORD` slots for
each input and each output.
"""

from __future__ import annotations

from occelo_link.units import layout
from occelo_link.units.entry_services import HELPERS_CODE, SERVICES_CODE
from occelo_link.units.frame import (
    ARENA,
    ARENA_END,
    CALLER,
    FIRST_INPUT,
    INPUT_SLOTS,
    INTERRUPTED,
    OVERFLOW,
    THREAD,
)

__all__ = [
    "CTX_ACQUIRE",
    "CTX_ARENA",
    "CTX_ARGS",
    "CTX_ARRAY_TYPE",
    "CTX_CHECK_SIGNALS",
    "CTX_CLEAR_ERROR",
    "CTX_DECREF",
    "CTX_FIRST_RECORD",
    "CTX_FLOAT64_TYPE",
    "CTX_FLOAT_TYPE",
    "CTX_FREE",
    "CTX_INCREF",
    "CTX_INPUTS",
    "CTX_KIND",
    "CTX_LOCKS",
    "CTX_LOCK_COUNT",
    "CTX_LONG_TYPE",
    "CTX_LONG_VALUE",
    "CTX_MAIN_THREAD",
    "CTX_MALLOC",
    "CTX_NEW_ARRAY",
    "CTX_NEW_LIST",
    "CTX_OUTPUTS",
    "CTX_RELEASE",
    "CTX_RESTORE_THREAD",
    "CTX_RESULTS",
    "CTX_SAVE_THREAD",
    "CTX_SLOW",
    "CTX_TABLE",
    "CTX_THREAD_IDENT",
    "CTX_UNIT",
    "CTX_VECTORCALL",
    "FLOATS",
    "INTEGERS",
    "IN_DESCR",
    "IN_DIMS",
    "IN_KIND",
    "IN_NDIM",
    "IN_OTHER",
    "IN_SCALARS",
    "IN_TYPE",
    "IN_WHICH",
    "OUT_CELL",
    "OUT_DESCR",
    "OUT_NDIM",
    "OUT_SPARE",
    "RECORD",
    "SINGLES",
    "entry_text",
]

# slots of a context
(
    CTX_UNIT,
    CTX_TABLE,
    CTX_ARGS,
    CTX_INPUTS,
    CTX_OUTPUTS,
    CTX_RESULTS,
    CTX_KIND,
    CTX_SLOW,
    CTX_ARENA,
    CTX_ARRAY_TYPE,
    CTX_NEW_ARRAY,
    CTX_NEW_LIST,
    CTX_INCREF,
    CTX_DECREF,
    CTX_VECTORCALL,
    CTX_MALLOC,
    CTX_FREE,
    CTX_FLOAT_TYPE,
    CTX_FLOAT64_TYPE,
    CTX_LONG_TYPE,
    CTX_LONG_VALUE,
    CTX_CLEAR_ERROR,
    CTX_SAVE_THREAD,
    CTX_RESTORE_THREAD,
    CTX_ACQUIRE,
    CTX_RELEASE,
    CTX_LOCKS,
    CTX_LOCK_COUNT,
    CTX_CHECK_SIGNALS,
    CTX_THREAD_IDENT,
    CTX_MAIN_THREAD,
    CTX_FIRST_RECORD,
) = range(32)
RECORD = 8
# an input: argument (0) or cell (1), its number or address, type numbers, dimensions, lengths,
# which scalars are taken, the usual descriptor
(IN_KIND, IN_WHICH, IN_TYPE, IN_OTHER, IN_NDIM, IN_DIMS, IN_SCALARS, IN_DESCR) = range(8)
# an output: descriptor, dimensions, the cell that it updates, an array to use again
(OUT_DESCR, OUT_NDIM, OUT_CELL, OUT_SPARE) = range(4)
FLOATS, SINGLES, INTEGERS = 1, 2, 4
_STACK_SLOTS = 384
_MUCH_WORK = 16384
"""With more elements than this in its inputs, a unit runs without the interpreter's lock."""
_ARENA_LIMIT = 64 * 2**20


_ENTRY = """
define ptr @entry(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {{
  %overflow = alloca i32, align 4
  %ctx.p = getelementptr i8, ptr %self, i64 {array_data}
  %ctx = load ptr, ptr %ctx.p
{counting}  %want.p = getelementptr i64, ptr %ctx, i64 {args}
  %want = load i64, ptr %want.p
  %count.ok = icmp eq i64 %nargs, %want
  %no.names = icmp eq ptr %kwnames, null
  %simple = and i1 %count.ok, %no.names
  br i1 %simple, label %size, label %slow
size:
  %nin.p = getelementptr i64, ptr %ctx, i64 {inputs}
  %nin = load i64, ptr %nin.p
  %nout.p = getelementptr i64, ptr %ctx, i64 {outputs}
  %nout = load i64, ptr %nout.p
  %in.slots = mul i64 %nin, {input_slots}
  %outs.at = add i64 %in.slots, {first_input}
  %scratch.at = add i64 %outs.at, %nout
  %slots = add i64 %scratch.at, %nin
  %small = icmp sle i64 %slots, {stack_slots}
  br i1 %small, label %on.stack, label %on.heap
on.stack:
  %frame.stack = alloca i64, i64 %slots, align 16
  br label %ready
on.heap:
  %malloc.p = getelementptr i64, ptr %ctx, i64 {malloc}
  %malloc = load ptr, ptr %malloc.p
  %slots.bytes = shl i64 %slots, 3
  %frame.heap = call ptr %malloc(i64 %slots.bytes)
  %heap.bad = icmp eq ptr %frame.heap, null
  br i1 %heap.bad, label %slow, label %ready
ready:
  %frame = phi ptr [ %frame.stack, %on.stack ], [ %frame.heap, %on.heap ]
  store ptr %ctx, ptr %frame
  %records = getelementptr i64, ptr %ctx, i64 {first}
  %atype.p = getelementptr i64, ptr %ctx, i64 {array_type}
  %atype = load ptr, ptr %atype.p
  %outs = getelementptr i64, ptr %frame, i64 %outs.at
  %scratch = getelementptr i64, ptr %frame, i64 %scratch.at
  %turn = call i1 @take_turns(ptr %ctx)
  br i1 %turn, label %in.head, label %leave.frame
in.head:
  %i = phi i64 [ 0, %ready ], [ %i.next, %in.ok ]
  %in.more = icmp slt i64 %i, %nin
  br i1 %in.more, label %in.body, label %run
in.body:
  %rec.at = mul i64 %i, {record}
  %rec = getelementptr i64, ptr %records, i64 %rec.at
  %kind = load i64, ptr %rec
  %which.p = getelementptr i64, ptr %rec, i64 {in_which}
  %is.arg = icmp eq i64 %kind, 0
  br i1 %is.arg, label %from.arg, label %from.cell
from.arg:
  %number = load i64, ptr %which.p
  %arg.p = getelementptr ptr, ptr %args, i64 %number
  %arg = load ptr, ptr %arg.p
  br label %check
from.cell:
  %cell = load ptr, ptr %which.p
  %items.p = getelementptr i8, ptr %cell, i64 {list_items}
  %items = load ptr, ptr %items.p
  %held = load ptr, ptr %items
  br label %check
check:
  %obj = phi ptr [ %arg, %from.arg ], [ %held, %from.cell ]
  %slot.0 = mul i64 %i, {input_slots}
  %slot.1 = add i64 %slot.0, {first_input}
  %slot = getelementptr i64, ptr %frame, i64 %slot.1
  %slot.dims = getelementptr i64, ptr %slot, i64 1
  %slot.strides = getelementptr i64, ptr %slot, i64 2
  %type.p = getelementptr i8, ptr %obj, i64 {object_type}
  %type = load ptr, ptr %type.p
  %is.array = icmp eq ptr %type, %atype
  br i1 %is.array, label %array, label %scalar
array:
  %nd.p = getelementptr i8, ptr %obj, i64 {array_ndim}
  %nd = load i32, ptr %nd.p
  %nd.want.p = getelementptr i64, ptr %rec, i64 {in_ndim}
  %nd.want = load i64, ptr %nd.want.p
  %nd64 = sext i32 %nd to i64
  %nd.ok = icmp eq i64 %nd64, %nd.want
  %flags.p = getelementptr i8, ptr %obj, i64 {array_flags}
  %flags = load i32, ptr %flags.p
  %flags.some = and i32 %flags, 257
  %flags.ok = icmp eq i32 %flags.some, 257
  %both.ok = and i1 %nd.ok, %flags.ok
  br i1 %both.ok, label %descriptor, label %leave
descriptor:
  %descr.p = getelementptr i8, ptr %obj, i64 {array_descr}
  %descr = load ptr, ptr %descr.p
  %usual.p = getelementptr i64, ptr %rec, i64 {in_descr}
  %usual = load ptr, ptr %usual.p
  %is.usual = icmp eq ptr %descr, %usual
  br i1 %is.usual, label %lengths, label %unusual
unusual:
  %num.p = getelementptr i8, ptr %descr, i64 {descr_type_num}
  %num = load i32, ptr %num.p
  %num64 = sext i32 %num to i64
  %want.a.p = getelementptr i64, ptr %rec, i64 {in_type}
  %want.a = load i64, ptr %want.a.p
  %want.b.p = getelementptr i64, ptr %rec, i64 {in_other}
  %want.b = load i64, ptr %want.b.p
  %num.a = icmp eq i64 %num64, %want.a
  %num.b = icmp eq i64 %num64, %want.b
  %num.ok = or i1 %num.a, %num.b
  %order.p = getelementptr i8, ptr %descr, i64 {descr_byteorder}
  %order = load i8, ptr %order.p
  %order.native = icmp eq i8 %order, 61
  %order.none = icmp eq i8 %order, 124
  %order.little = icmp eq i8 %order, 60
  %order.a = or i1 %order.native, %order.none
  %order.ok = or i1 %order.a, %order.little
  %descr.ok = and i1 %num.ok, %order.ok
  br i1 %descr.ok, label %lengths, label %leave
lengths:
  %dims.p = getelementptr i8, ptr %obj, i64 {array_dims}
  %dims = load ptr, ptr %dims.p
  %known.p = getelementptr i64, ptr %rec, i64 {in_dims}
  %known = load ptr, ptr %known.p
  %unknown = icmp eq ptr %known, null
  br i1 %unknown, label %accept, label %length.head
length.head:
  %k = phi i64 [ 0, %lengths ], [ %k.next, %length.ok ]
  %k.more = icmp slt i64 %k, %nd64
  br i1 %k.more, label %length, label %accept
length:
  %static.p = getelementptr i64, ptr %known, i64 %k
  %static = load i64, ptr %static.p
  %actual.p = getelementptr i64, ptr %dims, i64 %k
  %actual = load i64, ptr %actual.p
  %open = icmp slt i64 %static, 0
  %equal = icmp eq i64 %static, %actual
  %fits = or i1 %open, %equal
  br i1 %fits, label %length.ok, label %leave
length.ok:
  %k.next = add i64 %k, 1
  br label %length.head
accept:
  %data.p = getelementptr i8, ptr %obj, i64 {array_data}
  %data = load ptr, ptr %data.p
  store ptr %data, ptr %slot
  store ptr %dims, ptr %slot.dims
  %strides.p = getelementptr i8, ptr %obj, i64 {array_strides}
  %strides = load ptr, ptr %strides.p
  store ptr %strides, ptr %slot.strides
  br i1 %is.arg, label %in.ok, label %hold
hold:
  %hold.p = getelementptr i64, ptr %scratch, i64 %i
  store ptr %obj, ptr %hold.p
  br label %in.ok
scalar:
  %scalars.p = getelementptr i64, ptr %rec, i64 {in_scalars}
  %scalars = load i64, ptr %scalars.p
  %takes = icmp ne i64 %scalars, 0
  br i1 %takes, label %number.type, label %leave
number.type:
  %place = getelementptr i64, ptr %scratch, i64 %i
  store ptr %place, ptr %slot
  %float.p = getelementptr i64, ptr %ctx, i64 {float_type}
  %float.type = load ptr, ptr %float.p
  %is.float = icmp eq ptr %type, %float.type
  %float64.p = getelementptr i64, ptr %ctx, i64 {float64_type}
  %float64.type = load ptr, ptr %float64.p
  %is.float64 = icmp eq ptr %type, %float64.type
  %wants.single = and i64 %scalars, {singles}
  %double.wanted = icmp eq i64 %wants.single, 0
  %float64.ok = and i1 %is.float64, %double.wanted
  %real = or i1 %is.float, %float64.ok
  %wants.float = and i64 %scalars, {floats}
  %float.wanted = icmp ne i64 %wants.float, 0
  %real.ok = and i1 %real, %float.wanted
  br i1 %real.ok, label %real.value, label %integer
real.value:
  %real.p = getelementptr i8, ptr %obj, i64 {float_value}
  %value = load double, ptr %real.p
  br label %float.store
integer:
  %long.p = getelementptr i64, ptr %ctx, i64 {long_type}
  %long.type = load ptr, ptr %long.p
  %is.long = icmp eq ptr %type, %long.type
  br i1 %is.long, label %long, label %leave
long:
  %as.long.p = getelementptr i64, ptr %ctx, i64 {long_value}
  %as.long = load ptr, ptr %as.long.p
  %whole = call i64 %as.long(ptr %obj, ptr %overflow)
  %over = load i32, ptr %overflow
  %in.range = icmp eq i32 %over, 0
  br i1 %in.range, label %long.kind, label %leave
long.kind:
  br i1 %float.wanted, label %long.float, label %long.store
long.float:
  %above = icmp sle i64 %whole, {exact}
  %below = icmp sge i64 %whole, -{exact}
  %exact = and i1 %above, %below
  %whole.float = sitofp i64 %whole to double
  br i1 %exact, label %float.store, label %leave
long.store:
  store i64 %whole, ptr %place
  br label %in.ok
float.store:
  %number.value = phi double [ %value, %real.value ], [ %whole.float, %long.float ]
  br i1 %double.wanted, label %store.double, label %store.single
store.double:
  store double %number.value, ptr %place
  br label %in.ok
store.single:
  %narrow = fptrunc double %number.value to float
  %back = fpext float %narrow to double
  %same.value = fcmp ueq double %back, %number.value
  %python.float = or i1 %same.value, %is.float
  store float %narrow, ptr %place
  br i1 %python.float, label %in.ok, label %leave
in.ok:
  %i.next = add i64 %i, 1
  br label %in.head
leave:
  call void @give_turns(ptr %ctx)
  br label %leave.frame
leave.frame:
  br i1 %small, label %slow, label %free.frame
free.frame:
  %free.p = getelementptr i64, ptr %ctx, i64 {free}
  %free = load ptr, ptr %free.p
  call void %free(ptr %frame)
  br label %slow
run:
  %incref.p = getelementptr i64, ptr %ctx, i64 {incref}
  %incref = load ptr, ptr %incref.p
  %decref.p = getelementptr i64, ptr %ctx, i64 {decref}
  %decref = load ptr, ptr %decref.p
  call void @each_cell(ptr %records, ptr %scratch, i64 %nin, ptr %incref)
  br label %clear.head
clear.head:
  %c = phi i64 [ 0, %run ], [ %c.next, %clear.body ]
  %c.more = icmp slt i64 %c, %nout
  br i1 %c.more, label %clear.body, label %take.arena
clear.body:
  %c.p = getelementptr i64, ptr %outs, i64 %c
  store i64 0, ptr %c.p
  %c.next = add i64 %c, 1
  br label %clear.head
take.arena:
  %arena.p = getelementptr i64, ptr %ctx, i64 {arena_slot}
  %arena.int = atomicrmw xchg ptr %arena.p, i64 0 acquire
  %has.arena = icmp ne i64 %arena.int, 0
  br i1 %has.arena, label %with.arena, label %call
with.arena:
  %arena.raw = inttoptr i64 %arena.int to ptr
  %arena.size = load i64, ptr %arena.raw
  %arena.past = add i64 %arena.int, 71
  %arena.aligned = and i64 %arena.past, -64
  %arena.first = inttoptr i64 %arena.aligned to ptr
  %arena.last = getelementptr i8, ptr %arena.raw, i64 %arena.size
  br label %call
call:
  %arena = phi ptr [ null, %take.arena ], [ %arena.first, %with.arena ]
  %arena.end = phi ptr [ null, %take.arena ], [ %arena.last, %with.arena ]
  %f.arena = getelementptr i64, ptr %frame, i64 {arena}
  store ptr %arena, ptr %f.arena
  %f.end = getelementptr i64, ptr %frame, i64 {arena_end}
  store ptr %arena.end, ptr %f.end
  %f.over = getelementptr i64, ptr %frame, i64 {overflow}
  store ptr null, ptr %f.over
  %unit = load ptr, ptr %ctx
  %table.p = getelementptr i64, ptr %ctx, i64 {table}
  %table = load ptr, ptr %table.p
  %thread.p = getelementptr i64, ptr %frame, i64 {thread}
  store ptr null, ptr %thread.p
  br label %e.head
e.head:
  %e = phi i64 [ 0, %call ], [ %e.next, %e.done ]
  %work = phi i64 [ 0, %call ], [ %work.next, %e.done ]
  %e.more = icmp slt i64 %e, %nin
  br i1 %e.more, label %e.body, label %e.end
e.body:
  %e.rec.at = mul i64 %e, {record}
  %e.rec = getelementptr i64, ptr %records, i64 %e.rec.at
  %e.nd.p = getelementptr i64, ptr %e.rec, i64 {in_ndim}
  %e.nd = load i64, ptr %e.nd.p
  %e.slot.0 = mul i64 %e, {input_slots}
  %e.slot.1 = add i64 %e.slot.0, {first_input}
  %e.slot.2 = add i64 %e.slot.1, 1
  %e.slot = getelementptr i64, ptr %frame, i64 %e.slot.2
  %e.dims = load ptr, ptr %e.slot
  br label %d.head
d.head:
  %d = phi i64 [ 0, %e.body ], [ %d.next, %d.body ]
  %count = phi i64 [ 1, %e.body ], [ %count.next, %d.body ]
  %d.more = icmp slt i64 %d, %e.nd
  br i1 %d.more, label %d.body, label %e.done
d.body:
  %d.p = getelementptr i64, ptr %e.dims, i64 %d
  %d.length = load i64, ptr %d.p
  %count.next = mul i64 %count, %d.length
  %d.next = add i64 %d, 1
  br label %d.head
e.done:
  %work.next = add i64 %work, %count
  %e.next = add i64 %e, 1
  br label %e.head
e.end:
  %much = icmp sgt i64 %work, {much_work}
  br i1 %much, label %let.go, label %invoke
let.go:
  %save.p = getelementptr i64, ptr %ctx, i64 {save_thread}
  %save = load ptr, ptr %save.p
  %state = call ptr %save()
  store ptr %state, ptr %thread.p
  br label %invoke
invoke:
  %status = call i64 %unit(ptr %frame, ptr %table)
  %state.now = load ptr, ptr %thread.p
  %held.lock = icmp eq ptr %state.now, null
  br i1 %held.lock, label %locked, label %lock
lock:
  %restore.p = getelementptr i64, ptr %ctx, i64 {restore_thread}
  %restore = load ptr, ptr %restore.p
  call void %restore(ptr %state.now)
  br label %locked
locked:
  call void @give_arena(ptr %ctx, ptr %frame, i64 %arena.int)
  call void @each_cell(ptr %records, ptr %scratch, i64 %nin, ptr %decref)
  %good = icmp eq i64 %status, 0
  br i1 %good, label %commit, label %failed
failed:
  call void @drop_outputs(ptr %outs, i64 %nout, ptr %decref)
  %stopped = icmp eq i64 %status, {interrupted}
  br i1 %stopped, label %give.null, label %other.failure
other.failure:
  %memory = icmp slt i64 %status, 0
  br i1 %memory, label %nothing, label %leave
nothing:
  %clear.p = getelementptr i64, ptr %ctx, i64 {clear_error}
  %clear = load ptr, ptr %clear.p
  call void %clear()
  br label %leave
commit:
  %results.p = getelementptr i64, ptr %ctx, i64 {results}
  %results = load i64, ptr %results.p
  %kind.p = getelementptr i64, ptr %ctx, i64 {kind}
  %return.kind = load i64, ptr %kind.p
  %single = icmp eq i64 %return.kind, 1
  br i1 %single, label %one, label %many
one:
  %first = load ptr, ptr %outs
  br label %updates
many:
  %new.list.p = getelementptr i64, ptr %ctx, i64 {new_list}
  %new.list = load ptr, ptr %new.list.p
  %list = call ptr %new.list(i64 %results)
  %list.bad = icmp eq ptr %list, null
  br i1 %list.bad, label %list.failed, label %fill
list.failed:
  call void @drop_outputs(ptr %outs, i64 %nout, ptr %decref)
  br label %give.null
fill:
  %l.items.p = getelementptr i8, ptr %list, i64 {list_items}
  %l.items = load ptr, ptr %l.items.p
  br label %fill.head
fill.head:
  %f = phi i64 [ 0, %fill ], [ %f.next, %fill.body ]
  %f.more = icmp slt i64 %f, %results
  br i1 %f.more, label %fill.body, label %updates
fill.body:
  %f.from = getelementptr ptr, ptr %outs, i64 %f
  %f.value = load ptr, ptr %f.from
  %f.to = getelementptr ptr, ptr %l.items, i64 %f
  store ptr %f.value, ptr %f.to
  %f.next = add i64 %f, 1
  br label %fill.head
updates:
  %value.made = phi ptr [ %first, %one ], [ %list, %fill.head ]
  %out.rec.0 = mul i64 %nin, {record}
  %out.records = getelementptr i64, ptr %records, i64 %out.rec.0
  br label %update.head
update.head:
  %u = phi i64 [ %results, %updates ], [ %u.next, %update.next ]
  %u.more = icmp slt i64 %u, %nout
  br i1 %u.more, label %update, label %finish
update:
  %u.rec.0 = mul i64 %u, {record}
  %u.rec = getelementptr i64, ptr %out.records, i64 %u.rec.0
  %u.cell.p = getelementptr i64, ptr %u.rec, i64 {out_cell}
  %u.cell = load ptr, ptr %u.cell.p
  %u.items.p = getelementptr i8, ptr %u.cell, i64 {list_items}
  %u.items = load ptr, ptr %u.items.p
  %u.old = load ptr, ptr %u.items
  %u.new.p = getelementptr ptr, ptr %outs, i64 %u
  %u.new = load ptr, ptr %u.new.p
  store ptr %u.new, ptr %u.items
  %u.spare.p = getelementptr i64, ptr %u.rec, i64 {out_spare}
  %u.spare = load ptr, ptr %u.spare.p
  %u.free = icmp eq ptr %u.spare, null
  %u.keep = call i1 @reusable(ptr %u.old, ptr %atype, ptr %u.new)
  %u.both = and i1 %u.free, %u.keep
  br i1 %u.both, label %update.keep, label %update.drop
update.keep:
  store ptr %u.old, ptr %u.spare.p
  br label %update.next
update.drop:
  call void %decref(ptr %u.old)
  br label %update.next
update.next:
  %u.next = add i64 %u, 1
  br label %update.head
finish:
  br label %give.back
give.null:
  br label %give.back
give.back:
  %answer = phi ptr [ %value.made, %finish ], [ null, %give.null ]
  call void @give_turns(ptr %ctx)
  br i1 %small, label %return, label %free.late
free.late:
  %free.late.p = getelementptr i64, ptr %ctx, i64 {free}
  %free.late.f = load ptr, ptr %free.late.p
  call void %free.late.f(ptr %frame)
  br label %return
return:
  ret ptr %answer
slow:
  %slow.p = getelementptr i64, ptr %ctx, i64 {slow}
  %slow.f = load ptr, ptr %slow.p
  %vector.p = getelementptr i64, ptr %ctx, i64 {vectorcall}
  %vector = load ptr, ptr %vector.p
  %answer.slow = call ptr %vector(ptr %slow.f, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %answer.slow
}}
"""


_COUNTING = """
  %calls = load i64, ptr @calls
  %calls.left = sub i64 %calls, 1
  store i64 %calls.left, ptr @calls
  %calls.some = icmp sge i64 %calls.left, 0
  br i1 %calls.some, label %counted, label %slow
counted:
"""
_COUNT = """
@calls = internal global i64 {calls}
define i64 @calls_left() {{
  %left = load i64, ptr @calls
  ret i64 %left
}}
"""


def entry_text(calls: int | None = None) -> str:
    """The entry as LLVM IR; with ``calls`` it counts them, and leaves all after so many to Python."""
    names = {
        "counting": "" if calls is None else _COUNTING,
        "inputs": CTX_INPUTS,
        "outputs": CTX_OUTPUTS,
        "args": CTX_ARGS,
        "record": RECORD,
        "first": CTX_FIRST_RECORD,
        "input_slots": INPUT_SLOTS,
        "first_input": FIRST_INPUT,
        "out_ndim": OUT_NDIM,
        "out_spare": OUT_SPARE,
        "out_cell": OUT_CELL,
        "incref": CTX_INCREF,
        "decref": CTX_DECREF,
        "new_array": CTX_NEW_ARRAY,
        "new_list": CTX_NEW_LIST,
        "array_type": CTX_ARRAY_TYPE,
        "malloc": CTX_MALLOC,
        "free": CTX_FREE,
        "overflow": OVERFLOW,
        "arena": ARENA,
        "arena_end": ARENA_END,
        "arena_slot": CTX_ARENA,
        "arena_limit": _ARENA_LIMIT,
        "stack_slots": _STACK_SLOTS,
        "table": CTX_TABLE,
        "results": CTX_RESULTS,
        "kind": CTX_KIND,
        "slow": CTX_SLOW,
        "vectorcall": CTX_VECTORCALL,
        "clear_error": CTX_CLEAR_ERROR,
        "save_thread": CTX_SAVE_THREAD,
        "restore_thread": CTX_RESTORE_THREAD,
        "acquire": CTX_ACQUIRE,
        "release": CTX_RELEASE,
        "locks": CTX_LOCKS,
        "lock_count": CTX_LOCK_COUNT,
        "check_signals": CTX_CHECK_SIGNALS,
        "thread_ident": CTX_THREAD_IDENT,
        "main_thread": CTX_MAIN_THREAD,
        "much_work": _MUCH_WORK,
        "thread": THREAD,
        "float_type": CTX_FLOAT_TYPE,
        "float64_type": CTX_FLOAT64_TYPE,
        "long_type": CTX_LONG_TYPE,
        "long_value": CTX_LONG_VALUE,
        "floats": FLOATS,
        "singles": SINGLES,
        "exact": 2**53,
        "interrupted": INTERRUPTED,
        "in_which": IN_WHICH,
        "in_type": IN_TYPE,
        "in_other": IN_OTHER,
        "in_ndim": IN_NDIM,
        "in_dims": IN_DIMS,
        "in_scalars": IN_SCALARS,
        "in_descr": IN_DESCR,
        "object_type": layout.OBJECT_TYPE,
        "float_value": layout.FLOAT_VALUE,
        "list_items": layout.LIST_ITEMS,
        "array_data": layout.ARRAY_DATA,
        "array_ndim": layout.ARRAY_NDIM,
        "array_dims": layout.ARRAY_DIMS,
        "array_strides": layout.ARRAY_STRIDES,
        "array_descr": layout.ARRAY_DESCR,
        "array_flags": layout.ARRAY_FLAGS,
        "descr_byteorder": layout.DESCR_BYTEORDER,
        "descr_type_num": layout.DESCR_TYPE_NUM,
    }
    assert CALLER == 0
    code = (SERVICES_CODE + HELPERS_CODE + _ENTRY).format(**names)
    return code if calls is None else _COUNT.format(calls=calls) + code
