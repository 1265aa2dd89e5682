"""Linear equations, inverses, determinants and LU factorisations against NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from occelo_graph import grad, verify_grad
from occelo_graph import tensor as ot
from occelo_graph.interpret import evaluate
from occelo_graph.ir.decomposing import decomposed_kernel
from occelo_graph.ir.traversal import toposort
from occelo_linalg import functions as linalg
from occelo_linalg.ops.adjugate import Adjugate
from occelo_linalg.ops.equations.solve import Solve

sl = pytest.importorskip("scipy.linalg", reason="the interpreter computes LU factors by SciPy")
LEADS = [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((), (2, 3)), ((0,), (0,)), ((3,), ())]
KINDS = ["gen", "sym", "her", "pos", "diagonal", "tridiagonal", "banded", None]
KINDS += ["lower triangular", "upper triangular"]
DTYPES = ["float64", "float32", "complex128", "complex64", "int32"]


def drawn(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    real = rng.uniform(-1, 1, shape)
    if dtype == "int32":
        return np.asarray(rng.integers(-4, 5, shape), dtype)
    return (real + 1j * rng.uniform(-1, 1, shape) if dtype.startswith("c") else real).astype(dtype)


def run(function: Callable[..., Any], *arrays: Any, known: bool = True) -> Any:
    """The values of a function's results for arrays of known or unknown lengths."""
    shapes = [a.shape if known else (1 if n == 1 else None for n in a.shape) for a in arrays]
    inputs = [
        ot.tensor(dtype=a.dtype.name, shape=tuple(s)) for a, s in zip(arrays, shapes, strict=True)
    ]
    made = function(*inputs)
    outputs = list(made) if isinstance(made, tuple) else [made]
    values = evaluate(outputs, dict(zip(inputs, arrays, strict=True)))
    return values if isinstance(made, tuple) else values[0]


def close(got: Any, wanted: Any) -> None:
    assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape
    tolerance = 1e-3 if got.dtype in ("float32", "complex64") else 1e-9
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


def assumed(a: Any, kind: str | None, lower: bool) -> Any:
    """The whole matrix of which one kind reads a part."""
    if kind in ("sym", "her", "pos"):
        part = np.tril(a) if lower else np.triu(a)
        turned = np.swapaxes(part, -1, -2)
        turned = turned if kind == "sym" else turned.conj()
        whole = part + turned - part * np.eye(a.shape[-1], dtype=a.dtype)
        diagonal = np.eye(a.shape[-1], dtype=bool)
        return whole if kind == "sym" else np.where(diagonal, whole.real, whole)
    masks = {"diagonal": lambda x: np.triu(np.tril(x)), "lower triangular": np.tril}
    masks |= {"upper triangular": np.triu, "tridiagonal": lambda x: np.triu(np.tril(x, 1), -1)}
    return masks.get(kind or "", lambda x: x)(a)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_solve_reads_the_part_that_is_assumed(kind: str | None, dtype: str) -> None:
    a = drawn((2, 4, 4), dtype) + np.asarray(20, dtype) * np.eye(4, dtype=dtype)
    for b in (drawn((4,), dtype, 1), drawn((2, 4, 3), dtype, 1), drawn((4, 2), dtype, 2)):
        for lower in (False, True):
            whole = assumed(a, kind, lower)
            for transposed in (False, True):
                left = np.swapaxes(whole, -1, -2) if transposed else whole
                got = run(
                    lambda x, y, lower=lower, transposed=transposed: linalg.solve(
                        x, y, lower, assume_a=kind, transposed=transposed
                    ),
                    a,
                    b,
                )
                close(got, np.linalg.solve(left, b))


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("leads", LEADS)
def test_batches_equal_numpy(leads: Any, known: bool) -> None:
    first, second = leads
    for n in (0, 1, 3):
        a, b = drawn((*first, n, n)) + 2 * np.eye(n), drawn((*second, n, 2), seed=1)
        close(run(linalg.solve, a, b, known=known), np.linalg.solve(a, b))
        close(run(linalg.inv, a, known=known), np.linalg.inv(a))
        close(run(linalg.det, a, known=known), np.asarray(np.linalg.det(a)))
        for got, wanted in zip(
            run(linalg.slogdet, a, known=known), np.linalg.slogdet(a), strict=True
        ):
            close(got, np.asarray(wanted))
        vectors = drawn((*second, n), seed=2)
        close(
            run(lambda x, y: linalg.solve(x, y, b_ndim=1), a, vectors, known=known),
            np.linalg.solve(a, vectors[..., None])[..., 0],
        )


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_one_matrix_keep_numpys_dtype(dtype: str) -> None:
    a = drawn((2, 3, 3), dtype, seed=3)
    for ours, numpys in ((linalg.inv, np.linalg.inv), (linalg.det, np.linalg.det)):
        close(run(ours, a), numpys(a))
    for got, wanted in zip(run(linalg.slogdet, a), np.linalg.slogdet(a), strict=True):
        close(got, wanted)


