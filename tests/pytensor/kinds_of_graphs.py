"""Small graphs of PyTensor, by name: each makes a vector of a square matrix ``m`` and a vector ``v`` of the same length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytensor
import pytensor.sparse as ps
import pytensor.tensor as pt
import pytensor.xtensor as px
from pytensor.compile.builders import OpFromGraph
from pytensor.conditional import ifelse
from pytensor.gradient import (
    Rop,
    disconnected_grad,
    grad_clip,
    grad_scale,
    hessian,
    jacobian,
    zero_grad,
)
from pytensor.graph.replace import graph_replace
from pytensor.raise_op import Assert
from pytensor.scan.utils import until
from pytensor.tensor.optimize import minimize, minimize_scalar, root, root_scalar

N = 3
Kind = Callable[[Any, Any], Any]
linalg, random = pt.linalg, pt.random


def scan(step: Any, **options: Any) -> Any:
    return pytensor.scan(step, return_updates=False, **options)


def definite(m: Any) -> Any:
    return m @ m.T + 2 * pt.eye(N)


def two(m: Any) -> Any:
    """A batch of two definite matrices."""
    return pt.stack([definite(m), definite(m.T) * 0.5])


def together(outputs: Any) -> Any:
    """The sum of the last rows of two traces."""
    one, other = outputs
    return one[-1] + other[-1]


def _graph(outputs: Callable[[Any, Any], list[Any]], **options: Any) -> Any:
    m, v = pt.dmatrix(), pt.dvector()
    return OpFromGraph([m, v], outputs(m, v), **options)


def _draw_in_loop(m: Any, v: Any) -> Any:
    def step(state: Any, generator: Any) -> Any:
        after, drawn = random.normal(state, size=(N,), rng=generator, return_next_rng=True)
        return state + drawn, after

    return scan(step, outputs_info=[v, random.default_rng(3)], n_steps=4)[0][-1]


def _solved(solve: Any, objective: Any, v: Any, **options: Any) -> Any:
    """The solution of a problem in ``x``, which starts at ``v``."""
    x = v.type()
    return graph_replace([solve(objective(x), x, **options)[0]], {x: v})[0]


LATER = [-1, 0, 2]
LOOPS: dict[str, Kind] = {
    "sequence_ahead": lambda m, v: scan(lambda a, b, c, s: pt.tanh(a - b + 0.5 * c + s), sequences=[dict(input=pt.concatenate([m, m]), taps=LATER)], outputs_info=[v])[-1],
    "taps_with_a_gap": lambda m, v: scan(lambda a, b, w: pt.tanh(0.5 * a - 0.3 * b) + w[0], outputs_info=[dict(initial=pt.stack([v, v * 2, v - 1]), taps=[-3, -1])], non_sequences=[m], n_steps=5)[-2:].sum(0),
    "row_of_taps": lambda m, v: scan(lambda a, b, w: pt.tanh(0.5 * a - 0.3 * b) + w[0], outputs_info=[dict(initial=pt.stack([v, v * 2, v - 1]), taps=[-3, -1])], non_sequences=[m], n_steps=5)[1],
    "no_state": lambda m, v: scan(lambda row: row * v.sum(), sequences=[m])[1],
    "two_states": lambda m, v: together(scan(lambda row, s, t: (pt.tanh(s + t), row * s), sequences=[m], outputs_info=[v, v * 2])),
    "state_and_trace": lambda m, v: together(scan(lambda row, s: (pt.tanh(s * row), s.sum() * row), sequences=[m], outputs_info=[v, None])),
    "backwards": lambda m, v: scan(lambda row, s: pt.tanh(row - s), sequences=[m], outputs_info=[v], go_backwards=True)[-1],
    "truncated": lambda m, v: scan(lambda row, s: pt.tanh(row - s), sequences=[m], outputs_info=[v], truncate_gradient=2)[-1],
    "nested": lambda m, v: scan(lambda row, s: scan(lambda x, y: pt.tanh(x * y.sum() + y), sequences=[m], outputs_info=[s * row])[-1], sequences=[m], outputs_info=[v])[-1],
    "steps_are_computed": lambda m, v: scan(lambda s: pt.sin(s) + v.mean(), outputs_info=[v], n_steps=2 + (m.sum() > 0).astype("int64"))[-1],
    "one_step": lambda m, v: scan(lambda row, s: pt.sin(s) * row, sequences=[m[:1]], outputs_info=[v])[-1],
    "while_whole_trace": lambda m, v: scan(lambda s: (s * 1.5 + pt.tanh(m[0]), until(pt.abs(s).sum() > 9)), outputs_info=[v], n_steps=20).sum(0),
    "while_and_trace": lambda m, v: together(scan(lambda s: ((s * 1.5 + pt.tanh(m[0]), s.sum()), until(pt.abs(s).sum() > 9)), outputs_info=[v, None], n_steps=20)),
    "while_of_taps": lambda m, v: scan(lambda a, b: (0.9 * a + 0.4 * b + m[0], until(pt.abs(a).sum() > 6)), outputs_info=[dict(initial=pt.stack([v, v + 1]), taps=[-2, -1])], n_steps=15)[-1],
    "each_second_row": lambda m, v: scan(lambda s: pt.tanh(s) + m[0], outputs_info=[v], n_steps=7)[::2].sum(0),
    "rows_inside": lambda m, v: scan(lambda s: pt.tanh(s) + m[0], outputs_info=[v], n_steps=7)[2:4].sum(0),
    "last_rows_backwards": lambda m, v: scan(lambda s: pt.tanh(s) + m[0], outputs_info=[v], n_steps=7)[-1:-3:-1].prod(0),
    "matrix_state": lambda m, v: scan(lambda s: pt.tanh(s @ m) * 0.5, outputs_info=[m], n_steps=4)[-1] @ v,
    "counter": lambda m, v: together(scan(lambda s, i: (s * 0.5 + i, i + 1), outputs_info=[v, pt.constant(0, dtype="int64")], n_steps=4)),
    "map": lambda m, v: pytensor.map(lambda row: pt.exp(-row * row).sum(), [m], return_updates=False) * v,
    "draw_in_loop": _draw_in_loop,
    "hessian": lambda m, v: hessian(scan(lambda row, s: pt.tanh(row * s), sequences=[m], outputs_info=[v])[-1].sum(), v)[0],
    "jacobian": lambda m, v: jacobian(pt.tanh(m @ v), v)[1],
    "r_operator": lambda m, v: Rop(pt.tanh(m @ v), v, v),
    "ifelse_of_two": lambda m, v: sum(b[0] if b.ndim == 2 else b for b in ifelse(v[0] > 0, [v * 2, m], [m[0], m.T * 2])),
    "ifelse_in_ifelse": lambda m, v: ifelse(v[0] > 0, ifelse(m[0, 0] > 0, pt.exp(-v * v), v), linalg.inv(m + 9 * pt.eye(N))[0]),
    "ifelse_in_loop": lambda m, v: scan(lambda row, s: ifelse(row[0] > 0, s * 0.5, s + row), sequences=[m], outputs_info=[v])[-1],
    "inner_graph": lambda m, v: _graph(lambda a, b: [pt.tanh(a @ b)])(m, v),
    "inner_graph_inline": lambda m, v: _graph(lambda a, b: [pt.tanh(a @ b), b * 2], inline=True)(m, v)[0],
    "inner_graph_of_two": lambda m, v: sum(_graph(lambda a, b: [pt.tanh(a @ b), b * 2])(m, v)),
    "inner_graph_in_loop": lambda m, v: scan(lambda row, s: _graph(lambda a, b: [pt.sin(a @ b)])(m, s) * row, sequences=[m], outputs_info=[v])[-1],
}  # fmt: skip
MATRICES: dict[str, Kind] = {
    "cho_solve": lambda m, v: linalg.cho_solve((linalg.cholesky(definite(m)), True), v, b_ndim=1),
    "lu": lambda m, v: linalg.lu(two(m))[2][1, 0] * v,
    "lu_permuted": lambda m, v: linalg.lu(m + 4 * pt.eye(N), permute_l=True)[0][0] * v,
    "lu_solve": lambda m, v: linalg.lu_solve(linalg.lu_factor(two(m)), v, b_ndim=1)[1],
    "lu_solve_transposed": lambda m, v: linalg.lu_solve(linalg.lu_factor(m + 4 * pt.eye(N)), v, b_ndim=1, trans=True),
    "qr": lambda m, v: (lambda q, r: (q * pt.exp(-pt.sqr(q)))[0] + r[0])(*linalg.qr(definite(m))) * v,
    "singular_values": lambda m, v: linalg.svd(pt.stack([m, m.T * 2]), compute_uv=False)[1] * v,
    "eigh": lambda m, v: linalg.eigh(two(m))[0][1] * v,
    "eigvalsh_of_pencil": lambda m, v: linalg.eigvalsh(definite(m), definite(m.T)) * v,
    "det": lambda m, v: linalg.det(two(m)).sum() * v,
    "slogdet": lambda m, v: linalg.slogdet(two(m))[1].sum() * v,
    "inv": lambda m, v: linalg.inv(two(m))[1, 0] * v,
    "pinv": lambda m, v: linalg.pinv(definite(m))[0] * v,
    "expm": lambda m, v: linalg.expm(pt.tanh(m) * 0.2)[0] * v,
    "kron": lambda m, v: linalg.kron(m[:1], pt.ones((1, 2)))[0, :N] * v,
    "block_diag": lambda m, v: linalg.block_diag(m, m[:1, :1])[N].sum() * v,
    "matrix_power": lambda m, v: linalg.matrix_power(m, 3)[0] * v,
    "norms": lambda m, v: (linalg.norm(m, ord="fro") + linalg.norm(m, ord=1) + linalg.norm(v, ord=3)) * v,
    "sylvester": lambda m, v: linalg.solve_sylvester(definite(m), definite(m.T), m)[0] * v,
    "discrete_lyapunov": lambda m, v: linalg.solve_discrete_lyapunov(pt.tanh(m) * 0.2, definite(m))[0] * v,
    "continuous_lyapunov": lambda m, v: linalg.solve_continuous_lyapunov(definite(m), m)[0] * v,
    "discrete_riccati": lambda m, v: linalg.solve_discrete_are(pt.tanh(m) * 0.2, pt.eye(N), definite(m), pt.eye(N))[0] * v,
    "triangular_transposed": lambda m, v: linalg.solve_triangular(pt.triu(m) + 3 * pt.eye(N), v, lower=False, trans=1, b_ndim=1),
    "triangular_unit": lambda m, v: linalg.solve_triangular(pt.tril(m), v, lower=True, unit_diagonal=True, b_ndim=1),
    "solve_definite": lambda m, v: linalg.solve(definite(m), m, assume_a="pos")[0] * v,
    "solve_symmetric": lambda m, v: linalg.solve(definite(m), m, assume_a="sym")[0] * v,
    "solve_tridiagonal": lambda m, v: linalg.solve(pt.diag(pt.tanh(v)) + 9 * pt.eye(N), m, assume_a="tridiagonal")[0] * v,
    "solve_diagonal": lambda m, v: linalg.solve(pt.diag(v * v + 1), m, assume_a="diagonal")[0] * v,
    "products_of_batches": lambda m, v: (two(m) @ two(m.T))[1, 0] * pt.matvec(two(m), v)[1] + pt.vecmat(v, two(m))[0] + pt.vecdot(m, v),
    "einsum": lambda m, v: pt.einsum("ij,jk,k->i", m, m, v),
    "tensordot": lambda m, v: pt.tensordot(two(m), m, axes=[[1, 2], [0, 1]]).sum() * v,
    "core_of_a_batch": lambda m, v: pt.vectorize(lambda row: linalg.cholesky(pt.outer(row, row) + pt.eye(N))[1] @ row, signature="(n)->()")(m) * v,
}  # fmt: skip
SHAPES: dict[str, Kind] = {
    "join": lambda m, v: pt.join(0, m, v[None], m[::-2])[3:].sum(0),
    "join_of_columns": lambda m, v: pt.join(1, m, v[:, None], m[:, ::-1]).sum(1),
    "split": lambda m, v: (lambda a, b: b[0] * v + a.sum())(*pt.split(m, [1, 2], n_splits=2, axis=0)),
    "split_of_columns": lambda m, v: (lambda a, b: b.sum(1) * v + a[:, 0])(*pt.split(m, [1, 2], n_splits=2, axis=1)),
    "tile": lambda m, v: pt.tile(v, (2, 2))[1, :N],
    "repeat": lambda m, v: pt.repeat(v, 2)[1:4] + pt.repeat(v, pt.as_tensor([2, 0, 1])),
    "roll": lambda m, v: pt.roll(m, 1, axis=0)[0] * v,
    **{f"pad_{mode}": lambda m, v, mode=mode: pt.pad(v, (2, 1), mode=mode)[:N] for mode in ("constant", "edge", "reflect", "wrap", "linear_ramp", "mean", "symmetric", "maximum")},
    "join_dims": lambda m, v: pt.join_dims(two(m), start_axis=0, n_axes=2)[4] * v,
    "split_dims": lambda m, v: pt.split_dims(v, shape=(1, N), axis=0)[0],
    "diff": lambda m, v: pt.diff(m, axis=0).sum(0) * v + pt.cumprod(m, axis=1)[1],
    "permuted": lambda m, v: pt.flip(m, axis=1)[0] * pt.moveaxis(two(m), 0, 2)[1, 2].sum() + pt.swapaxes(two(m), 1, 2)[1, 0] * v,
    "alloc": lambda m, v: pt.alloc(v, 2, N)[1] + pt.full((N,), v[0]) + pt.broadcast_to(v, (2, N))[1],
    "diagonals": lambda m, v: pt.diagonal(two(m), axis1=1, axis2=2, offset=1).sum() * v + pt.diag(v)[1] + pt.diagonal(m, offset=-1)[0] + pt.fill_diagonal(m, v[0])[1],
    "specified": lambda m, v: pt.specify_shape(v, (N,)) * 2 + Assert("wrong")(v, pt.all(m > -99)),
    "named": lambda m, v: (lambda a: (px.math.exp(-a * a) * a.mean("b")).sum("a").values)(px.as_xtensor(m, dims=("a", "b"))) * v,
    "increments": lambda m, v: pt.inc_subtensor(m[[0, 1, 1]], m)[1] * v,
    "set_of_places": lambda m, v: pt.set_subtensor(m[[0, 1], [2, 0]], v[:2])[1],
    "increments_of_places": lambda m, v: pt.inc_subtensor(m[[0, 0, 1], [2, 2, 0]], v)[0],
    "increments_of_columns": lambda m, v: pt.inc_subtensor(m[:, [0, 0]], v[:, None])[0],
    "increments_in_a_slice": lambda m, v: pt.inc_subtensor(two(m)[[1, 0, 1], 1:, 0], v[:2])[1, 1],
    "set_by_mask": lambda m, v: pt.set_subtensor(v[v > 0], 0.5) + pt.set_subtensor(m[m > 0], 0.5)[0],
    "increments_by_mask": lambda m, v: pt.inc_subtensor(m[v > 0], v)[0],
    "by_mask": lambda m, v: m[m > 0].sum() * v + m[v > 0].sum(0),
    "set_backwards": lambda m, v: pt.set_subtensor(m[::-2], v)[0] + pt.inc_subtensor(m[::-1, ::2], v[:, None])[1],
    "increment_at_a_computed_row": lambda m, v: pt.inc_subtensor(m[(v > 0).sum() - 1], v)[2],
    "set_twice": lambda m, v: pt.set_subtensor(v[[1, 1, 0]], v),
    "take": lambda m, v: pt.take(m, [2, 0], axis=1).sum(1) * v + pt.take_along_axis(m, pt.argsort(m, axis=1), axis=1)[0],
    "places_and_new_axes": lambda m, v: m[None, [0, 1, 1], :, None][0, 2, :, 0] * v + two(m)[[0, 1], :, [2, 0]][1],
    "negative_places": lambda m, v: m[[-1, -2], [0, -1]].sum() * v,
    "nonzero": lambda m, v: (m > 0).nonzero()[0].sum() * v + pt.where(m > 0, m, v)[1],
    "choose": lambda m, v: pt.choose(pt.as_tensor([0, 1, 0]), [v, v * 2]),
    "extremes": lambda m, v: m[pt.argmin(m, axis=0), pt.arange(N)] * v + pt.min(m, axis=0) - pt.max(m, axis=1) + pt.max_and_argmax(m, axis=1)[0],
    "truth": lambda m, v: pt.any(m > 0, axis=0) * v + pt.all(m > -9, axis=1),
    "moments": lambda m, v: pt.var(m, axis=0, ddof=1) + pt.std(m) * v + pt.median(m, axis=0),
    "unique": lambda m, v: pt.unique(pt.round(v)).sum() * v + pt.bincount(pt.as_tensor([0, 2, 2]), weights=v, minlength=N)[:N],
}  # fmt: skip
FUNCTIONS: dict[str, Kind] = {
    "gamma_functions": lambda m, v: pt.gammaln(pt.abs(v) + 1) + pt.psi(pt.abs(v) + 1) + pt.gammainc(pt.abs(v) + 1, pt.abs(m[0]) + 0.5) + pt.betainc(pt.abs(v) + 1, 2.0, 0.3),
    "error_functions": lambda m, v: pt.erfcx(v) + pt.erfinv(pt.tanh(v) * 0.9) + pt.erfcinv(1 + 0.5 * pt.tanh(v)),
    "bessel_functions": lambda m, v: pt.ive(1.5, pt.abs(v) + 0.1) + pt.i0(pt.tanh(v)) + pt.j1(v),
    "logarithms": lambda m, v: pt.log1mexp(-pt.abs(v) - 0.1) + pt.expm1(v) + pt.log1pexp(v) + pt.arccosh(v * v + 1),
    "rounded": lambda m, v: (pt.cast(v * 10, "int64") % 3) + (pt.cast(v * 10, "int64") // 2) + pt.trunc(v) + pt.round(v, mode="half_away_from_zero"),
    "complex": lambda m, v: pt.abs(pt.complex(v, v * 2)) + pt.real(pt.exp(pt.complex(v * 0, v))) + pt.angle(pt.complex(v, m[0])),
    "powers": lambda m, v: v**2 + v**3 + pt.abs(v) ** 0.5 + (v * v + 1) ** -2,
    "barriers": lambda m, v: zero_grad(v) + grad_clip(v, -1, 1) * 2 + disconnected_grad(v) + grad_scale(v, 0.3) ** 2,
    "convolved": lambda m, v: pt.signal.convolve1d(v, v[:2], mode="same") + pt.signal.convolve2d(m, m[:2, :2], mode="valid")[0, 0],
    "transformed": lambda m, v: pt.fft.rfft(m)[0, :, 0].sum() * v,
    "sparse_product": lambda m, v: ps.dot(ps.csr_from_dense(pt.switch(m > 0, m, 0.0)), pt.outer(v, v))[0],
    "sparse_structured": lambda m, v: ps.structured_dot(ps.csc_from_dense(m), pt.outer(v, v))[0],
    "sparse_elementwise": lambda m, v: ps.dense_from_sparse(ps.add(ps.csr_from_dense(m), ps.mul(ps.csr_from_dense(m), ps.csr_from_dense(m))))[1] * v,
    "sparse_shapes": lambda m, v: ps.sp_sum(ps.csc_from_dense(m), axis=0) * v + ps.dense_from_sparse(ps.transpose(ps.csr_from_dense(m)))[0] + ps.diag(ps.csc_from_dense(m)),
    "sparse_sparse": lambda m, v: ps.dense_from_sparse(ps.true_dot(ps.csr_from_dense(m), ps.csr_from_dense(m.T)))[0] * v,
    "minimum": lambda m, v: _solved(minimize, lambda x: pt.sqr(x - m[0]).sum(), v, method="BFGS"),
    "minimum_of_a_scalar": lambda m, v: _solved(minimize_scalar, lambda x: pt.sqr(x - m[0, 0]), v[0]) * v,
    "root": lambda m, v: _solved(root, lambda x: x**3 + x - m[0], v),
    "root_of_a_scalar": lambda m, v: _solved(root_scalar, lambda x: x**3 + x - m[0, 0], v[0], method="newton") * v,
}  # fmt: skip
LAWS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "uniform": lambda r, m, v: random.uniform(v, v + 1, rng=r),
    "gamma": lambda r, m, v: random.gamma(pt.abs(v) + 1, scale=2.0, rng=r),
    "beta": lambda r, m, v: random.beta(pt.abs(v) + 1, 2.0, rng=r),
    "exponential": lambda r, m, v: random.exponential(2.0, size=(N,), rng=r),
    "poisson": lambda r, m, v: random.poisson(pt.abs(v) + 1, rng=r),
    "binomial": lambda r, m, v: random.binomial(5, pt.sigmoid(v), rng=r),
    "negative_binomial": lambda r, m, v: random.negative_binomial(5, pt.sigmoid(v), rng=r),
    "categorical": lambda r, m, v: random.categorical(pt.special.softmax(m, axis=-1), rng=r),
    "multivariate_normal": lambda r, m, v: random.multivariate_normal(v, definite(m), rng=r),
    "normal_batch": lambda r, m, v: random.multivariate_normal(m, definite(m), rng=r)[1],
    "dirichlet": lambda r, m, v: random.dirichlet(pt.abs(m) + 1, rng=r)[0],
    "multinomial": lambda r, m, v: random.multinomial(7, pt.special.softmax(m, axis=-1), rng=r)[1],
    "choice": lambda r, m, v: random.choice(v, size=(N,), replace=False, rng=r),
    "permutation": lambda r, m, v: random.permutation(m, rng=r)[0],
    "integers": lambda r, m, v: random.integers(0, 9, size=(N,), rng=r),
    "student": lambda r, m, v: random.t(5.0, v, 1.0, rng=r),
    "von_mises": lambda r, m, v: random.vonmises(pt.tanh(v), 1.0, rng=r),
    "wald": lambda r, m, v: random.wald(pt.abs(v) + 1, 1.0, rng=r),
    "truncated_exponential": lambda r, m, v: random.truncexpon(pt.abs(v) + 1, 0.0, 1.0, rng=r),
    "hypergeometric": lambda r, m, v: random.hypergeometric(5, 6, 4, size=(N,), rng=r),
    "triangular": lambda r, m, v: random.triangular(v, v + 1, v + 3, rng=r),
    "beta_binomial": lambda r, m, v: random.betabinom(6, 2.0, 3.0, size=(N,), rng=r),
    "half_cauchy": lambda r, m, v: random.halfcauchy(v, 1.0, rng=r),
}  # fmt: skip
KINDS: dict[str, Kind] = {
    **LOOPS, **MATRICES, **SHAPES, **FUNCTIONS,
    **{f"draw_{name}": lambda m, v, law=law: law(random.default_rng(11), m, v) * v for name, law in LAWS.items()},
}  # fmt: skip
