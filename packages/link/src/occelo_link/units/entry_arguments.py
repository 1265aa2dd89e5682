"""LLVM IR of the first half of the machine-code entry: it makes the frame of the unit and checks the arguments.

`occelo_link.units.entry_code` puts values in place of the names in braces.
"""

from __future__ import annotations

FRAME_CODE = """\

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
  %acquired = call i1 @acquire_locks(ptr %ctx)
  br i1 %acquired, label %in.head, label %leave.frame
"""
"""Count the arguments, allocate a frame on the stack or the heap, and acquire the locks on updates."""

ARGUMENTS_CODE = """\
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
  call void @release_locks(ptr %ctx)
  br label %leave.frame
leave.frame:
  br i1 %small, label %slow, label %free.frame
free.frame:
  %free.p = getelementptr i64, ptr %ctx, i64 {free}
  %free = load ptr, ptr %free.p
  call void %free(ptr %frame)
  br label %slow
"""
"""For each input, check it and store its address, lengths and strides in the frame. If a check fails, take the slow
path.
"""
