"""Ops of other packages: their traits decide which lowerings apply; ops without traits run in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_link import make_linker
from occelo_link.loops.build import find_lowering
from occelo_link.loops.lowering import Context, repeats
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Tensor
from occelo_testing.loop_programs import has_compiler

LINKERS = ["vm", "native", *(["c"] if has_compiler() else [])]


class _Reversed(og.Op):
    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        return x[::-1].copy()

    def infer_shape(self, node: Any, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]


@og.op
class Silent(_Reversed):
    """Says nothing of itself."""


@og.op
class Moving(_Reversed):
    """Says that it only moves elements."""

    moves = slice(0, 1)


@og.op
class Twice(_Reversed):
    """Says that it treats the parts of complex numbers alike, but not that it only moves them."""

    by_parts = slice(0, 1)

    def evaluate(self, x: Any) -> Any:
        return x[::-1] + x[::-1]


def _lower(context: Context, node: Any, inputs: list[Tensor]) -> Sequence[Tensor]:
    (x,) = inputs

    def element(builder: Any, index: Any) -> Any:
        last = builder.sub(x.shape[0], context.i64(1))
        value = x.at(builder, [builder.sub(last, index[0])])
        return builder.op("add", value, value) if isinstance(node.op, Twice) else value

    return [context.virtual(x.dtype, x.shape, element, [x])]


for _cls in (Silent, Moving, Twice):
    lowers_to_loops(_cls)(_lower)

DTYPES = ("float64", "float16", "int8", "complex64", "complex128")


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", [Silent(), Moving(), Twice()], ids=str)
def test_declared_or_not_the_numbers_are_right(op: Any, dtype: str, linker: str) -> None:
    x = ot.tensor("x", dtype=dtype, shape=(None,))
    out = op(x * 2)
    compiled = find_lowering(out.owner) is not None
    assert compiled == (not dtype.startswith("complex") or op.numbers() is not None)
    value = (np.arange(5) * 3 - 7).astype(dtype)
    if dtype.startswith("complex"):
        value = value * np.asarray(1 - 0.5j, dtype)
    found = make_linker(linker).accept(og.FunctionGraph([x], [out])).make_function()(value)
    found = found[0] if isinstance(found, list | tuple) else found
    expected = (value * 2)[::-1]
    expected = expected + expected if isinstance(op, Twice) else expected
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_a_real_number_beside_complex_ones_is_not_taken_for_both_parts() -> None:
    z, x, k = ot.zvector(), ot.dvector(), ot.lscalar()
    condition = ot.tensor(dtype="complex64", shape=())
    assert find_lowering(ot.set_subtensor(z[:k], z[:k]).owner) is not None
    assert find_lowering(ot.set_subtensor(z[:k], x[:k]).owner) is None
    assert find_lowering(ot.assert_op(z, ot.gt(k, 0)).owner) is not None
    assert find_lowering(ot.assert_op(x, condition).owner) is None


def test_what_may_be_read_again_is_stored() -> None:
    x = ot.dvector()
    assert repeats(x, Silent()(x).owner)
    assert not repeats(x, x.sum().owner)
    assert not repeats(x, ot.specify_shape(x, (3,)).owner)
    assert repeats(x, x.cumsum().owner)