def test_layouts_do_not_matter() -> None:
    a, b = drawn((6, 6)) + 3 * np.eye(6), drawn((6, 4))
    for x, y in ((a.T, b), (a[::-1, ::-1], b[::-1]), (a[::2, ::2], b[::2, ::-2])):
        close(run(linalg.solve, x, y), np.linalg.solve(x, y))
        close(run(linalg.lu_factor, x)[0], sl.lu_factor(x)[0])


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5), (1, 2), (2, 4, 4), (2, 3, 2)])
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_lu_equals_scipys(dtype: str, shape: tuple[int, ...], known: bool) -> None:
    a = drawn(shape, dtype)
    items = a.reshape(-1, *shape[-2:])
    for options in ({}, {"permute_l": True}, {"p_indices": True}):
        found = run(lambda x, options=options: linalg.lu(x, **options), a, known=known)
        wanted = [sl.lu(item, **options) for item in items]
        for k, got in enumerate(found):
            close(got, np.stack([w[k] for w in wanted]).reshape(got.shape))
    for k, got in enumerate(run(linalg.lu_factor, a, known=known)):
        close(got, np.stack([sl.lu_factor(item)[k] for item in items]).reshape(got.shape))


@pytest.mark.parametrize("trans", [0, 1, 2, "N", "T", "C"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_lu_solve_equals_solving(dtype: str, trans: Any) -> None:
    turns: dict[Any, Any] = {0: lambda x: x, 1: lambda x: x.swapaxes(-1, -2)}
    turns |= {2: lambda x: x.swapaxes(-1, -2).conj()}
    turn = turns["NTC".index(trans) if isinstance(trans, str) else trans]
    for first, second in LEADS[:4]:
        a, b = drawn((*first, 4, 4), dtype), drawn((*second, 4, 2), dtype, 1)

        def solving(x: Any, y: Any) -> Any:
            return linalg.lu_solve(linalg.lu_factor(x), y, trans)

        close(run(solving, a, b), np.linalg.solve(turn(a), b))
    vector = drawn((4,), dtype, 2)
    square = drawn((4, 4), dtype)
    close(run(solving, square, vector), np.linalg.solve(turn(square), vector))


def test_pivots_as_permutations() -> None:
    for n in range(5):
        pivots = np.array([i + (i * i + n) % max(n - i, 1) for i in range(n)], "int32")
        order = list(range(n))
        for i, p in enumerate(pivots):
            order[i], order[p] = order[p], order[i]
        inverse = run(lambda p: linalg.pivot_to_permutation(p, inverse=True), pivots)
        assert inverse.dtype == "int64"
        assert list(inverse) == order
        direct = run(linalg.pivot_to_permutation, pivots)
        assert [order[i] for i in direct] == list(range(n))


SINGULAR = np.stack([np.eye(3), np.diag([1.0, 0.0, 2.0]), 2 * np.eye(3)])


@pytest.mark.parametrize(
    ("name", "function", "reason"),
    [
        ("inv", linalg.inv, "Singular matrix"),
        *(
            (
                "solve",
                lambda a, kind=kind, **options: linalg.solve(
                    a, np.ones((3, 2)), assume_a=kind, **options
                ),
                "Matrix is not positive definite" if kind == "pos" else "Singular matrix",
            )
            for kind in ("gen", "sym", "pos", "diagonal")
        ),
    ],
)
def test_a_singular_matrix_is_named(name: str, function: Any, reason: str) -> None:
    x = ot.tensor("x", dtype="float64", shape=(None, 3, 3))
    message = f"{name}: {reason}, at index 1 of the batch"
    with pytest.raises(np.linalg.LinAlgError, match=message):
        evaluate([function(x)], {x: SINGULAR})
    (found,) = evaluate([function(x, on_error="nan")], {x: SINGULAR})
    assert np.isnan(found[1]).all()
    assert np.isfinite(found[[0, 2]]).all()


def test_determinants_of_singular_matrices_are_no_errors() -> None:
    close(run(linalg.det, SINGULAR), np.linalg.det(SINGULAR))
    for got, wanted in zip(run(linalg.slogdet, SINGULAR), np.linalg.slogdet(SINGULAR), strict=True):
        close(got, wanted)


def cofactors(a: Any) -> Any:
    """The gradient of the determinant of a matrix, from those of its minors."""
    n = len(a)
    minors = [[np.delete(np.delete(a, i, 0), j, 1) for j in range(n)] for i in range(n)]
    signs = (-1) ** np.add.outer(range(n), range(n))
    return signs * np.linalg.det(np.array(minors)).conj()


DEGENERATE = np.stack(
    [
        np.diag([1.0, 2.0, 0.0]),
        np.zeros((3, 3)),
        np.eye(3, k=1),
        np.eye(3, k=-1),
        np.outer([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]),
        np.array([[0.0, 1.0, 0.0], [0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]),
        drawn((3, 2)) @ drawn((2, 3), seed=1),  # singular but for rounding
        np.eye(3),
        drawn((3, 3)),
    ]
)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_determinants_have_gradients_at_singular_matrices(dtype: str) -> None:
    a = DEGENERATE.astype(dtype)
    if dtype == "complex128":
        a = a * np.exp(1j * np.arange(9)).reshape(-1, 1, 1)
        a[4] = np.outer([1.0, 2j, 3.0], [4.0, 5.0, 6j + 1])
    x = ot.tensor(dtype=dtype, shape=(None, None, None))
    slope = grad(linalg.det(x).real.sum(), x)
    wanted = np.stack([cofactors(each) for each in a])
    (kernel,) = (decomposed_kernel(n) for n in toposort([slope]) if type(n.op) is Adjugate)
    assert kernel is not None
    turned = a.conj().swapaxes(-1, -2)
    for found in (evaluate(slope, {x: a}), kernel(turned)[0]):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, wanted, atol=1e-11)
    for shape, value in (((0, 0), 1.0), ((1, 1), 0.0), ((1, 1), 2.0)):
        given = np.full((2, *shape), value, dtype)
        np.testing.assert_array_equal(evaluate(slope, {x: given}), np.ones_like(given))
        np.testing.assert_array_equal(kernel(given)[0], np.ones_like(given))


@pytest.mark.parametrize("place", range(len(DEGENERATE)))
def test_second_derivatives_of_determinants_at_singular_matrices(place: int) -> None:
    def slope(x: Any) -> Any:
        return grad(linalg.det(x), x)

    verify_grad(slope, [DEGENERATE[place]])
    if place == 4:
        z = np.outer([1.0, 2j, 3.0], [4.0, 5.0, 6j + 1])
        verify_grad(by_parts(lambda x: grad(linalg.det(x).real, x)), [z.real.copy(), z.imag.copy()])


def test_wrong_arguments_are_errors() -> None:
    x = ot.tensor("x", dtype="float64", shape=(3, 4))
    for function in (linalg.inv, linalg.det, linalg.slogdet):
        with pytest.raises(ValueError, match="square"):
            function(x)
    with pytest.raises(ValueError, match="square"):
        linalg.solve(ot.tensor(dtype="float64", shape=(3, 3)), x.T)
    with pytest.raises(ValueError, match="assume_a must be one of"):
        linalg.solve(x, x, assume_a="nothing")
    with pytest.raises(ValueError, match="trans must be"):
        linalg.lu_solve((x, ot.tensor(dtype="int32", shape=(3,))), x, trans=3)
    with pytest.raises(TypeError, match="float16"):
        linalg.inv(ot.tensor(dtype="float16", shape=(3, 3)))
    with pytest.raises(TypeError, match="integers"):
        linalg.pivot_to_permutation(x)


def by_parts(function: Callable[[Any], Any]) -> Callable[..., Any]:
    """A real function of the parts of a complex matrix."""

    def of_parts(re: Any, im: Any) -> Any:
        made = function(ot.complex(re, im))
        return made.real * 0.3 + made.imag * 0.7 if "complex" in made.dtype else made

    return of_parts


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "inv": linalg.inv,
    "det": linalg.det,
    "logarithm": lambda a: linalg.slogdet(a)[1],
    "factors": lambda a: linalg.lu_factor(a)[0],
    **{
        f"solve {kind}": lambda a, kind=kind: linalg.solve(a, np.ones((3, 2)), assume_a=kind)
        for kind in ("gen", "sym", "her", "pos", "diagonal")
    },
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name: str) -> None:
    function = FUNCTIONS[name]
    a = drawn((2, 3, 3))
    a = a @ a.swapaxes(-1, -2) + 3 * np.eye(3)
    verify_grad(function, [a])
    z = drawn((3, 3), "complex128", 5)
    z = z @ z.conj().T + 3 * np.eye(3)
    verify_grad(by_parts(function), [z.real.copy(), z.imag.copy()])

    def slope(x: Any) -> Any:
        return grad((function(x) ** 2).sum(), x)

    verify_grad(slope, [a[0]])


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("rows", [1, 2, 4])
def test_lu_solve_takes_right_hand_sides_that_fit(rows: int, known: bool) -> None:
    for trans in (0, 1):
        with pytest.raises(ValueError, match="lu_solve needs square matrices that fit"):
            run(
                lambda x, y, trans=trans: linalg.lu_solve(linalg.lu_factor(x), y, trans),
                np.eye(3),
                np.ones((rows, 2)),
                known=known,
            )


def test_gradient_of_the_sign_of_a_complex_determinant() -> None:
    z = drawn((3, 3), "complex128", 6)
    for function in (lambda a: linalg.slogdet(a)[0], lambda a: ot.mul(*linalg.slogdet(a))):
        verify_grad(by_parts(function), [z.real.copy(), z.imag.copy()])


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3)])
def test_gradient_of_rectangular_factors(shape: tuple[int, int]) -> None:
    a = drawn(shape, seed=7)
    verify_grad(lambda x: linalg.lu_factor(x)[0], [a])
    verify_grad(lambda x: ot.concatenate([v.ravel() for v in linalg.lu(x)[1:]]), [a])


