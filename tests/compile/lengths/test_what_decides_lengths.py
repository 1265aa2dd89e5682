"""Functions that use only the lengths of an input, and functions of other lengths than those their graphs were built for."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_link import make_linker
from occelo_testing.rebuilding import COSTS, EXPRESSIONS, SHAPES, slopes


def _matrix(shape: tuple[int | None, ...], name: str) -> Any:
    return ot.tensor(name, dtype="float64", shape=shape)


def _value(shape: tuple[int | None, ...]) -> Any:
    lengths = [5 + i if n is None else n for i, n in enumerate(shape)]
    return np.random.default_rng(5).permutation(int(np.prod(lengths))).reshape(lengths) / 9.1 - 1.0


THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
EVERYTHING = {**EXPRESSIONS, **{f"gradient of {name}": pair for name, pair in COSTS.items()}}


def _built(name: str, x: Any) -> Any:
    build, _ = EVERYTHING[name]
    return og.grad(build(x), x) if name.startswith("gradient of ") else build(x)


def _expected(name: str, a: Any) -> Any:
    _, numpys = EVERYTHING[name]
    return slopes(numpys, a) if name.startswith("gradient of ") else np.asarray(numpys(a))


def _check(name: str, found: Any, a: Any) -> None:
    expected = _expected(name, a)
    gradient = name.startswith("gradient of ")
    tolerance = 1e-6 if gradient else 1e-12
    scale = 1.0 + abs(expected).max() if gradient else 1.0
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("name", EVERYTHING)
def test_an_input_that_only_gives_lengths_counts_as_used(name: str) -> None:
    for shape in ((3, 4), (None, 4), (None, None)):
        x = _matrix(shape, "x")
        a = _value(shape)
        _check(name, oc.function([x], _built(name, x), mode="FAST_COMPILE")(a), a)


@pytest.mark.parametrize(("old", "new"), SHAPES, ids=str)
def test_givens_of_another_shape(old: Any, new: Any) -> None:
    x, y = _matrix(old, "x"), _matrix(new, "y")
    made = [_built(name, x) for name in EVERYTHING]
    f = oc.function([y], made, givens={x: y}, rebuild_strict=False, mode="FAST_COMPILE")
    a = _value(new)
    for name, found in zip(EVERYTHING, f(a), strict=True):
        _check(name, found, a)


def test_everything_on_every_linker(mode: str) -> None:
    x, y = _matrix((3, 4), "x"), _matrix((5, None), "y")
    # each costs time to compile, but for those that compile nothing or little
    names = list(EVERYTHING)[:: 1 if THOROUGH or mode in ("native", "vm", "py") else 14]
    made = [_built(name, x) for name in names]
    f = oc.function([x], made, mode=mode)
    rebuilt = og.clone_replace(made, {x: y}, rebuild_strict=False)
    g = oc.function([y], rebuilt, mode=mode)
    for each, a in ((f, _value((3, 4))), (g, _value((5, 6)))):
        for name, found in zip(names, each(a), strict=True):
            _check(name, found, a)


@pytest.mark.parametrize("name", EVERYTHING)
def test_what_is_compiled_knows_as_much_as_if_lengths_were_numbers(name: str) -> None:
    x = _matrix((3, 4), "x")
    f = oc.function([x], _built(name, x))
    for node in f.maker.fgraph.apply_nodes:
        # neither lengths that are known, nor models of shapes, nor checks of them are left
        assert type(node.op).__name__ not in ("Shape", "Shape_i", "SpecifyShape"), node
        if isinstance(node.op, og.ops.create.Alloc):
            assert None not in node.op.shape


N = ot.lscalar("n")
NEW = ot.tensor("new", dtype="int64", shape=(2,))
VECTORS: dict[str, Any] = {
    "a stack with a constant": lambda: ot.stack([N, 3]),
    "a known shape": lambda: _matrix((2, 3), "x").shape,
    "a slice of a shape": lambda: ot.tensor("x", dtype="float64", shape=(4, None, 3)).shape[1:],
}


def _uses(lengths: Any) -> list[Any]:
    return [
        ot.zeros(lengths),
        ot.broadcast_to(ot.constant(3.0), lengths),
        ot.arange(lengths[0] * lengths[1]).reshape(lengths),
        ot.eye(lengths[0], lengths[1]),
        ot.arange(lengths[1]),
        ot.arange(9)[: lengths[1]],
        ot.tile(ot.constant([[1, 2]]), lengths),
        ot.specify_shape(ot.ones((lengths[0], lengths[1])), lengths),
    ]


def _with_numpy(n: Any) -> list[Any]:
    return [
        np.zeros(n),
        np.full(n, 3.0),
        np.arange(n[0] * n[1]).reshape(n),
        np.eye(*n),
        np.arange(n[1]),
        np.arange(9)[: n[1]],
        np.tile([[1, 2]], n),
        np.ones(n),
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("which", VECTORS)
@pytest.mark.filterwarnings("ignore:Shapes in the graph depend on values")
def test_a_replaced_vector_of_lengths_works_or_is_refused(which: str, mode: str) -> None:
    lengths = VECTORS[which]()
    made = _uses(lengths)
    rebuilt = og.clone_replace(made, {lengths: NEW}, rebuild_strict=False)
    anew = oc.function([NEW], rebuilt, mode=mode)
    given = oc.function([NEW], made, givens={lengths: NEW}, mode=mode)
    for value in (np.array([2, 3]), np.array([4, 5])):
        for found, expected in zip(anew(value), _with_numpy(value), strict=True):
            np.testing.assert_array_equal(found, expected)
    for found, expected in zip(given(np.array([2, 3])), _with_numpy([2, 3]), strict=True):
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(
        ValueError, match="lengths were known when the graph was built is"
    ) as caught:
        given(np.array([2, 5]))
    assert "but must be (" in str(caught.value).splitlines()[-1]


@pytest.mark.filterwarnings("ignore:Shapes in the graph depend on values")
def test_a_function_of_a_replaced_vector_of_lengths(mode: str) -> None:
    lengths = ot.stack([N, 2])
    f = oc.function([lengths], ot.zeros(lengths), mode=mode)
    np.testing.assert_array_equal(f(np.array([3, 2])), np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"is \(3, 4\), but must be \(\?, 2\)"):
        f(np.array([3, 4]))


@pytest.mark.parametrize("rewritten", [False, True])
@pytest.mark.filterwarnings("ignore:Shapes in the graph depend on values")
def test_lengths_that_are_exchanged_in_a_graph_at_hand(rewritten: bool, mode: str) -> None:
    light = THOROUGH or mode in ("native", "vm", "py")
    for use, expected in list(enumerate(_with_numpy([2, 3])))[:: 1 if light else 4]:
        lengths = ot.stack([N, 3])
        new = NEW.type.make_variable("new")
        made = _uses(lengths)[use]
        graph = og.FunctionGraph([N, new], [made], clone=False)
        graph.replace(lengths, new, reason="test")
        if rewritten:
            oc.Mode(mode).optimizer.rewrite(graph)
        found = make_linker(mode).accept(graph).make_function()
        np.testing.assert_array_equal(
            np.asarray(found(0, np.array([2, 3]))).reshape(expected.shape), expected
        )
        if made.type.shape[-1] == 3:
            with pytest.raises(ValueError, match="must be"):
                found(0, np.array([2, 5]))
