"""`einsum` beside NumPy's, which sums in one loop; the graphs that it makes, and its gradients."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from occelo_arrays.functions import einsum
from occelo_graph import evaluate, grad, verify_grad
from occelo_graph import tensor as ot
from occelo_graph.ir.traversal import toposort
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.ops.shape.reshaping import Reshape

LENGTHS = {"a": 2, "b": 3, "c": 4, "i": 3, "j": 4, "k": 5, "l": 2, "m": 3, "n": 2, "z": 0, "o": 1}
SUBSCRIPTS = """
    i ii ii->i iii iij->ji ij->ji ij-> z-> zi->i oi->i o->o i,i i,i->i i,j i,j->ji ij,jk ij,jk->ki ji,jk->ik ij,kj->ik
    bij,bjk->bik bij,bjk bi,bij->bj bij,bi->bj bij,bij->b ij,ij ij,ji bij,jk->bik aibj,jbck->aick ijk,kji abij,abjk->abik
    ij,jk,kl ij,jk,kl->il i,ij,j-> ijk,ilm,njm,nlk,abc-> iij,jk->ik ijik->jk ai,bi,ci->abc ij,i->ij , i,-> ... ...i->...
    ...ij,...jk->...ik ...ij,...jk bij,cj->bic ibj,kbj->bik acj,bcj->ab acj,jcb->ab jk,ij->ik a,b,c->cba ab,ab,ab->a
    aab,bcc->ac iz,zj->ij oij,ojk->oik io,oj->ij zij,zjk->zik i,j,z->ij ob,ob->ob ab,o->abo
