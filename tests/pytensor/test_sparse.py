"""Sparse matrices of PyTensor: values and gradients beside PyTensor's own, by both doors, and there and back."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.sparse as ps
import pytensor.tensor as pt
import pytest
import scipy.sparse as ss
from pytensor.compile.mode import Mode, get_mode
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import ancestors
from pytensor.raise_op import CheckAndRaise

import occelo as oc
import occelo_pytensor as bridge

pytestmark = [
    pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS"),
    pytest.mark.filterwarnings("ignore:Changing the sparsity structure"),  # SciPy's, of PyTensor
    pytest.mark.filterwarnings("ignore:Comparing"),  # SciPy's, of PyTensor's comparisons
]
THEIRS = Mode("py", "fast_compile")


def _random(format: str, seed: int) -> Any:
    """A matrix with a row without elements, one stored zero, and elements that are not in order."""
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((4, 3)) < 0.5, rng.normal(size=(4, 3)), 0.0)
    dense[1 + seed] = 0.0
    dense[0] = [1.0, -2.0, 3.0]
    made = ss.csr_matrix(dense) if format == "csr" else ss.csc_matrix(dense)
    if seed == 0:
        made.indices[:3], made.data[:3] = [2, 0, 1], [3.0, 0.0, -2.0]
        made.has_sorted_indices = False
    return made


RNG = np.random.default_rng(5)
VALUES = [
    _random("csr", 0), _random("csc", 1), _random("csr", 2), RNG.normal(size=(4, 3)), RNG.normal(size=3), np.float64(0.7),
]  # fmt: skip
SPARSE = 3
"""How many of the values are sparse."""

Build = Callable[..., Any]
CASES: dict[str, Build] = {
    "sums": lambda a, b, c, m, v, s: a + b - c,
    "products": lambda a, b, c, m, v, s: a * c * b,
    "products with dense ones": lambda a, b, c, m, v, s: a * m * v * s,
    "a dense sum": lambda a, b, c, m, v, s: a + m,
    "sums with rows": lambda a, b, c, m, v, s: ps.structured_add_s_v(c, v),
    "sums of one structure": lambda a, b, c, m, v, s: ps.add_s_s_data(a, a * s),
    "transpose": lambda a, b, c, m, v, s: a.T + b.T,
    "dot": lambda a, b, c, m, v, s: ps.dot(a, m.T) + ps.dot(m, b.T),
    "dot with vectors": lambda a, b, c, m, v, s: ps.dot(b, v) * ps.dot(a, v),
    "vectors dot": lambda a, b, c, m, v, s: ps.dot(v, a.T) + ps.dot(v, b.T),
    "dot of sparse ones": lambda a, b, c, m, v, s: ps.dot(a, b.T),
    "structured dot": lambda a, b, c, m, v, s: ps.structured_dot(a, m.T) + ps.structured_dot(b, m.T),
    "structured dot of sparse ones": lambda a, b, c, m, v, s: ps.structured_dot(a, b.T),
    "true dot": lambda a, b, c, m, v, s: ps.true_dot(a, b.T),
    "true dot with a dense one": lambda a, b, c, m, v, s: ps.true_dot(b, m.T),
    "sampling dot": lambda a, b, c, m, v, s: ps.sampling_dot(m, m[:3], a) + ps.sampling_dot(m, m[1:], b),
    "usmm": lambda a, b, c, m, v, s: ps.usmm(s.dimshuffle("x", "x"), a, m.T, m @ m.T),
    "total": lambda a, b, c, m, v, s: ps.sp_sum(a) * ps.sp_sum(b, sparse_grad=True),
    "sums of rows and columns": lambda a, b, c, m, v, s: ps.sp_sum(b, 0) * ps.sp_sum(a, 0) + ps.sp_sum(a, 1)[:3],
    "sums of integers": lambda a, b, c, m, v, s: ps.sp_sum(ps.cast(a * 10.0, "int64"), 0),
    "conversions": lambda a, b, c, m, v, s: ps.dense_from_sparse(b) + ps.dense_from_sparse(ps.csr_from_dense(m * (m > 0))) + ps.dense_from_sparse(ps.csc_from_dense(m)),
    "casts": lambda a, b, c, m, v, s: ps.dense_from_sparse(ps.cast(a, "float32")) + ps.dense_from_sparse(ps.cast(b * 10.0, "int64")),
    "parts": lambda a, b, c, m, v, s: ps.csm_data(a) * 2 + ps.csm_indices(a) + ps.csm_indptr(a)[-1] + ps.csm_shape(b)[0] + b.shape[1],
    "a matrix of parts": lambda a, b, c, m, v, s: ps.CSR(ps.csm_data(a) * v.sum(), ps.csm_indices(a), ps.csm_indptr(a), ps.csm_shape(a)),
    "a matrix of columns": lambda a, b, c, m, v, s: ps.CSC(v, [2, 0, 2], [0, 1, 1, 3], [4, 3]),
    "elements": lambda a, b, c, m, v, s: a[1, 2] + b[-1, 0],
    "slices": lambda a, b, c, m, v, s: ps.hstack([a[1:3, :2], b[::2, 1:]]),
    "rows": lambda a, b, c, m, v, s: a[[0, 2, 3]],
    "pairs": lambda a, b, c, m, v, s: a[[0, 2, 1], [1, 0, 2]] * b[[0, 0, -1], [1, 2, 0]],
    "scaled": lambda a, b, c, m, v, s: ps.col_scale(a, v) + ps.row_scale(b, m[:, 0]),
    "diagonals": lambda a, b, c, m, v, s: ps.diag(ps.structured_dot(a.T, b)) + ps.diag(ps.square_diagonal(v)),
    "in order": lambda a, b, c, m, v, s: ps.ensure_sorted_indices(a) + ps.clean(a),
    "stacks": lambda a, b, c, m, v, s: ps.vstack([ps.hstack([a, b], format="csr"), ps.hstack([b, c])]),
    "a stack in csr": lambda a, b, c, m, v, s: ps.vstack([a, b], format="csr"),
    "blocks": lambda a, b, c, m, v, s: ps.linalg.block_diag(a, b, format="csr"),
    "rows of a list": lambda a, b, c, m, v, s: ps.construct_sparse_from_list(m, m[:2], pt.as_tensor([2, 0])),
    "functions of elements": lambda a, b, c, m, v, s: ps.structured_exp(a) + ps.sin(c) - ps.structured_pow(c, 2.0) + -ps.sqr(a),
    "equal": lambda a, b, c, m, v, s: ps.eq(a, c),
    "comparisons": lambda a, b, c, m, v, s: ps.lt(a, c) + ps.neq(a, c) + ps.gt(c, a),
    "comparisons with zeros": lambda a, b, c, m, v, s: ps.le(a, c) + ps.ge(a, c),
    "comparisons with dense ones": lambda a, b, c, m, v, s: ps.gt(a, m) + ps.ge(a, m) * 2 + ps.eq(b, m),
    "ones and zeros": lambda a, b, c, m, v, s: ps.sp_ones_like(a) * s + ps.sp_zeros_like(b) * v,
    "a constant": lambda a, b, c, m, v, s: ps.dot(ps.as_sparse_variable(VALUES[0]), m.T),
    "lengths": lambda a, b, c, m, v, s: pt.specify_shape(a, (4, None)),
}  # fmt: skip
UNDIFFERENTIABLE = {
    "sums of one structure", "vectors dot", "dot of sparse ones", "true dot", "sampling dot", "usmm", "sums of integers", "casts", "elements",
    "slices", "ones and zeros", "diagonals", "blocks", "rows of a list", "equal", "comparisons", "comparisons with zeros", "comparisons with dense ones",
}  # fmt: skip
"""Of what PyTensor has no gradient, or an error in place of one."""


def _inputs() -> list[Any]:
    return [
        ps.csr_matrix("a", "float64"), ps.csc_matrix("b", "float64"), ps.csr_matrix("c", "float64"),
        pt.dmatrix("m"), pt.dvector("v"), pt.dscalar("s"),
    ]  # fmt: skip


def _dense(value: Any) -> Any:
    return value.toarray() if ss.issparse(value) else np.asarray(value)


def _same(found: Any, wanted: Any) -> None:
    assert found.dtype == wanted.dtype
    assert getattr(found, "format", None) == getattr(wanted, "format", None)
    np.testing.assert_allclose(_dense(found), _dense(wanted), rtol=1e-12, atol=1e-13)


def _cost(out: Any, sums: Any, square: Any) -> Any:
    return sums(square(out)) if hasattr(out.type, "format") else (out**2).sum()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_those_of_pytensor(name: str) -> None:
    inputs = _inputs()
    out = CASES[name](*inputs)
    known = ancestors([out])
    at = [i for i, x in enumerate(inputs) if x in known and name not in UNDIFFERENTIABLE]
    cost = _cost(out, lambda x: ps.sp_sum(x, sparse_grad=True), ps.sqr)
    slopes = pytensor.grad(cost, [inputs[i] for i in at]) if at else []
    ignore = {"on_unused_input": "ignore"}
    wanted = pytensor.function(inputs, [out, *slopes], mode=THEIRS, **ignore)(*VALUES)
    found = pytensor.function(inputs, [out, *slopes], mode="OCCELO", **ignore)(*VALUES)
    for ours, theirs in zip(found, wanted, strict=True):
        _same(ours, theirs)

    # our gradient has the structure of the matrix; PyTensor's is dense for some functions
    ours, (converted,) = bridge.from_pytensor([out], inputs)
    our_cost = _cost(converted, oc.sparse.sp_sum, oc.sparse.sqr)
    our_slopes = oc.grad(our_cost, [ours[i] for i in at]) if at else []
    f = oc.function(ours, [converted, *our_slopes], **ignore)
    value, *gradients = f(*VALUES)
    _same(value, wanted[0])
    for i, ours_, theirs in zip(at, gradients, wanted[1:], strict=True):
        stored = 1.0
        if i < SPARSE:
            stored = VALUES[i].copy()
            stored.data[:] = 1.0
            stored = stored.toarray()
        np.testing.assert_allclose(_dense(ours_), _dense(theirs) * stored, rtol=1e-11, atol=1e-12)

    back, (there,) = bridge.to_pytensor([converted], ours)
    _same(pytensor.function(back, there, mode=THEIRS, **ignore)(*VALUES), wanted[0])


@pytest.mark.parametrize("name", ["structured dot", "functions of elements", "scaled"])
def test_rewritten_graphs_are_converted(name: str) -> None:
    inputs = _inputs()
    out = CASES[name](*inputs)
    wanted = pytensor.function(inputs, out, mode=THEIRS, on_unused_input="ignore")(*VALUES)
    graph = FunctionGraph(inputs, [out], clone=True)
    get_mode("FAST_RUN").excluding("cxx_only", "inplace").optimizer.rewrite(graph)
    ours, converted = bridge.from_pytensor(graph.outputs[0], graph.inputs)
    found = oc.function(ours, converted, on_unused_input="ignore")(*VALUES)
    np.testing.assert_allclose(_dense(found), _dense(wanted), rtol=1e-12)


def test_a_row_that_is_taken_twice_has_both_derivatives() -> None:
    """PyTensor's gradient has the last one only, so it differs from the difference quotient."""
    a = ps.csr_matrix("a", "float64")
    cost = ps.sp_sum(ps.sqr(a[[0, 2, 0]]), sparse_grad=True) + (a[[0, 0], [1, 1]] ** 2).sum()
    slope = pytensor.grad(cost, a)
    value = VALUES[2]
    found = pytensor.function([a], slope, mode="OCCELO")(value).toarray()
    wanted = value.toarray() * np.array([[4.0], [0.0], [2.0], [0.0]])
    wanted[0, 1] *= 2
    np.testing.assert_allclose(found, wanted)


