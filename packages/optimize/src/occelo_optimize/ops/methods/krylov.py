"""Methods for systems of linear equations that only use products with the matrix: CG, MINRES and GMRES."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from occelo_graph.ops.create import alloc, zeros_like
from occelo_graph.ops.elemwise.arithmetic import eq, switch
from occelo_graph.ops.index.subtensor import set_subtensor
from occelo_graph.ops.join import concatenate
from occelo_linalg.ops.pinv import pinv
from occelo_loops.ops.building.loops import fori_loop
from occelo_optimize.ops.methods.iterating import Found, iterate

Product = Callable[[Any], Any]


def _norm(v: Any) -> Any:
    return (v**2).sum() ** 0.5


def cg(product: Product, b: Any, x: Any, precondition: Product, *, tol: Any, maxiter: Any) -> Found:
    """Conjugate gradients, for a matrix that is symmetric and positive definite."""

    def step(state: Any) -> Any:
        x, r, p, rho = state
        q = product(p)
        size = rho / (p * q).sum()
        r = r - size * q
        z = precondition(r)
        after = (r * z).sum()
        return x + size * p, r, z + after / rho * p, after

    r = b - product(x)
    z = precondition(r)
    final, nit = iterate(step, lambda s: _norm(s[1]) <= tol, (x, r, z, (r * z).sum()), maxiter)
    return Found(final[0], _norm(final[1]) <= tol, nit)


def minres(
    product: Product, b: Any, x: Any, precondition: Product, *, tol: Any, maxiter: Any
) -> Found:
    """The least residual in a Krylov space, for a symmetric matrix, by Lanczos' recurrence and rotations of Givens."""
    del precondition

    def step(state: Any) -> Any:
        x, before, v, beta, eta, c0, c1, s0, s1, w0, w1 = state
        v = v / beta
        q = product(v)
        alpha = (v * q).sum()
        following = q - alpha * v - beta * before
        length = _norm(following)
        delta = c1 * alpha - c0 * s1 * beta
        r1 = (delta**2 + length**2) ** 0.5
        w = (v - s0 * beta * w0 - (s1 * alpha + c0 * c1 * beta) * w1) / r1
        c, s = delta / r1, length / r1
        return x + c * eta * w, v, following, length, -s * eta, c1, c, s1, s, w1, w

    r = b - product(x)
    beta = _norm(r)
    one, zero, nothing = 1.0 + 0.0 * beta, 0.0 * beta, zeros_like(r)
    start = (x, nothing, r, beta, beta, one, one, zero, zero, nothing, nothing)

    def is_final(state: Any) -> Any:
        return (abs(state[4]) <= tol) | eq(state[3], 0.0)

    final, nit = iterate(step, is_final, start, maxiter)
    return Found(final[0], abs(final[4]) <= tol, nit)


def gmres(
    product: Product, b: Any, x: Any, precondition: Product, *, tol: Any, maxiter: Any, restart: int
) -> Found:
    """The least residual in a Krylov space of ``restart`` dimensions, again and again. An iteration is one such space."""

    def step(state: Any) -> Any:
        x, r, beta = state
        first = switch(beta > 0.0, r / switch(beta > 0.0, beta, 1.0), 0.0 * r)
        basis = concatenate([first[None, :], alloc(np.zeros((), r.dtype), restart, r.shape[0])])
        heights = np.zeros((restart + 1, restart), r.dtype) + 0.0 * beta

        def extend(k: Any, state: Any) -> Any:
            basis, heights = state
            w = product(precondition(basis[k]))
            scale = _norm(w)
            coefficients = basis @ w
            w = w - coefficients @ basis
            again = basis @ w
            w = w - again @ basis
            length = _norm(w)
            # beyond the space that the matrix spans there is only roundoff
            fresh = length > 10.0 * np.finfo(r.dtype).eps * scale
            row = switch(fresh, w / switch(fresh, length, 1.0), 0.0 * w)
            basis = set_subtensor(basis[k + 1], row)
            column = set_subtensor((coefficients + again)[k + 1], switch(fresh, length, 0.0))
            return basis, set_subtensor(heights[:, k], column)

        basis, heights = fori_loop(0, restart, extend, (basis, heights))
        weights = pinv(heights)[:, 0] * beta
        x = x + precondition(weights @ basis[:restart])
        r = b - product(x)
        return x, r, _norm(r)

    r = b - product(x)
    final, nit = iterate(step, lambda s: s[2] <= tol, (x, r, _norm(r)), maxiter)
    return Found(final[0], final[2] <= tol, nit)
