"""What libraries ask of ops that take batches: ``isinstance(node.op, Blockwise)``, ``core_op``, signatures, rules for them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo as oc
import occelo.tensor as ot
from occelo.graph.fg import FunctionGraph
from occelo.graph.rewriting.basic import in2out, node_rewriter
from occelo.graph.rewriting.unify import OpPattern
from occelo.tensor.blockwise import Blockwise
from occelo.tensor.math import Dot
from occelo.tensor.slinalg import Cholesky, Solve
from occelo_graph import op

linalg: Any = ot.linalg
MATRICES: dict[str, tuple[Callable[[Any], Any], int]] = {
    "cholesky": (linalg.cholesky, 1),
    "inv": (linalg.inv, 1),
    "det": (linalg.det, 1),
    "eigh": (lambda x: linalg.eigh(x)[0], 1),
    "svd": (lambda x: linalg.svd(x)[0], 1),
    "qr": (lambda x: linalg.qr(x)[0], 1),
    "solve": (lambda x: linalg.solve(x, x), 2),
    "solve_triangular": (lambda x: linalg.solve_triangular(x, x), 2),
    "lu": (lambda x: linalg.lu_factor(x)[0], 1),
    "expm": (linalg.expm, 1),
    "matmul": (lambda x: ot.matmul(x, x + 1), 2),
}


@op
class Halved(oc.Op):
    gufunc_signature = "(m)->(m)"

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, *arrays: Any, **_: Any) -> Any:
        return arrays[0] / 2


@pytest.mark.parametrize("name", sorted(MATRICES))
@pytest.mark.parametrize("batch", [(), (None,), (2, None)])
def test_ops_of_matrices_are_blockwise(name: str, batch: tuple[int | None, ...]) -> None:
    function, inputs = MATRICES[name]
    x = ot.tensor("x", dtype="float64", shape=(*batch, None, None))
    made: Any = function(x)
    if name == "matmul" and not batch:
        assert made.owner.op == Dot()
        return
    node: Any = next(
        v.owner
        for v in oc.graph.basic.ancestors([made])
        if v.owner and isinstance(v.owner.op, Blockwise)
    )
    op = node.op
    assert op.batch_ndim(node) == len(batch)
    assert len(op.inputs_sig) == inputs == len(node.inputs)
    assert op.signature.count("(") == len(op.inputs_sig) + len(op.outputs_sig)
    for v, dims in zip(node.inputs, op.inputs_sig, strict=True):
        assert v.type.ndim - len(dims) <= len(batch)
    # a node of the core op of inputs without a batch has outputs of the rest of the dimensions
    core = [
        ot.tensor(dtype=v.type.dtype, shape=v.type.shape[v.type.ndim - len(dims) :])
        for v, dims in zip(node.inputs, op.inputs_sig, strict=True)
    ]
    outputs = op.core_op.make_node(*core).outputs
    assert [v.type.ndim for v in outputs] == [len(dims) for dims in op.outputs_sig]


def test_other_ops_are_not() -> None:
    x: Any = ot.dmatrix("x")
    for made in (ot.exp(x), x.sum(), ot.dot(x, x), x[0], ot.sort(x)):
        node: Any = made.owner
        assert not isinstance(node.op, Blockwise)
    assert not issubclass(Dot, Blockwise)
    assert issubclass(Cholesky, Blockwise)


def test_products_and_convolutions() -> None:
    x, v = ot.dtensor3("x"), ot.dvector("v")
    product: Any = ot.matmul(x, x).owner
    assert isinstance(product.op, Blockwise)
    assert product.op.core_op == Dot()
    for made, ndim in (
        (ot.signal.convolve1d(v, v, "valid"), 1),
        (ot.signal.convolve2d(x[0], x[1]), 2),
    ):
        nodes: list[Any] = [u.owner for u in oc.graph.basic.ancestors([made]) if u.owner]
        (node,) = [n for n in nodes if isinstance(n.op, Blockwise)]
        assert node.op.batch_ndim(node) == 0
        assert [len(dims) for dims in node.op.inputs_sig] == [ndim, ndim]


def test_patterns_and_rules_of_them() -> None:
    x = ot.dtensor3("x")
    node: Any = linalg.cholesky(x).owner
    assert OpPattern(Blockwise, core_op=OpPattern(Cholesky)).matches(node.op)
    assert OpPattern(Blockwise, core_op=Cholesky).matches(node.op)
    assert not OpPattern(Blockwise, core_op=OpPattern(Solve)).matches(node.op)
    product: Any = ot.dot(x[0], x[0]).owner
    assert not OpPattern(Blockwise).matches(product.op)
    seen: list[Any] = []

    @node_rewriter([Blockwise])
    def see(fgraph: Any, node: Any) -> None:
        seen.append(node.op.core_op)

    in2out(see).rewrite(FunctionGraph([x], [ot.exp(linalg.inv(x)) @ x], clone=False))
    assert {type(op).__name__ for op in seen} == {"Inv", "Dot"}
    match node.op:
        case Blockwise(core_op=Cholesky()):
            pass
        case _:
            pytest.fail("not matched")


def test_calls_make_loops() -> None:
    loop = Blockwise(Halved())
    assert type(loop).__name__ == "Blockwise"
    assert loop == Blockwise(core_op=Halved(), signature="(m)->(m)")
    assert hash(loop) == hash(Blockwise(Halved(), "(m)->(m)"))
    assert pickle.loads(pickle.dumps(loop)) == loop == copy.deepcopy(loop)
    x = ot.dtensor3("x")
    made = loop(x)
    value = np.arange(12.0).reshape(2, 2, 3)
    np.testing.assert_array_equal(made.eval({x: value}), value / 2)
    with pytest.raises(TypeError, match="Dot declares no gufunc_signature, so Blockwise needs one"):
        Blockwise(Dot())
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'core_op'"):
        Blockwise()  # pyright: ignore[reportCallIssue]


@op
class Diagonal(oc.Op):
    def infer(self, x: Any) -> Any:
        return ot.TensorType(x.dtype, x.shape[:1])

    def evaluate(self, *arrays: Any, **_: Any) -> Any:
        return np.diagonal(arrays[0]).copy()


def test_dimensions_of_one_name_have_one_length() -> None:
    loop = Blockwise(Diagonal(), "(m,m)->(m)")
    x = ot.dtensor3("x")
    run = oc.function([x], [loop(x), loop(x).shape])
    for batch, m in ((2, 3), (0, 3), (1, 0), (3, 1)):
        value = np.arange(1.0 * batch * m * m).reshape(batch, m, m)
        got, shape = run(value)
        np.testing.assert_array_equal(got, np.diagonal(value, axis1=1, axis2=2))
        assert tuple(shape) == (batch, m)
    for m, n in ((3, 4), (4, 3), (0, 1)):
        with pytest.raises(ValueError, match="specified"):
            run(np.ones((2, m, n)))
        with pytest.raises(ValueError, match="contradicts"):
            loop(ot.tensor(dtype="float64", shape=(2, m, n)))


def test_ops_that_take_batches_need_no_loop() -> None:
    x = ot.dtensor3("x")
    made: Any = Blockwise(Cholesky())(x)
    assert made.owner.op == Cholesky()
    value = np.eye(2) * np.array([1.0, 4.0, 9.0])[:, None, None]
    np.testing.assert_allclose(made.eval({x: value}), np.sqrt(value))