def test_shared_matrices_and_updates() -> None:
    s, v = pytensor.shared(VALUES[0], "s"), pt.dvector("v")
    f = pytensor.function([v], ps.dot(s, v), updates=[(s, s * 2.0)], mode="OCCELO")
    product = VALUES[0] @ VALUES[4]
    np.testing.assert_allclose([f(VALUES[4]), f(VALUES[4])], [product, 2 * product])
    assert s.get_value().format == "csr"
    (ours,), converted = bridge.from_pytensor(ps.dot(s, v), [v])
    g = oc.function([ours], converted)
    np.testing.assert_allclose(g(VALUES[4]), 4 * product)
    wide = VALUES[2].copy()
    wide.indices, wide.indptr = wide.indices.astype("int64"), wide.indptr.astype("int64")
    s.set_value(wide, borrow=True)
    np.testing.assert_allclose(f(VALUES[4]), VALUES[2] @ VALUES[4])
    back, theirs = bridge.to_pytensor(converted, [ours])
    np.testing.assert_allclose(
        pytensor.function(back, theirs, mode=THEIRS)(VALUES[4]), 2 * (VALUES[2] @ VALUES[4])
    )


def test_arguments_and_results() -> None:
    a, v = ps.csr_matrix("a", "float64"), pt.dvector("v")
    f = pytensor.function([a, v], [ps.dot(a, v), a, ps.csm_data(a)], mode="OCCELO")
    wide = VALUES[0].copy()
    wide.indices, wide.indptr = wide.indices.astype("int64"), wide.indptr.astype("int64")
    for trusted in (False, True):
        f.trust_input = trusted
        product, copy, data = f(wide, VALUES[4])
        np.testing.assert_allclose(product, VALUES[0] @ VALUES[4])
        copy.data[:], data[:] = 7.0, 8.0
        np.testing.assert_array_equal(wide.toarray(), VALUES[0].toarray())
    f.trust_input = False
    for other in (ss.csc_matrix(VALUES[0]), ss.csr_array(VALUES[0]), VALUES[0].toarray()):
        np.testing.assert_allclose(f(other, VALUES[4])[0], VALUES[0] @ VALUES[4])
    assert f(ss.csr_matrix((0, 3)), VALUES[4])[0].shape == (0,)
    again = pickle.loads(pickle.dumps(f))
    np.testing.assert_allclose(again(VALUES[0], VALUES[4])[0], VALUES[0] @ VALUES[4])
    oc.explain(f, file=io.StringIO())
    with pytest.raises(ValueError, match="inner lengths of a product differ"):
        f(ss.csr_matrix((2, 5)), VALUES[4])


