"""Scalar ops that are graphs of scalar ops, which fusion makes."""

from __future__ import annotations

import numpy as np
import pytest

from occelo_graph import tensor as ot
from occelo_graph.fgraph.frozen import freeze
from occelo_graph.ir.decomposing import decomposed_kernel, decomposition
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_rewrite.fusion.composite import Composite


def test_what_does_not_depend_on_all_inputs_has_the_shape_of_all() -> None:
    a, b = ot.dscalar("a"), ot.dscalar("b")
    both = Elemwise(Composite(freeze([a, b], [a + b, ot.exp(a), b])))
    x, y = ot.tensor(dtype="float64", shape=(None, 1)), ot.dvector("y")
    node = both.make_node(x, y)
    found = decomposition(node)
    assert found is not None
    data = np.ones((2, 1)), np.arange(3.0)
    kernel = decomposed_kernel(node)
    expected = node.op.kernel(node)(*data)
    for value, wanted in zip(kernel(*data), expected, strict=True):
        np.testing.assert_array_equal(value, wanted)
    x = ot.dvector("x")
    node = both.make_node(x, y)
    with pytest.raises(ValueError, match="dimension"):
        decomposed_kernel(node)(np.ones(1), np.ones(3))
