"""Kronecker products, block-diagonal matrices, chains and powers of matrices, cross products, and NumPy's linear algebra by name."""

from __future__ import annotations

import importlib
import itertools
import sys
from typing import Any

import numpy as np
import pytest

from occelo_arrays import functions as arrays
from occelo_graph import evaluate, grad, verify_grad
from occelo_graph import tensor as ot
from occelo_graph.ir.traversal import toposort
from occelo_graph.ops.blas.products import Dot
from occelo_linalg import functions as linalg

DTYPES = ("float64", "float32", "int64", "complex128", "bool")


def _draw(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> Any:
    rng = np.random.default_rng([seed, *shape])
    values = rng.integers(-3, 4, shape) + (
        1j * rng.integers(-3, 4, shape) if dtype == "complex128" else 0
    )
    return np.asarray(values, dtype)


def _same(function: Any, reference: Any, *arrays: Any) -> None:
    """Equal values, dtypes and shapes, for known and unknown lengths, and arguments that lie otherwise in memory."""
    expected = reference(*arrays)
    for known in (True, False):
        inputs = [
            ot.tensor(dtype=a.dtype, shape=[n if known or n == 1 else None for n in a.shape])
            for a in arrays
        ]
        result = function(*inputs)
        for turned in (False, True):
            given = [
                np.asarray(a[::-1], order="F")[::-1] if turned and a.ndim else a for a in arrays
            ]
            found = evaluate(result, dict(zip(inputs, given, strict=True)))
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
            np.testing.assert_allclose(found, expected, 1e-5)
        assert all(m in (None, n) for m, n in zip(result.type.shape, expected.shape, strict=True))


@pytest.mark.parametrize("dtype", DTYPES)
def test_kron(dtype: str) -> None:
    shapes: list[tuple[int, ...]] = [(), (3,), (1,), (0,), (2, 3), (1, 2), (2, 1, 2)]
    for first, second in itertools.product(shapes, shapes):
        _same(linalg.kron, np.kron, _draw(first, dtype), _draw(second, dtype, 1))


def test_block_diag() -> None:
    from scipy.linalg import block_diag

    shapes: list[tuple[int, ...]] = [(2, 3), (1, 1), (3,), (), (0, 2), (2, 0)]
    for dtype in DTYPES:
        for chosen in itertools.combinations(shapes, 3):
            _same(linalg.block_diag, block_diag, *(_draw(s, dtype) for s in chosen))
    _same(linalg.block_diag, block_diag, _draw((2, 2), "float32"), _draw((1, 2), "int64"))
    _same(linalg.block_diag, block_diag, _draw((2, 2)))
    assert linalg.block_diag().eval().shape == (1, 0)


def test_block_diag_of_batches() -> None:
    def reference(*blocks: Any) -> Any:
        batch = np.broadcast_shapes(*(b.shape[:-2] for b in blocks))
        whole = [np.broadcast_to(b, (*batch, *b.shape[-2:])) for b in blocks]
        n, m = (sum(b.shape[i] for b in whole) for i in (-2, -1))
        made = np.zeros((*batch, n, m))
        for index in np.ndindex(batch):
            row = column = 0
            for b in whole:
                made[index][row : row + b.shape[-2], column : column + b.shape[-1]] = b[index]
                row, column = row + b.shape[-2], column + b.shape[-1]
        return made

    for batches in [((4,), ()), ((4,), (4,)), ((2, 1), (4,)), ((0,), ()), ((2, 4), (1, 4))]:
        _same(linalg.block_diag, reference, *(_draw((*b, 2, i + 1)) for i, b in enumerate(batches)))


CHAINS: list[list[tuple[int, ...]]] = [
    [(2, 3), (3, 4)],
    [(3,), (3, 4)],
    [(3,), (3,)],
    [(3,), (3, 2), (2, 4)],
    [(2, 3), (3, 4), (4,)],
    [(3,), (3, 4), (4,)],
    [(2, 3), (3, 4), (4, 1), (1, 5)],
    [(2, 0), (0, 3), (3, 2)],
    [(1, 3), (3, 4), (4, 2), (2, 2), (2,)],
]


@pytest.mark.parametrize("shapes", CHAINS, ids=str)
def test_multi_dot(shapes: list[tuple[int, ...]]) -> None:
    for dtype in ("float64", "int64", "complex128"):
        arrays = [_draw(s, dtype, i) for i, s in enumerate(shapes)]
        _same(
            lambda *a: linalg.multi_dot(a), lambda *a: np.asarray(np.linalg.multi_dot(a)), *arrays
        )


def test_chains_of_batches() -> None:
    arrays = [_draw((4, 2, 3)), _draw((3, 5)), _draw((2, 1, 5, 2))]
    _same(linalg.matrix_dot, lambda a, b, c: a @ b @ c, *arrays)
    _same(linalg.matrix_dot, lambda a, b, v: a @ b @ v, *arrays[:2], _draw((5,)))
    _same(linalg.matrix_dot, lambda v, b: v @ b, _draw((4,)), _draw((2, 4, 3)))
    _same(linalg.matrix_dot, lambda a: a, _draw((4, 2)))


def _multiplications(result: Any) -> int:
    return sum(
        int(np.prod([*n.inputs[0].type.shape, *n.inputs[1].type.shape[1:]]))
        for n in toposort(result)
        if isinstance(n.op, Dot)
    )


def test_chains_take_the_fewest_multiplications() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        lengths = [int(n) for n in rng.integers(1, 40, 6)]
        pairs = list(itertools.pairwise(lengths))
        made = linalg.multi_dot([ot.tensor(dtype="float64", shape=p) for p in pairs])

        def fewest(first: int, last: int, lengths: list[int] = lengths) -> int:
            return min(
                (
                    fewest(first, k) + fewest(k, last) + lengths[first] * lengths[k] * lengths[last]
                    for k in range(first + 1, last)
                ),
                default=0,
            )

        assert _multiplications(made) == fewest(0, 5)
    # unknown lengths count as equal, so a vector is multiplied first
    a, b, v = ot.dmatrix(), ot.dmatrix(), ot.dvector()
    assert toposort(linalg.multi_dot([a, b, v]))[0].inputs == [b, v]


@pytest.mark.parametrize("shape", [(3, 3), (1, 1), (0, 0), (2, 3, 3), (0, 2, 2), (2, 1, 2, 2)])
def test_matrix_power(shape: tuple[int, ...]) -> None:
    for dtype in ("float64", "float32", "int64", "complex128"):
        for n in (0, 1, 2, 3, 7, 8):
            _same(
                lambda x, n=n: linalg.matrix_power(x, n),
                lambda x, n=n: np.linalg.matrix_power(x, n),
                _draw(shape, dtype),
            )


def test_negative_powers() -> None:
    for dtype in ("float64", "int64", "complex128"):
        x = _draw((2, 3, 3), dtype) + 9 * np.eye(3, dtype=dtype)
        _same(lambda x: linalg.matrix_power(x, -3), lambda x: np.linalg.matrix_power(x, -3), x)


def test_cross() -> None:
    for first, second in [((3,), (3,)), ((2, 3), (3,)), ((2, 1, 3), (4, 3)), ((0, 3), (3,))]:
        for dtype in ("float64", "int64", "complex128"):
            _same(arrays.cross, np.cross, _draw(first, dtype), _draw(second, dtype, 1))
    _same(
        lambda a, b: arrays.cross(a, b, axisa=0, axisb=1, axisc=0),
        lambda a, b: np.cross(a, b, axisa=0, axisb=1, axisc=0),
        _draw((3, 4)),
        _draw((4, 3)),
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: linalg.multi_dot([ot.dmatrix()]), "at least two matrices, got 1"),
        (lambda: linalg.multi_dot([ot.dmatrix(), ot.dvector(), ot.dmatrix()]), "argument 1 is"),
        (
            lambda: linalg.multi_dot([np.ones((2, 3)), np.ones((2, 3))]),
            "matrices 0 and 1 of the product",
        ),
        (lambda: linalg.matrix_dot(), "at least one"),
        (lambda: linalg.matrix_power(np.ones((2, 3)), 2), "square matrices, got"),
        (lambda: linalg.matrix_power(ot.dvector(), 2), "square matrices, got"),
        (lambda: arrays.cross(np.ones(2), np.ones(3)), "three elements, got a of"),
        (lambda: arrays.cross(np.ones(3), 1.0), "got a scalar for b"),
        (lambda: linalg.outer(np.ones((2, 2)), np.ones(2)), "takes two vectors"),
    ],
)
def test_what_does_not_fit_is_an_error(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_an_exponent_is_an_integer() -> None:
    with pytest.raises(TypeError, match=r"must be an integer, got 1\.5"):
        linalg.matrix_power(ot.dmatrix(), 1.5)  # type: ignore[arg-type]


def test_vectors_of_unknown_length_are_checked_when_it_runs() -> None:
    x = ot.dvector("x")
    with pytest.raises(ValueError, match="shape"):
        evaluate(arrays.cross(x, x), {x: np.ones(2)})


@pytest.mark.parametrize(
    "function",
    [
        lambda x: linalg.kron(x, x[:1]),
        lambda x: linalg.block_diag(x, x[0] * 2),
        lambda x: linalg.multi_dot([x[0], x, x]),
        lambda x: linalg.matrix_power(x, 5),
        lambda x: arrays.cross(x, x * x[::-1]),
    ],
)
def test_second_derivatives(function: Any) -> None:
    value = np.random.default_rng(3).normal(size=(3, 3))
    verify_grad(
        lambda x: grad(ot.sum(ot.sin(function(x))), x), [value], rng=np.random.default_rng(1)
    )


def test_numpys_functions_build_graphs() -> None:
    x = ot.dtensor3("x")
    value = np.random.default_rng(3).normal(size=(2, 3, 3))
    calls: dict[str, Any] = {
        "kron": lambda f, x: f(x[0], x[1]),
        "cross": lambda f, x: f(x, x + 1),
        "linalg.cross": lambda f, x: f(x, x + 1, axis=1),
        "linalg.trace": lambda f, x: f(x, offset=1),
        "linalg.diagonal": lambda f, x: f(x),
        "linalg.outer": lambda f, x: f(x[0, 0], x[0, 1]),
        "linalg.multi_dot": lambda f, x: f([x[0], x[1]]),
        "linalg.matrix_power": lambda f, x: f(x, 3),
        "linalg.vector_norm": lambda f, x: f(x, axis=(0, 1)),
        "linalg.matrix_norm": lambda f, x: f(x, ord=1),
    }
    for name, call in calls.items():
        module: Any = np.linalg if name.startswith("linalg") else np
        function = getattr(module, name.rpartition(".")[2])
        found = evaluate(call(function, x), {x: value})
        np.testing.assert_allclose(found, call(function, value), 1e-12, err_msg=name)


def test_names_of_linear_algebra_are_found_where_they_are() -> None:
    pytest.importorskip("occelo", reason="the facade gives the hints")
    with pytest.raises(AttributeError, match=r"use occelo\.tensor\.linalg\.multi_dot(?m:$)"):
        importlib.import_module("occelo.tensor").multi_dot
    assert "occelo_linalg.functions" in sys.modules


@pytest.mark.parametrize("n", [0, 1, 2])
def test_powers_of_matrices_that_are_not_square_are_errors(n: int) -> None:
    x = ot.dmatrix("x")
    with pytest.raises(ValueError, match=r"square|match|fit|aligned"):
        evaluate([linalg.matrix_power(x, n) + linalg.matrix_power(x, 0)], {x: np.ones((2, 3))})
