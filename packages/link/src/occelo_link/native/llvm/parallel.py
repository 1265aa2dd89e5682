"""Prints loops as functions of their own, so that they can run in several threads or compile faster.

It is a part of the LLVM printer (`printer`). A loop is outlined if the program is large, or if the loop may run in several
threads. It must carry no value, and allocate nothing. Inside of another loop it must be known to have enough work for threads,
or is printed twice, as a function and in place.

The function is ``i64 part(ptr env, i64 start, i64 stop, ptr table)``. It returns what a unit returns. ``env`` holds the values
and addresses that the loop captures, in slots of 8 bytes. A loop that may run in threads is given to the service `PARALLEL`
if there is enough work, and otherwise one call runs all iterations. Of the other loops, a long one is called strip by strip,
with a poll for interrupts after each strip, and a short one by a single call. The results are the same in all cases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from occelo_link.loops.ir import cost
from occelo_link.loops.ir.program import Buffer, For, Value
from occelo_link.loops.ir.uses import captured_by, is_plain, scratch_of
from occelo_link.native.llvm.interrupt_polling import Polling
from occelo_link.native.llvm.literals import element_type
from occelo_link.native.llvm.module_writer import ModuleWriter, fixed_function
from occelo_link.native.llvm.scalars import Scalars
from occelo_link.units.frame import PARALLEL, POLL, THREAD_LIMIT, table_slot

_LARGE = 5_000
"""Loops are outlined if the program has more statements than this. A loop counts as `_PER_LOOP` further statements.

