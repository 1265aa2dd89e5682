"""Writes scalar operations of loop programs as C expressions.

`c.printer` calls `Operations` for each scalar operation of a program.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_link.c.literals import TYPES
from occelo_link.loops.ir.operations import is_float, is_signed, width

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^"}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<="}
_BUILTINS = {
    "sqrt": "sqrt",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "rint": "rint",
    "copysign": "copysign",
    "fma": "fma",
}


class Operations:
    """Writes scalar operations as C expressions.

    Operations that C lacks, or leaves undefined for some arguments (such as integer division by zero), are calls of
    helper functions. ``helpers`` collects the definitions of these functions by name; they are printed before the
    functions of all programs.

    ``alternates`` is true for programs with complex outputs. Such programs compute real parts as differences of
    products, and imaginary parts as sums of products. GCC (from 12 on) combines a difference and a sum into one vector
    instruction, which multiplies, and then subtracts in one lane and adds in the next. GCC does so even with
    ``-ffp-contract=off``. The instruction does not round the product, so results would differ from those of
    ``native``. To prevent that, if ``alternates`` is true, products of floats are wrapped in ``ROUNDED`` (`c.prelude`).
    """

    def __init__(self, helpers: dict[str, str], alternates: bool) -> None:
        self._helpers = helpers
        self._alternates = alternates

    def operation(self, op: str, dtype: str, result: str, args: Sequence[str]) -> str:
        """Return the C expression of the operation ``op``.

        ``dtype`` is the dtype of the arguments, and ``result`` the dtype of the result. ``args`` are the arguments as C
        expressions.
        """
        kind = TYPES[dtype]
        suffix = "f" if dtype == "float32" else ""
        if op in _INFIX:
            text = f"{args[0]} {_INFIX[op]} {args[1]}"
            if op == "mul" and is_float(dtype) and self._alternates:
                return f"ROUNDED({text})"
            # C computes small integers as int; this casts back
            return f"({kind})({text})" if not is_float(dtype) and width(dtype) < 32 else text
        if op in _COMPARE and args[0] == args[1]:
            # compilers warn of a comparison of a variable with itself
            compared = f"_Bool {op}_{dtype}({kind} x, {kind} y) {{ return x {_COMPARE[op]} y; }}"
            return f"{self._helper(f'{op}_{dtype}', compared)}({args[0]}, {args[1]})"
        if op in _COMPARE:
            return f"{args[0]} {_COMPARE[op]} {args[1]}"
        if op == "select":
            return f"{args[0]} ? {args[1]} : {args[2]}"
        if op in _BUILTINS:
            return f"__builtin_{_BUILTINS[op]}{suffix}({', '.join(args)})"
        if op == "neg":
            return f"({kind})-{args[0]}"
        if op == "not":
            return f"!{args[0]}" if dtype == "bool" else f"({kind})~{args[0]}"
        if op == "abs" and is_float(dtype):
            return f"__builtin_fabs{suffix}({args[0]})"
        if op == "cast":
            return self._cast(args[0], dtype, result)
        name = self._defined(op, dtype, result)
        return f"{name}({', '.join(args)})"

    def _defined(self, op: str, dtype: str, result: str) -> str:
        """Return the name of the helper function for an operation that has no C operator."""
        kind = TYPES[dtype]
        if op == "bits":
            target = TYPES[result]
            return self._helper(
                f"bits_{dtype}_{result}",
                f"{target} bits_{dtype}_{result}({kind} x) {{ {target} y; "
                "__builtin_memcpy(&y, &x, sizeof y); return y; }",
            )
        name = f"{op}_{dtype}"
        bits = width(dtype)
        signed = is_signed(dtype)
        if op in ("min", "max"):
            sign = "<" if op == "min" else ">"
            nan = " || y != y" if is_float(dtype) else ""
            body = f"return y {sign} x{nan} ? y : x;"
        elif op == "abs":
            body = f"return x < 0 ? ({kind})-x : x;"
            return self._helper(name, f"{kind} {name}({kind} x) {{ {body} }}")
        elif op in ("shl", "shr"):
            inside = f"y >= 0 && y < {bits}" if signed else f"y < {bits}"
            beyond = "(x < 0 ? -1 : 0)" if signed and op == "shr" else "0"
            shifted = "(u64)x << y" if op == "shl" else "x >> y"
            body = f"return {inside} ? ({kind})({shifted}) : ({kind}){beyond};"
        else:
            body = self._division(op, kind, signed)
        return self._helper(name, f"{kind} {name}({kind} x, {kind} y) {{ {body} }}")

    def _division(self, op: str, kind: str, signed: bool) -> str:
        if not signed:
            sign = "/" if op == "floordiv" else "%"
            return f"return y == 0 ? 0 : ({kind})(x {sign} y);"
        special = "0" if op == "remainder" else f"(y == 0 ? 0 : ({kind})-x)"
        start = f"if (y == 0 || y == -1) return {special}; {kind} r = x % y; "
        below = "r != 0 && (r ^ y) < 0"
        if op == "remainder":
            return f"{start}return {below} ? r + y : r;"
        return f"{start}return x / y - ({below});"

    def _cast(self, arg: str, source: str, target: str) -> str:
        if target == "bool":
            return f"{arg} != 0"
        if is_float(source) and not is_float(target):
            return self._float_to_integer(arg, source, target)
        return f"({TYPES[target]}){arg}"

    def _float_to_integer(self, arg: str, source: str, target: str) -> str:
        kind = TYPES[source]
        if target == "uint64":
            inner = self._float_to_integer("x", source, "int64")
            upper = self._float_to_integer("x - 0x1p63", source, "int64")
            name = self._helper(
                f"uint64_of_{source}",
                f"u64 uint64_of_{source}({kind} x) {{ return x >= 0x1p63 ? "
                f"(u64){upper} ^ 0x8000000000000000ULL : (u64){inner}; }}",
            )
            return f"{name}({arg})"
        narrow = width(target) < 32 or target == "int32"
        bits, via = (32, "i32") if narrow else (64, "i64")
        name = self._helper(
            f"{via}_of_{source}",
            f"{via} {via}_of_{source}({kind} x) {{ return x >= -0x1p{bits - 1} && "
            f"x < 0x1p{bits - 1} ? ({via})x : ({via})((u64)1 << {bits - 1}); }}",
        )
        return f"({TYPES[target]}){name}({arg})"

    def _helper(self, name: str, text: str) -> str:
        self._helpers.setdefault(name, f"static inline {text}")
        return name
