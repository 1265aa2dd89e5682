"""The equals of draws from NumPy's generators. Draws with keys have none: PyTensor has no such keys."""

from __future__ import annotations

from typing import Any

from pytensor.tensor.random.basic import IntegersRV
from pytensor.tensor.random.op import default_rng

from occelo_pytensor.conversions.random_variables import LAWS
from occelo_pytensor.equals.registry import register_equal
from occelo_random.ops.generators import DefaultGenerator
from occelo_random.ops.random_variable import RandomVariable

_THEIRS = {type(ours): theirs for theirs, ours in LAWS.items()}


@register_equal(RandomVariable)
def _draw(op: Any, *inputs: Any) -> Any:
    law = _THEIRS.get(type(op))
    if law is None or (law is IntegersRV and op.dtype != "int64"):
        return NotImplemented
    generator, size, *parameters = inputs
    their_op = law(dtype=op.dtype)
    return list(their_op.make_node(generator, size, *parameters).outputs)


@register_equal(DefaultGenerator)
def _generator(op: Any, seed: Any) -> Any:
    return default_rng(seed)