""".split()


def _operands(subscripts: str, dtype: str = "float64") -> list[Any]:
    rng = np.random.default_rng(len(subscripts))
    made: list[Any] = []
    for i, part in enumerate(subscripts.split("->")[0].split(",")):
        lead = [2, 3][i % 2 :] if "..." in part else []
        shape = [*lead, *(LENGTHS[c] for c in part.replace("...", ""))]
        values = rng.integers(-3, 4, shape)
        made.append(
            (values + 1j * rng.integers(-3, 4, shape) if dtype == "complex128" else values).astype(
                dtype
            )
        )
    return made


def _symbolic(arrays: list[Any], known: str) -> list[Any]:
    """Variables whose lengths are all known, none (but those of 1), or every second one."""
    return [
        ot.tensor(
            dtype=a.dtype,
            shape=[
                n if n == 1 or known == "all" or (known == "half" and (i + k) % 2) else None
                for k, n in enumerate(a.shape)
            ],
        )
        for i, a in enumerate(arrays)
    ]


@pytest.mark.parametrize("dtype", ["float64", "int8", "complex128", "bool", "float32"])
def test_it_is_numpys(dtype: str) -> None:
    for subscripts in SUBSCRIPTS:
        arrays = _operands(subscripts, dtype)
        expected = np.einsum(subscripts, *arrays)
        for known in ("all", "none", "half"):
            inputs = _symbolic(arrays, known)
            result = einsum(subscripts, *inputs)
            found = evaluate(result, dict(zip(inputs, arrays, strict=True)))
            what = f"{subscripts} of {dtype}, {known} known"
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape), what
            np.testing.assert_allclose(found, expected, 1e-5, err_msg=what)


@pytest.mark.parametrize("subscripts", [s for s in SUBSCRIPTS if s.count(",") == 2])
@pytest.mark.parametrize(
    "optimize",
    [False, "greedy", "auto", [(0, 1, 2)], ["einsum_path", (0, 2), (1, 0)], [(1,), (0, 1), (0, 1)]],
)
def test_the_order_changes_no_result(subscripts: str, optimize: Any) -> None:
    arrays = _operands(subscripts)
    inputs = _symbolic(arrays, "half")
    found = evaluate(
        einsum(subscripts, *inputs, optimize=optimize),
        dict(zip(inputs, arrays, strict=True)),
    )
    np.testing.assert_allclose(found, np.einsum(subscripts, *arrays), 1e-12)


def _ops(result: Any) -> list[Any]:
    return [node.op for node in toposort(result)]


@pytest.mark.parametrize("known", ["all", "none"])
@pytest.mark.parametrize(
    ("subscripts", "products", "reshapes"),
    [
        ("ij,jk->ik", 1, 0),
        ("ji,jk->ik", 1, 0),
        ("ij,kj->ki", 1, 0),
        ("ij,j->i", 1, 0),
        ("j,ij->i", 1, 0),
        ("i,i", 1, 0),
        ("bij,bjk->bik", 1, 0),
        ("bji,bkj->bki", 1, 0),
        ("bij,bj->bi", 1, 0),
        # the operand and the result as matrices
        ("bij,jk->bik", 1, 2),
        ("abj,jk->abk", 1, 2),
        ("jab,jk->abk", 1, 2),
        ("ajb,ajk->kb", 1, 2),
        ("ij,ij->", 0, 0),
        ("ij,jk->ijk", 0, 0),
        ("bij,bij->b", 0, 0),
    ],
)
def test_each_contraction_is_one_product(
    subscripts: str, products: int, reshapes: int, known: str
) -> None:
    inputs = _symbolic(_operands(subscripts), known)
    made = _ops(einsum(subscripts, *inputs))
    assert sum(isinstance(o, Dot | MatMul) for o in made) == products
    assert sum(isinstance(o, Reshape) for o in made) == reshapes


@pytest.mark.parametrize("subscripts", ["aib,jba->ij", "aib,jba->ji", "jba,aib->ij", "jba,aib->ji"])
def test_contracted_dimensions_are_in_the_order_that_copies_fewer_operands(subscripts: str) -> None:
    inputs = _symbolic(_operands(subscripts), "none")
    reordered = [
        node.inputs[0]
        for node in toposort(einsum(subscripts, *inputs))
        if isinstance(node.op, DimShuffle) and node.inputs[0].type.ndim == 3
    ]
    assert reordered == [
        v for v, s in zip(inputs, subscripts.split(","), strict=True) if s[0] == "a"
    ]


def test_the_cheapest_order_is_found() -> None:
    a, b, c = (
        ot.tensor(dtype="float64", shape=s, name=n)
        for n, s in (("a", (50, 2)), ("b", (2, 50)), ("c", (50, None)))
    )
    product = next(n for n in toposort(einsum("ij,jk,kl->il", a, b, c)) if n.op == Dot())
    assert product.inputs == [b, c]
    product = next(
        n for n in toposort(einsum("ij,jk,kl->il", a, b, c, optimize=False)) if n.op == Dot()
    )
    assert product.inputs == [a, b]


@pytest.mark.parametrize(
    "subscripts",
    [
        "ij,jk->ki",
        "iij,jk->ik",
        "bij,bj->i",
        "i,ij,j->",
        "ajb,ajk->kb",
        "...i,...i->...",
        "ii->i",
        "aab,bcc->ac",
    ],
)
def test_gradients_to_second_order(subscripts: str) -> None:
    arrays = [a + 0.5 for a in _operands(subscripts)]

    def function(*inputs: Any) -> Any:
        return ot.tanh(einsum(subscripts, *(0.3 * v for v in inputs)))

    verify_grad(function, arrays, rng=np.random.default_rng(1))
    inputs = _symbolic(arrays, "all")
    first = grad(ot.sum(function(*inputs)), inputs[0])

    def second(x: Any) -> Any:
        return grad(ot.sum(function(x, *(ot.constant(a) for a in arrays[1:]))), x)

    assert first.type.shape == arrays[0].shape
    verify_grad(second, [arrays[0]], rng=np.random.default_rng(2))


x23, x33 = np.ones((2, 3)), np.ones((3, 3))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "got nothing"),
        (("ij,jk", x23), "for 2 operands, got 1"),
        (("i", x23), "operand 0 has 2 dimensions and 1 subscripts without an ellipsis"),
        (("ijk", x23), "operand 0 has 2 dimensions and 3 subscripts"),
        (("ij->ik", x23), "no operand has the subscript 'k' of the result"),
        (("ij->ii", x23), "the subscript 'i' twice"),
        (("i1", x23), "got '1'"),
        (("i.j", x23), "got '.'"),
        (("...i...", x23), "operand 0 has more than one ellipsis"),
        (("...i->i", x23), "the result has no ellipsis"),
        (("ii", x23), "the subscript 'i' has different lengths in"),
        (("ii", np.ones((1, 3))), "the subscript 'i' has the lengths 1 and 3 in one operand"),
        (("ij,ik", x23, x33), "the subscript 'i' has different lengths in"),
        ((x23, [0, 60]), "0 to 51"),
        ((x23, 0), "got 0"),
        ((x23,), "text or lists"),
    ],
)
def test_what_does_not_fit_is_an_error(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        einsum(*arguments)


def test_lengths_that_differ_when_it_runs_are_an_error() -> None:
    for subscripts in ("ij,jk->ik", "ij,ij->ij", "ij,ij->", "ii->i", "bij,bjk->bik", "abc,bcd->ad"):
        parts = subscripts.split("->")[0].split(",")
        arrays = [np.ones([2 + 5 * i + k for k in range(len(p))]) for i, p in enumerate(parts)]
        inputs = _symbolic(arrays, "none")
        with pytest.raises(ValueError, match=r"shape|match|aligned|Incompatible|equal lengths"):
            evaluate(einsum(subscripts, *inputs), dict(zip(inputs, arrays, strict=True)))


@pytest.mark.parametrize("path", [[(0, 1)], [(0, 3), (0, 1)], [(0, 0), (0, 1)]])
def test_a_wrong_path_is_an_error(path: Any) -> None:
    with pytest.raises(ValueError, match="of optimize"):
        einsum("ij,jk,kl", x33, x33, x33, optimize=path)


def test_opt_einsum_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opt_einsum", None)
    assert evaluate(einsum("ij,jk", x23, x33)).shape == (2, 3)
    with pytest.raises(ModuleNotFoundError, match=r"occelo-arrays\[einsum\]"):
        einsum("ij,jk,kl", x33, x33, x33)
    assert evaluate(einsum("ij,jk,kl", x33, x33, x33, optimize=False)).shape == (3, 3)


def test_numpys_function_builds_it() -> None:
    x = ot.dmatrix("x")
    np.testing.assert_array_equal(np.einsum("ij,ij->i", x, x23).eval({x: x23}), [3.0, 3.0])
    np.testing.assert_array_equal(np.einsum(x, [0, 1], [1, 0]).eval({x: x23}), x23.T)
    with pytest.raises(TypeError, match="out="):
        np.einsum("ij", x, out=x23)


def test_subscripts_may_be_arrays() -> None:
    x, value = ot.dtensor3("x"), np.arange(24.0).reshape(2, 3, 4)
    made = einsum(x, np.array([0, 1, 2]), x, np.array([0, 1, 2]), np.array([2, 0]))
    np.testing.assert_allclose(
        evaluate(made, {x: value}), np.einsum("abc,abc->ca", value, value), 1e-12
    )


@pytest.mark.parametrize(
    "contract",
    [
        lambda x, y: ot.tensordot(x, y, 2),
        lambda x, y: ot.tensordot(x, y, [[2, 1], [1, 0]]),
        lambda x, y: ot.batched_tensordot(x, y, [[1, 2], [1, 2]]),
        lambda x, y: einsum("ijk,jkl->il", x, y),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_contracted_lengths_are_compared_one_by_one(contract: Any, known: bool) -> None:
    """Two lengths of 2 and 3 are not those of 3 and 2, though as many elements."""
    x, y = ot.dtensor3("x"), ot.dtensor3("y")
    if known:
        y = ot.tensor("y", dtype="float64", shape=(3, 2, None))
    values = np.ones((3, 2, 3)), np.ones((3, 2, 2))
    with pytest.raises(ValueError, match="equal lengths of the contracted axes"):
        evaluate(contract(x, y), dict(zip((x, y), values, strict=True)))
