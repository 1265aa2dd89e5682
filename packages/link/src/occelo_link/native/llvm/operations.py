"""Prints scalar operations as LLVM IR, for one lane or several. It is a part of the LLVM printer (`printer`).

`functions` and `vector_iteration` print operations with the class `Operations`. `exports` also uses the class, for the
linker ``numba``.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_link.loops.ir.operations import is_float, is_signed, width
from occelo_link.loops.ir.program import Value
from occelo_link.native.llvm.literals import constant, type_of
from occelo_link.native.llvm.module_writer import ModuleWriter

_BINARY = {
    "add": ("fadd", "add"),
    "sub": ("fsub", "sub"),
    "mul": ("fmul", "mul"),
    "div": ("fdiv", ""),
    "and": ("", "and"),
    "or": ("", "or"),
    "xor": ("", "xor"),
}
_INTRINSICS = {
    "abs": "fabs",
    "sqrt": "sqrt",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "rint": "rint",
    "copysign": "copysign",
    "fma": "fma",
}
_COMPARE = {"eq": ("oeq", "eq"), "ne": ("une", "ne"), "lt": ("olt", "lt"), "le": ("ole", "le")}


def _constant_in(text: str) -> int | None:
    """Return the integer that a constant of integers has in all lanes, or None if a name or another constant is given."""
    if text.startswith("splat") or text.lstrip("-").isdigit():
        return int(text.split()[-1].rstrip(")"))
    return None


class Operations:
    """Prints operations. For cases that LLVM leaves undefined, such as division by 0, the printed code has checks."""

    def __init__(self, out: ModuleWriter) -> None:
        self.declare = out.declare
        self.emit = out.emit

    def intrinsic(self, name: str, dtype: str, lanes: int, args: Sequence[str]) -> str:
        kind = type_of(dtype, lanes)
        letter = "f" if is_float(dtype) else "i"
        suffix = ("" if lanes == 1 else f"v{lanes}") + letter + str(width(dtype))
        self.declare(f"declare {kind} @llvm.{name}.{suffix}({', '.join([kind] * len(args))})")
        return self.emit(
            f"call {kind} @llvm.{name}.{suffix}({', '.join(f'{kind} {a}' for a in args)})"
        )

    def operation(self, value: Value, args: Sequence[str], lanes: int) -> str:
        op = value.op
        dtype = value.args[-1].dtype
        kind = type_of(dtype, lanes)
        floats = is_float(dtype)
        if op in _BINARY:
            return self.emit(f"{_BINARY[op][0 if floats else 1]} {kind} {args[0]}, {args[1]}")
        if op in _COMPARE:
            a, b = _COMPARE[op]
            if floats:
                return self.emit(f"fcmp {a} {kind} {args[0]}, {args[1]}")
            sign = "" if op in ("eq", "ne") else "s" if is_signed(dtype) else "u"
            return self.emit(f"icmp {sign}{b} {kind} {args[0]}, {args[1]}")
        if op == "select":
            condition = type_of("bool", lanes)
            return self.emit(f"select {condition} {args[0]}, {kind} {args[1]}, {kind} {args[2]}")
        if floats and op in _INTRINSICS:
            return self.intrinsic(_INTRINSICS[op], dtype, lanes, args)
        if op == "cast":
            return self.cast(args[0], dtype, value.dtype, lanes)
        if op == "bits":
            return self.emit(f"bitcast {kind} {args[0]} to {type_of(value.dtype, lanes)}")
        if op == "neg":
            if floats:
                return self.emit(f"fneg {kind} {args[0]}")
            return self.emit(f"sub {kind} {constant(0, dtype, lanes)}, {args[0]}")
        if op == "not":
            ones = constant(1 if dtype == "bool" else -1, dtype, lanes)
            return self.emit(f"xor {kind} {args[0]}, {ones}")
        if op in ("min", "max"):
            return self.extremum(op, dtype, args, lanes)
        if op == "abs":
            negative = self.emit(f"sub {kind} {constant(0, dtype, lanes)}, {args[0]}")
            below = self.emit(f"icmp slt {kind} {args[0]}, {constant(0, dtype, lanes)}")
            return self.emit(
                f"select {type_of('bool', lanes)} {below}, {kind} {negative}, {kind} {args[0]}"
            )
        if op in ("shl", "shr"):
            return self.shift(op, dtype, args, lanes)
        return self.division(op, dtype, args, lanes)

    def extremum(self, op: str, dtype: str, args: Sequence[str], lanes: int) -> str:
        kind, truth = type_of(dtype, lanes), type_of("bool", lanes)
        if not is_float(dtype):
            first, second = args if op == "min" else args[::-1]
            sign = "s" if is_signed(dtype) else "u"
            chosen = self.emit(f"icmp {sign}le {kind} {first}, {second}")
            return self.emit(f"select {truth} {chosen}, {kind} {args[0]}, {kind} {args[1]}")
        # the first choice is one instruction of x86; it gives the first operand if an operand is NaN
        beyond = self.emit(f"fcmp {'olt' if op == 'min' else 'ogt'} {kind} {args[1]}, {args[0]}")
        chosen = self.emit(f"select {truth} {beyond}, {kind} {args[1]}, {kind} {args[0]}")
        nan = self.emit(f"fcmp uno {kind} {args[1]}, {args[1]}")
        return self.emit(f"select {truth} {nan}, {kind} {args[1]}, {kind} {chosen}")

    def shift(self, op: str, dtype: str, args: Sequence[str], lanes: int) -> str:
        kind, truth = type_of(dtype, lanes), type_of("bool", lanes)
        bits = width(dtype)
        number = _constant_in(args[1])
        if number is not None and 0 <= number < bits:
            # a constant number of bits within the width needs no check
            name = "shl" if op == "shl" else "ashr" if is_signed(dtype) else "lshr"
            return self.emit(f"{name} {kind} {args[0]}, {args[1]}")
        limit = constant(bits, dtype, lanes)
        inside = self.emit(f"icmp ult {kind} {args[1]}, {limit}")
        last = constant(bits - 1, dtype, lanes)
        by = self.emit(f"select {truth} {inside}, {kind} {args[1]}, {kind} {last}")
        if op == "shr" and is_signed(dtype):
            return self.emit(f"ashr {kind} {args[0]}, {by}")
        moved = self.emit(f"{'shl' if op == 'shl' else 'lshr'} {kind} {args[0]}, {by}")
        zero = constant(0, dtype, lanes)
        return self.emit(f"select {truth} {inside}, {kind} {moved}, {kind} {zero}")

    def division(self, op: str, dtype: str, args: Sequence[str], lanes: int) -> str:
        kind, truth = type_of(dtype, lanes), type_of("bool", lanes)
        zero, one = constant(0, dtype, lanes), constant(1, dtype, lanes)
        x, y = args
        number = _constant_in(y)
        if number is not None and number > 0 and number & (number - 1) == 0:
            # rounds down, as NumPy does
            bits = number.bit_length() - 1
            if op == "remainder":
                return self.emit(f"and {kind} {x}, {constant(number - 1, dtype, lanes)}")
            name = "ashr" if is_signed(dtype) else "lshr"
            return self.emit(f"{name} {kind} {x}, {constant(bits, dtype, lanes)}")
        by_zero = self.emit(f"icmp eq {kind} {y}, {zero}")
        if not is_signed(dtype):
            safe = self.emit(f"select {truth} {by_zero}, {kind} {one}, {kind} {y}")
            name = "udiv" if op == "floordiv" else "urem"
            result = self.emit(f"{name} {kind} {x}, {safe}")
            return self.emit(f"select {truth} {by_zero}, {kind} {zero}, {kind} {result}")
        minus = constant(-1, dtype, lanes)
        by_minus = self.emit(f"icmp eq {kind} {y}, {minus}")
        special = self.emit(f"or {truth} {by_zero}, {by_minus}")
        safe = self.emit(f"select {truth} {special}, {kind} {one}, {kind} {y}")
        quotient = self.emit(f"sdiv {kind} {x}, {safe}")
        product = self.emit(f"mul {kind} {quotient}, {safe}")
        rest = self.emit(f"sub {kind} {x}, {product}")
        uneven = self.emit(f"icmp ne {kind} {rest}, {zero}")
        mixed = self.emit(f"xor {kind} {rest}, {y}")
        opposite = self.emit(f"icmp slt {kind} {mixed}, {zero}")
        adjust = self.emit(f"and {truth} {uneven}, {opposite}")
        if op == "remainder":
            moved = self.emit(f"add {kind} {rest}, {y}")
            result = self.emit(f"select {truth} {adjust}, {kind} {moved}, {kind} {rest}")
            return self.emit(f"select {truth} {special}, {kind} {zero}, {kind} {result}")
        lower = self.emit(f"sub {kind} {quotient}, {one}")
        result = self.emit(f"select {truth} {adjust}, {kind} {lower}, {kind} {quotient}")
        negative = self.emit(f"sub {kind} {zero}, {x}")
        result = self.emit(f"select {truth} {by_minus}, {kind} {negative}, {kind} {result}")
        return self.emit(f"select {truth} {by_zero}, {kind} {zero}, {kind} {result}")

    def cast(self, arg: str, source: str, target: str, lanes: int) -> str:
        old, new = type_of(source, lanes), type_of(target, lanes)
        if target == "bool":
            if is_float(source):
                return self.emit(f"fcmp une {old} {arg}, {constant(0.0, source, lanes)}")
            return self.emit(f"icmp ne {old} {arg}, {constant(0, source, lanes)}")
        if is_float(target):
            if is_float(source):
                name = "fpext" if width(target) > width(source) else "fptrunc"
            else:
                name = "sitofp" if is_signed(source) else "uitofp"
            return self.emit(f"{name} {old} {arg} to {new}")
        if is_float(source):
            return self.float_to_integer(arg, source, target, lanes)
        if width(target) == width(source):
            return arg
        if width(target) < width(source):
            name = "trunc"
        else:
            name = "sext" if is_signed(source) else "zext"
        return self.emit(f"{name} {old} {arg} to {new}")

    def float_to_integer(self, arg: str, source: str, target: str, lanes: int) -> str:
        if target == "uint64":
            return self.float_to_uint64(arg, source, lanes)
        narrow = width(target) < 32 or target == "int32"
        bits, via = (32, "int32") if narrow else (64, "int64")
        kind, truth = type_of(source, lanes), type_of("bool", lanes)
        limit = 2.0 ** (bits - 1)
        low = self.emit(f"fcmp oge {kind} {arg}, {constant(-limit, source, lanes)}")
        high = self.emit(f"fcmp olt {kind} {arg}, {constant(limit, source, lanes)}")
        inside = self.emit(f"and {truth} {low}, {high}")
        zero = constant(0.0, source, lanes)
        safe = self.emit(f"select {truth} {inside}, {kind} {arg}, {kind} {zero}")
        wide = type_of(via, lanes)
        number = self.emit(f"fptosi {kind} {safe} to {wide}")
        lowest = constant(-(2 ** (bits - 1)), via, lanes)
        number = self.emit(f"select {truth} {inside}, {wide} {number}, {wide} {lowest}")
        return self.cast(number, via, target, lanes)

    def float_to_uint64(self, arg: str, source: str, lanes: int) -> str:
        kind, truth = type_of(source, lanes), type_of("bool", lanes)
        wide = type_of("int64", lanes)
        half = constant(2.0**63, source, lanes)
        upper = self.emit(f"fcmp oge {kind} {arg}, {half}")
        less = self.emit(f"fsub {kind} {arg}, {half}")
        chosen = self.emit(f"select {truth} {upper}, {kind} {less}, {kind} {arg}")
        number = self.float_to_integer(chosen, source, "int64", lanes)
        top = constant(-(2**63), "int64", lanes)
        moved = self.emit(f"xor {wide} {number}, {top}")
        return self.emit(f"select {truth} {upper}, {wide} {moved}, {wide} {number}")
