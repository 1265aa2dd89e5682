"""Each kind of PyTensor's ops, raw and after PyTensor's own rewriting, gives the values that PyTensor computes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.mode import Mode, get_mode
from pytensor.conditional import ifelse
from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.scan.utils import until
from pytensor.tensor import signal
from pytensor.tensor.linalg.solvers.linear_control import TRSYL
from pytensor.tensor.linalg.solvers.lstsq import Lstsq
from pytensor.tensor.linalg.solvers.tridiagonal import tridiagonal_lu_factor, tridiagonal_lu_solve
from pytensor.tensor.type_other import NoneTypeT
from scipy import special

import occelo as oc
import occelo_pytensor as bridge

pytestmark = [
    pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS"),
    pytest.mark.filterwarnings("ignore:`axes` should not be"),  # NumPy's, in PyTensor's rfft
]
THEIRS = Mode("py", "fast_compile")
X = np.random.default_rng(0).normal(size=(4, 3))
SPD = X @ X.T + 4 * np.eye(4)

Build = Callable[[Any, Any], Any]

CASES: dict[str, Build] = {
    "elementwise": lambda m, v: pt.exp(m) * 2 + pt.log1p(m**2) - pt.sigmoid(v) / (1 + pt.abs(m)),
    "integers": lambda m, v: pt.cast(m * 10, "int64") // 3 + pt.cast(v * 5, "int32") % 4,
    "compare": lambda m, v: pt.switch(m > v, m, pt.maximum(v, 0.1)) * pt.cast(pt.and_(m > 0, v < 1), "int8"),
    "powers": lambda m, v: pt.abs(m) ** v + m**2 + pt.sqr(v) ** 0.5,
    "special": lambda m, v: pt.gammaln(pt.abs(m) + 1) + pt.erf(m) + pt.psi(pt.exp(v)) + pt.softplus(m),
    "incomplete": lambda m, v: pt.gammainc(pt.exp(m), pt.exp(v)) + pt.betainc(pt.exp(m), pt.exp(v), 0.3),
    "gradient_of_incomplete": lambda m, v: pytensor.grad(pt.gammainc(pt.exp(m), 1.5).sum(), m),
    "dimshuffle": lambda m, v: m.T.dimshuffle("x", 1, 0) + v[None, None],
    "slices": lambda m, v: m[1:3, ::-1] * m[-1, 0] + v[None, :],
    "positions": lambda m, v: m[[0, 2, 2], [1, 0, 1]] + v,
    "masks": lambda m, v: m[m > 0].sum() + pt.stack(pt.nonzero(v > -9)).sum(),
    "writes": lambda m, v: m[1:, 0].set(v)[0].inc(2.0)[[0, 0, 1], 2].inc(v[:3]),
    "reductions": lambda m, v: m.sum(0) + m.prod(1).mean() + m.max() + m.min(0) + pt.var(m, 0),
    "extremes": lambda m, v: pt.max(m - 9, axis=1) + pt.min(m + 9) + pt.max(m - 9, axis=0, initial=-np.inf)[0] + pt.min(pt.cast(m * 9, "int64")),
    "extremes_of_nothing": lambda m, v: pt.max(m[:0], axis=0, initial=-np.inf),
    "truths": lambda m, v: pt.stack([(m > 5).any(), (v < 5).all()]),
    "argmax": lambda m, v: pt.argmax(m, axis=0) + pt.argmin(v) + pt.argmax(m),
    "cumulative": lambda m, v: pt.cumsum(m, axis=0) + pt.cumprod(v),
    "softmax": lambda m, v: pt.special.softmax(m, axis=1) + pt.special.log_softmax(v) + pt.logsumexp(m),
    "joins": lambda m, v: pt.concatenate([m, m[:1] * 2, pt.stack([v, v])], axis=0),
    "splits": lambda m, v: pt.add(*pt.split(m, [2, 2], n_splits=2, axis=0)),
    "repeats": lambda m, v: pt.repeat(m, 2, axis=0).sum(0) + pt.tile(v, 1),
    "sorting": lambda m, v: pt.sort(m, axis=0) + pt.argsort(m, axis=1) + pt.sort(m, axis=None)[:3],
    "searching": lambda m, v: pt.extra_ops.searchsorted(pt.sort(v), m) + pt.extra_ops.searchsorted(v, m, "right", pt.argsort(v)),
    "different_elements": lambda m, v: sum(r.sum() for r in pt.unique(pt.round(m), True, True, True)) + pt.unique(v),
    "gradient_of_sorting": lambda m, v: pytensor.grad((pt.sort(m, axis=0) ** 2 * v).sum(), m),
    "creation": lambda m, v: pt.eye(3) + pt.arange(3) + pt.zeros((3, 3)) + pt.full((3,), 2.0) + pt.tri(3, 3),
    "shapes": lambda m, v: m.reshape((2, 6)).sum(1)[:, None] + m.shape[0] + pt.prod(m.shape),
    "diagonals": lambda m, v: pt.diag(v) + pt.diagonal(m[:3]) + pt.diagonal(m, 1)[0],
    "products": lambda m, v: m @ v + (m.T @ m).sum() + pt.dot(v, v) + pt.outer(v, v)[0, 0],
    "batched_products": lambda m, v: pt.matmul(m[None] * pt.ones((2, 1, 1)), m.T),
    "einsum": lambda m, v: pt.einsum("ij,kj,k->i", m, m, m[:, 0]),
    "pad": lambda m, v: pt.pad(m, ((1, 0), (0, 2)), mode="constant"),
    "assert": lambda m, v: pytensor.raise_op.Assert("sum")(m, m.sum() < 1e9),
    "conditional": lambda m, v: ifelse(m.sum() > 0, v, v * 2),
    "sort": lambda m, v: pt.sort(m, axis=0) + pt.argsort(v),
    "convolutions": lambda m, v: signal.convolve1d(m, v[None], mode="valid") + signal.convolve1d(v, m[0])[:1] + signal.convolve1d(m, v[None], mode="same").sum(),
    "convolutions_of_matrices": lambda m, v: signal.convolve2d(m, m[:2, :2]) + signal.convolve2d(m, m[:2, 1:], mode="valid").sum(),
    "convolution_of_integers": lambda m, v: signal.convolve2d(pt.cast(m * 9, "int64"), pt.cast(m[:2] * 9, "int32"), method="fft"),
    "gradient_of_convolutions": lambda m, v: pytensor.grad((signal.convolve1d(m, v[None, :2], mode="valid") ** 2).sum() + (signal.convolve1d(v, m[0]) ** 3).sum(), [m, v])[1],
    "gradient_of_convolutions_of_matrices": lambda m, v: pytensor.grad((signal.convolve2d(m[:2, :2], m, mode="valid") ** 2).sum(), m),
    "real_transforms": lambda m, v: pt.fft.irfft(pt.fft.rfft(m) * pt.stack([v[0], 1 + v[1]]), is_odd=True) + pt.fft.rfft(m, norm="ortho")[:, 0, 0][:, None],
    "real_transforms_of_two_axes": lambda m, v: pt.fft.rfft(pt.stack([m, m.T.reshape((4, 3)) * 2])),
    "gradient_of_real_transforms": lambda m, v: pytensor.grad((pt.fft.rfft(m) ** 2).sum() + (pt.fft.irfft(pt.fft.rfft(m[:, :2])) ** 3).sum(), m),
    "fourier": lambda m, v: pt.abs(pt.fourier.fft(m, 5, 0)) + pt.abs(pt.fourier.fft(v, 2, 0)).sum(),
    "filled_diagonals": lambda m, v: pt.extra_ops.fill_diagonal(m, v[0]) + pt.extra_ops.fill_diagonal_offset(m, v[1], -1),
    "positions_by_number": lambda m, v: pt.stack(pt.unravel_index(pt.argsort(v) * 2, (2, 3), order="F")) + pt.ravel_multi_index(([1, 5, 0], [2, 0, -1]), (3, 4), mode="clip"),
    "choices": lambda m, v: pt.choose(pt.argsort(v) + 1, m, mode="wrap") + pt.extra_ops.bartlett(3),
    "softmax_of_all": lambda m, v: pt.special.softmax(m, axis=None) + pt.special.log_softmax(m, axis=None) + pt.special.softmax(pt.stack([m, -m]), axis=(0, 2))[0],
    "bounds_in_the_wrong_order": lambda m, v: pt.clip(m, v[0], v[1]) + pt.clip(m, 0.5, -0.5),
    "choice_of_a_list": lambda m, v: pt.choose(pt.argsort(v), (v, v * 2, v - 1)),
    "different_rows": lambda m, v: pt.unique(pt.concatenate([m, m]), axis=0),
    "dtypes": lambda m, v: pt.cast(m, "float32") * pt.cast(v, "int16") + pt.cast(m > 0, "uint8"),
}  # fmt: skip
LINEAR: dict[str, Callable[[Any], Any]] = {
    "cholesky": pt.linalg.cholesky,
    "inverse": pt.linalg.inv,
    "pinv": pt.linalg.pinv,
    "det": pt.linalg.det,
    "slogdet": lambda a: pt.stack(pt.linalg.slogdet(a)),
    "eigh": lambda a: pt.linalg.eigh(a)[0],
    "eigvalsh": lambda a: pt.linalg.eigvalsh(a, None),
    "svd": lambda a: pt.linalg.svd(a, compute_uv=False),
    "qr": lambda a: abs(pt.linalg.qr(a)[1]),
    "lu": lambda a: pt.linalg.lu(a)[2],
    "lu_solve": lambda a: pt.linalg.lu_solve(pt.linalg.lu_factor(a), a[0], b_ndim=1),
    "solve": lambda a: pt.linalg.solve(a, a[0], b_ndim=1) + pt.linalg.solve(a, a.T, assume_a="pos"),
    "triangular": lambda a: pt.linalg.solve_triangular(pt.tril(a), a, lower=True),
    "cho_solve": lambda a: pt.linalg.cho_solve((pt.linalg.cholesky(a), True), a[:2].T, b_ndim=2),
    "tridiagonal": lambda a: pt.linalg.solve(a, a[0], assume_a="tridiagonal", b_ndim=1),
    "tridiagonal_solve": lambda a: tridiagonal_lu_solve(tridiagonal_lu_factor(a), a[:2].T, b_ndim=2, transposed=True) + tridiagonal_lu_factor(a)[4][:, None],
    "tridiagonal_batches": lambda a: tridiagonal_lu_solve(tridiagonal_lu_factor(pt.stack([a, a.T * 2])), a[0], b_ndim=1),
    "expm": lambda a: pt.linalg.expm(a / 10),
    "block_diagonal": lambda a: pt.linalg.block_diag(a, a[:2]),
    "kron": lambda a: pt.linalg.kron(a, a[:2, :2]),
    "schur": lambda a: pt.linalg.schur(a)[0],
    "ordered_schur": lambda a: abs(pt.linalg.schur(a - 4 * pt.eye(4), output="complex", sort="lhp")[0]),
    "qz": lambda a: pt.stack([abs(v) for v in pt.linalg.qz(a, a.T + pt.eye(4))[:2]]),
    "ordered_qz": lambda a: pt.linalg.ordqz(a, a - 5 * pt.eye(4), sort="rhp")[2],
    "sylvester": lambda a: pt.linalg.solve_sylvester(a, a[:2, :2] + a[1:3, 2:], a[:, :2]),
    "triangular_sylvester": lambda a: TRSYL()(pt.triu(a), pt.triu(a[:3, :3]) + pt.eye(3), a[:, 1:]),
    "least_squares": lambda a: Lstsq()(a[:, :3], a[:, 2:], -1.0)[0],
    "tensor_equations": lambda a: pt.linalg.tensorinv(a.reshape((2, 2, 4)), 2).sum(0) + pt.linalg.tensorsolve(a.reshape((4, 2, 2)), a[0]),
    "permutations": lambda a: a[pt.linalg.pivot_to_permutation(pt.linalg.lu_factor(a)[1])],
    "batches": lambda a: pt.linalg.cholesky(pt.stack([a, a * 2])),
    "batched_solve": lambda a: pt.linalg.solve(pt.stack([a, a * 2]), a),
    "batched_vectors": lambda a: pt.linalg.solve(pt.stack([a, a * 2]), pt.stack([a[0], a[1]]), b_ndim=1),
}  # fmt: skip


def _scans() -> dict[str, Build]:
    def scan(*arguments: Any, **options: Any) -> Any:
        return pytensor.scan(*arguments, return_updates=False, **options)

    return {
        "scan_map": lambda m, v: scan(lambda r, v: (r * v).sum(), sequences=[m], non_sequences=[v]),
        "scan_carry": lambda m, v: scan(lambda r, s: s * 0.5 + r, sequences=[m], outputs_info=[v]),
        "scan_taps": lambda m, v: scan(
            lambda r, a, b: 0.3 * a - 0.2 * b + r.sum(),
            sequences=[m],
            outputs_info=[dict(initial=v[:2], taps=[-2, -1])],
        ),
        "scan_last": lambda m, v: scan(lambda s: pt.tanh(s) + 0.1, outputs_info=[v], n_steps=7)[-1],
        "scan_two_last": lambda m, v: scan(lambda s: s * 0.9 + 0.1, outputs_info=[v], n_steps=7)[-2:],
        "scan_while": lambda m, v: scan(
            lambda s: (s * 2, until(s.sum() > 50)),
            outputs_info=[pt.abs(v) + 0.1],
            n_steps=40,
        ),
        "scan_while_last": lambda m, v: scan(
            lambda s: (s * 2, until(s.sum() > 50)),
            outputs_info=[pt.abs(v) + 0.1],
            n_steps=40,
        )[-1],
        "scan_sequence_taps": lambda m, v: scan(
            lambda a, b: a * b, sequences=[dict(input=m, taps=[-1, 0])]
        ),
        "scan_gradient": lambda m, v: pytensor.grad(
            scan(lambda r, s: pt.tanh(s * r), sequences=[m], outputs_info=[v])[-1].sum(), [m, v]
        )[0],
        "scan_gradient_of_taps": lambda m, v: pytensor.grad(
            (
                scan(
                    lambda r, a, b: pt.sin(a) - 0.2 * b + r.sum(),
                    sequences=[m],
                    outputs_info=[dict(initial=v[:2], taps=[-2, -1])],
                )
                ** 2
            ).sum(),
            v,
        ),
        "scan_truncated": lambda m, v: pytensor.grad(
            scan(
                lambda r, a, b: pt.tanh(0.3 * a - 0.2 * b + r),
                sequences=[pt.concatenate([m.flatten(), v])],
                outputs_info=[dict(initial=v[:2], taps=[-2, -1])],
                truncate_gradient=4,
            )[-1],
            m,
        ),
        "scan_truncated_while": lambda m, v: pytensor.grad(
            scan(
                lambda r, s: (pt.tanh(s + r), until(s > 5)),
                sequences=[m.flatten()],
                outputs_info=[v[0]],
                truncate_gradient=4,
            )[-1],
            m,
        ),
        "scan_of_matrices": lambda m, v: scan(
            lambda s, a: pt.linalg.solve(a, s) + 1.0,
            outputs_info=[pt.eye(3)],
            non_sequences=[m[:3] + 5 * pt.eye(3)],
            n_steps=3,
        ),
    }  # fmt: skip


ALL = {**CASES, **_scans(), **{k: (lambda m, v, f=f: f(pt.as_tensor(SPD) * (v[0] ** 2 + 1))) for k, f in LINEAR.items()}}  # fmt: skip


@pytest.mark.sampled(7)
@pytest.mark.parametrize("rewritten", [None, "FAST_COMPILE", "FAST_RUN"])
@pytest.mark.parametrize("name", ALL)
def test_values_are_pytensors(name: str, rewritten: str | None) -> None:
    m, v = pt.dmatrix("m"), pt.dvector("v")
    outputs = [ALL[name](m, v)]
    values = (X, np.array([0.7, -1.2, 0.4]))
    wanted = pytensor.function([m, v], outputs, mode=THEIRS, on_unused_input="ignore")(*values)
    inputs = [m, v]
    if rewritten is not None:
        graph = FunctionGraph(inputs, outputs, clone=True)
        mode = get_mode(rewritten)
        with pytensor.config.change_flags(mode=mode):
            mode.optimizer.rewrite(graph)
        inputs, outputs = graph.inputs, graph.outputs
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "These ops have no conversion")
        ours, converted = bridge.from_pytensor(outputs, inputs)
    found = oc.function(ours, converted, on_unused_input="ignore")(*values)
    for a, b, variable in zip(found, wanted, outputs, strict=True):
        assert a.dtype == b.dtype == variable.type.dtype
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("mode", [None, "OCCELO"])
def test_solutions_whose_types_pytensor_states_wrongly(mode: str | None) -> None:
    """The type of a solution is a matrix for PyTensor, also if the right side is a vector. Its values are vectors."""
    a, b = pt.dmatrix("a"), pt.dvector("b")
    x, *rest = Lstsq()(a, b, -1.0)
    solved = pt.linalg.tensorsolve(a.T @ a, b[:3])
    outputs = [x, *rest, pt.exp(x).sum(), solved]
    if mode is None:
        f = oc.function(*bridge.from_pytensor(outputs, [a, b]))
    else:
        f = pytensor.function([a, b], outputs, mode=mode)
    right = np.array([1.0, -2.0, 0.5, 3.0])
    found = f(X, right)
    wanted = np.linalg.lstsq(X, right)
    solution = wanted[0]
    wanted = [*wanted, np.exp(solution).sum()]
    wanted += [np.linalg.solve(X.T @ X, right[:3])]
    for one, other in zip(found, wanted, strict=True):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-10)


def test_slopes_of_least_squares_of_a_vector() -> None:
    a, b = pt.dmatrix("a"), pt.dvector("b")
    inputs, value = bridge.from_pytensor(Lstsq()(a, b, -1.0)[0].sum(), [a, b])
    f = oc.function(inputs, oc.grad(value, inputs[1]))
    np.testing.assert_allclose(f(X, np.ones(4)), np.linalg.pinv(X).sum(axis=0), rtol=1e-10)


def test_names_and_lines_of_the_user_are_kept() -> None:
    x = pt.dvector("x")
    y = pt.exp(x)
    y.name = "y"
    (ours,), found = bridge.from_pytensor(y, [x])
    assert (ours.name, found.name) == ("x", "y")
    assert found.source is not None
    assert found.source.filename == __file__


def test_shared_variables_have_one_storage() -> None:
    state = pytensor.shared(np.arange(3.0), "state")
    out = bridge.from_pytensor(state * 2)
    f = oc.function([], out)
    np.testing.assert_array_equal(f(), [0, 2, 4])
    state.set_value(np.ones(2))
    np.testing.assert_array_equal(f(), [2, 2])
    (ours,) = f.get_shared()
    ours.set_value(np.full(1, 5.0))
    np.testing.assert_array_equal(state.get_value(), [5.0])


class Doubled(Op):
    """An op of a user, with a gradient of its own."""

    __props__ = ()

    def make_node(self, x: Any) -> Any:
        return Apply(self, [pt.as_tensor(x)], [x.type()])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        outputs[0][0] = 2 * inputs[0]

    def pullback(self, inputs: Any, outputs: Any, gradients: Any) -> Any:
        return [3 * gradients[0]]


def test_an_op_of_a_user_runs_its_own_code_and_gradient() -> None:
    x = pt.dvector("x")
    with pytest.warns(UserWarning, match="no conversion"):
        (ours,), y = bridge.from_pytensor(Doubled()(x).sum(), [x])
    f = oc.function([ours], [y, oc.grad(y, ours)])
    value, gradient = f([1.0, 2.0])
    assert value == 6
    np.testing.assert_array_equal(gradient, [3, 3])


@pytest.mark.parametrize("form", ["function", "list", "graph"])
def test_a_graph_has_the_derivative_that_its_user_gave(form: str) -> None:
    x, y, ct = pt.dvectors("x", "y", "ct")
    first: Any = {
        "function": lambda inputs, outputs, cts: [cts[0] * outputs[0], 100.0 * cts[0]],
        "list": [lambda inputs, outputs, cts: cts[0] * outputs[0], None],
        "graph": OpFromGraph([x, y, pt.dvector(), ct], [ct * x * y, 100.0 * ct]),
    }[form]
    out = OpFromGraph([x, y], [x * y], pullback=first)(x, y).sum()
    ours, converted = bridge.from_pytensor(out, [x, y])
    values = ([1.0, 2.0], [3.0, 5.0])
    found = oc.function(ours, [converted, *oc.grad(converted, ours)])(*values)
    wanted = pytensor.function([x, y], [out, *pytensor.grad(out, [x, y])], mode=THEIRS)(*values)
    np.testing.assert_array_equal(wanted[1], [3.0, 10.0])
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_conversion_can_be_registered() -> None:
    class Tripled(Doubled):
        """Another op of a user."""

    @bridge.register_conversion(Tripled)
    def _(node: Any, x: Any) -> Any:
        return 3 * x

    x = pt.dvector("x")
    (ours,), y = bridge.from_pytensor(Tripled()(x), [x])
    np.testing.assert_array_equal(oc.function([ours], y)([1.0]), [3.0])


def test_types_that_occelo_lacks_are_refused() -> None:
    with pytest.raises(TypeError, match="no type"):
        bridge.from_pytensor(pytensor.graph.basic.Variable(NoneTypeT(), None))


def test_gradients_through_nearly_equal_eigenvalues() -> None:
    length = pt.dscalar("length")
    x = np.linspace(0, 1, 5)
    y = np.array([0.3, -1.0, 0.5, 2.0, 0.1])
    kernel = pt.exp(-0.5 * (x[:, None] - x) ** 2 / length**2)
    values, vectors = pt.linalg.eigh(kernel)
    # y @ inv(kernel + I / 4) @ y, as models of grids compute it
    form = (pt.dot(vectors.T, y) ** 2 / (values + 0.25)).sum()
    (ours,), converted = bridge.from_pytensor(form, [length])
    found, slope = oc.function([ours], [converted, oc.grad(converted, ours)])(200.0)
    gaps = (x[:, None] - x) ** 2
    matrix = np.exp(-0.5 * gaps / 200.0**2)
    solved = np.linalg.solve(matrix + np.eye(5) / 4, y)
    assert found == pytest.approx(y @ solved, rel=1e-12)
    assert slope == pytest.approx(-solved @ (matrix * gaps / 200.0**3) @ solved, rel=1e-9)


def test_constants_stay_numbers() -> None:
    x = pt.dvector("x")
    value = pt.log(1 - pt.sigmoid(x)) + pt.cast(2, "int8") * x
    (ours,), converted = bridge.from_pytensor(value.sum(), [x])
    slope = oc.function([ours], oc.grad(converted, ours))
    np.testing.assert_allclose(slope([800.0, 0.0, -800.0]), [1.0, 1.5, 2.0], rtol=1e-15)


def test_bessel_functions_of_pymc() -> None:
    from pymc.distributions.dist_math import i0e, i1e

    x = pt.dvector("x")
    (ours,), (zero, one) = bridge.from_pytensor([i0e(x), i1e(x)], [x])
    f = oc.function([ours], [zero, one, oc.grad(zero.sum(), ours)])
    points = np.array([0.5, -3.0, 20.0, 1e5, 9.9e7, 1.1e8, -1e13, 1e300])
    a, b, slope = f(points)
    np.testing.assert_allclose(a, special.i0e(points), rtol=1e-15)
    np.testing.assert_allclose(b, special.i1e(points), rtol=1e-15)
    wanted = special.i1e(points) - np.sign(points) * special.i0e(points)
    np.testing.assert_allclose(slope, wanted, rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize("lower", [True, False])
def test_a_positive_definite_matrix_has_pytensors_gradient(lower: bool) -> None:
    """Of all elements, also of those that are not read."""
    a = pt.dmatrix("a")
    value = np.array([[4.0, 1, 0.5], [1, 3, -1], [0.5, -1, 5]])
    cost = (pt.linalg.solve(a, np.eye(3)[:2].T, lower=lower, assume_a="pos") ** 2).sum()
    theirs = pytensor.function([a], pytensor.grad(cost, a), mode="FAST_COMPILE")
    (ours,), converted = bridge.from_pytensor(cost, [a])
    found = oc.function([ours], oc.grad(converted, ours))(value)
    np.testing.assert_allclose(found, theirs(value), rtol=1e-12)


def test_eigenvalues_of_overflown_matrices_are_nan() -> None:
    """As in PyTensor's compiled modes: a sampler goes on, and no error stops it."""
    a = pt.dmatrix("a")
    values = [*pt.linalg.eigh(a), pt.linalg.eigvalsh(a, None)]
    (ours,), converted = bridge.from_pytensor(values, [a])
    found = oc.function([ours], converted)(np.array([[np.inf, 1], [1, 2]]))
    assert all(np.isnan(v).all() for v in found)