LLVM's compile time grows faster than the size of a function: 250 short loops in one function took 2.3 s, and in
functions of their own 0.6 s.
"""
_PER_LOOP = 30
"""About so many instructions of a loop are for the strips, the polls and the remainder, and not for its statements."""


class OutlinedLoops:
    """Prints outlined loops and the calls of their functions.

    ``print_loop`` prints a loop in the current function. ``threads`` says whether loops may run in several threads.
    ``functions`` maps the text of each function to its name.
    """

    def __init__(
        self,
        out: ModuleWriter,
        scalars: Scalars,
        polling: Polling,
        print_loop: Callable[[For], None],
        threads: bool,
    ) -> None:
        self.out = out
        self.emit = out.emit
        self.line = out.line
        self.use = scalars.use
        self.scalars = scalars
        self.polling = polling
        self.print_loop = print_loop
        self.threads = threads
        self.functions: dict[str, str] = {}

    @cached_property
    def is_large(self) -> bool:
        """Whether the program is too large for one function."""
        blocks = list(self.out.program.blocks())
        size = sum(len(block.statements) for block in blocks) + _PER_LOOP * (len(blocks) - 1)
        return size > _LARGE

    def is_outlined(self, loop: For) -> bool:
        """Whether a loop is outlined."""
        whole = self.is_large and not loop.carried and not self.polling.nesting
        return self.is_divided(loop) or (whole and is_plain(loop.body))

    def is_divided(self, loop: For) -> bool:
        """Whether a loop may run in several threads."""
        return self.threads and cost.may_be_divided(loop, self.polling.nesting > 0)

    def print_outlined(self, loop: For) -> None:
        """Print code that calls the function of a loop, or in a step of another loop runs it here if it has little work."""
        if not (self.polling.nesting and self.is_divided(loop) and cost.may_be_small(loop)):
            self.call_outlined(loop)
            return
        here, large, done = self.out.new_labels("here", "large", "done")
        _, enough = self.enough_work(loop)
        self.line(f"br i1 {enough}, label %{large}, label %{here}")
        threads, self.threads = self.threads, False
        self.out.start_block(here)
        self.print_loop(loop)
        self.line(f"br label %{done}")
        self.threads = threads
        self.out.start_block(large)
        self.call_outlined(loop)
        self.line(f"br label %{done}")
        self.out.start_block(done)

    def call_outlined(self, loop: For) -> None:
        """Print the function of a loop, and code that calls it, directly or through the service for threads."""
        captured = self.captured(loop)
        env = self.on_stack([("ptr", "%frame"), *((kind, name) for _, kind, name in captured)])
        start, stop = self.use(loop.start), self.use(loop.stop)
        function = self.function(self.function_text(loop, captured))
        args = f"ptr {env}, i64 {start}, i64 {stop}, ptr %table"
        if self.is_divided(loop):
            own = self.own_memory(loop, 8 * len(captured) + 8)
            status = self.in_threads(loop, function, args, own)
        elif self.polling.is_strip_mined(loop):
            status = self.in_strips(loop, function, args)
        else:
            status = self.emit(f"call i64 {function}({args})")
        go, stopped = self.out.new_labels("go", "stopped")
        self.out.branch_likely(self.emit(f"icmp eq i64 {status}, 0"), go, stopped)
        self.out.start_block(stopped)
        self.line(f"ret i64 {status}")
        self.out.start_block(go)

    def on_stack(self, values: Sequence[tuple[str, str]]) -> str:
        """Print code that stores values, each with its LLVM type, in slots of 8 bytes on the stack. Returns their address."""
        allocas = self.out.allocas
        slots = f"%slots{len(allocas)}"
        allocas.append(f"  {slots} = alloca i64, i32 {len(values)}, align 8")
        for slot, (kind, name) in enumerate(values):
            at = self.emit(f"getelementptr i64, ptr {slots}, i64 {slot}")
            self.line(f"store {kind} {name}, ptr {at}, align 8")
        return slots

    def own_memory(self, loop: For, env: int) -> str:
        """Print what `PARALLEL` gets as ``own``, for an environment of ``env`` bytes. Returns its address."""
        scratch = scratch_of(loop)
        if scratch is None:
            return "null"
        sizes = [self.emit(f"mul i64 {self.use(n)}, {size}") for n, size in scratch]
        return self.on_stack([("i64", str(n)) for n in (env, len(scratch), *sizes)])

    def captured(self, loop: For) -> list[tuple[Value | Buffer, str, str]]:
        """Return the values and buffers from outside that a loop uses, each with its LLVM type and name."""
        names, captured = self.scalars.names, list[tuple[Value | Buffer, str, str]]()
        for each in captured_by(loop):
            if isinstance(each, Buffer):
                captured.append((each, "ptr", self.scalars.buffer(each)))
            elif each.number in names:
                captured.append((each, element_type(each.dtype), names[each.number]))
        return captured

    def in_strips(self, loop: For, function: str, args: str) -> str:
        """Print code that calls the loop's function strip by strip, with a poll after each strip."""
        self.out.outlined["strips", 0] = fixed_function("strips")
        self.out.declare("declare i64 @llvm.smin.i64(i64, i64)")
        poll, length = self.out.service(POLL), self.polling.strip_length(loop)
        return self.emit(
            f"call i64 @strips(ptr {function}, ptr {poll}, i64 {length}, ptr %frame, {args})"
        )

    def enough_work(self, loop: For) -> tuple[str, str]:
        """Print code that computes the work of a loop, and whether that is enough for threads."""
        work = self.polling.total_work(loop, cost.parallel_work(loop))
        return work, self.emit(f"icmp sgt i64 {work}, {cost.least_work(loop)}")

    def in_threads(self, loop: For, function: str, args: str, own: str) -> str:
        """Print code that calls the service if there is enough work, and otherwise the function of the loop."""
        out, program, emit = self.out, self.out.program, self.emit
        divided, whole, done = out.new_labels("threads", "whole", "done")
        work, enough = self.enough_work(loop)
        self.line(f"br i1 {enough}, label %{divided}, label %{whole}")
        out.start_block(divided)
        slots = [
            emit(f"getelementptr i64, ptr %table, i64 {table_slot(program, entry)}")
            for entry in map(program.entry, (PARALLEL, THREAD_LIMIT))
        ]
        service = emit(f"load ptr, ptr {slots[0]}, align 8")
        limit = emit(f"load i64, ptr {slots[1]}, align 8")
        length = self.use(loop.stop) if loop.non_interruptible else self.polling.strip_length(loop)
        limits = f"i64 {work}, i64 {length}, i64 {limit}"
        several = emit(
            f"call i64 {service}(ptr {function}, {args}, ptr %frame, {limits}, ptr {own})"
        )
        self.line(f"br label %{done}")
        out.start_block(whole)
        one = emit(f"call i64 {function}({args})")
        self.line(f"br label %{done}")
        out.start_block(done)
        return emit(f"phi i64 [ {several}, %{divided} ], [ {one}, %{whole} ]")

    def function(self, text: str) -> str:
        """Return the name of a function with this text. Loops that do the same with other values share a function."""
        name = self.functions.get(text)
        if name is None:
            name = self.functions[text] = f"@part{len(self.functions)}"
            self.out.outlined[name, 0] = f"define internal i64 {name}{text}"
        return name

    def function_text(self, loop: For, captured: Sequence[tuple[Value | Buffer, str, str]]) -> str:
        """Return the text of a loop's function after its name."""
        out, scalars, block = self.out, self.scalars, self.out.program.body
        first, last = (Value(-k, "int64", "param", (), block) for k in (1, 2))
        whole = For(loop.index, first, last, loop.body, loop.lanes, loop.parallel)
        head = "(ptr %env, i64 %start, i64 %stop, ptr %table) nounwind {"
        # this function does not poll, since its caller does, and is itself divided
        threads, self.threads = self.threads, False
        with self.polling.nested(), scalars.function():
            out.header.append("  %frame = load ptr, ptr %env, align 8")
            for slot, (each, kind, _) in enumerate(captured, 1):
                loaded = out.load_at_start("%env", slot, kind)
                if isinstance(each, Buffer):
                    scalars.pointers[each] = loaded
                else:
                    scalars.names[each.number] = loaded
            scalars.names.update({-1: "%start", -2: "%stop"})
            self.print_loop(whole)
            self.threads = threads
            return "\n".join(
                [head, "entry:", *out.allocas, *out.header, *out.lines, "  ret i64 0", "}"]
            )
