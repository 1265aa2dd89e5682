"""Ops whose fields are changed after they were used: hashes, types and decompositions follow the fields."""

from __future__ import annotations

import copy
import pickle
from typing import Any, ClassVar

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ir.decomposing import decomposition
from occelo_graph.tensors.type import TensorType

X = ot.dvector("x")
VALUE = np.array([1.0, -2.0])


class Scaled(og.Op):
    """A factor and a dtype, which are plain attributes."""

    __props__: ClassVar[tuple[str, ...]] = ("factor", "dtype")

    def __init__(self, factor: float, dtype: str = "float64") -> None:
        self.factor = factor
        self.dtype = dtype

    def infer(self, x: Any) -> Any:
        return TensorType(self.dtype, x.shape)

    def decompose(self, x: Any) -> Any:
        return [(x * self.factor).astype(self.dtype)]


@og.op
class Summed(og.Op):
    """Factors in a list, which can change although the op is frozen."""

    factors: list[float]
    rest: tuple[Any, ...] = ()

    def infer(self, x: Any) -> Any:
        return TensorType("float64" if len(self.factors) < 3 else "float32", x.shape)

    def decompose(self, x: Any) -> Any:
        return [(x * sum(self.factors)).astype(self.infer(x.type).dtype)]


def _computed(op: og.Op) -> Any:
    return og.evaluate(op(X), {X: VALUE})


def _typed(op: og.Op) -> Any:
    made: Any = op(X)
    return made.dtype


def test_an_attribute_that_is_set_again_counts() -> None:
    op = Scaled(2.0)
    assert op == Scaled(2.0)
    assert hash(op) == hash(Scaled(2.0))
    np.testing.assert_array_equal(_computed(op), VALUE * 2)
    op.factor = 3.0
    assert op == Scaled(3.0)
    assert op != Scaled(2.0)
    assert hash(op) == hash(Scaled(3.0))
    np.testing.assert_array_equal(_computed(op), VALUE * 3)
    op.dtype = "float32"
    assert _typed(op) == "float32"
    assert _computed(op).dtype == "float32"


@pytest.mark.parametrize("inside", [False, True])
def test_a_list_that_changes_counts(inside: bool) -> None:
    numbers = [2.0]
    op = Summed([2.0], (numbers,)) if inside else Summed(numbers)
    other = Summed([2.0], ([2.0],)) if inside else Summed([2.0])
    assert op == other
    assert hash(op) == hash(other)
    np.testing.assert_array_equal(_computed(op), VALUE * 2)
    numbers.append(4.0)
    assert op != other
    assert op == copy.deepcopy(op) == pickle.loads(pickle.dumps(op))
    if not inside:
        np.testing.assert_array_equal(_computed(op), VALUE * 6)
        numbers.append(0.0)
        assert _typed(op) == "float32"


def test_what_cannot_change_is_computed_once() -> None:
    for op in (Scaled(2.0), ot.exp):
        made: Any = op(X)
        node = made.owner
        assert decomposition(node) is decomposition(node)
        assert op.infer_types((X.type,)) is op.infer_types((X.type,))
