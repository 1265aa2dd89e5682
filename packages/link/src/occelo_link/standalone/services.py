"""The machine code that all C functions share: it runs a unit, and gives it memory.

The wrappers (`wrapper`) call ``run``. The other functions are the services that units call (`units.frame`). None of them
needs the GIL, and nothing that they write is shared by two calls, except one number: how much working memory calls need.
"""

from __future__ import annotations

import ctypes
import functools
import sys

from occelo_link.cache.objects import object_code
from occelo_link.standalone import context
from occelo_link.units.engine import Unit, compile_module, load_object
from occelo_link.units.frame import (
    ARENA,
    ARENA_END,
    CALLER,
    FIRST_INPUT,
    INPUT_SLOTS,
    NO_MEMORY,
    OVERFLOW,
    THREAD,
)
from occelo_link.units.memory_code import COPY_CODE, grow_code

_STACK = 2048
_MOST_WORK = 64 * 2**20
"""The most bytes of working memory that a call allocates at once, before the unit asks for them."""

_CODE = """
define internal i64 @count(ptr %lengths, i64 %ndim) nounwind {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %total = phi i64 [ 1, %entry ], [ %more, %body ]
  %left = icmp slt i64 %i, %ndim
  br i1 %left, label %body, label %done
body:
  %p = getelementptr i64, ptr %lengths, i64 %i
  %length = load i64, ptr %p
  %more = mul i64 %total, %length
  %next = add i64 %i, 1
  br label %head
done:
  ret i64 %total
}}

define internal ptr @record(ptr %frame, i64 %position) nounwind {{
  %caller.p = getelementptr ptr, ptr %frame, i64 {caller}
  %caller = load ptr, ptr %caller.p
  %before = mul i64 %position, {out_record}
  %at = add i64 %before, {call_first}
  %rec = getelementptr i64, ptr %caller, i64 %at
  ret ptr %rec
}}

define internal i64 @room(ptr %rec) nounwind {{
  %lengths.p = getelementptr ptr, ptr %rec, i64 {out_lengths}
  %lengths = load ptr, ptr %lengths.p
  %static = icmp eq ptr %lengths, null
  br i1 %static, label %given, label %counted
given:
  %room.p = getelementptr i64, ptr %rec, i64 {out_room}
  %room = load i64, ptr %room.p
  ret i64 %room
counted:
  %ndim.p = getelementptr i64, ptr %rec, i64 {out_ndim}
  %ndim = load i64, ptr %ndim.p
  %total = call i64 @count(ptr %lengths, i64 %ndim)
  ret i64 %total
}}

define internal void @note_lengths(ptr %rec, ptr %lengths) nounwind {{
  %to.p = getelementptr ptr, ptr %rec, i64 {out_lengths}
  %to = load ptr, ptr %to.p
  %static = icmp eq ptr %to, null
  br i1 %static, label %done, label %write
write:
  %ndim.p = getelementptr i64, ptr %rec, i64 {out_ndim}
  %ndim = load i64, ptr %ndim.p
  %bytes = shl i64 %ndim, 3
  call void @copy(ptr %to, ptr %lengths, i64 %bytes)
  br label %done
done:
  ret void
}}

define ptr @alloc_output(ptr %frame, i64 %position, ptr %lengths) nounwind {{
  %rec = call ptr @record(ptr %frame, i64 %position)
  %ndim.p = getelementptr i64, ptr %rec, i64 {out_ndim}
  %ndim = load i64, ptr %ndim.p
  %total = call i64 @count(ptr %lengths, i64 %ndim)
  %later.p = getelementptr i64, ptr %rec, i64 {out_later}
  %later = load i64, ptr %later.p
  %now = icmp eq i64 %later, 0
  br i1 %now, label %direct, label %hold
direct:
  %room = call i64 @room(ptr %rec)
  call void @note_lengths(ptr %rec, ptr %lengths)
  %fits = icmp sle i64 %total, %room
  br i1 %fits, label %given, label %small
small:
  %caller.p = getelementptr ptr, ptr %frame, i64 {caller}
  %caller = load ptr, ptr %caller.p
  %status.p = getelementptr i64, ptr %caller, i64 {call_status}
  store i64 {no_room}, ptr %status.p
  ret ptr null
given:
  %memory = load ptr, ptr %rec
  %empty = icmp eq i64 %total, 0
  %result = select i1 %empty, ptr %frame, ptr %memory
  ret ptr %result
hold:
  %size.p = getelementptr i64, ptr %rec, i64 {out_size}
  %size = load i64, ptr %size.p
  %bytes = mul i64 %total, %size
  %header = shl i64 %ndim, 3
  %start.0 = add i64 %header, 63
  %start = and i64 %start.0, -64
  %all.0 = add i64 %start, %bytes
  %all.1 = add i64 %all.0, 127
  %all = and i64 %all.1, -64
  %held = call ptr @grow(ptr %frame, i64 %all)
  %none = icmp eq ptr %held, null
  br i1 %none, label %fail, label %keep
fail:
  ret ptr null
keep:
  %held.p = getelementptr ptr, ptr %rec, i64 {out_held}
  store ptr %held, ptr %held.p
  call void @copy(ptr %held, ptr %lengths, i64 %header)
  %elements = getelementptr i8, ptr %held, i64 %start
  ret ptr %elements
}}

define ptr @take(ptr %frame, i64 %position, i64 %input, i64 %bytes) nounwind {{
  %slot.0 = mul i64 %input, {input_slots}
  %slot.1 = add i64 %slot.0, {first_input}
  %slot = getelementptr ptr, ptr %frame, i64 %slot.1
  %data = load ptr, ptr %slot
  %none = icmp eq ptr %data, null
  %result = select i1 %none, ptr %frame, ptr %data
  ret ptr %result
}}

define i64 @poll(ptr %frame) nounwind {{
  ret i64 0
}}

define internal i64 @commit(ptr %frame, i64 %outputs) nounwind {{
entry:
  br label %check.head
check.head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %check.next ]
  %i.more = icmp slt i64 %i, %outputs
  br i1 %i.more, label %check, label %head
check:
  %rec = call ptr @record(ptr %frame, i64 %i)
  %held.p = getelementptr ptr, ptr %rec, i64 {out_held}
  %held = load ptr, ptr %held.p
  %direct = icmp eq ptr %held, null
  br i1 %direct, label %check.next, label %measure
measure:
  %ndim.p = getelementptr i64, ptr %rec, i64 {out_ndim}
  %ndim = load i64, ptr %ndim.p
  %total = call i64 @count(ptr %held, i64 %ndim)
  %room = call i64 @room(ptr %rec)
  %fits = icmp sle i64 %total, %room
  br i1 %fits, label %check.next, label %small
small:
  call void @note_lengths(ptr %rec, ptr %held)
  ret i64 {no_room}
check.next:
  %i.next = add i64 %i, 1
  br label %check.head
head:
  %j = phi i64 [ 0, %check.head ], [ %j.next, %next ]
  %j.more = icmp slt i64 %j, %outputs
  br i1 %j.more, label %body, label %done
body:
  %to.rec = call ptr @record(ptr %frame, i64 %j)
  %from.p = getelementptr ptr, ptr %to.rec, i64 {out_held}
  %from = load ptr, ptr %from.p
  %none = icmp eq ptr %from, null
  br i1 %none, label %next, label %move
move:
  %n.p = getelementptr i64, ptr %to.rec, i64 {out_ndim}
  %n = load i64, ptr %n.p
  %count = call i64 @count(ptr %from, i64 %n)
  %size.p = getelementptr i64, ptr %to.rec, i64 {out_size}
  %size = load i64, ptr %size.p
  %bytes = mul i64 %count, %size
  %header = shl i64 %n, 3
  %start.0 = add i64 %header, 63
  %start = and i64 %start.0, -64
  %elements = getelementptr i8, ptr %from, i64 %start
  %memory = load ptr, ptr %to.rec
  call void @copy(ptr %memory, ptr %elements, i64 %bytes)
  call void @note_lengths(ptr %to.rec, ptr %from)
  br label %next
next:
  %j.next = add i64 %j, 1
  br label %head
done:
  ret i64 0
}}

define internal i64 @free_all(ptr %frame, ptr %free) nounwind {{
entry:
  %list.p = getelementptr ptr, ptr %frame, i64 {overflow}
  %list = load ptr, ptr %list.p
  br label %head
head:
  %piece = phi ptr [ %list, %entry ], [ %following, %body ]
  %sum = phi i64 [ 0, %entry ], [ %more, %body ]
  %end = icmp eq ptr %piece, null
  br i1 %end, label %done, label %body
body:
  %following = load ptr, ptr %piece
  %size.p = getelementptr i64, ptr %piece, i64 1
  %size = load i64, ptr %size.p
  %more = add i64 %sum, %size
  call void %free(ptr %piece)
  br label %head
done:
  ret i64 %sum
}}

define i64 @run(ptr %frame) nounwind {{
  %stack = alloca [{stack} x i8], align 64
  %caller.p = getelementptr ptr, ptr %frame, i64 {caller}
  %caller = load ptr, ptr %caller.p
  %ctx = load ptr, ptr %caller
  %arena.p = getelementptr i64, ptr %frame, i64 {arena}
  %end.p = getelementptr i64, ptr %frame, i64 {arena_end}
  %overflow.p = getelementptr ptr, ptr %frame, i64 {overflow}
  store ptr null, ptr %overflow.p
  %thread.p = getelementptr i64, ptr %frame, i64 {thread}
  store i64 0, ptr %thread.p
  %free.p = getelementptr ptr, ptr %ctx, i64 {free}
  %free = load ptr, ptr %free.p
  %work.p = getelementptr i64, ptr %ctx, i64 {work}
  %work = load atomic i64, ptr %work.p monotonic, align 8
  %small = icmp sle i64 %work, {stack}
  br i1 %small, label %on.stack, label %on.heap
on.heap:
  %malloc.p = getelementptr ptr, ptr %ctx, i64 {malloc}
  %malloc = load ptr, ptr %malloc.p
  %wanted = add i64 %work, 64
  %heap = call ptr %malloc(i64 %wanted)
  %bad = icmp eq ptr %heap, null
  br i1 %bad, label %fail, label %got
fail:
  ret i64 {no_memory}
got:
  %raw = ptrtoint ptr %heap to i64
  %past = add i64 %raw, 63
  %aligned = and i64 %past, -64
  br label %go
on.stack:
  %stack.int = ptrtoint ptr %stack to i64
  br label %go
go:
  %start = phi i64 [ %stack.int, %on.stack ], [ %aligned, %got ]
  %length = phi i64 [ {stack}, %on.stack ], [ %work, %got ]
  %owned = phi ptr [ null, %on.stack ], [ %heap, %got ]
  store i64 %start, ptr %arena.p
  %stop = add i64 %start, %length
  store i64 %stop, ptr %end.p
  %table.p = getelementptr ptr, ptr %ctx, i64 {table}
  %table = load ptr, ptr %table.p
  %unit = load ptr, ptr %ctx
  %found = call i64 %unit(ptr %frame, ptr %table)
  %good = icmp eq i64 %found, 0
  br i1 %good, label %succeeded, label %failed
succeeded:
  %outputs.p = getelementptr i64, ptr %caller, i64 {call_outputs}
  %outputs = load i64, ptr %outputs.p
  %committed = call i64 @commit(ptr %frame, i64 %outputs)
  br label %finish
failed:
  %status.p = getelementptr i64, ptr %caller, i64 {call_status}
  %noted = load i64, ptr %status.p
  %plain = icmp eq i64 %noted, 0
  %code = select i1 %plain, i64 %found, i64 %noted
  br label %finish
finish:
  %result = phi i64 [ %committed, %succeeded ], [ %code, %failed ]
  %none = icmp eq ptr %owned, null
  br i1 %none, label %pieces, label %drop
drop:
  call void %free(ptr %owned)
  br label %pieces
pieces:
  %more = call i64 @free_all(ptr %frame, ptr %free)
  %enough = icmp eq i64 %more, 0
  br i1 %enough, label %done, label %larger
larger:
  %sum = add i64 %length, %more
  %sum.up = add i64 %sum, 63
  %sum.even = and i64 %sum.up, -64
  %allowed = icmp sle i64 %sum.even, {most}
  br i1 %allowed, label %learn, label %done
learn:
  store atomic i64 %sum.even, ptr %work.p monotonic, align 8
  br label %done
done:
  ret i64 %result
}}
"""

