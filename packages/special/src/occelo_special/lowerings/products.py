"""``x log(y)`` and ``x log(1 + y)``, which are 0 where x is 0."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from occelo_link.loops.elementary import logarithm
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowerings.elemwise.scalar import lowers_scalar_to_loops


def _register(name: str, plain: str, log: Callable[[Builder, Value], Value]) -> None:
    @lowers_scalar_to_loops(name, cost=40)
    def lowering(b: Builder, dtype: str, args: Sequence[Value]) -> Value:
        x, y = (b.cast(a, "float64") for a in args)
        zero = b.const(0.0, "float64")
        # a NaN of y stays
        none = b.select(b.eq(y, y), b.eq(x, zero), b.const(False, "bool"))
        return b.cast(b.select(none, zero, b.mul(x, b.apply(plain, log, y))), dtype)


_register("xlogy", "log", logarithm.log)
_register("xlog1py", "log1p", logarithm.log1p)