INCOMPLETE: dict[str, Callable[[Any, Any], Any]] = {
    "gammainc": lambda v, w: pt.gammainc(pt.exp(v), pt.exp(w)),
    "gammaincc": lambda v, w: pt.gammaincc(pt.exp(v)[0], pt.exp(w)),
    "a number": lambda v, w: pt.gammainc(pt.constant(2.5, dtype="float64"), pt.exp(w)) * v,
}


@pytest.mark.parametrize("name", INCOMPLETE)
def test_derivatives_of_incomplete_functions_by_parameters_need_no_python(name: str) -> None:
    v, w = pt.dvectors("v", "w")
    value = pt.log(INCOMPLETE[name](v, w)).sum()
    points = [np.array([0.3, -0.7, 1.9]), np.array([-0.2, 0.8, 0.1])]
    theirs = pytensor.function([v, w], [value, *pytensor.grad(value, [v, w])], mode=THEIRS)
    ours, converted = bridge.from_pytensor(value, [v, w])
    f = oc.function(ours, [converted, *oc.grad(converted, ours)])
    f.c_function()  # raises if a node needs Python
    for a, b in zip(f(*points), theirs(*points), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11)


def test_what_a_tag_states_is_an_assumption() -> None:
    """The Cholesky factor of L L^T is L, as PyMC states of the factor of a covariance."""
    x = pt.dvector("x")
    factor = pt.set_subtensor(pt.zeros((3, 3))[np.tril_indices(3)], x)
    factor.tag.lower_triangular = True
    cost = pt.linalg.cholesky(factor @ factor.T)[2, 1]
    (ours,), converted = bridge.from_pytensor(cost, [x])
    f = oc.function([ours], [converted, oc.grad(converted, ours)])
    assert not any("Cholesky" in str(node.op) for node in f.maker.fgraph.toposort())
    value, slope = f(np.array([1.0, 2, -3, 4, 5, 1e-9]))
    assert value == -5
    np.testing.assert_array_equal(slope, [0, 0, 0, 0, -1, 0])
