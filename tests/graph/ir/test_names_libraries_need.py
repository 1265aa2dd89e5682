"""What libraries built on PyTensor ask of graphs and types by name, beside what users write."""

from __future__ import annotations

import numpy as np
import pytest

import occelo_graph as og
import occelo_graph.tensor as ot
from occelo_graph.ir.traversal import walk


def test_a_walk_returns_children() -> None:
    x = ot.dvector("x")
    y = ot.exp(x)

    def expand(v: og.Variable) -> list[og.Variable] | None:
        return v.owner.inputs if v.owner else None

    assert list(walk([y], expand, return_children=True)) == [(y, [x]), (x, None)]
    assert list(walk([y], expand, False)) == [y, x]


def test_parents_and_printed_nodes() -> None:
    x = ot.dvector("x")
    y = ot.exp(x)
    assert y.owner is not None
    assert y.get_parents() == [y.owner]
    assert x.get_parents() == []
    assert y.owner.get_parents() == [x]
    assert "exp" in y.owner.dprint(file="str")


def test_names_with_a_dtype_are_types() -> None:
    x = ot.dvector("x")
    assert x.type == ot.dvector
    assert ot.dvector is ot.TensorType("float64", (None,))
    assert isinstance(ot.imatrix, ot.TensorType)
    assert ot.imatrix.dtype == "int32"
    assert ot.zcol("z", shape=(3, 1)).type.shape == (3, 1)
    np.testing.assert_array_equal(ot.dvector.filter([1.0, 2.0]), [1.0, 2.0])
    assert [v.name for v in ot.dvectors("ab")] == ["a", "b"]
    assert len(ot.lscalars(3)) == 3
    assert ot.TensorType("int8", broadcastable=(False, True)) == ot.TensorType("int8", (None, 1))
    assert ot.TensorType("int8", (), name="n").shape == ()
    assert ot.dvector.variable_type is ot.TensorVariable
    assert ot.dvector.constant_type is ot.TensorConstant
    with pytest.raises(TypeError, match="needs a shape"):
        ot.TensorType("float64")


@pytest.mark.parametrize("offset", [-2, 0, 1])
def test_alloc_diag_puts_vectors_on_a_diagonal(offset: int) -> None:
    values = np.arange(6.0).reshape(2, 3)
    made = np.asarray(og.evaluate(ot.alloc_diag(values, offset, 0, 2)))
    for k in range(2):
        np.testing.assert_array_equal(made[:, k, :], np.diag(values[k], offset))
    assert ot.alloc_diag(np.zeros(0)).type.shape == (0, 0)