def test_what_is_refused_says_why() -> None:
    d = ps.bsr_matrix("d", "float64")
    with pytest.raises(TypeError, match="CSR and CSC"):
        pytensor.function([d], ps.dense_from_sparse(d), mode="OCCELO")
    with pytest.raises(TypeError, match="CSR and CSC"):
        bridge.from_pytensor(ps.dense_from_sparse(d))


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_checks_of_constant_matrices(format: str) -> None:
    matrix = ps.as_sparse_variable(_random(format, 1))
    x = pt.dscalar("x")
    checked = CheckAndRaise(ValueError, "x is small")(matrix, x > 2)
    f = pytensor.function([x], [checked.sum(), ps.dense_from_sparse(checked)], mode="OCCELO")
    total, dense = f(3.0)
    np.testing.assert_allclose(total, matrix.data.sum())
    np.testing.assert_array_equal(dense, matrix.data.toarray())
    with pytest.raises(ValueError, match="x is small"):
        f(1.0)


def test_a_model_with_a_sparse_matrix() -> None:
    grid = np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1)
    with pm.Model() as model:
        alpha, tau = pm.Beta("alpha", 2, 2), pm.Gamma("tau", 2, 2)
        phi = pm.CAR("phi", mu=np.zeros(6), tau=tau, alpha=alpha, W=ss.csr_matrix(grid))
        pm.Normal("y", phi, 1, observed=np.arange(6.0))
    point = model.initial_point()
    point["phi"] = np.linspace(-1, 1, 6)
    wanted = model.compile_fn([model.logp(), model.dlogp()], mode=THEIRS)(point)
    found = model.compile_fn([model.logp(), model.dlogp()], mode="OCCELO")(point)
    density = bridge.log_density(model)
    value, slope = density.function()(np.concatenate([np.ravel(x) for x in point.values()]))
    for a, b, c in zip(found, wanted, (value, slope), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)
        np.testing.assert_allclose(c, b, rtol=1e-10)
