"""Subclasses of ops with other NumPy code, on every linker: no lowering, rule or fact of the base may apply to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
import occelo_linalg.functions as ol
from occelo_graph import tensor as ot
from occelo_graph.ops.blas.products import Dot
from occelo_graph.ops.control import IfElse
from occelo_graph.ops.create import Alloc
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_graph.ops.index.subtensor import IncSubtensor, Subtensor
from occelo_graph.ops.reduce import CAReduce, CumOp, Softmax
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.ops.shape.reading import Shape_i
from occelo_linalg.ops.determinant import Det
from occelo_linalg.ops.factorizations.cholesky import Cholesky
from occelo_linalg.ops.inverse import Inv

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


@pytest.mark.sampled(3)
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


class Cold(Softmax):
    def evaluate(self, x: Any) -> Any:
        return super().evaluate(x / 2)


class Reversed(CumOp):
    def evaluate(self, x: Any) -> Any:
        return np.flip(super().evaluate(x), self.axis)


class Tripled(Inv):
    """Overrides what `Inv.kernel` would not call."""

    def evaluate(self, x: Any) -> Any:
        return x * 3


class TripledIn(Inv):
    def perform(self, node: Any, inputs: Any, output_storage: Any, *_: Any) -> None:
        output_storage[0][0] = inputs[0] * 3


def test_a_subclass_with_other_code_has_no_batching_rule(mode: str) -> None:
    m = ot.dmatrix("m")
    rows = np.array([[1.0, 2.0, 4.0], [0.0, 3.0, 1.0]])
    powers = np.exp(rows / 2)
    made = [
        (Cold((0,)), powers / powers.sum(1, keepdims=True)),
        (Reversed(0, "add"), np.cumsum(rows, 1)[:, ::-1]),
    ]
    f = oc.function([m], [og.vectorize(op, "(n)->(n)")(m) for op, _ in made], mode=mode)
    for found, (_, wanted) in zip(f(rows), made, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("op", [Cold((0,)), Reversed(0, "add")], ids=str)
def test_a_subclass_with_other_code_has_no_derivative_until_declared(op: Any) -> None:
    x = ot.dvector("x")
    base = type(op).__mro__[1].__name__
    message = rf"has no pullback: .* {base}, .* write pullback = {base}\.pullback in the class"
    with pytest.raises(og.MethodNotDefined, match=message):
        og.grad(op(x)[0], x)
    with pytest.raises(og.MethodNotDefined):
        og.pushforward(op(x), x, ot.ones_like(x))


def test_the_newest_form_of_numpy_code_and_of_a_derivative_counts(mode: str) -> None:
    class WithPullback(Dot):  # `Dot.pull` would be asked before
        def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
            return [7 * v for v in super().pullback(inputs, outputs, cotangents)]

    class WithGrad(Softmax):
        def grad(self, inputs: Any, cotangents: Any) -> Any:
            return [7 * cotangents[0]]

    class Further(WithGrad):
        pass

    m = ot.dmatrix("m")
    of_dot = og.grad(WithPullback()(m, m).sum(), m)
    of_softmax = [og.grad(op((1,))(m)[0, 0], m) for op in (WithGrad, Further)]
    f = oc.function([m], [Tripled()(m), TripledIn()(m) @ m, of_dot, *of_softmax], mode=mode)
    tripled, product, seven, *first = f(MATRIX)
    np.testing.assert_allclose(tripled, 3 * MATRIX)
    np.testing.assert_allclose(product, 3 * MATRIX @ MATRIX)
    np.testing.assert_allclose(seven, 7 * (MATRIX.sum(1) + MATRIX.sum(0)[:, None]).T)
    for found in first:
        np.testing.assert_array_equal(found, [[7, 0], [0, 0]])


class OneMore(Shape_i):
    def evaluate(self, x: Any) -> Any:
        return super().evaluate(x) + 1


class Raised(Alloc):
    def evaluate(self, *arrays: Any) -> Any:
        return super().evaluate(*arrays) + 1


class RaisedRead(Subtensor):
    def evaluate(self, *arrays: Any) -> Any:
        return super().evaluate(*arrays) + 1


class RaisedWrite(IncSubtensor):
    def evaluate(self, *arrays: Any) -> Any:
        return super().evaluate(*arrays) + 100


class RaisedChoice(IfElse):
    def evaluate(self, *arrays: Any) -> Any:
        return tuple(value + 1 for value in super().evaluate(*arrays))


def test_what_asks_for_a_class_itself_does_not_take_one_with_other_code(mode: str) -> None:
    y, i = ot.dvector("y"), ot.lscalar("i")
    key = y[i].owner.op.key
    tail = ot.set_subtensor(y[1:], 0.0).owner.op.key
    filled = Raised(ot.alloc(0.0, 3).owner.op.shape)(ot.constant(0.0))
    written = RaisedWrite(tail, True)(y * 2, 7.0)
    pairs: list[tuple[Any, Any]] = [
        (ot.zeros((OneMore(0)(y),)).shape[0], 4),
        (ot.eq(OneMore(0)(y), y.shape[0]), False),
        (ot.inc_subtensor(filled[1:], y[1:]), [1.0, 3.0, 4.0]),
        (RaisedRead(key)(y, i), 3.0),
        (RaisedRead(key)(y, ot.constant(1)), 3.0),
        (RaisedRead(key)(y, ot.constant(1)) + y[1], 5.0),
        (written, [102.0, 107.0, 107.0]),
        (ot.set_subtensor(written[1:], 1.0), [102.0, 1.0, 1.0]),
        (RaisedChoice(1)(i, y, y * 2), [2.0, 3.0, 4.0]),
        (ot.ifelse(i, y * 3, y * 4), [3.0, 6.0, 9.0]),
    ]
    f = oc.function([y, i], [made for made, _ in pairs], mode=mode)
    for found, (made, wanted) in zip(f([1.0, 2.0, 3.0], 1), pairs, strict=True):
        np.testing.assert_array_equal(found, wanted, err_msg=og.dprint(made, file="str"))
    known = ot.tensor("known", dtype="float64", shape=(3,))
    assert oc.function([known], OneMore(0)(known), mode=mode)(np.ones(3)) == 4


def test_a_variant_of_a_subclass_keeps_its_fields() -> None:
    @og.op
    class Labelled(IncSubtensor):
        label: str = ""

    y = ot.dvector("y")
    key = ot.set_subtensor(y[1:], 0.0).owner.op.key
    f = oc.function([y], Labelled(key, True, label="mine")(y * 2, 7.0), mode="vm")
    found = [node.op for node in f.maker.fgraph.apply_nodes if isinstance(node.op, Labelled)]
    assert [(op.label, op.inplace) for op in found] == [("mine", True)]
