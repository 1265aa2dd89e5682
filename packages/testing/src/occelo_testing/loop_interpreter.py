"""Interpreter of loop programs, slow and simple, with a check of every access to memory.

Tests compare its results with those of compiled programs. It combines the accumulators of a loop in the order that
`Carried` defines, so the results are equal to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from occelo_link.loops.ir.operations import OPERATIONS
from occelo_link.loops.ir.program import (
    Alloc,
    Block,
    Buffer,
    Carried,
    Check,
    For,
    If,
    Invoke,
    Pointer,
    Program,
    Reference,
    Store,
    Swap,
    Value,
    While,
)
from occelo_link.loops.ir.visitor import Visitor


class CheckFailed(Exception):
    """A check of the program failed; ``site`` is the number of its error site."""

    def __init__(self, site: int) -> None:
        super().__init__(site)
        self.site = site


def run_program(
    program: Program,
    arrays: Sequence[npt.NDArray[Any]],
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> list[npt.NDArray[Any]]:
    """Run a program on input arrays, and return its outputs.

    ``functions`` has a Python function for each function outside of the program that the program calls. Its keys are
    names in `Program.table`. The arguments of these functions are NumPy scalars, and pairs ``(array, offset)`` in place
    of addresses. An access out of bounds raises IndexError.
    """
    with np.errstate(all="ignore"):
        return _Interpreter(program, arrays, functions or {}).run()


def _cast(value: Any, source: str, target: str) -> Any:
    return np.asarray(value, dtype=source).astype(target)[()]


class _Interpreter(Visitor[None]):
    """Visitor that runs each statement."""

    def __init__(
        self,
        program: Program,
        arrays: Sequence[npt.NDArray[Any]],
        functions: Mapping[str, Callable[..., Any]],
    ) -> None:
        self.program = program
        self.functions = functions
        self.values: dict[int, Any] = {}
        self.memory: dict[Buffer, npt.NDArray[Any]] = {}
        self.inputs: dict[Buffer, npt.NDArray[Any]] = {}
        self.lengths: dict[Buffer, tuple[int, ...]] = {}
        for buffer, array in zip(program.inputs, arrays, strict=True):
            self.inputs[buffer] = array
            self.memory[buffer] = np.ascontiguousarray(array).reshape(-1).view(buffer.dtype)

    def run(self) -> list[npt.NDArray[Any]]:
        self.block(self.program.body)
        outputs = self.program.outputs
        return [self.memory[b].view(b.holds).reshape(self.lengths[b]) for b in outputs]

    def get(self, value: Value) -> Any:
        if value.op == "const":
            return np.dtype(value.dtype).type(value.args[0])
        return self.values[value.number]

    def cells(self, buffer: Buffer) -> npt.NDArray[Any]:
        if buffer.space == "constant" and buffer not in self.memory:
            data = self.program.constants[int(buffer.entry[8:])]
            self.memory[buffer] = np.ascontiguousarray(data).reshape(-1)
        return self.memory[buffer]

    def at(self, buffer: Buffer, offset: Any) -> tuple[npt.NDArray[Any], int]:
        cells, where = self.cells(buffer), int(offset)
        if not 0 <= where < cells.size:
            raise IndexError(f"{buffer}[{where}] is out of bounds: it has {cells.size} elements")
        return cells, where

    def block(self, block: Block) -> None:
        for statement in block:
            self.statement(statement)

    def value(self, value: Value) -> None:
        self.values[value.number] = self.operation(value)

    def store(self, statement: Store) -> None:
        cells, where = self.at(statement.buffer, self.get(statement.offset))
        cells[where] = self.get(statement.value)

    def check(self, statement: Check) -> None:
        if not self.get(statement.condition):
            raise CheckFailed(statement.site)

    def swap(self, statement: Swap) -> None:
        pair = self.memory[statement.first], self.memory[statement.second]
        self.memory[statement.second], self.memory[statement.first] = pair

    def operation(self, value: Value) -> Any:
        args = value.args
        if value.op == "load":
            cells, where = self.at(args[0], self.get(args[1]))
            return cells[where]
        if value.op == "length":
            return np.int64(self.inputs[args[0]].shape[args[1]])
        if value.op == "stride":
            axis: int = args[1]
            array = np.ascontiguousarray(self.inputs[args[0]])
            return np.int64(array.strides[axis] // array.itemsize)
        if value.op == "call":
            return self.functions[args[0]](*[self.get(a) for a in args[1:]])
        if value.op == "unlikely":
            if self.get(args[0]):
                return self.apply(args[2], [self.get(a) for a in args[3:]])
            return self.get(args[1])
        if value.op == "apply":
            return self.apply(args[0], [self.get(a) for a in args[1:]])
        numbers = [self.get(a) for a in args]
        if value.op == "cast":
            return _cast(numbers[0], args[0].dtype, value.dtype)
        if value.op == "bits":
            return np.asarray(numbers[0], dtype=args[0].dtype).view(value.dtype)[()]
        result = OPERATIONS[value.op].meaning(*numbers)
        return np.dtype(value.dtype).type(result)

    def apply(self, name: str, arguments: Sequence[Any]) -> Any:
        function = self.program.functions[name]
        for param, argument in zip(function.params, arguments, strict=True):
            self.values[param.number] = argument
        self.block(function.body)
        return self.get(function.result)

    def alloc(self, statement: Alloc) -> None:
        buffer = statement.buffer
        size = int(self.get(statement.size))
        if statement.reuse is None:
            cells = np.empty(size, buffer.dtype)
        else:
            cells = self.cells(statement.reuse)
        if statement.updates_input:
            cells = cells.copy()
        elif statement.reuse is not None:
            assert cells.size >= size
            assert cells.dtype == buffer.dtype
        if not statement.keeps:
            # new memory is filled with a number that is easily seen to be no result
            cells[:] = np.full(size, -77, dtype=np.int64).astype(buffer.dtype)
        self.memory[buffer] = cells
        if buffer.space == "output":
            self.lengths[buffer] = tuple(int(self.get(n)) for n in statement.lengths)

    def invoke(self, statement: Invoke) -> None:
        args: list[Any] = []
        for argument in statement.args:
            if isinstance(argument, Pointer):
                args.append((self.cells(argument.buffer), int(self.get(argument.offset))))
            else:
                args.append(
                    self.get(argument.value if isinstance(argument, Reference) else argument)
                )
        result = self.functions[statement.entry](*args)
        if statement.result is not None:
            self.values[statement.result.number] = result

    def branch(self, statement: If) -> None:
        taken = bool(self.get(statement.condition))
        self.block(statement.then if taken else statement.orelse)
        for result, then, other in statement.results:
            self.values[result.number] = self.get(then if taken else other)

    def while_loop(self, loop: While) -> None:
        state = [self.get(c.initial) for c in loop.carried]
        while True:
            for each, value in zip(loop.carried, state, strict=True):
                self.values[each.param.number] = value
            self.block(loop.test)
            if not self.get(loop.condition):
                break
            self.block(loop.body)
            state = [self.get(c.following) for c in loop.carried]
        for each, value in zip(loop.carried, state, strict=True):
            self.values[each.result.number] = value

    def loop(self, loop: For) -> None:
        start, stop = int(self.get(loop.start)), int(self.get(loop.stop))
        lanes = [[self.get(c.initial)] * loop.lanes for c in loop.carried]
        for number, index in enumerate(range(start, stop)):
            lane = number % loop.lanes
            self.values[loop.index.number] = np.int64(index)
            for each, state in zip(loop.carried, lanes, strict=True):
                self.values[each.param.number] = state[lane]
            self.block(loop.body)
            for each, state in zip(loop.carried, lanes, strict=True):
                state[lane] = self.get(each.following)
        for each, state in zip(loop.carried, lanes, strict=True):
            self.values[each.result.number] = self.combined(each, state)

    def combined(self, carried: Carried, state: list[Any]) -> Any:
        while len(state) > 1:
            assert carried.combine is not None
            half = len(state) // 2
            meaning = OPERATIONS[carried.combine].meaning
            state = [
                np.dtype(carried.param.dtype).type(meaning(a, b))
                for a, b in zip(state[:half], state[half:], strict=True)
            ]
        return state[0]
