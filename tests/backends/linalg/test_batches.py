"""Every function of linear algebra over 0, 1 and 2 batch dimensions, which broadcast, equals a loop over the batch."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import occelo as oc
import occelo.tensor as ot
from occelo.tensor import linalg

npl: Any = np.linalg
spl: Any = scipy.linalg
LENGTHS = {"m": 4, "n": 3, "k": 2, "3": 3}
LEADS = [(), (2,), (2, 3), (2, 1)]
"""The batch dimensions of the first argument; those of the others are none, none, (3,) and (3,)."""


def adjoint(x: Any) -> Any:
    return x.conj().swapaxes(-1, -2)


def dominant(x: Any) -> Any:
    """Matrices with an inverse, and with eigenvalues of positive real part."""
    return 0.3 * x + 3 * np.eye(x.shape[-1])


def definite(x: Any) -> Any:
    return x @ adjoint(x) + 2 * np.eye(x.shape[-1])


def hermitian(x: Any) -> Any:
    return x + adjoint(x) + 3 * np.diag(np.arange(x.shape[-1]))


def with_three_diagonals(x: Any) -> Any:
    """Three diagonals as `solve_banded` takes them, of a matrix with an inverse, from a matrix with at least three rows."""
    return x[..., :3, :] + 5 * (np.arange(3) == 1)[:, None]


def banded(bands: Any) -> Any:
    """The matrix of three diagonals."""
    n = bands.shape[-1]
    full = np.zeros((n, n), bands.dtype)
    for j in range(n):
        for i in range(max(0, j - 1), min(n, j + 2)):
            full[i, j] = bands[1 + i - j, j]
    return full


def strong_diagonal(c: Any) -> Any:
    """First columns of Toeplitz matrices with leading minors that are far from singular."""
    return c + 5 * (np.arange(c.shape[-1]) == 0)


def real_diagonal(bands: Any) -> Any:
    """The main diagonal and the one below it, of a positive definite matrix."""
    return np.stack([6 + bands[..., 0, :].real + 0 * bands[..., 0, :], bands[..., 1, :]], axis=-2)


def mirrored(bands: Any) -> Any:
    below = np.diag(bands[1, :-1], -1)
    return np.diag(bands[0]) + below + adjoint(below)


def reflectors(h: Any, tau: Any) -> Any:
    m, n = h.shape
    product = np.eye(m, dtype=h.dtype)
    for i in range(len(tau)):
        v = np.concatenate([np.zeros(i), [1], h[i + 1 :, i]])
        product = product @ (np.eye(m) - tau[i] * np.outer(v, v.conj()))
    return product[:, :n]


def sizes(results: Any) -> Any:
    """Results with arbitrary signs or phases, as magnitudes."""
    return tuple(abs(r) for r in results)


def kind_of(x: Any) -> str:
    return "complex" if np.iscomplexobj(x) else "real"


def same(x: Any) -> Any:
    return x


def _two(function: Any, *rest: Any, **options: Any) -> Any:
    """A function whose right-hand sides are matrices."""

    def solve(*args: Any) -> Any:
        return function(*args, *rest, b_ndim=2, **options)

    return solve


def _rebuilt(values: Any, vectors: Any, inv: Any) -> Any:
    return (vectors * values[..., None, :]) @ inv(vectors)


def solved_tridiagonal(a: Any, b: Any) -> Any:
    return linalg.tridiagonal_lu_solve(linalg.tridiagonal_lu_factor(a), b, b_ndim=2)


# name: function, the same for one element of the batch by NumPy or SciPy, and for each argument letters of its shape and a
# function that makes suitable arguments of any
TABLE: dict[str, tuple[Any, Any, list[tuple[str, Any]]]] = {
    "cholesky": (linalg.cholesky, npl.cholesky, [("nn", definite)]),
    "cho_factor": (lambda a: linalg.cho_factor(a, True)[0], npl.cholesky, [("nn", definite)]),
    "cho_solve": (
        lambda c, b: linalg.cho_solve((c, True), b, b_ndim=2),
        lambda c, b: npl.solve(np.tril(c) @ adjoint(np.tril(c)), b),
        [("nn", dominant), ("nk", same)],
    ),
    "solve": (_two(linalg.solve), npl.solve, [("nn", dominant), ("nk", same)]),
    "solve_triangular": (
        _two(linalg.solve_triangular, lower=True),
        lambda a, b: npl.solve(np.tril(a), b),
        [("nn", dominant), ("nk", same)],
    ),
    "solve_banded": (
        lambda a, b: linalg.solve_banded((1, 1), a, b, b_ndim=2),
        lambda a, b: npl.solve(banded(a), b),
        [("mn", with_three_diagonals), ("nk", same)],
    ),
    "solveh_banded": (
        lambda a, b: linalg.solveh_banded(a, b, True, b_ndim=2),
        lambda a, b: npl.solve(mirrored(a), b),
        [("kn", real_diagonal), ("nk", same)],
    ),
    "solve_toeplitz": (
        lambda c, r, b: linalg.solve_toeplitz((c, r), b, b_ndim=2),
        lambda c, r, b: npl.solve(spl.toeplitz(c, r), b),
        [("n", strong_diagonal), ("n", same), ("nk", same)],
    ),
    "toeplitz": (linalg.toeplitz, spl.toeplitz, [("n", same), ("m", same)]),
    "lu": (linalg.lu, spl.lu, [("mn", same)]),
    "lu_factor": (linalg.lu_factor, spl.lu_factor, [("nn", same)]),
    "lu_solve": (
        lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b, b_ndim=2),
        npl.solve,
        [("nn", dominant), ("nk", same)],
    ),
    "pivot_to_permutation": (
        lambda a: linalg.pivot_to_permutation(linalg.lu_factor(a)[1]),
        lambda a: spl.lu(a, p_indices=True)[0],
        [("nn", same)],
    ),
    "tridiagonal_lu_factor": (
        lambda a: linalg.tridiagonal_lu_factor(a)[1],
        lambda a: np.diagonal(spl.lu_factor(np.triu(np.tril(a, 1), -1))[0]),
        [("nn", same)],
    ),
    "tridiagonal_lu_solve": (
        solved_tridiagonal,
        lambda a, b: npl.solve(np.triu(np.tril(a, 1), -1), b),
        [("nn", dominant), ("nk", same)],
    ),
    "qr": (linalg.qr, npl.qr, [("mn", same)]),
    "householder_product": (linalg.householder_product, reflectors, [("mn", same), ("n", same)]),
    "svd": (lambda a: sizes(linalg.svd(a)), lambda a: sizes(npl.svd(a)), [("nn", same)]),
    "svdvals": (linalg.svdvals, lambda a: npl.svd(a, compute_uv=False), [("mn", same)]),
    "eigh": (
        lambda a, b: sizes(linalg.eigh(a, b=b)),
        lambda a, b: sizes(spl.eigh(a, b)),
        [("nn", hermitian), ("nn", definite)],
    ),
    "eigvalsh": (linalg.eigvalsh, npl.eigvalsh, [("nn", hermitian)]),
    "eig": (
        lambda a: _rebuilt(*linalg.eig(a), linalg.inv),
        lambda a: a.astype(complex),
        [("nn", same)],
    ),
    "eigvals": (
        lambda a: (linalg.eigvals(a) ** 2).sum(axis=-1),
        lambda a: np.asarray(np.trace(a @ a), complex),
        [("nn", same)],
    ),
    "schur": (linalg.schur, lambda a: spl.schur(a, kind_of(a)), [("nn", same)]),
    "qz": (linalg.qz, lambda a, b: spl.qz(a, b, kind_of(a)), [("nn", same), ("nn", same)]),
    "ordqz": (
        lambda a, b: linalg.ordqz(a, b, "iuc"),
        lambda a, b: spl.ordqz(a, b, "iuc", kind_of(a)),
        [("nn", same), ("nn", dominant)],
    ),
    "det": (linalg.det, npl.det, [("nn", same)]),
    "slogdet": (linalg.slogdet, npl.slogdet, [("nn", same)]),
    "inv": (linalg.inv, npl.inv, [("nn", dominant)]),
    "pinv": (linalg.pinv, npl.pinv, [("mn", same)]),
    "lstsq": (
        lambda a, b: linalg.lstsq(a, b)[0],
        lambda a, b: npl.lstsq(a, b, rcond=None)[0],
        [("mn", same), ("mk", same)],
    ),
    "matrix_rank": (linalg.matrix_rank, npl.matrix_rank, [("mn", same)]),
    "cond": (linalg.cond, npl.cond, [("nn", dominant)]),
    "norm": (
        lambda a: linalg.norm(a, "nuc", axis=(-2, -1)),
        lambda a: npl.norm(a, "nuc"),
        [("mn", same)],
    ),
    "matrix_norm": (
        lambda a: linalg.matrix_norm(a, ord=1),
        lambda a: npl.norm(a, 1),
        [("mn", same)],
    ),
    "vector_norm": (
        lambda a: linalg.vector_norm(a, ord=3, axis=-1),
        lambda a: npl.norm(a, 3),
        [("n", same)],
    ),
    "expm": (linalg.expm, spl.expm, [("nn", same)]),
    "logm": (linalg.logm, spl.logm, [("nn", dominant)]),
    "sqrtm": (linalg.sqrtm, spl.sqrtm, [("nn", dominant)]),
    "matrix_power": (
        lambda a: linalg.matrix_power(a, -3),
        lambda a: npl.matrix_power(a, -3),
        [("nn", dominant)],
    ),
    "solve_sylvester": (
        linalg.solve_sylvester,
        spl.solve_sylvester,
        [("mm", dominant), ("nn", dominant), ("mn", same)],
    ),
    "solve_continuous_lyapunov": (
        linalg.solve_continuous_lyapunov,
        spl.solve_continuous_lyapunov,
        [("nn", dominant), ("nn", same)],
    ),
    "solve_discrete_lyapunov": (
        linalg.solve_discrete_lyapunov,
        spl.solve_discrete_lyapunov,
        [("nn", lambda x: x * 0.2), ("nn", same)],
    ),
    "solve_continuous_are": (
        linalg.solve_continuous_are,
        spl.solve_continuous_are,
        [("nn", same), ("nk", same), ("nn", definite), ("kk", definite)],
    ),
    "solve_discrete_are": (
        linalg.solve_discrete_are,
        spl.solve_discrete_are,
        [("nn", same), ("nk", same), ("nn", definite), ("kk", definite)],
    ),
    "block_diag": (linalg.block_diag, spl.block_diag, [("mn", same), ("nk", same)]),
    "matrix_dot": (
        linalg.matrix_dot,
        lambda a, b, c: a @ b @ c,
        [("mn", same), ("nk", same), ("km", same)],
    ),
    "matmul": (linalg.matmul, np.matmul, [("mn", same), ("nk", same)]),
    "matvec": (linalg.matvec, lambda a, b: a @ b, [("mn", same), ("n", same)]),
    "vecmat": (linalg.vecmat, lambda a, b: a.conj() @ b, [("n", same), ("nk", same)]),
    "vecdot": (linalg.vecdot, np.vdot, [("n", same), ("n", same)]),
    "cross": (linalg.cross, np.cross, [("3", same), ("3", same)]),
    "trace": (
        lambda a: linalg.trace(a, offset=-1),
        lambda a: np.trace(a, -1),
        [("mn", same)],
    ),
    "diagonal": (
        lambda a: linalg.diagonal(a, offset=-1),
        lambda a: np.diagonal(a, -1),
        [("mn", same)],
    ),
    "matrix_transpose": (linalg.matrix_transpose, np.transpose, [("mn", same)]),
    "einsum": (
        lambda a, b: ot.einsum("...ij,...jk->...ki", a, b),
        lambda a, b: (a @ b).T,
        [("mn", same), ("nk", same)],
    ),
}
# NumPy's kron multiplies all dimensions
WITHOUT_BATCHES = {"kron", "multi_dot", "outer", "tensordot", "tensorinv", "tensorsolve"}


def test_the_table_is_complete() -> None:
    functions = {
        name
        for name, value in vars(linalg).items()
        if not name.startswith("_") and callable(value) and not inspect.isclass(value)
    }
    functions = {f for f in functions if f.islower()}
    assert functions - WITHOUT_BATCHES <= TABLE.keys()


def drawn(shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    rng = np.random.default_rng([seed, *shape])
    real = rng.standard_normal(shape)
    return real + 1j * rng.standard_normal(shape) if dtype[0] == "c" else real


def prepared(prepare: Callable[[Any], Any], values: Any, core: int) -> Any:
    """Arguments that are made one element of the batch at a time."""
    lead = values.shape[: values.ndim - core]
    made = [prepare(values[i]) for i in np.ndindex(lead)]
    return np.stack(made).reshape(*lead, *made[0].shape)


def arguments(name: str, dtype: str, lead: tuple[int, ...]) -> list[tuple[Any, int]]:
    """The arguments and the numbers of their core dimensions."""
    found: list[tuple[Any, int]] = []
    for seed, (letters, prepare) in enumerate(TABLE[name][2]):
        own = lead if seed == 0 else (3,) if len(lead) == 2 else ()
        core = tuple(LENGTHS[c] for c in letters)
        found.append((prepared(prepare, drawn((*own, *core), dtype, seed), len(core)), len(core)))
    return found


def as_tuple(x: Any) -> tuple[Any, ...]:
    return tuple(x) if isinstance(x, tuple | list) else (x,)


def check(name: str, dtype: str, lead: tuple[int, ...], mode: str) -> None:
    function, reference, _ = TABLE[name]
    given = arguments(name, dtype, lead)
    extras = [a.shape[: a.ndim - core] for a, core in given]
    # only a length that is known to be 1 broadcasts
    types = [
        (*(1 if n == 1 else None for n in extra), *([None] * core))
        for extra, (_, core) in zip(extras, given, strict=True)
    ]
    types = [t if name != "solveh_banded" or i else (*t[:-2], 2, None) for i, t in enumerate(types)]
    inputs = [ot.tensor(dtype=dtype, shape=t) for t in types]
    outputs = list(as_tuple(function(*inputs)))
    arrays = [a for a, _ in given]
    found = oc.function(inputs, outputs, mode=mode)(*arrays)
    batch = np.broadcast_shapes(*extras)
    whole = [np.broadcast_to(a, (*batch, *a.shape[a.ndim - core :])) for a, core in given]
    for index in np.ndindex(batch):
        expected = as_tuple(reference(*(np.ascontiguousarray(w[index]) for w in whole)))
        for got, wanted in zip(found, expected, strict=True):
            each = got[index]
            assert each.shape == np.shape(wanted)
            np.testing.assert_allclose(each, wanted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", TABLE)
def test_batches_equal_a_loop(name: str, dtype: str) -> None:
    for lead in LEADS:
        check(name, dtype, lead, "py")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("lead", LEADS[::-1], ids=str)
@pytest.mark.parametrize("name", TABLE)
def test_batches_equal_a_loop_in_machine_code(name: str, lead: tuple[int, ...]) -> None:
    check(name, "complex128" if len(lead) == 1 else "float64", lead, "native")


LSTSQ_BATCHES: list[tuple[Any, Any, Any]] = [
    # static shapes of a, b and rcond; None is a length that is unknown, and 2, 3 or 0 in turn
    ((4, 2), (None, 4, 3), ()),
    ((None, 4, 2), (4, 3), ()),
    ((1, None, 4, 2), (None, 1, 4, 3), ()),
    ((4, 2), (4,), (None,)),
    ((None, 4, 2), (1, 4, 1), (None,)),
    ((4, 2), (1, 1, 4, 3), ()),
]
BACKENDS = [
    b
    for b, module in (("py", "numpy"), ("native", "numpy"), ("jax", "jax"), ("pytorch", "torch"))
    if importlib.util.find_spec(module)
]


def least_squares(a: Any, b: Any, rcond: Any) -> Any:
    """NumPy's results for each element of the batch of all arguments."""
    whole: Any = np.vectorize(
        lambda a, b, r: tuple(np.linalg.lstsq(a, b, float(r))),
        signature="(m,n),(m,k),()->(n,k),(k),(),(p)",
    )
    vector = b.ndim == 1
    x, *rest = whole(a, b[:, None] if vector else b, rcond)
    return [x[..., 0] if vector else x, *rest]


