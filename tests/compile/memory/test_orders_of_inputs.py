"""Matrices of which only products read elements: machine code reads them in C and in Fortran order, without a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import FunctionGraph, TensorType, shared
from occelo_graph import tensor as ot
from occelo_link.entry_kinds import SINGLE
from occelo_link.loops.build import lower_graph
from occelo_testing.loop_programs import has_compiler

MODES = ["native", "numba", *(["c", "c|py"] if has_compiler() else [])]

Layout = Callable[[Any], Any]


function: Callable[..., Any] = oc.function


def unit_of(f: Any) -> Any:
    (unit,) = f.vm.units
    return unit


def with_gaps(a: Any, steps: tuple[int, int]) -> Any:
    """The array as a view of a larger one, in which its elements are apart by steps, which may be negative."""
    wide = np.full(
        [n * abs(step) + 1 for n, step in zip(a.shape, steps, strict=True)], np.nan, a.dtype
    )
    view = wide[tuple(slice(None, n * abs(s), abs(s)) for n, s in zip(a.shape, steps, strict=True))]
    view = view[tuple(slice(None, None, -1 if s < 0 else 1) for s in steps)]
    view[...] = a
    return view


def unaligned(a: Any) -> Any:
    return np.frombuffer(b"x" + a.T.tobytes(), a.dtype, a.size, 1).reshape(a.T.shape).T


def read_only(a: Any) -> Any:
    a = np.asfortranarray(a)
    a.flags.writeable = False
    return a


READ: dict[str, Layout] = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "rows with gaps": lambda a: with_gaps(a, (2, 1)),
    "columns with gaps": lambda a: with_gaps(a.T, (3, 1)).T,
    "a block": lambda a: np.pad(a, 2)[2:-2, 2:-2],
    "a block of columns": lambda a: np.asfortranarray(np.pad(a, 2))[2:-2, 2:-2],
    "read only": read_only,
}
COPIED: dict[str, Layout] = {
    "elements with gaps": lambda a: with_gaps(a, (1, 2)),
    "rows backward": lambda a: with_gaps(a, (-1, 1)),
    "columns backward": lambda a: with_gaps(a, (1, -1)),
    "columns backward with gaps": lambda a: with_gaps(a.T, (-2, 1)).T,
    "unaligned": unaligned,
    "of other bytes": lambda a: np.asfortranarray(a).astype(a.dtype.newbyteorder()),
}
PRODUCTS: dict[str, Callable[[Any, Any, Any, Any, Any], Any]] = {
    "matrix and vector": lambda x, u, v, w, z: x @ u,
    "vector and matrix": lambda x, u, v, w, z: v @ x,
    "transpose and vector": lambda x, u, v, w, z: x.T @ v,
    "two matrices": lambda x, u, v, w, z: x @ w,
    "two matrices, turned": lambda x, u, v, w, z: w.T @ x.T,
    "with itself": lambda x, u, v, w, z: x.T @ x,
    "and a sum": lambda x, u, v, w, z: z - 0.5 * (x @ w),
    "each of a batch": lambda x, u, v, w, z: (x @ w[None])[0],
}
SHAPES = [(5, 3), (40, 7), (3, 30), (1, 4), (4, 1), (1, 1), (0, 3), (3, 0), (0, 0)]


def compiled(mode: str, dtype: str, shape: tuple[int | None, int | None]) -> dict[str, Any]:
    x, w, z = (TensorType(dtype, s)() for s in (shape, (shape[1], None), (shape[0], None)))
    u, v = (TensorType(dtype, (n,))() for n in shape[::-1])
    return {
        name: function([x, u, v, w, z], make(x, u, v, w, z), mode=mode, on_unused_input="ignore")
        for name, make in PRODUCTS.items()
    }


def arguments(dtype: str, shape: tuple[int, int], layout: Layout) -> list[Any]:
    rng = np.random.default_rng(3)
    rows, columns = shape
    lengths = [shape, (columns,), (rows,), (columns, 2), (rows, 2)]
    x, u, v, w, z = (rng.normal(size=n).astype(dtype) for n in lengths)
    return [layout(x), u, v, np.asfortranarray(w), z]


def check(functions: dict[str, Any], given: list[Any], label: str) -> None:
    for name, f in functions.items():
        expected = PRODUCTS[name](*given)
        first = f(*given)  # by Python
        tolerance = 1e-5 if first.dtype == np.float32 else 1e-13
        np.testing.assert_allclose(
            first, expected, tolerance, tolerance, err_msg=f"{name}, {label}"
        )
        for _ in range(2):  # by machine code
            np.testing.assert_array_equal(f(*given), first, err_msg=f"{name}, {label}")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_products_of_matrices_in_any_order(mode: str, dtype: str) -> None:
    functions = compiled(mode, dtype, (None, None))
    for label, layout in {**READ, **COPIED}.items():
        for shape in SHAPES:
            check(functions, arguments(dtype, shape, layout), f"{label}, {shape}")


@pytest.mark.parametrize("shape", [(40, 20), (None, 20), (40, None), (1, 600), (600, 1), (5, 3)])
def test_products_of_matrices_of_static_shape(shape: tuple[int | None, int | None]) -> None:
    functions = compiled("native", "float64", shape)
    rows, columns = (9 if n is None else n for n in shape)
    for label, layout in {**READ, **COPIED}.items():
        check(functions, arguments("float64", (rows, columns), layout), label)


def refuse(*arguments: Any, **keywords: Any) -> Any:
    raise AssertionError("the call was left to Python, which copies")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("label", [*READ, *COPIED])
def test_machine_code_accepts_what_blas_reads(dtype: str, label: str) -> None:
    x, u = TensorType(dtype, (None, None))(), TensorType(dtype, (None,))()
    f = function([x, u], x @ u)
    entry = unit_of(f).entry(SINGLE, refuse)
    for shape in [(40, 7), (7, 40)]:
        given = arguments(dtype, shape, {**READ, **COPIED}[label])[:2]
        if label in READ:
            np.testing.assert_array_equal(entry(*given), f(*given))
        else:
            with pytest.raises(AssertionError, match="left to Python"):
                entry(*given)
    with pytest.raises(AssertionError, match="left to Python"):
        entry(1.0, given[1])


def in_either_order(make: Callable[[Any], Any], kind: Any = None) -> list[int]:
    x = (ot.dmatrix if kind is None else kind)()
    f = function([x], make(x))
    return list(unit_of(f).in_either_order)


def test_other_readers_need_c_order() -> None:
    assert in_either_order(lambda x: x.T @ (x @ ot.ones(x.shape[1]))) == [0]
    assert in_either_order(lambda x: (x @ ot.ones(x.shape[1])).sum() + x.shape[0]) == [0]
    assert in_either_order(lambda x: x @ ot.ones(x.shape[1]) + x.sum()) == []
    assert in_either_order(lambda x: [x.T @ x, x.T]) == []
    assert in_either_order(lambda x: x[1:] @ ot.ones(x.shape[1])) == []
    assert in_either_order(lambda x: x @ x.T + x[:1]) == []
    # loops compute small products, which read rows
    assert in_either_order(lambda x: x @ x.T, lambda: TensorType("float64", (4, 5))()) == []
    assert in_either_order(lambda x: x @ x.T, ot.lmatrix) == []
    assert in_either_order(lambda x: x @ x.T, ot.zmatrix) == []


@pytest.mark.parametrize("borrow", [False, True])
def test_a_shared_matrix_is_copied_once(borrow: bool) -> None:
    a: Any = np.asfortranarray(np.random.default_rng(0).normal(size=(30, 4)))
    held: Any = shared(a, borrow=borrow)
    u = ot.dvector()
    f, g = function([u], held @ u), function([], ot.exp(held))
    assert len(unit_of(f).in_either_order) == 1
    arrays: list[Any] = [a, np.ascontiguousarray(a), a[::-1], a[:, ::2]]
    for array in arrays:
        b: Any = np.ones(array.shape[1])
        held.set_value(array, borrow=borrow)
        # the user's own array stays as it is; a copy is in the order that all readers take
        kept = held.get_value(borrow=True)
        assert kept is array if borrow else kept.flags.c_contiguous
        for _ in range(3):
            np.testing.assert_allclose(f(b), array @ b, 1e-13)
            np.testing.assert_allclose(g(), np.exp(array), 1e-13)


def test_an_updated_matrix_is_in_c_order() -> None:
    a: Any = np.asfortranarray(np.random.default_rng(0).normal(size=(30, 4)))
    held: Any = shared(a)
    u = ot.dvector()
    f = function([u], held @ u, updates={held: held + 1.0})
    other = function([u], held @ u, updates={held: ot.outer(held @ u, u)})
    b = np.arange(4) + 1.0
    for _ in range(3):
        np.testing.assert_allclose(f(b), a @ b, 1e-13)
        a = a + 1.0
        np.testing.assert_allclose(other(b), a @ b, 1e-13)
        a = np.outer(a @ b, b)
        np.testing.assert_allclose(held.get_value(), a, 1e-13)


def constants_of(f: Any) -> list[Any]:
    return [c for unit in f.vm.units for c in unit.interface.constants if c.ndim == 2]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("label", ["rows", "columns", "elements with gaps", "columns backward"])
@pytest.mark.parametrize("shape", [(300, 7), (7, 300)])
def test_a_constant_and_its_transpose_are_one_array(
    mode: str, label: str, shape: tuple[int, int]
) -> None:
    rng = np.random.default_rng(0)
    a = {**READ, **COPIED}[label](rng.normal(size=shape))
    a[2, 3] = np.nan
    x, u, v = ot.constant(a), ot.dvector(), ot.dvector()
    f = function([u, v], [x @ u, x.T @ v, v @ x, u @ x.T], mode=mode)
    b, c = rng.normal(size=shape[1]), rng.normal(size=shape[0])
    for _ in range(2):
        for value, exact in zip(f(b, c), [a @ b, a.T @ c, c @ a, b @ a.T], strict=True):
            np.testing.assert_allclose(value, exact, 1e-12, 1e-13)
    if mode == "native":
        assert [c.shape for c in constants_of(f)] == [(7, 300)]
        assert all(c.flags.c_contiguous for c in constants_of(f))


def test_constants_that_others_read_are_in_c_order() -> None:
    rng = np.random.default_rng(0)
    a, b, c = (rng.normal(size=(300, 7)) for _ in range(3))
    u = ot.dvector()
    x, y, z = map(ot.constant, (a, b, c))
    results = [x @ u, x * u, y @ u, (ot.exp(y) * u).sum(0), z @ u, z.T @ z]
    f = function([u], results)
    w = rng.normal(size=7)
    exact = [a @ w, a * w, b @ w, (np.exp(b) * w).sum(0), c @ w, c.T @ c]
    for value, expected in zip(f(w), exact, strict=True):
        np.testing.assert_allclose(value, expected, 1e-12, 1e-13)
    assert {c.shape for c in constants_of(f)} >= {(300, 7)}


def test_constants_of_equal_elements_are_one_array() -> None:
    a = np.zeros((300, 7))
    other = -a
    nans = np.full((300, 7), np.nan)
    u = ot.dvector()
    products = [ot.constant(each) @ u for each in (a, a.copy(), other, nans, nans.copy())]
    f = function([u], products)
    for value, each in zip(f(np.ones(7)), (a, a, other, nans, nans), strict=True):
        np.testing.assert_array_equal(np.signbit(value), np.signbit(each @ np.ones(7)))
        np.testing.assert_array_equal(value, each @ np.ones(7))
    assert len(constants_of(f)) == 3
    # zeros of float32 and of float64 are equal integers, but one array for both would be read beyond its end
    v, w = ot.fvector("v"), ot.dvector("w")
    outputs = [ot.dot(ot.constant(np.zeros((4000, 2), each.dtype)), each) for each in (v, w)]
    graph = FunctionGraph([v, w], [*outputs, ot.dot(ot.constant(np.zeros((2, 4000))).T, w)])
    program = lower_graph(graph.inputs, graph.outputs, graph.toposort())
    assert [c.dtype.name for c in program.constants] == ["float32", "float64"]