def test_numpys_functions_take_variables() -> None:
    a = drawn((2, 3, 3))
    x = ot.tensor("x", dtype="float64", shape=(2, 3, 3))
    for function in (np.linalg.inv, np.linalg.det, lambda v: np.linalg.solve(v, np.ones((3, 1)))):
        (found,) = evaluate([function(x)], {x: a})
        close(found, function(a))
    for got, wanted in zip(
        evaluate(list(np.linalg.slogdet(x)), {x: a}), np.linalg.slogdet(a), strict=True
    ):
        close(got, wanted)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("kind", ["sym", "her", "pos"])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_forms_of_the_cotangent_fit_matrices_that_are_symmetric(
    n: int, kind: str, dtype: str
) -> None:
    """The gradient goes on to what a symmetric matrix is made of, so that it is the same for each form."""
    x, b = ot.matrix(dtype=dtype), drawn((n, 2), dtype, 1)
    turned = ot.matrix_transpose(x) if kind == "sym" else ot.conj(ot.matrix_transpose(x))
    a = ot.matmul(x, turned) + 3 * ot.eye(n, dtype=dtype)
    value = drawn((n, n), dtype)
    gradients = []
    for cotangent in ("triangle", "matrix", "transposed"):
        cost = ot.sum(abs(Solve(kind, cotangent=cotangent)(a, b) - 1) ** 2)
        gradients.append(evaluate(grad(cost, x), {x: value}))
    general = ot.sum(abs(linalg.solve(a, b) - 1) ** 2)
    for found in gradients:
        np.testing.assert_allclose(found, evaluate(grad(general, x), {x: value}), atol=1e-12)
    if n == 3:
        symmetric = ot.matrix(dtype=dtype)
        cost = ot.sum(abs(Solve(kind, cotangent="matrix")(symmetric, b)) ** 2)
        other = ot.sum(abs(linalg.solve(symmetric, b)) ** 2)
        turned_value = value.T if kind == "sym" else value.conj().T
        values = {symmetric: value @ turned_value + 3 * np.eye(n)}
        found, expected = (evaluate(grad(c, symmetric), values) for c in (cost, other))
        np.testing.assert_allclose(found, expected, atol=1e-12)
