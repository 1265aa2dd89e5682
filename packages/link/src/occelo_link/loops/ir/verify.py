"""`verify`: raises an error if a loop program is not well formed.

Tests of lowerings and of loop programs call it (`occelo_testing.loop_programs`). `loops.build` calls it only for programs with
lowerings that other packages registered.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_link.loops.ir import program as ir
from occelo_link.loops.ir.operations import OPERATIONS, is_float, is_integer, width
from occelo_link.loops.ir.reused_loads import check_reused_loads
from occelo_link.loops.ir.visitor import Visitor


class InvalidProgram(Exception):
    """A loop program is not well formed; the message names the statement."""


def verify(program: ir.Program) -> None:
    """Raise `InvalidProgram` if a program breaks one of these rules:

    - Values are defined before they are used, and the dtypes of operands fit.
    - Buffers are allocated before they are accessed, and all outputs are allocated.
    - Functions of the program are pure.
    - No statement may fail after an output has taken over the memory of an input.
    - A value may replace a load only until the next write to the buffer (`check_reused_loads`).
    """
    _Verifier(program).run()


class _MayFail(Visitor[bool]):
    """Visitor that returns whether a statement may stop the program with an error or an interrupt."""

    def never(self, statement: ir.Statement, /) -> bool:
        return False

    def always(self, statement: ir.Statement, /) -> bool:
        return True

    def alloc(self, statement: ir.Alloc) -> bool:
        return statement.reuse is None

    def loop(self, loop: ir.For) -> bool:
        return not loop.non_interruptible

    def invoke(self, call: ir.Invoke) -> bool:
        # BLAS does not report errors
        return not call.entry.startswith("blas:")

    value = store = branch = swap = never
    check = while_loop = always


_MAY_FAIL = _MayFail()


class _Verifier(Visitor[None]):
    """Visitor that checks the rules of `verify` for each statement."""

    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.defined: set[int] = set()
        self.buffers: set[ir.Buffer] = set(program.inputs)
        self.table = set(program.table)
        self.committed = False
        self.named: set[ir.Buffer] = set()
        """Working memory that is a further name for an input or a constant, at least in one branch."""

    def run(self) -> None:
        for function in self.program.functions.values():
            self.defined = {p.number for p in function.params}
            for statement in function.body:
                self.require(isinstance(statement, ir.Value), f"{function.name} is not pure")
                self.statement(statement)
            self.use(function.result, function.name)
        self.defined = set()
        self.block(self.program.body)
        missing = [b.name for b in self.program.outputs if b not in self.buffers]
        self.require(not missing, f"outputs {missing} are never allocated")
        check_reused_loads(self.program, self.require)

    def require(self, holds: bool, message: str) -> None:
        if not holds:
            raise InvalidProgram(f"{self.program.name}: {message}")

    def use(self, value: ir.Value, where: object) -> None:
        self.require(
            value.op == "const" or value.number in self.defined,
            f"{value} is used by {where} before it is defined",
        )

    def memory(self, buffer: ir.Buffer, where: object, written: bool = False) -> None:
        exists = buffer in self.buffers or buffer.space == "constant"
        self.require(exists, f"{buffer} is used by {where} before it is allocated")
        fixed = buffer.space in ("input", "constant") or buffer in self.named
        self.require(not (written and fixed), f"{where} writes the {buffer.space} {buffer}")

    def block(self, block: ir.Block) -> None:
        before = set(self.defined)
        memory = set(self.buffers)
        for statement in block:
            self.statement(statement)
        if block is not self.program.body:
            self.defined = before
            # if a branch allocates a buffer, the other branch does so, too; the buffer stays allocated after them
            self.buffers |= memory

    def statement(self, statement: ir.Statement) -> None:
        if self.committed:
            kind = type(statement).__name__
            self.require(
                not _MAY_FAIL.statement(statement), f"{kind} after a state is taken may fail"
            )
        self.methods[type(statement)](self, statement)

    def value(self, value: ir.Value) -> None:
        self.operation(value)
        self.defined.add(value.number)

    def check(self, statement: ir.Check) -> None:
        self.use(statement.condition, "check")
        self.require(statement.condition.dtype == "bool", "a check needs a bool")

    def alloc(self, statement: ir.Alloc) -> None:
        for value in (statement.size, *statement.lengths):
            self.use(value, f"alloc {statement.buffer}")
        self.reuse(statement)
        self.buffers.add(statement.buffer)

    def swap(self, statement: ir.Swap) -> None:
        first, second = statement.first, statement.second
        for buffer in (first, second):
            self.memory(buffer, "swap", written=True)
            self.require(buffer.space == "carried", f"swap of the {buffer.space} {buffer}")
        self.require(first.dtype == second.dtype, f"swap of {first.dtype} and {second.dtype}")

    def reuse(self, statement: ir.Alloc) -> None:
        taken, where = statement.reuse, f"alloc {statement.buffer}"
        if taken is None:
            self.require(not statement.keeps, f"{where} keeps the elements of nothing")
            return
        state = statement.updates_input and statement.keeps
        named = statement.keeps and (taken.space in ("input", "constant") or taken in self.named)
        if named and not state:
            self.require(
                statement.buffer.space == "work", f"{where} is a name, but no working memory"
            )
            self.named.add(statement.buffer)
        self.memory(taken, where, written=not (state or named))
        if not statement.keeps:
            self.buffers.discard(taken)
        self.committed = self.committed or state

    def operation(self, value: ir.Value) -> None:
        if value.op == "load":
            self.memory(value.args[0], value)
            self.use(value.args[1], value)
            self.require(value.args[0].dtype == value.dtype, f"{value} loads another dtype")
            return
        if value.op in ("length", "stride"):
            self.require(0 <= value.args[1] < value.args[0].ndim, f"{value} has no such axis")
            return
        operands = [a for a in value.args if isinstance(a, ir.Value)]
        for operand in operands:
            self.use(operand, value)
        if value.op == "call":
            self.require(value.args[0] in self.table, f"{value.args[0]} is not in the table")
            return
        if value.op in ("apply", "unlikely"):
            name = value.args[0 if value.op == "apply" else 2]
            exists = name in self.program.functions
            self.require(exists, f"{name} is no function of the program")
            return
        self.require(value.op in OPERATIONS, f"{value} has the unknown operation {value.op}")
        self.dtypes(value, operands)

    def dtypes(self, value: ir.Value, operands: Sequence[ir.Value]) -> None:
        rule = OPERATIONS[value.op]
        self.require(len(operands) == rule.arity, f"{value.op} takes {rule.arity} arguments")
        checked = operands[1:] if value.op == "select" else operands
        if value.op == "select":
            self.require(operands[0].dtype == "bool", f"{value} selects by {operands[0].dtype}")
        for operand in checked:
            dtype = operand.dtype
            letter = "b" if dtype == "bool" else "f" if is_float(dtype) else "i"
            self.require(letter in rule.takes, f"{value.op} does not take {dtype}")
            self.require(dtype == checked[0].dtype, f"{value.op} mixes dtypes in {value}")
        if value.op == "bits":
            same = width(operands[0].dtype) == width(value.dtype)
            self.require(same and "bool" not in (value.dtype, operands[0].dtype), "bits differ")
        elif rule.gives != "cast":
            expected = checked[0].dtype if rule.gives == "same" else rule.gives
            self.require(value.dtype == expected, f"{value.op} gives {expected}")

    def store(self, statement: ir.Store) -> None:
        where = f"store {statement.buffer}"
        self.memory(statement.buffer, where, written=True)
        self.use(statement.offset, where)
        self.use(statement.value, where)
        self.require(is_integer(statement.offset.dtype), f"{where} at a {statement.offset.dtype}")
        self.require(
            statement.value.dtype == statement.buffer.dtype,
            f"{where} ({statement.buffer.dtype}) of a {statement.value.dtype}",
        )

    def invoke(self, statement: ir.Invoke) -> None:
        where = f"invoke {statement.entry}"
        self.require(statement.entry in self.table, f"{statement.entry} is not in the table")
        for argument in statement.args:
            if isinstance(argument, ir.Pointer):
                self.memory(argument.buffer, where)
                self.use(argument.offset, where)
            else:
                self.use(argument.value if isinstance(argument, ir.Reference) else argument, where)
        for buffer in statement.writes:
            self.memory(buffer, where, written=True)
        if statement.result is not None:
            self.defined.add(statement.result.number)

    def loop(self, loop: ir.For) -> None:
        self.use(loop.start, "for")
        self.use(loop.stop, "for")
        for each in loop.carried:
            self.use(each.initial, "carry")
            kinds = {each.initial.dtype, each.param.dtype, each.following.dtype, each.result.dtype}
            self.require(len(kinds) == 1, f"carried {each.param} has dtypes {sorted(kinds)}")
        if loop.lanes > 1:
            self.lanes(loop)
        inside = {loop.index.number, *(c.param.number for c in loop.carried)}
        self.body(loop.body, inside, [c.following for c in loop.carried])
        self.defined.update(c.result.number for c in loop.carried)

    def body(self, block: ir.Block, inside: set[int], used: Sequence[ir.Value]) -> None:
        before = set(self.defined)
        self.defined |= inside
        for statement in block:
            self.statement(statement)
        for value in used:
            self.use(value, "carry")
        self.defined = before

    def lanes(self, loop: ir.For) -> None:
        self.require(loop.lanes & (loop.lanes - 1) == 0, f"{loop.lanes} lanes are no power of two")
        self.require(all(c.combine for c in loop.carried), "lanes need to know how to combine")
        for statement in loop.body:
            self.require(
                isinstance(statement, ir.Value | ir.Store),
                f"a loop with lanes holds a {type(statement).__name__}",
            )

    def while_loop(self, loop: ir.While) -> None:
        for each in loop.carried:
            self.use(each.initial, "carry")
        before = set(self.defined)
        self.defined |= {c.param.number for c in loop.carried}
        for statement in loop.test:
            self.statement(statement)
        self.use(loop.condition, "while")
        self.body(loop.body, set(), [c.following for c in loop.carried])
        self.defined = before | {c.result.number for c in loop.carried}

    def branch(self, statement: ir.If) -> None:
        self.use(statement.condition, "if")
        for block, position in ((statement.then, 1), (statement.orelse, 2)):
            self.body(block, set(), [r[position] for r in statement.results])
        self.defined.update(r[0].number for r in statement.results)
