"""Writes the machine code of a C function: it stores the arguments in a frame, and runs the unit.

A `Wrapper` collects what the frame needs, and the functions of `forms` say in which form C passes it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from occelo_link.standalone import context
from occelo_link.units.frame import CALLER, FIRST_INPUT, INPUT_SLOTS

LLVM_TYPES = {
    "bool": "i8",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "i8",
    "uint16": "i16",
    "uint32": "i32",
    "uint64": "i64",
    "float32": "float",
    "float64": "double",
}
Shape = Sequence[int | None]


class Wrapper:
    """The text of one C function in LLVM IR.

    ``inputs`` and ``outputs`` are the numbers of inputs and outputs of the unit. Each of them needs one call of
    `number`, `array`, `data` or `output`. The text refers to the address of a value by its name in LLVM IR.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        self._records = FIRST_INPUT + INPUT_SLOTS * inputs
        self._slots = self._records + context.CALL_RECORDS + context.RECORD * outputs
        self._later = 0
        self._start: list[str] = []
        self._lines: list[str] = []
        self._globals: list[str] = []
        self._count = 0
        self._conditions: list[str] = []

    def line(self, text: str) -> None:
        self._lines.append(f"  {text}")

    def fresh(self) -> str:
        self._count += 1
        return f"%t{self._count}"

    def stored(self, kind: str, value: str) -> str:
        """Store a value on the stack. Returns its address."""
        place = self.fresh()
        self._start.append(f"  {place} = alloca {kind}, align 8")
        self.line(f"store {kind} {value}, ptr {place}, align 8")
        return place

    def loaded(self, kind: str, base: str, position: int) -> str:
        """Load an element of an array. Returns its name."""
        place, value = self.fresh(), self.fresh()
        self.line(f"{place} = getelementptr {kind}, ptr {base}, i64 {position}")
        self.line(f"{value} = load {kind}, ptr {place}")
        return value

    def constant_lengths(self, shape: Sequence[int]) -> str:
        """Return the address of lengths that are part of the code."""
        name = f"@lengths{len(self._globals)}"
        listed = ", ".join(f"i64 {n}" for n in shape or (0,))
        kind = f"[{max(1, len(shape))} x i64]"
        self._globals.append(f"{name} = internal constant {kind} [{listed}]")
        return name

    def require(self, left: str, right: str | int) -> None:
        """Let calls fail with `BAD_LENGTH` in which two lengths differ."""
        equal = self.fresh()
        self.line(f"{equal} = icmp eq i64 {left}, {right}")
        self._conditions.append(equal)

    def _set(self, slot: int, kind: str, value: str | int) -> None:
        place = self.fresh()
        self.line(f"{place} = getelementptr i64, ptr %frame, i64 {slot}")
        self.line(f"store {kind} {value}, ptr {place}")

    def array(self, position: int, memory: str, shape: Shape, lengths: str = "") -> None:
        """Pass an array to an input of the unit. ``lengths`` is the address of its lengths if they are not static."""
        for axis, length in enumerate(shape if lengths else ()):
            if length is not None:
                self.require(self.loaded("i64", lengths, axis), length)
        place = lengths or self.constant_lengths([n for n in shape if n is not None])
        at = FIRST_INPUT + INPUT_SLOTS * position
        for k, value in enumerate((memory, place, "null")):
            self._set(at + k, "ptr", value)

    def number(self, position: int, dtype: str, value: str) -> None:
        """Pass a number to an input of the unit that has no dimensions."""
        self.array(position, self.stored(LLVM_TYPES[dtype], value), ())

    def data(self, position: int, number: int) -> None:
        """Pass the array of the context with the given number to an input of the unit."""
        at = FIRST_INPUT + INPUT_SLOTS * position
        for k in range(2):
            self._set(at + k, "ptr", self.loaded("ptr", "%ctx", context.CTX_DATA + 2 * number + k))
        self._set(at + 2, "ptr", "null")

    def output(
        self,
        position: int,
        memory: str,
        dtype: str,
        ndim: int,
        lengths: str = "",
        room: str | int = 0,
        later: bool = False,
    ) -> None:
        """Give memory to an output of the unit: the caller's, of ``room`` elements if there are no ``lengths``.

        If ``later`` is true, the memory is written only after the unit has succeeded.
        """
        at = self._records + context.CALL_RECORDS + context.RECORD * position
        if later:
            self._later = max(self._later, position + 1)
        self._set(at, "ptr", memory)
        self._set(at + context.OUT_LENGTHS, "ptr", lengths or "null")
        self._set(at + context.OUT_NDIM, "i64", ndim)
        self._set(at + context.OUT_SIZE, "i64", np.dtype(dtype).itemsize)
        self._set(at + context.OUT_ROOM, "i64", room)
        self._set(at + context.OUT_LATER, "i64", int(later))
        self._set(at + context.OUT_HELD, "ptr", "null")

    def run(self) -> str:
        """Run the unit. Returns the name of the code that the C function returns."""
        records = self.fresh()
        self.line(f"{records} = getelementptr i64, ptr %frame, i64 {self._records}")
        self._set(CALLER, "ptr", records)
        self._set(self._records, "ptr", "%ctx")
        self._set(self._records + context.CALL_OUTPUTS, "i64", self._later)
        self._set(self._records + context.CALL_STATUS, "i64", 0)
        if self._conditions:
            fits = self._conditions[0]
            for each in self._conditions[1:]:
                both = self.fresh()
                self.line(f"{both} = and i1 {fits}, {each}")
                fits = both
            self.line(f"br i1 {fits}, label %fits, label %misfit")
            self._lines += ["misfit:", f"  ret i64 {context.BAD_LENGTH}", "fits:"]
        self.line("%run = load ptr, ptr @run")
        self.line("%code = call i64 %run(ptr %frame)")
        return "%code"

    def text(self, params: Sequence[str], kind: str = "i64", result: str = "%code") -> str:
        """Return the module. ``params`` are the parameters in LLVM IR, without the last one, ``%data``."""
        head = ", ".join([*params, "ptr %data"])
        lines = [
            "@run = internal global ptr null",
            "@context = internal global ptr null",
            *self._globals,
            "define void @start(ptr %run, ptr %context) nounwind {",
            "  store ptr %run, ptr @run",
            "  store ptr %context, ptr @context",
            "  ret void",
            "}",
            f"define {kind} @call({head}) nounwind {{",
            f"  %frame = alloca [{self._slots} x i64], align 16",
            *self._start,
            "  %own = load ptr, ptr @context",
            "  %is.own = icmp eq ptr %data, null",
            "  %ctx = select i1 %is.own, ptr %own, ptr %data",
            *self._lines,
            f"  ret {kind} {result}",
            "}",
            "",
        ]
        return "\n".join(lines)
