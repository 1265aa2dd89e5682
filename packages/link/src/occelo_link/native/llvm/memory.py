"""Prints the allocation of buffers as LLVM IR. It is a part of the LLVM printer (`printer`).

A buffer is an output, an input that is overwritten, or working memory on the stack or in the arena.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

from occelo_link.loops.ir.program import Alloc, Buffer, For, Program, Swap, itemsize
from occelo_link.loops.ir.uses import is_plain, nested_memory, placed_by, used_by
from occelo_link.native.llvm.module_writer import ModuleWriter
from occelo_link.native.llvm.scalars import Scalars
from occelo_link.units.frame import ALLOC_OUTPUT, ARENA, ARENA_END, GROW, NO_MEMORY, TAKE

_STACK_BYTES = 2048
"""The most bytes of working memory that a unit has on the stack. Small buffers are allocated there."""
_INLINED = 4
"""The number of allocations from the arena that are inlined. Later ones call a service, which takes less code."""
_CALLED = 2**14
"""Allocations of at least this static number of bytes always call the service.

The call takes much less time than using so much memory.
"""


def _renamed(program: Program) -> set[Buffer]:
    """Return the buffers that are only further names for the memory of another buffer, within one block.

    A change in place makes such a buffer. The code uses the address of the other buffer, so the further name needs no
    slot.
    """
    blocks = {
        s.buffer: block
        for block in program.blocks()
        for s in block
        if isinstance(s, Alloc) and s.reuse is not None and not s.updates_input
    }
    if not blocks:
        return set()
    placed = Counter(buffer for block in program.blocks() for buffer in placed_by(block))
    uses = Counter(used_by(program.body))
    within = {block: Counter(used_by(block)) for block in dict.fromkeys(blocks.values())}
    return {
        buffer
        for buffer, block in blocks.items()
        if buffer.space in ("work", "carried")
        and placed[buffer] == 1
        and uses[buffer] == within[block][buffer]
    }


class Memory:
    """Prints allocations of buffers.

    Working memory comes from the arena. The frame has the address of the arena's free part, and each allocation
    advances this address. Code of the unit and the service `GROW` both do that. A buffer that is allocated in a loop or
    a branch has a slot on the stack for its address and its capacity, and its memory always comes from `GROW`.
    """

    def __init__(self, out: ModuleWriter, scalars: Scalars) -> None:
        self.out = out
        self.emit = out.emit
        self.line = out.line
        self.use = scalars.use
        self.scalars = scalars
        self.stack_used = 0
        self.inlined = 0
        self.can_fail = False

    def open_slots(self) -> None:
        """Make the slots of buffers that may be allocated several times."""
        out, slots = self.out, self.scalars.slots
        renamed = _renamed(out.program)
        for buffer in nested_memory(out.program):
            if buffer in renamed:
                continue
            slot = f"%slot{len(slots)}"
            out.allocas.append(f"  {slot} = alloca ptr, align 8")
            out.allocas.append(f"  {slot}.room = alloca i64, align 8")
            out.header.append(f"  store ptr null, ptr {slot}, align 8")
            out.header.append(f"  store i64 0, ptr {slot}.room, align 8")
            slots[buffer] = slot

    @contextmanager
    def addresses_hoisted(self, loop: For) -> Generator[None]:
        """A context in which a loop is printed. Addresses in slots are loaded before the loop if the loop does not
        allocate.
        """
        slots, pointers = self.scalars.slots, self.scalars.pointers
        hoisted: list[Buffer] = []
        if slots and is_plain(loop.body):
            hoisted = [
                v for v in dict.fromkeys(used_by(loop.body)) if isinstance(v, Buffer) and v in slots
            ]
        loaded = {buffer: self.scalars.buffer(buffer) for buffer in hoisted}
        outer = {buffer: slots.pop(buffer) for buffer in hoisted}
        pointers.update(loaded)
        yield
        slots.update(outer)
        for buffer in hoisted:
            del pointers[buffer]

    def alloc(self, statement: Alloc) -> None:
        buffer = statement.buffer
        slot = self.scalars.slots.get(buffer)
        if statement.reuse is not None and statement.updates_input:
            pointer = self.take_over_input(statement, statement.reuse)
        elif statement.reuse is not None:
            pointer = self.scalars.buffer(statement.reuse)
        elif buffer.space == "output":
            pointer = self.alloc_output(statement)
        elif slot is not None:
            self.grow_buffer(statement, slot)
            return
        else:
            pointer = self.alloc_work(statement)
        if slot is not None:
            self.line(f"store ptr {pointer}, ptr {slot}, align 8")
        else:
            self.scalars.pointers[buffer] = pointer

    def swap(self, statement: Swap) -> None:
        first, second = (self.scalars.slots[b] for b in (statement.first, statement.second))
        for kind, part in (("ptr", ""), ("i64", ".room")):
            one = self.emit(f"load {kind}, ptr {first}{part}, align 8")
            two = self.emit(f"load {kind}, ptr {second}{part}, align 8")
            self.line(f"store {kind} {two}, ptr {first}{part}, align 8")
            self.line(f"store {kind} {one}, ptr {second}{part}, align 8")

    def stop_if_null(self, pointer: str) -> None:
        go = self.out.new_label("go")
        self.continue_unless_null(pointer, go)
        self.out.start_block(go)

    def continue_unless_null(self, pointer: str, label: str) -> None:
        """Print a branch: continue at a label, or return from the unit if an allocation failed."""
        self.can_fail = True
        valid = self.emit(f"icmp ne ptr {pointer}, null")
        self.out.branch_likely(valid, label, "no_memory")

    def exit_if_failed(self) -> None:
        """Print the block where a unit returns after a failed allocation."""
        if self.can_fail:
            self.out.start_block("no_memory")
            self.line(f"ret i64 {NO_MEMORY}")

    def alloc_output(self, statement: Alloc) -> str:
        lengths, allocas = statement.lengths, self.out.allocas
        dims = f"%dims{len(allocas)}"
        allocas.append(f"  {dims} = alloca i64, i32 {max(1, len(lengths))}, align 8")
        for i, length in enumerate(lengths):
            at = self.emit(f"getelementptr i64, ptr {dims}, i64 {i}")
            self.line(f"store i64 {self.use(length)}, ptr {at}, align 8")
        function = self.out.service(ALLOC_OUTPUT)
        pointer = self.emit(
            f"call ptr {function}(ptr %frame, i64 {statement.buffer.position}, ptr {dims})"
        )
        self.stop_if_null(pointer)
        return pointer

    def take_over_input(self, statement: Alloc, taken: Buffer) -> str:
        """Print code that reuses the memory of an input for the output that is its update.

        If that memory is in use elsewhere, the output gets a copy. Returns the address of the output.
        """
        size = self.emit(f"mul i64 {self.use(statement.size)}, {itemsize(taken.dtype)}")
        positions = f"i64 {statement.buffer.position}, i64 {taken.position}"
        function = self.out.service(TAKE)
        pointer = self.emit(f"call ptr {function}(ptr %frame, {positions}, i64 {size})")
        self.stop_if_null(pointer)
        return pointer

    def work_bytes(self, statement: Alloc) -> str:
        """Return the number of bytes that a buffer needs, as a literal or as the name of a computed value.

        The number is rounded up so that the next buffer is aligned to 64 bytes.
        """
        each, size = itemsize(statement.buffer.dtype), statement.size
        if size.op == "const":
            return str((max(1, size.args[0]) * each + 63) & -64)
        scaled = self.emit(f"mul i64 {self.use(size)}, {each}")
        more = self.emit(f"add i64 {scaled}, 127")
        return self.emit(f"and i64 {more}, -64")

    def call_grow(self, total: str) -> str:
        """Print a call of the service `GROW`, which returns memory, or a null pointer if there is none."""
        return self.emit(f"call ptr {self.out.service(GROW)}(ptr %frame, i64 {total})")

    def grow_buffer(self, statement: Alloc, slot: str) -> None:
        """Print code that makes sure that a buffer has enough memory.

        If it has too little, the code allocates new memory, at least twice as much as before.
        """
        total = self.work_bytes(statement)
        self.out.declare("declare i64 @llvm.smax.i64(i64, i64)")
        room = self.emit(f"load i64, ptr {slot}.room, align 8")
        enough = self.emit(f"icmp sle i64 {total}, {room}")
        grow, done = self.out.new_labels("grow", "done")
        self.out.branch_likely(enough, done, grow)
        self.out.start_block(grow)
        twice = self.emit(f"shl i64 {room}, 1")
        more = self.emit(f"call i64 @llvm.smax.i64(i64 {total}, i64 {twice})")
        pointer = self.call_grow(more)
        self.stop_if_null(pointer)
        self.line(f"store ptr {pointer}, ptr {slot}, align 8")
        self.line(f"store i64 {more}, ptr {slot}.room, align 8")
        self.line(f"br label %{done}")
        self.out.start_block(done)

    def alloc_work(self, statement: Alloc) -> str:
        """Print an allocation of working memory: on the stack, in the arena, or elsewhere. Returns its address."""
        out, size = self.out, statement.size
        if size.op == "const":
            rounded = int(self.work_bytes(statement))
            if self.stack_used + rounded <= _STACK_BYTES:
                self.stack_used += rounded
                name = f"%stack{len(out.allocas)}"
                out.allocas.append(f"  {name} = alloca [{rounded} x i8], align 64")
                return name
        total = self.work_bytes(statement)
        is_large = size.op == "const" and int(total) >= _CALLED
        self.inlined += not is_large
        if is_large or self.inlined > _INLINED:
            pointer = self.call_grow(total)
            self.stop_if_null(pointer)
            return pointer
        free, limit = (
            self.emit(f"getelementptr i64, ptr %frame, i64 {slot}") for slot in (ARENA, ARENA_END)
        )
        start = self.emit(f"load ptr, ptr {free}, align 8")
        end = self.emit(f"getelementptr i8, ptr {start}, i64 {total}")
        last = self.emit(f"load ptr, ptr {limit}, align 8")
        fits = self.emit(f"icmp ule ptr {end}, {last}")
        take, grow, done = out.new_labels("take", "grow", "done")
        out.branch_likely(fits, take, grow)
        out.start_block(grow)
        grown = self.call_grow(total)
        self.continue_unless_null(grown, done)
        out.start_block(take)
        self.line(f"store ptr {end}, ptr {free}, align 8")
        self.line(f"br label %{done}")
        out.start_block(done)
        return self.emit(f"phi ptr [ {start}, %{take} ], [ {grown}, %{grow} ]")
