"""Tensors that are not in C order: which operands libraries read in place, and every op on views."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.examples.example import Example
from occelo_graph.ops.blas.updates import Gemm, Gemv, Ger
from occelo_link import make_linker
from occelo_link.loops import operands
from occelo_link.loops.ir import extents
from occelo_link.loops.lowering import Context
from occelo_testing.checks import symbolic
from occelo_testing.examples import EXAMPLES
from occelo_testing.loop_programs import has_compiler

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
LINKERS = ["native", "c"] if has_compiler() else ["native"]
FAMILIES = sorted({e.family for e in EXAMPLES})
UNIQUE = EXAMPLES if THOROUGH else list({e.name: e for e in EXAMPLES}.values())

View = Callable[[Any, Any], Any]
VIEWS: dict[str, View] = {
    "whole": lambda x, n: x,
    "turned": lambda x, n: x.T,
    "rows backward": lambda x, n: x[::-1],
    "columns backward": lambda x, n: x[:, ::-1],
    "both backward": lambda x, n: x[::-1, ::-1],
    "turned, then rows backward": lambda x, n: x.T[::-1],
    "rows backward, then turned": lambda x, n: x[::-1].T,
    "every other row": lambda x, n: x[::2],
    "every other row backward": lambda x, n: x[::-2],
    "every other column": lambda x, n: x[:, ::2],
    "by a step at run time": lambda x, n: x[::n],
    "columns by a step at run time": lambda x, n: x[:, ::n],
    "a block within": lambda x, n: x[1:, 1:3],
    "a block backward": lambda x, n: x[2:0:-1, 1:],
    "one row": lambda x, n: x[1:2],
    "one row backward": lambda x, n: x[1:2][::-1],
    "one column": lambda x, n: x[:, 1:2],
    "no row": lambda x, n: x[5:],
    "no row backward": lambda x, n: x[5:][::-1],
    "no column": lambda x, n: x[:, 5:],
    "a row repeated": lambda x, n: repeated(x[0], (3, x.shape[1])),
}
# some of all kinds, for linkers that take long to compile
FEW = [VIEWS[name] for name in ("whole", "turned", "rows backward", "a block within")]


def repeated(row: Any, shape: Any) -> Any:
    """A view in which a row is there several times, which NumPy makes by a stride of 0."""
    library = ot if isinstance(row, og.Variable) else np
    return library.broadcast_to(row, shape)  # type: ignore[attr-defined]


def linked(name: str, inputs: list[Any], outputs: list[Any]) -> Callable[..., list[Any]]:
    """A callable of arrays for a graph."""
    linker = make_linker(name).accept(og.FunctionGraph(inputs, outputs))
    vm, containers, results = linker.make_thunk()

    def call(*arrays: Any) -> list[Any]:
        for container, array in zip(containers, arrays, strict=True):
            container.value = array
        vm()
        return [r.value for r in results]

    return call


def cut_to_fit(x: Any, y: Any, least: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """Two factors cut to a common inner length, which keeps them views."""
    axis = max(y.ndim - 2, 0)
    inner = least(x.shape[-1], y.shape[axis])
    return x[..., :inner], y[(slice(None),) * axis + (slice(inner),)]


def product(x: Any, y: Any) -> Any:
    """The product of two symbolic tensors."""
    return ot.matmul(*cut_to_fit(x, y, ot.minimum))


def reference(x: Any, y: Any) -> Any:
    """The same of arrays, by sums over copies."""
    x, y = (np.ascontiguousarray(a) for a in cut_to_fit(x, y, min))
    left = "...k" if x.ndim == 1 else "...ik"
    right = "...k" if y.ndim == 1 else "...kj"
    result = "..." + "i" * (x.ndim > 1) + "j" * (y.ndim > 1)
    return np.einsum(f"{left},{right}->{result}", x, y, optimize=False)


def products(
    view: View, others: list[View], given: Any, multiply: Callable[[Any, Any], Any]
) -> list[Any]:
    """A view times vectors, and other views, from both sides."""
    x, y, v, n = given
    left = view(x, n)
    found = [multiply(left, v), multiply(v, left), multiply(left, v[::-1]), multiply(v[::n], left)]
    for other in others:
        found += [multiply(left, other(y, n)), multiply(other(y, n), left)]
    return found


@pytest.fixture(autouse=True)
def own_directory(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with config.change_flags(compiledir=str(tmp_path_factory.mktemp("compiled"))):
        yield


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("linker", "bounds"), [("native", True), *((linker, False) for linker in LINKERS)]
)
@pytest.mark.parametrize("view", VIEWS)
def test_a_product_reads_any_layout(view: str, linker: str, bounds: bool) -> None:
    others = list(VIEWS.values()) if THOROUGH else FEW
    if bounds and not THOROUGH:  # a third of all, another one for each view
        others = list(VIEWS.values())[list(VIEWS).index(view) % 3 :: 3]
    inputs = [ot.dmatrix("x"), ot.dmatrix("y"), ot.dvector("v"), ot.lscalar("n")]
    generator = np.random.default_rng(3)
    with config.change_flags(check_bounds=bounds):
        call = linked(linker, inputs, products(VIEWS[view], others, inputs, product))
        for side in (4, 1):
            for step in (1, -1, 2, -3):
                a, b = generator.normal(size=(2, side, side))
                given = [a, b, generator.normal(size=side), np.array(step)]
                expected = products(VIEWS[view], others, given, reference)
                for found, value in zip(call(*given), expected, strict=True):
                    assert found.shape == value.shape
                    np.testing.assert_allclose(found, value, rtol=1e-13, atol=1e-13)


BATCHES: dict[str, View] = {
    "batches backward": lambda x, n: x[::-1],
    "rows backward": lambda x, n: x[:, ::-1],
    "columns backward": lambda x, n: x[:, :, ::-1],
    "rows by a step at run time": lambda x, n: x[:, ::n],
    "matrices turned, rows backward": lambda x, n: x[:, ::-1].transpose((0, 2, 1)),
    "batches innermost": lambda x, n: x.transpose((1, 2, 0)),
    "batches between": lambda x, n: x.transpose((1, 0, 2))[:, ::-1],
    "a block within": lambda x, n: x[1:, 1:3, ::2],
    "no batch": lambda x, n: x[4:],
    "no row": lambda x, n: x[:, 4:],
    "one matrix for all": lambda x, n: x[1:2, ::-1][0][None],
}


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("view", BATCHES)
def test_a_product_of_batches_reads_any_layout(view: str, linker: str) -> None:
    x, y, n = ot.dtensor3("x"), ot.dtensor3("y"), ot.lscalar("n")

    def outputs(x: Any, y: Any, n: Any, multiply: Callable[[Any, Any], Any]) -> list[Any]:
        left = BATCHES[view](x, n)
        again = y if view == "one matrix for all" else BATCHES[view](y, n)
        first = y[0][:, ::-1]
        return [multiply(left, again), multiply(left, first), multiply(first[::-1], left)]

    generator = np.random.default_rng(5)
    with config.change_flags(check_bounds=True):
        call = linked(linker, [x, y, n], outputs(x, y, n, product))
        for step in (1, -1, -2):
            a, b = generator.normal(size=(2, 4, 4, 4))
            expected = outputs(a, b, step, reference)
            for found, value in zip(call(a, b, np.array(step)), expected, strict=True):
                assert found.shape == value.shape
                np.testing.assert_allclose(found, value, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("view", VIEWS)
def test_a_gradient_reads_any_layout(view: str) -> None:
    x, y, n = ot.dmatrix("x"), ot.dmatrix("y"), ot.lscalar("n")
    w = ot.dmatrix("w")
    cost = (product(VIEWS[view](x, n), y) * w).sum()
    a, b = np.random.default_rng(6).normal(size=(2, 4, 4))

    def of(a: Any) -> Any:
        return reference(VIEWS[view](a, -1), b)

    weights = np.random.default_rng(7).normal(size=of(a).shape)
    # the product is linear in each factor, so a change of one element by 1 shows the derivative
    expected = [((of(a + e.reshape(4, 4)) - of(a)) * weights).sum() for e in np.eye(16)]
    with config.change_flags(check_bounds=True):
        call = linked("native", [x, y, n, w], [og.grad(cost, x)])
        (found,) = call(a, b, np.array(-1), weights)
    np.testing.assert_allclose(found.reshape(-1), expected, rtol=1e-11, atol=1e-11)


def test_parts_of_c_order_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[Any] = []
    original = Context.contiguous_copy

    def counting(self: Any, tensor: Any) -> Any:
        copied.append(tensor)
        return original(self, tensor)

    monkeypatch.setattr(Context, "contiguous_copy", counting)
    x, v = ot.dmatrix("x"), ot.dvector("v")
    for view in ("whole", "turned", "every other row", "a block within", "one row", "one column"):
        linked("native", [x, v], [ot.dot(VIEWS[view](x, 1), v)])
        assert not copied, view
    linked("native", [x, v], [ot.dot(x[::-1], v)])
    assert copied


def test_the_checked_build_sees_what_a_library_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    # what was wrong once: rows that lie backward, called side by side
    monkeypatch.setattr(operands, "_readable", lambda stored, side, across: side == -1)
    x, v = ot.dmatrix("x"), ot.dvector("v")
    with config.change_flags(check_bounds=True):
        call = linked("native", [x, v], [ot.dot(x[::-1], v)])
        with pytest.raises(RuntimeError, match="fault of the compiler"):
            call(np.ones((3, 3)), np.ones(3))
        call = linked("native", [x, v], [ot.dot(x[::-1], x)])
        with pytest.raises(RuntimeError, match="fault of the compiler"):
            call(np.ones((3, 3)), np.ones(3))


def test_an_unknown_routine_cannot_be_called_from_a_checked_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(extents._ROUTINES, "gemv")
    x, v = ot.dmatrix("x"), ot.dvector("v")
    with config.change_flags(check_bounds=True), pytest.raises(NotImplementedError, match="dgemv"):
        linked("native", [x, v], [ot.dot(x, v)])


def hidden(variable: Any) -> tuple[Any, Callable[[Any], Any], Any]:
    """An input, what makes the array for it, and a view of it that takes the place of a variable."""
    kind = variable.type
    base = ot.tensor(name="base", dtype=kind.dtype, shape=(None,) * kind.ndim)
    key = tuple(slice(None, None, -1 if i % 2 == 0 else 2) for i in range(kind.ndim))
    view = base.transpose(tuple(reversed(range(kind.ndim))))[key]

    def array(value: Any) -> Any:
        shape = [n if i % 2 == 0 else max(2 * n - 1, 0) for i, n in enumerate(value.shape)]
        room = np.ones(shape, value.dtype)
        room[key] = value
        return np.require(room.T, requirements="C")

    return base, array, ot.specify_shape(view, kind.shape) if kind.ndim else view


@pytest.mark.sampled(3)
@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_op_reads_any_layout(family: str, linker: str) -> None:
    chosen = [e for e in UNIQUE if e.family == family]
    for example in chosen if linker == "native" or THOROUGH else chosen[::7]:
        reads_any_layout(example, linker)


def reads_any_layout(example: Example, linker: str) -> None:
    inputs, output = symbolic(example, known_shapes=False)
    parts = [hidden(v) for v in inputs]
    expected = og.evaluate(output, dict(zip(inputs, example.arguments, strict=True)))
    whole = og.graph_replace([output], dict(zip(inputs, [p[2] for p in parts], strict=True)))
    with config.change_flags(check_bounds=True):
        call = linked(linker, [p[0] for p in parts], whole)
        arrays = [p[1](a) for p, a in zip(parts, example.arguments, strict=True)]
        (found,) = call(*arrays)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape), example
    rtol = {"float32": 5e-6, "float16": 2e-3, "complex64": 1e-5}.get(found.dtype.name, 1e-12)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * 1e-2, err_msg=str(example))


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("view", VIEWS)
def test_an_update_reads_any_layout(view: str, inplace: bool) -> None:
    """The calls of BLAS that the interpreter makes."""
    generator = np.random.default_rng(8)
    a, b = generator.normal(size=(2, 4, 4))
    alpha, beta = np.array(0.5), np.array(-2.0)
    for other in VIEWS.values():
        left, right = cut_to_fit(VIEWS[view](a, -1), other(b, 2), min)
        column = right[:, 0] if right.shape[1] else np.zeros(right.shape[0])
        for z in (np.ones, lambda s: np.ones((*s[:-1], 2 * s[-1]))[..., ::-2]):
            cases = [
                (Gemm, (len(left), right.shape[1]), right, reference(left, right)),
                (Gemv, (len(left),), column, reference(left, column)),
            ]
            for op, shape, factor, product in cases:
                target = z(shape)
                known = reference(left, factor) if product is None else product
                expected = beta * target + alpha * known
                found = op(inplace).evaluate(target, alpha, left, factor, beta)
                np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
                assert not inplace or found is target
            row = left[:, 0] if left.shape[1] else np.zeros(left.shape[0])
            target = z((row.size, column.size))
            expected = target + alpha * row[:, None] * column
            found = Ger(inplace).evaluate(target, alpha, row, column)
            np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("linker", LINKERS)
def test_vectors_are_read_by_any_step(linker: str) -> None:
    steps = (-3, -2, -1, 2, 3)
    rng = np.random.default_rng(0)
    for dtype in ("float64", "float32", "bool", "int8"):
        x = ot.vector("x", dtype=dtype)
        flip = dtype == "bool"
        call = linked(linker, [x], [~x[::k] if flip else x[::k] + 1 for k in steps])
        for length in (0, 7, 103):
            a = (rng.normal(size=length) * 3).astype(dtype)
            for k, found in zip(steps, call(a), strict=True):
                np.testing.assert_array_equal(found, ~a[::k] if flip else a[::k] + 1, strict=True)


@pytest.mark.parametrize("linker", LINKERS)
def test_small_products_read_turned_factors(linker: str) -> None:
    rng = np.random.default_rng(0)
    inputs: list[Any] = []
    outputs: list[Any] = []
    arrays: list[Any] = []
    expected: list[Any] = []
    for rows, inner, columns in ((4, 4, 4), (3, 2, 8), (5, 3, 1), (1, 4, 5)):
        a, b = (rng.integers(-4, 5, (n, inner)).astype("float64") for n in (rows, columns))
        x, y = (ot.tensor(dtype="float64", shape=v.shape) for v in (a, b))
        inputs += [x, y]
        outputs += [x @ y.T, (y[::-1] @ x.T).T, x + x[:, ::-1]]
        arrays += [a, b]
        expected += [a @ b.T, (b[::-1] @ a.T).T, a + a[:, ::-1]]
    for found, value in zip(linked(linker, inputs, outputs)(*arrays), expected, strict=True):
        np.testing.assert_array_equal(found, value, strict=True)