def cost_of(results: Any, sin: Any) -> Any:
    """A number that depends on the solutions, residuals and singular values."""
    return sum(sin(results[i]).sum() for i in (0, 1, 3))


@pytest.mark.filterwarnings("ignore:.* runs in Python:UserWarning")
@pytest.mark.filterwarnings("ignore:Shapes in the graph depend on values:UserWarning")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shapes", LSTSQ_BATCHES, ids=str)
def test_all_results_of_least_squares_have_the_batch_of_all_arguments(
    backend: str, shapes: tuple[Any, Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oc.config, "pytorch__compile", False)
    inputs = [ot.tensor(n, dtype="float64", shape=s) for n, s in zip("abr", shapes, strict=True)]
    results = linalg.lstsq(*inputs)
    lengths = [ot.stack([v.shape[i] for i in range(v.type.ndim)]) for v in results if v.type.ndim]
    slopes = oc.grad(cost_of(results, ot.sin), inputs[:2])
    f = oc.function(inputs, [*results, *lengths, *slopes], mode=backend)
    rng = np.random.default_rng(8)
    for count in (2, 1, 3):
        a, b, r = ([count if n is None else n for n in s] for s in shapes)
        given = rng.standard_normal(a), rng.standard_normal(b), np.full(r, 1e-3)
        found = f(*given)
        expected = least_squares(*given)
        for result, wanted in zip(found, expected, strict=False):
            assert result.shape == wanted.shape
            np.testing.assert_allclose(result, wanted, rtol=1e-9, atol=1e-12)
        shown = [wanted.shape for wanted in expected if wanted.ndim]
        assert [tuple(each) for each in found[4:-2]] == shown
        # a singular value counts once for each element of the batch
        move = 1e-6 * rng.standard_normal(a)
        ends = (least_squares(given[0] + s * move, *given[1:]) for s in (1, -1))
        above, below = (cost_of(each, np.sin) for each in ends)
        np.testing.assert_allclose(
            (found[-2] * move).sum(), (above - below) / 2, rtol=1e-4, atol=1e-12
        )
        assert found[-1].shape == given[1].shape
