"""The equals of elementwise functions."""

from __future__ import annotations

from functools import reduce
from typing import Any

from occelo_graph.ops.cast import Cast
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_pytensor.equals.registry import register_equal
from occelo_pytensor.library import tensor as pt

_RENAMED = {"sgn": "sign", "floor_div": "int_div", "and": "and_", "or": "or_"}
"""PyTensor's names of elementwise functions, where they are not the same."""


_BESSEL = {
    "k0": ("kv", 0), "k1": ("kv", 1), "k0e": ("kve", 0), "k1e": ("kve", 1),
    "i0e": ("ive", 0), "i1e": ("ive", 1),
}  # fmt: skip
"""Bessel functions of one order: PyTensor's function of any order, and the order."""


@register_equal(Elemwise)
def _elementwise(op: Any, *inputs: Any) -> Any:
    scalar = op.scalar_op
    if isinstance(scalar, Cast):
        return pt.cast(inputs[0], scalar.dtype)
    if scalar.name == "tri_gamma":
        return pt.polygamma(1, inputs[0])
    name = str(scalar.name)
    if name == "sigmoid" and inputs[0].type.dtype.startswith("complex"):
        return 1 / (1 + pt.exp(-inputs[0]))
    if name in _BESSEL:
        function, order = _BESSEL[name]
        return getattr(pt, function)(order, inputs[0])
    if name == "polygamma":  # here the order is a float, too
        return pt.polygamma(pt.cast(inputs[0], "int64"), inputs[1])
    function = getattr(pt, _RENAMED.get(name, name), None)
    if function is None:
        return NotImplemented
    return reduce(function, inputs) if name in ("and", "or", "xor") else function(*inputs)