_GROW_CODE = grow_code(
    "  %caller.p = getelementptr ptr, ptr %frame, i64 {caller}\n"
    "  %caller = load ptr, ptr %caller.p\n"
    "  %ctx = load ptr, ptr %caller\n"
)


@functools.cache
def services() -> Unit:
    """Return the loaded code. It is compiled once, and then kept in the cache of object code."""
    assert context.CALL_CONTEXT == context.OUT_MEMORY == context.CTX_UNIT == 0
    text = "".join((COPY_CODE, _GROW_CODE, _CODE)).format(
        caller=CALLER,
        arena=ARENA,
        arena_end=ARENA_END,
        overflow=OVERFLOW,
        thread=THREAD,
        first_input=FIRST_INPUT,
        input_slots=INPUT_SLOTS,
        no_memory=NO_MEMORY,
        no_room=context.NO_ROOM,
        table=context.CTX_TABLE,
        malloc=context.CTX_MALLOC,
        free=context.CTX_FREE,
        work=context.CTX_WORK,
        call_outputs=context.CALL_OUTPUTS,
        call_status=context.CALL_STATUS,
        call_first=context.CALL_FIRST,
        out_lengths=context.OUT_LENGTHS,
        out_ndim=context.OUT_NDIM,
        out_size=context.OUT_SIZE,
        out_room=context.OUT_ROOM,
        out_later=context.OUT_LATER,
        out_held=context.OUT_HELD,
        out_record=context.OUT_RECORD,
        stack=_STACK,
        most=_MOST_WORK,
    )
    return load_object(object_code(text, lambda: compile_module(text)), "run")


def service_addresses() -> list[int]:
    """Return the addresses of the services, in the order of the slots of a unit's table (`units.frame`)."""
    return [services().find(name) for name in ("alloc_output", "grow", "poll", "take")]


@functools.cache
def memory_functions() -> tuple[int, int]:
    """Return the addresses of ``malloc`` and ``free`` of the C library."""
    library = ctypes.CDLL(None) if sys.platform != "win32" else ctypes.CDLL("ucrtbase")
    malloc, free = (ctypes.cast(f, ctypes.c_void_p).value for f in (library.malloc, library.free))
    assert malloc is not None
    assert free is not None
    return malloc, free
