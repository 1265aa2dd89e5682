"""LLVM IR of functions that belong to the machine-code entry: the services that units call, and helpers.

`occelo_link.units.entry_code` puts values in place of the names in braces.
"""

from __future__ import annotations

from occelo_link.units.memory_code import grow_code

SERVICES_CODE = """
define internal ptr @make_output(ptr %frame, i64 %position, ptr %dims) {{
  %ctx = load ptr, ptr %frame
  %nin.p = getelementptr i64, ptr %ctx, i64 {inputs}
  %nin = load i64, ptr %nin.p
  %in.slots = mul i64 %nin, {record}
  %out.slots = mul i64 %position, {record}
  %rec.0 = add i64 %in.slots, {first}
  %rec.1 = add i64 %rec.0, %out.slots
  %rec = getelementptr i64, ptr %ctx, i64 %rec.1
  %frame.0 = mul i64 %nin, {input_slots}
  %frame.1 = add i64 %frame.0, {first_input}
  %frame.2 = add i64 %frame.1, %position
  %slot = getelementptr i64, ptr %frame, i64 %frame.2
  %nd.p = getelementptr i64, ptr %rec, i64 {out_ndim}
  %nd = load i64, ptr %nd.p
  %spare.p = getelementptr i64, ptr %rec, i64 {out_spare}
  %spare = load ptr, ptr %spare.p
  %none = icmp eq ptr %spare, null
  br i1 %none, label %make, label %look
look:
  %count = load i32, ptr %spare
  %own = icmp eq i32 %count, 1
  br i1 %own, label %lengths, label %make
lengths:
  %sdims.p = getelementptr i8, ptr %spare, i64 {array_dims}
  %sdims = load ptr, ptr %sdims.p
  br label %next
next:
  %i = phi i64 [ 0, %lengths ], [ %i.next, %same ]
  %more = icmp slt i64 %i, %nd
  br i1 %more, label %compare, label %take
compare:
  %a.p = getelementptr i64, ptr %sdims, i64 %i
  %a = load i64, ptr %a.p
  %b.p = getelementptr i64, ptr %dims, i64 %i
  %b = load i64, ptr %b.p
  %eq = icmp eq i64 %a, %b
  br i1 %eq, label %same, label %make
same:
  %i.next = add i64 %i, 1
  br label %next
take:
  store ptr null, ptr %spare.p
  store ptr %spare, ptr %slot
  %sdata.p = getelementptr i8, ptr %spare, i64 {array_data}
  %sdata = load ptr, ptr %sdata.p
  ret ptr %sdata
make:
  %descr = load ptr, ptr %rec
  %incref.p = getelementptr i64, ptr %ctx, i64 {incref}
  %incref = load ptr, ptr %incref.p
  call void %incref(ptr %descr)
  %new.p = getelementptr i64, ptr %ctx, i64 {new_array}
  %new = load ptr, ptr %new.p
  %type.p = getelementptr i64, ptr %ctx, i64 {array_type}
  %type = load ptr, ptr %type.p
  %nd32 = trunc i64 %nd to i32
  %made = call ptr %new(ptr %type, ptr %descr, i32 %nd32, ptr %dims, ptr null, ptr null, i32 0, ptr null)
  %bad = icmp eq ptr %made, null
  br i1 %bad, label %fail, label %done
fail:
  ret ptr null
done:
  store ptr %made, ptr %slot
  %data.p = getelementptr i8, ptr %made, i64 {array_data}
  %data = load ptr, ptr %data.p
  ret ptr %data
}}

define ptr @alloc_output(ptr %frame, i64 %position, ptr %dims) {{
  %thread.p = getelementptr i64, ptr %frame, i64 {thread}
  %state = load ptr, ptr %thread.p
  %locked = icmp eq ptr %state, null
  br i1 %locked, label %direct, label %released
direct:
  %made = call ptr @make_output(ptr %frame, i64 %position, ptr %dims)
  ret ptr %made
released:
  %ctx = load ptr, ptr %frame
  %restore.p = getelementptr i64, ptr %ctx, i64 {restore_thread}
  %restore = load ptr, ptr %restore.p
  call void %restore(ptr %state)
  %made.locked = call ptr @make_output(ptr %frame, i64 %position, ptr %dims)
  %save.p = getelementptr i64, ptr %ctx, i64 {save_thread}
  %save = load ptr, ptr %save.p
  %again = call ptr %save()
  store ptr %again, ptr %thread.p
  ret ptr %made.locked
}}

define ptr @take(ptr %frame, i64 %position, i64 %input, i64 %bytes) {{
  %ctx = load ptr, ptr %frame
  %thread.p = getelementptr i64, ptr %frame, i64 {thread}
  %state = load ptr, ptr %thread.p
  %locked = icmp eq ptr %state, null
  br i1 %locked, label %held, label %lock
lock:
  %restore.p = getelementptr i64, ptr %ctx, i64 {restore_thread}
  %restore = load ptr, ptr %restore.p
  call void %restore(ptr %state)
  store ptr null, ptr %thread.p
  br label %held
held:
  %nin.p = getelementptr i64, ptr %ctx, i64 {inputs}
  %nin = load i64, ptr %nin.p
  %nout.p = getelementptr i64, ptr %ctx, i64 {outputs}
  %nout = load i64, ptr %nout.p
  %records = getelementptr i64, ptr %ctx, i64 {first}
  %in.at = mul i64 %input, {record}
  %in.rec = getelementptr i64, ptr %records, i64 %in.at
  %out.number = add i64 %nin, %position
  %out.at = mul i64 %out.number, {record}
  %out.rec = getelementptr i64, ptr %records, i64 %out.at
  %slots.in = mul i64 %nin, {input_slots}
  %outs.at = add i64 %slots.in, {first_input}
  %outs = getelementptr i64, ptr %frame, i64 %outs.at
  %scratch = getelementptr i64, ptr %outs, i64 %nout
  %slot.0 = mul i64 %input, {input_slots}
  %slot.1 = add i64 %slot.0, {first_input}
  %slot = getelementptr i64, ptr %frame, i64 %slot.1
  %data = load ptr, ptr %slot
  %kind = load i64, ptr %in.rec
  %from.cell = icmp ne i64 %kind, 0
  br i1 %from.cell, label %cells, label %copy
cells:
  %in.cell.p = getelementptr i64, ptr %in.rec, i64 {in_which}
  %in.cell = load ptr, ptr %in.cell.p
  %out.cell.p = getelementptr i64, ptr %out.rec, i64 {out_cell}
  %out.cell = load ptr, ptr %out.cell.p
  %same.cell = icmp eq ptr %in.cell, %out.cell
  br i1 %same.cell, label %look, label %copy
look:
  %obj.p = getelementptr ptr, ptr %scratch, i64 %input
  %obj = load ptr, ptr %obj.p
  %count = load i32, ptr %obj
  %own = icmp eq i32 %count, 2
  %flags.p = getelementptr i8, ptr %obj, i64 {array_flags}
  %flags = load i32, ptr %flags.p
  %some = and i32 %flags, 1285
  %good = icmp eq i32 %some, 1285
  %both = and i1 %own, %good
  br i1 %both, label %keep, label %copy
keep:
  %incref.p = getelementptr i64, ptr %ctx, i64 {incref}
  %incref = load ptr, ptr %incref.p
  call void %incref(ptr %obj)
  %out.p = getelementptr ptr, ptr %outs, i64 %position
  store ptr %obj, ptr %out.p
  ret ptr %data
copy:
  %dims.p = getelementptr i64, ptr %slot, i64 1
  %dims = load ptr, ptr %dims.p
  %made = call ptr @make_output(ptr %frame, i64 %position, ptr %dims)
  %bad = icmp eq ptr %made, null
  br i1 %bad, label %done, label %filled
filled:
  call void @copy(ptr %made, ptr %data, i64 %bytes)
  br label %done
done:
  ret ptr %made
}}

define i64 @poll(ptr %frame) {{
  %ctx = load ptr, ptr %frame
  %ident.p = getelementptr i64, ptr %ctx, i64 {thread_ident}
  %ident.f = load ptr, ptr %ident.p
  %ident = call i64 %ident.f()
  %main.p = getelementptr i64, ptr %ctx, i64 {main_thread}
  %main = load i64, ptr %main.p
  %handles = icmp eq i64 %ident, %main
  %thread.p = getelementptr i64, ptr %frame, i64 {thread}
  %state = load ptr, ptr %thread.p
  %locked = icmp eq ptr %state, null
  br i1 %locked, label %holding, label %without
holding:
  br i1 %handles, label %check, label %save
without:
  br i1 %handles, label %restore, label %go
restore:
  %restore.p = getelementptr i64, ptr %ctx, i64 {restore_thread}
  %restore.f = load ptr, ptr %restore.p
  call void %restore.f(ptr %state)
  br label %check
check:
  %check.p = getelementptr i64, ptr %ctx, i64 {check_signals}
  %check.f = load ptr, ptr %check.p
  %raised = call i32 %check.f()
  br label %save
save:
  %found = phi i32 [ 0, %holding ], [ %raised, %check ]
  %save.p = getelementptr i64, ptr %ctx, i64 {save_thread}
  %save.f = load ptr, ptr %save.p
  %again = call ptr %save.f()
  store ptr %again, ptr %thread.p
  %answer = sext i32 %found to i64
  ret i64 %answer
go:
  ret i64 0
}}

define internal void @advise_pages(ptr %ctx, ptr %raw, i64 %total) {{
  %advise.p = getelementptr i64, ptr %ctx, i64 {advise}
  %advise = load ptr, ptr %advise.p
  %can = icmp ne ptr %advise, null
  %large = icmp sge i64 %total, {large}
  %ask = and i1 %can, %large
  br i1 %ask, label %pages, label %done
pages:
  %start = ptrtoint ptr %raw to i64
  %round = add i64 %start, 4095
  %page = and i64 %round, -4096
  %stop = add i64 %start, %total
  %length = sub i64 %stop, %page
  %page.p = inttoptr i64 %page to ptr
  %ignored = call i32 %advise(ptr %page.p, i64 %length, i32 {huge_pages})
  br label %done
done:
  ret void
}}
"""
GROW_CODE = grow_code(
    "  %ctx = load ptr, ptr %frame\n",
    "  call void @advise_pages(ptr %ctx, ptr %raw, i64 %total)\n",
)

