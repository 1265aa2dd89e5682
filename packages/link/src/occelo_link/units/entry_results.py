"""LLVM IR of the second half of the machine-code entry: it runs the unit, stores updates and returns results.

`occelo_link.units.entry_code` puts values in place of the names in braces.
"""

from __future__ import annotations

RUN_CODE = """\
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
  br i1 %much, label %release.gil, label %invoke
release.gil:
  %save.p = getelementptr i64, ptr %ctx, i64 {save_thread}
  %save = load ptr, ptr %save.p
  %state = call ptr %save()
  store ptr %state, ptr %thread.p
  br label %invoke
invoke:
  %status = call i64 %unit(ptr %frame, ptr %table)
  %state.now = load ptr, ptr %thread.p
  %gil.held = icmp eq ptr %state.now, null
  br i1 %gil.held, label %with.gil, label %acquire.gil
acquire.gil:
  %restore.p = getelementptr i64, ptr %ctx, i64 {restore_thread}
  %restore = load ptr, ptr %restore.p
  call void %restore(ptr %state.now)
  br label %with.gil
with.gil:
  call void @return_arena(ptr %ctx, ptr %frame, i64 %arena.int)
  call void @each_cell(ptr %records, ptr %scratch, i64 %nin, ptr %decref)
  %good = icmp eq i64 %status, 0
  br i1 %good, label %commit, label %failed
failed:
  call void @drop_outputs(ptr %outs, i64 %nout, ptr %decref)
  %stopped = icmp eq i64 %status, {interrupted}
  br i1 %stopped, label %return.null, label %other.failure
other.failure:
  %memory = icmp slt i64 %status, 0
  br i1 %memory, label %nothing, label %leave
nothing:
  %clear.p = getelementptr i64, ptr %ctx, i64 {clear_error}
  %clear = load ptr, ptr %clear.p
  call void %clear()
  br label %leave
"""
"""Run the unit with the arena. If the inputs are large, the global interpreter lock (GIL) is released meanwhile."""

RESULTS_CODE = """\
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
  br label %return.null
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
  br label %cleanup
return.null:
  br label %cleanup
cleanup:
  %answer = phi ptr [ %value.made, %finish ], [ null, %return.null ]
  call void @release_locks(ptr %ctx)
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
"""Store updates, free memory, release locks and return the results. After a failure, take the slow path instead."""
