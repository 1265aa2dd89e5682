"""Subclasses of ops with other NumPy code, on every linker: no lowering, rule or fact of the base may apply to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
import occelo_graph.linalg as ol
from occelo_graph import tensor as ot
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_graph.ops.linalg.cholesky import Cholesky
from occelo_graph.ops.linalg.determinant import Det
from occelo_graph.ops.linalg.inverse import Inv
from occelo_graph.ops.reduce import CAReduce
from occelo_graph.ops.shape.dimensions import DimShuffle

pytestmark = pytest.mark.filterwarnings("ignore:.*runs in Python:UserWarning")


class Adjugate(Inv):
    """Overrides what `Inv.kernel` calls."""

    def core(self, a: Any) -> Any:
        return np.array([[a[1, 1], -a[0, 1]], [-a[1, 0], a[0, 0]]])


class Permanent(Det):
    def core(self, a: Any) -> Any:
        return np.asarray(a[0, 0] * a[1, 1] + a[0, 1] * a[1, 0])


class UpperRoot(Cholesky):
    def core(self, a: Any) -> Any:
        return np.linalg.cholesky(a).T.conj()


class SumOfSquares(CAReduce):
    def evaluate(self, x: Any) -> Any:
        return super().evaluate(x * x)


class Mirrored(DimShuffle):
    def evaluate(self, x: Any) -> Any:
        return super().evaluate(x[::-1])


class Named(Inv):
    """Overrides no NumPy code, so it is an inverse."""

    def __str__(self) -> str:
        return "Named"


MATRIX = np.array([[4.0, 1.0], [1.0, 3.0]])
PLACED = np.array([[4.0, 1.0 + 2j], [1.0 - 2j, 3.0]])


def results(dtype: str) -> tuple[Any, list[tuple[Any, Any]]]:
    """A matrix, and expressions of it in which the base's rules and facts would apply, with their values."""
    m = og.TensorType(dtype, (None, None))("m")
    v = MATRIX if dtype == "float64" else PLACED
    adjugate = np.array([[v[1, 1], -v[0, 1]], [-v[1, 0], v[0, 0]]])
    upper = np.linalg.cholesky(v).T.conj()
    permanent = v[0, 0] * v[1, 1] + v[0, 1] * v[1, 0]
    squares = SumOfSquares(ScalarFunction("add"), (0, 1))
    mirrored = Mirrored(2, (1, 0))
    return m, [
        (Adjugate()(m), adjugate),
        (Adjugate()(m) @ m, adjugate @ v),
        (Adjugate()(Adjugate()(m) * 2), v * 2),
        (Permanent()(m), permanent),
        (Permanent()(ot.transpose(m) * 2.0), 4 * permanent),
        (UpperRoot()(m), upper),
        (UpperRoot()(m).T, upper.T),
        (ol.det(UpperRoot()(m) + m), np.linalg.det(upper + v)),
        (ot.tril(UpperRoot()(m)), np.tril(upper)),
        (squares(m), (v * v).sum()),
        (squares(m * 3.0), (v * v).sum() * 9),
        (squares(ot.transpose(m)), (v * v).sum()),
        (mirrored(m), v[::-1].T),
        (mirrored(mirrored(m)), v[::-1].T[::-1].T),
    ]


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_a_subclass_with_other_code_runs_it_everywhere(mode: str, dtype: str) -> None:
    m, pairs = results(dtype)
    value = MATRIX if dtype == "float64" else PLACED
    f = oc.function([m], [made for made, _ in pairs], mode=mode)
    for (made, wanted), found in zip(pairs, f(value), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, err_msg=og.dprint(made, file="str"))
        np.testing.assert_allclose(og.evaluate(made, {m: value}), wanted, rtol=1e-12)


def test_a_subclass_with_the_same_code_is_one_of_the_class() -> None:
    m = ot.dmatrix("m")
    f = oc.function([m], [Named()(m), Named()(m) @ m], mode="native")
    inverse, product = f(MATRIX)
    np.testing.assert_allclose(inverse, np.linalg.inv(MATRIX))
    np.testing.assert_allclose(product, np.eye(2), atol=1e-12)
    solved = oc.function([m], Named()(m) @ m)
    assert "Solve" in {type(node.op).__name__ for node in solved.maker.fgraph.apply_nodes}


def test_what_a_class_computes_as() -> None:
    class Again(Adjugate):
        pass

    class Back(Adjugate):
        core = Inv.core

    assert Inv in Named.computes_as
    assert Inv not in Adjugate.computes_as
    assert Again.computes_as[:2] == (Again, Adjugate)
    assert Inv not in Again.computes_as
    assert Inv in Back.computes_as
    assert Adjugate not in Back.computes_as
    assert CAReduce not in SumOfSquares.computes_as
    assert og.Op in SumOfSquares.computes_as


def test_the_code_of_an_elementwise_function_is_that_of_its_scalar_op() -> None:
    with pytest.raises(TypeError, match=r"Doubling may not define evaluate: .* see `elementwise`"):

        class Doubling(Elemwise):
            def evaluate(self, *arrays: Any) -> Any:
                return 2 * super().evaluate(*arrays)
