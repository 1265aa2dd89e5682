"""Prints loops as functions of their own, so that they can run in several threads or compile faster.

It is a part of the LLVM printer (`printer`). A loop is outlined if the program is large, or if the loop may run in
several threads. Only a loop directly in the program's body can be outlined. It must carry no value, and may only load,
compute, loop and store.

The function is ``void part(ptr env, i64 start, i64 stop, ptr table)``. ``env`` holds the values and addresses that the
loop captures, in slots of 8 bytes. A loop that may run in threads is given to the service `PARALLEL` if there is enough
work, and otherwise one call runs all iterations. Of the other loops, a long one is called strip by strip, with a poll for
interrupts after each strip, and a short one by a single call. The results are the same in all cases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from occelo_link.loops.ir import cost
from occelo_link.loops.ir.program import Buffer, For, Value
from occelo_link.loops.ir.uses import captured_by, is_plain
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
        if self.is_divided(loop):
            return True
        if not self.is_large or loop.carried or loop.body.parent is not self.out.program.body:
            return False
        return is_plain(loop.body)

    def is_divided(self, loop: For) -> bool:
        """Whether a loop may run in several threads."""
        return self.threads and cost.may_be_divided(loop, self.out.program)

    def call_outlined(self, loop: For) -> None:
        """Print the function of a loop, and code that calls it, directly or through the service for threads."""
        captured = self.captured(loop)
        allocas = self.out.allocas
        env = f"%env{len(allocas)}"
        allocas.append(f"  {env} = alloca i64, i32 {len(captured) + 1}, align 8")
        self.line(f"store ptr %frame, ptr {env}, align 8")
        for slot, (_, kind, name) in enumerate(captured, 1):
            at = self.emit(f"getelementptr i64, ptr {env}, i64 {slot}")
            self.line(f"store {kind} {name}, ptr {at}, align 8")
        start, stop = self.use(loop.start), self.use(loop.stop)
        function = self.function(self.function_text(loop, captured))
        args = f"ptr {env}, i64 {start}, i64 {stop}, ptr %table"
        if self.is_divided(loop):
            self.in_threads(loop, function, args)
        elif self.polling.is_strip_mined(loop):
            self.in_strips(loop, function, args)
        else:
            self.line(f"call void {function}({args})")

    def captured(self, loop: For) -> list[tuple[Value | Buffer, str, str]]:
        """Return the values and buffers from outside that a loop uses, each with its LLVM type and name."""
        names, captured = self.scalars.names, list[tuple[Value | Buffer, str, str]]()
        for each in captured_by(loop):
            if isinstance(each, Buffer):
                captured.append((each, "ptr", self.scalars.buffer(each)))
            elif each.number in names:
                captured.append((each, element_type(each.dtype), names[each.number]))
        return captured

    def in_strips(self, loop: For, function: str, args: str) -> None:
        """Print code that calls the loop's function strip by strip, with a poll after each strip."""
        self.out.outlined["strips", 0] = fixed_function("strips")
        self.out.declare("declare i64 @llvm.smin.i64(i64, i64)")
        poll, length = self.out.service(POLL), self.polling.strip_length(loop)
        status = self.emit(
            f"call i64 @strips(ptr {function}, ptr {poll}, i64 {length}, ptr %frame, {args})"
        )
        self.polling.stop_if_interrupted(status)

    def in_threads(self, loop: For, function: str, args: str) -> None:
        """Print code that calls the service if there is enough work, and otherwise the function of the loop."""
        out, program, emit = self.out, self.out.program, self.emit
        divided, whole, done = out.new_labels("threads", "whole", "done")
        work = self.polling.total_work(loop, cost.parallel_work(loop))
        enough = emit(f"icmp sgt i64 {work}, {cost.ENOUGH}")
        self.line(f"br i1 {enough}, label %{divided}, label %{whole}")
        out.start_block(divided)
        slots = [
            emit(f"getelementptr i64, ptr %table, i64 {table_slot(program, entry)}")
            for entry in map(program.entry, (PARALLEL, THREAD_LIMIT))
        ]
        service = emit(f"load ptr, ptr {slots[0]}, align 8")
        limit = emit(f"load i64, ptr {slots[1]}, align 8")
        length = self.use(loop.stop) if loop.non_interruptible else self.polling.strip_length(loop)
        status = emit(
            f"call i64 {service}(ptr {function}, {args}, ptr %frame, i64 {work}, i64 {length}, i64 {limit})"
        )
        self.polling.unless_interrupted(status, done)
        out.start_block(whole)
        self.line(f"call void {function}({args})")
        self.line(f"br label %{done}")
        out.start_block(done)

    def function(self, text: str) -> str:
        """Return the name of a function with this text. Loops that do the same with other values share a function."""
        name = self.functions.get(text)
        if name is None:
            name = self.functions[text] = f"@part{len(self.functions)}"
            self.out.outlined[name, 0] = f"define internal void {name}{text}"
        return name

    def function_text(self, loop: For, captured: Sequence[tuple[Value | Buffer, str, str]]) -> str:
        """Return the text of a loop's function after its name."""
        out, scalars, block = self.out, self.scalars, self.out.program.body
        first, last = (Value(-k, "int64", "param", (), block) for k in (1, 2))
        whole = For(loop.index, first, last, loop.body, loop.lanes)
        head = "(ptr %env, i64 %start, i64 %stop, ptr %table) nounwind {"
        # this function does not poll, since its caller does
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
            return "\n".join(
                [head, "entry:", *out.allocas, *out.header, *out.lines, "  ret void", "}"]
            )