HELPERS_CODE = """
define internal i1 @acquire_locks(ptr %ctx) {{
  %count.p = getelementptr i64, ptr %ctx, i64 {lock_count}
  %count = load i64, ptr %count.p
  %locks.p = getelementptr i64, ptr %ctx, i64 {locks}
  %locks = load ptr, ptr %locks.p
  %acquire.p = getelementptr i64, ptr %ctx, i64 {acquire}
  %acquire = load ptr, ptr %acquire.p
  br label %head
head:
  %i = phi i64 [ 0, %0 ], [ %next, %taken ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %body, label %all
body:
  %p = getelementptr ptr, ptr %locks, i64 %i
  %lock = load ptr, ptr %p
  %got = call i32 %acquire(ptr %lock, i32 0)
  %ok = icmp ne i32 %got, 0
  br i1 %ok, label %taken, label %undo
taken:
  %next = add i64 %i, 1
  br label %head
all:
  ret i1 true
undo:
  call void @release_first_locks(ptr %ctx, i64 %i)
  ret i1 false
}}

define internal void @release_locks(ptr %ctx) {{
  %count.p = getelementptr i64, ptr %ctx, i64 {lock_count}
  %count = load i64, ptr %count.p
  call void @release_first_locks(ptr %ctx, i64 %count)
  ret void
}}

define internal void @release_first_locks(ptr %ctx, i64 %count) {{
  %locks.p = getelementptr i64, ptr %ctx, i64 {locks}
  %locks = load ptr, ptr %locks.p
  %release.p = getelementptr i64, ptr %ctx, i64 {release}
  %release = load ptr, ptr %release.p
  br label %head
head:
  %i = phi i64 [ %count, %0 ], [ %before, %body ]
  %more = icmp sgt i64 %i, 0
  br i1 %more, label %body, label %done
body:
  %before = sub i64 %i, 1
  %p = getelementptr ptr, ptr %locks, i64 %before
  %lock = load ptr, ptr %p
  call void %release(ptr %lock)
  br label %head
done:
  ret void
}}

define internal void @each_cell(ptr %records, ptr %scratch, i64 %n, ptr %function) {{
  br label %head
head:
  %i = phi i64 [ 0, %0 ], [ %next, %skip ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %at = mul i64 %i, {record}
  %rec = getelementptr i64, ptr %records, i64 %at
  %kind = load i64, ptr %rec
  %cell = icmp ne i64 %kind, 0
  br i1 %cell, label %take, label %skip
take:
  %p = getelementptr ptr, ptr %scratch, i64 %i
  %obj = load ptr, ptr %p
  call void %function(ptr %obj)
  br label %skip
skip:
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}}

define internal void @drop_outputs(ptr %outs, i64 %n, ptr %decref) {{
  br label %head
head:
  %i = phi i64 [ 0, %0 ], [ %next, %skip ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %p = getelementptr ptr, ptr %outs, i64 %i
  %obj = load ptr, ptr %p
  %none = icmp eq ptr %obj, null
  br i1 %none, label %skip, label %drop
drop:
  call void %decref(ptr %obj)
  br label %skip
skip:
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}}

define internal i1 @reusable(ptr %old, ptr %atype, ptr %new) {{
  %type.p = getelementptr i8, ptr %old, i64 {object_type}
  %type = load ptr, ptr %type.p
  %is.array = icmp eq ptr %type, %atype
  br i1 %is.array, label %look, label %no
look:
  %count = load i32, ptr %old
  %own = icmp eq i32 %count, 1
  %flags.p = getelementptr i8, ptr %old, i64 {array_flags}
  %flags = load i32, ptr %flags.p
  %some = and i32 %flags, 1285
  %good = icmp eq i32 %some, 1285
  %descr.p = getelementptr i8, ptr %old, i64 {array_descr}
  %descr = load ptr, ptr %descr.p
  %descr.new.p = getelementptr i8, ptr %new, i64 {array_descr}
  %descr.new = load ptr, ptr %descr.new.p
  %same = icmp eq ptr %descr, %descr.new
  %a = and i1 %own, %good
  %b = and i1 %a, %same
  ret i1 %b
no:
  ret i1 false
}}

define internal void @return_arena(ptr %ctx, ptr %frame, i64 %arena) {{
  %over.p = getelementptr i64, ptr %frame, i64 {overflow}
  %over = load ptr, ptr %over.p
  %arena.p = getelementptr i64, ptr %ctx, i64 {arena_slot}
  %none = icmp eq ptr %over, null
  br i1 %none, label %put, label %first
first:
  %free.p = getelementptr i64, ptr %ctx, i64 {free}
  %free = load ptr, ptr %free.p
  br label %head
head:
  %piece = phi ptr [ %over, %first ], [ %following, %head ]
  %sum = phi i64 [ 128, %first ], [ %sum.next, %head ]
  %following = load ptr, ptr %piece
  %size.p = getelementptr i64, ptr %piece, i64 1
  %size = load i64, ptr %size.p
  %sum.next = add i64 %sum, %size
  call void %free(ptr %piece)
  %last = icmp eq ptr %following, null
  br i1 %last, label %larger, label %head
larger:
  %old = inttoptr i64 %arena to ptr
  %had = icmp ne i64 %arena, 0
  br i1 %had, label %count.old, label %sized
count.old:
  %old.size = load i64, ptr %old
  br label %sized
sized:
  %before = phi i64 [ 0, %larger ], [ %old.size, %count.old ]
  %total = add i64 %before, %sum.next
  %fits = icmp sle i64 %total, {arena_limit}
  br i1 %fits, label %replace, label %put
replace:
  call void %free(ptr %old)
  %malloc.p = getelementptr i64, ptr %ctx, i64 {malloc}
  %malloc = load ptr, ptr %malloc.p
  %fresh = call ptr %malloc(i64 %total)
  %fresh.none = icmp eq ptr %fresh, null
  br i1 %fresh.none, label %done, label %fresh.good
fresh.good:
  call void @advise_pages(ptr %ctx, ptr %fresh, i64 %total)
  store i64 %total, ptr %fresh
  %fresh.int = ptrtoint ptr %fresh to i64
  br label %exchange
put:
  %has = icmp ne i64 %arena, 0
  br i1 %has, label %exchange, label %done
exchange:
  %given = phi i64 [ %fresh.int, %fresh.good ], [ %arena, %put ]
  %other.int = atomicrmw xchg ptr %arena.p, i64 %given release
  %other.none = icmp eq i64 %other.int, 0
  br i1 %other.none, label %done, label %drop
drop:
  %other = inttoptr i64 %other.int to ptr
  %free.q = getelementptr i64, ptr %ctx, i64 {free}
  %free.f = load ptr, ptr %free.q
  call void %free.f(ptr %other)
  br label %done
done:
  ret void
}}
"""
