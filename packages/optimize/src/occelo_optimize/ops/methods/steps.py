"""Steps of solvers of differential equations, and those of the collocation method Radau IIA for stiff ones.

A step goes from (t, y) by h. It returns the value at t + h, an estimate of its error, the coefficients of a polynomial that
interpolates inside of the step, and whether it can be used. The coefficients are rows; row i belongs to s^(i + 1), where s goes
from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from occelo_graph.gradient.jacobians import jacobian
from occelo_graph.ops.create import eye
from occelo_graph.ops.elemwise.arithmetic import isfinite, maximum, switch
from occelo_graph.ops.join import concatenate, stack
from occelo_graph.ops.reduce import all as all_of
from occelo_graph.ops.shape.reshaping import reshape
from occelo_linalg.ops.equations.solve import solve
from occelo_linalg.ops.inverse import inv
from occelo_optimize.ops.methods.iterating import iterate

Rates = Callable[[Any, Any], Any]


class Step(NamedTuple):
    """The result of a step. ``rate`` is the derivative at its end, which the next step starts with."""

    y: Any
    rate: Any
    error: Any
    dense: Any
    usable: Any


def root_mean_square(error: Any, scale: Any) -> Any:
    """The size of an error relative to a scale; 0 for a system without equations."""
    count = maximum(error.shape[0], 1).astype(error.dtype)
    return ((error / scale) ** 2).sum() ** 0.5 / count**0.5


class Method(NamedTuple):
    """A method: its step, the power of h with which its error decreases, the rows of its interpolation, and the size of its error."""

    step: Callable[[Rates, Any, Any, Any, Any], Step]
    order: int
    rows: int
    size: Callable[[Any, Any], Any] = root_mean_square


_ROOT = 6.0**0.5
_NODES = np.array([(4 - _ROOT) / 10, (4 + _ROOT) / 10, 1.0])
_WEIGHTS = np.array([[_NODES[i] ** k for k in range(3)] for i in range(3)])
_COLLOCATION = np.array(
    [[_NODES[i] ** (k + 1) / (k + 1) for k in range(3)] for i in range(3)]
) @ np.linalg.inv(_WEIGHTS)
_REAL = 3 + 3 ** (2 / 3) - 3 ** (1 / 3)
_ESTIMATE = np.array([-13 - 7 * _ROOT, -13 + 7 * _ROOT, -1]) / 3
_TO_POWERS = np.linalg.inv(np.array([[_NODES[i] ** (k + 1) for k in range(3)] for i in range(3)]))
_NEWTON = 10


def _radau(f: Rates, t: Any, y: Any, rate: Any, h: Any) -> Step:
    """The values at three nodes solve a system of 3 n equations, by Newton's method with the Jacobian at the start."""
    n = y.shape[0]
    matrix = jacobian(f(t, y), y)
    dtype = y.dtype
    nodes, weights = _NODES.astype(dtype), _COLLOCATION.astype(dtype)
    # the Kronecker product of the weights and the Jacobian
    product = weights[:, None, :, None] * matrix[None, :, None, :]
    system = eye(3 * n, dtype=dtype) - h * reshape(product, (3 * n, 3 * n))
    inverse = inv(system, on_error="nan")
    small = np.finfo(dtype).eps ** 0.5 * 1e-2

    def correct(state: Any) -> Any:
        z, _, _ = state
        rates = stack([f(t + nodes[i] * h, y + z[i]) for i in range(3)])
        move = inverse @ reshape(h * (weights @ rates) - z, (3 * n,))
        z = z + reshape(move, (3, n))
        size = (move**2).sum() ** 0.5
        return z, size <= small * (1.0 + (z**2).sum() ** 0.5), ~isfinite(size)

    no = np.bool_(False)
    start = concatenate([nodes[i] * h * rate[None, :] for i in range(3)])
    (z, converged, _), _ = iterate(correct, lambda s: s[1] | s[2], (start, no, no), _NEWTON)
    estimate = rate + (_ESTIMATE.astype(dtype) @ z) / h
    error = solve(_REAL / h * eye(n, dtype=dtype) - matrix, estimate, on_error="nan")
    after = y + z[2]
    usable = converged & all_of(isfinite(after)) & all_of(isfinite(error))
    return Step(after, f(t + h, after), error, _TO_POWERS.astype(dtype) @ z, usable)


RADAU = Method(_radau, 4, 3)


def interpolated(y: Any, dense: Any, s: Any) -> Any:
    """The value inside of a step that starts with ``y``, at the fraction ``s`` of it."""
    value = 0.0 * y
    for i in reversed(range(dense.type.shape[0])):
        value = s * (value + dense[i])
    return y + value


def chosen(condition: Any, one: Any, other: Any) -> Any:
    """`switch` for each part of two equal tuples."""
    return tuple(switch(condition, a, b) for a, b in zip(one, other, strict=True))
